//! Whether a change is of one piece. One that is not is a defect of whoever built it.

use super::fault::Fault;
use super::{Change, Expect, Write};
use crate::memory::{Address, Owner, State};

/// Everything in the change is of its tenant, and of its owner or within its subject's reach; a memory in use has a
/// value; a change about nobody writes nothing.
pub(super) fn check(change: &Change) -> Result<(), Fault> {
    let judged = change.judgement.tenant == change.tenant;
    let kept = change.replay.as_ref().is_none_or(|(key, _)| key.tenant == change.tenant);
    let about_somebody = change.subject.is_some() || change.writes.is_empty();
    if !(judged && kept && about_somebody) {
        return Err(Fault::Stored("change"));
    }
    let expected = change.expect.iter().all(|expect| match expect {
        Expect::Address(address, _) => address.tenant == change.tenant && within(change, &address.owner),
        Expect::BlockEpoch(owner, _) => within(change, owner),
        Expect::Revision(scope) => within(change, &scope.owner),
        Expect::Memory(..) | Expect::Candidate(_) => true,
    });
    let written = change.writes.iter().all(|write| match write {
        Write::Memory(memory) => {
            own(change, &memory.address) && (memory.value.is_some() || memory.state == State::Forgotten)
        }
        Write::Candidate(candidate) => own(change, &candidate.address) && candidate.value.is_some(),
        Write::Block { block, .. } => block.owner == change.owner,
        Write::Unblock(owner, _) => *owner == change.owner,
        Write::EraseCandidate(_) => true,
    });
    if expected && written { Ok(()) } else { Err(Fault::Stored("change")) }
}

fn own(change: &Change, address: &Address) -> bool {
    address.tenant == change.tenant && address.owner == change.owner && within(change, &address.owner)
}

fn within(change: &Change, owner: &Owner) -> bool {
    owner.subject().is_none_or(|subject| change.subject.as_ref() == Some(subject))
}
