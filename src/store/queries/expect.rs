//! Whether what a change relies on still holds.

use super::{Connection, candidates, memories, scopes};
use crate::memory::SubjectId;
use crate::store::fault::Stop;
use crate::store::{Change, Expect};

/// Checks every expectation of a change, inside its transaction. All revisions are read in one statement.
pub(super) async fn all(connection: &mut Connection, change: &Change) -> Result<(), Stop> {
    let tenant = change.tenant.as_str();
    let subject = change.subject.as_ref().map_or("", SubjectId::as_str);
    let scopes = change.expect.iter().filter_map(|expect| match expect {
        Expect::Revision(scope) => Some((&scope.owner, &scope.level)),
        Expect::Address(..) | Expect::Memory(..) | Expect::BlockEpoch(..) | Expect::Candidate(_) => None,
    });
    let revisions = scopes::revisions(connection, tenant, subject, scopes).await?;
    for expect in &change.expect {
        let holds = match expect {
            Expect::Revision(scope) => revisions.of_scope(&scope.owner, &scope.level) == *scope,
            Expect::Address(address, wanted) => memories::version_at(connection, address).await? == *wanted,
            Expect::Memory(id, version) => {
                memories::newest_version(connection, tenant, subject, *id).await? == Some(*version)
            }
            Expect::BlockEpoch(owner, epoch) => {
                scopes::block_epoch(connection, tenant, subject, owner).await? == *epoch
            }
            Expect::Candidate(id) => candidates::waits(connection, tenant, subject, *id).await?,
        };
        if !holds {
            return Err(Stop::Contended);
        }
    }
    Ok(())
}
