//! `Delete` and `Restore`: a memory goes out of use at once, and may come back.

use super::call::{ATTEMPTS, Call};
use super::command::ChangeDeleted;
use super::operation::{self, Operation};
use super::propose::blocked_as;
use super::replay::{Met, Payload};
use super::{Error, Gate};
use crate::identity::Caller;
use crate::memory::{Audience, Block, BlockCause, Disposition, Evidence, Key, Memory, Receipt, State, Time, Version};
use crate::policy::admitted;
use crate::store::{Announcement, Expect, Place, PlaceRequest, Write};

/// Which way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Delete,
    Restore,
}

impl Gate {
    /// Takes a memory out of use. Nothing that starts after this returned shows or accepts it (I12).
    ///
    /// # Errors
    /// Grants, existence, the version, the state, the store.
    pub async fn delete(&self, caller: &Caller, command: ChangeDeleted) -> Result<Receipt, Error> {
        self.change_deleted(caller, operation::DELETE, command, Turn::Delete).await
    }

    /// Brings a deleted memory back into use.
    ///
    /// # Errors
    /// Grants, existence, the version, the state, the store.
    pub async fn restore(&self, caller: &Caller, command: ChangeDeleted) -> Result<Receipt, Error> {
        self.change_deleted(caller, operation::RESTORE, command, Turn::Restore).await
    }

    async fn change_deleted(
        &self,
        caller: &Caller,
        operation: Operation,
        command: ChangeDeleted,
        turn: Turn,
    ) -> Result<Receipt, Error> {
        let call = self.begin(caller, operation, command.subject.as_ref()).await?;
        call.require_evidence(command.evidence).await?;
        call.require_named_writable(&command.memory).await?;
        let payload = Payload::from(&command);
        for _ in 0..ATTEMPTS {
            let attempt = match call.replayed(command.request_id, &payload).await? {
                Met::Before(receipt, _) => return Ok(receipt),
                Met::New(attempt) => attempt,
            };
            let memory = call.find(&command.memory).await?;
            call.require_deciding(&memory, command.evidence).await?;
            let place = call.place_of(&memory).await?;
            let now = call.now(place.newest_update_time);
            let turned = match turned(turn, &memory, &place, command.expected_version, now) {
                Ok(turned) => turned,
                Err(error) => return Err(call.refuse(error).await),
            };
            let mut judgement = call.judgement(now);
            judgement.revisions = vec![place.revision.clone()];
            judgement.evidence = command.evidence;
            judgement.disposition = Disposition::Done;
            judgement.verdicts = vec![admitted(&call.policy, &turned)];
            let receipt = Receipt {
                memory_id: Some(turned.id),
                version: Some(turned.version),
                value_version: Some(turned.value_version),
                expire_time: turned.expire_time,
                ..Receipt::of(judgement.decision_id, call.policy.version)
            };
            let owner = turned.address.owner.clone();
            let mut change = call.change(owner.clone(), judgement);
            change.expect = expectations(&memory, &place);
            change.announce = Some(match turn {
                Turn::Delete => Announcement::Deleted,
                Turn::Restore => Announcement::Restored,
            });
            change.writes = vec![blocking(turn, &turned, now), Write::Memory(Box::new(turned))];
            change.replay = attempt.map(|attempt| attempt.record(&receipt, now));
            if call.commit(change).await?.is_some() {
                return Ok(receipt);
            }
        }
        Err(call.refuse(Error::JudgementContended).await)
    }
}

impl Call<'_> {
    /// The evidence is of somebody whose decision it is: for shared memories an operator's.
    async fn require_deciding(&self, memory: &Memory, evidence: Evidence) -> Result<(), Error> {
        let audience = memory.address.owner.audience();
        self.require_audience_writable(audience).await?;
        if audience == Audience::Shared && evidence != Evidence::OperatorVerified {
            return Err(self.refuse(Error::EvidenceNotHeld("attest:operator_verified".to_owned())).await);
        }
        Ok(())
    }

    async fn place_of(&self, memory: &Memory) -> Result<Place, Error> {
        let source = &memory.source;
        let references = std::iter::once(&source.reference).chain(&source.parent_references);
        let request = PlaceRequest {
            address: memory.address.clone(),
            blocked_as: blocked(memory),
            reach: self.reach(),
            references: references.filter(|reference| !reference.is_empty()).cloned().collect(),
            parents: source.parents.clone(),
        };
        self.load(self.gate.store.place(&request)).await
    }
}

/// The next version, or why there is none: first the version, then the state.
fn turned(turn: Turn, memory: &Memory, place: &Place, seen: Version, now: Time) -> Result<Memory, Error> {
    if memory.version != seen {
        return Err(Error::VersionConflict(memory.version));
    }
    let at_address = place.current.as_ref().is_some_and(|current| current.id == memory.id);
    match (turn, memory.state) {
        (_, State::Forgotten) => return Err(Error::MemoryForgotten),
        (Turn::Delete, State::Deleted) => return Err(Error::MemoryDeleted),
        (Turn::Restore, State::Active | State::Quarantined) => return Err(Error::MemoryNotDeleted),
        (Turn::Restore, State::Deleted) if !at_address => return Err(Error::AddressTaken),
        (Turn::Restore, State::Deleted) if memory.expired_at(now) => return Err(Error::MemoryExpired),
        (Turn::Restore, State::Deleted) if sources_gone(place) => return Err(Error::SourceRevoked),
        (Turn::Restore, State::Deleted) | (Turn::Delete, State::Active | State::Quarantined) => {}
    }
    Ok(Memory {
        version: memory.version.next(),
        state: if turn == Turn::Delete { State::Deleted } else { State::Active },
        update_time: now,
        ..memory.clone()
    })
}

/// Whether what it came from has been taken away since. Deletions of other memories from the same source do not count:
/// of two that were deleted, neither could come back before the other.
fn sources_gone(place: &Place) -> bool {
    place.blocks.iter().any(|block| block.cause != BlockCause::Deleted)
        || place.parents.iter().any(|parent| matches!(parent.state, State::Deleted | State::Forgotten))
}

fn blocked(memory: &Memory) -> Key {
    blocked_as(&memory.address.key, &memory.kind, memory.has_own_key())
}

fn blocking(turn: Turn, memory: &Memory, now: Time) -> Write {
    let owner = memory.address.owner.clone();
    match turn {
        Turn::Restore => Write::Unblock(owner, memory.id),
        Turn::Delete => Write::Block {
            block: Block { owner, cause: BlockCause::Deleted, memory_id: Some(memory.id), since: now },
            reference: memory.source.reference.clone(),
            key: blocked(memory),
        },
    }
}

fn expectations(memory: &Memory, place: &Place) -> Vec<Expect> {
    let current = place.current.as_ref().map(|current| (current.id, current.version));
    let parents = place.parents.iter().map(|parent| Expect::Memory(parent.id, parent.version));
    let own = [
        Expect::Address(memory.address.clone(), current),
        Expect::Memory(memory.id, memory.version),
        Expect::BlockEpoch(memory.address.owner.clone(), place.block_epoch),
    ];
    own.into_iter().chain(parents).collect()
}
