//! Committing changes: locks first, in order, then what must hold, then rows and decision, in one transaction.
//!
//! Every change locks the owners that it writes, and those whose rows it relies on in share mode, by tenant and owner.
//! So two changes of one owner follow one another, counters rise in the order of commits, and no two wait for each
//! other. The database waits for the disk of several transactions at once by itself; nothing is grouped here.

use std::collections::BTreeMap;
use std::sync::Arc;

use sqlx::{PgConnection, query, query_scalar};

use super::again;
use super::connect::Pool;
use super::error::{meaning, refusal};
use super::queries;
use super::unit::{self, Scope};
use crate::memory::{Judgement, SubjectId, TenantId};
use crate::store::digest::DigestKey;
use crate::store::fault::{Fault, Stop};
use crate::store::ledger::Sealed;
use crate::store::{Change, CommitError, Expect, Recorded};

/// Commits changes in their order, all or none.
pub(super) async fn commit(
    pool: &Pool,
    key: &Arc<DigestKey>,
    changes: Vec<Sealed>,
) -> Result<Vec<Recorded<Judgement>>, CommitError> {
    let changes = Arc::new(changes);
    for attempt in 0.. {
        let (its, key) = (Arc::clone(&changes), Arc::clone(key));
        let done = unit::run(pool, unit::WRITE, None, move |connection| {
            Box::pin(async move { apply(connection, &key, &its).await })
        });
        match done.await {
            Ok(true) => break,
            Ok(false) => return Err(CommitError::Contended),
            Err(fault) if again::is_worth_it(&fault, attempt) => again::pause(attempt).await,
            Err(fault) => return Err(refusal(fault)),
        }
    }
    let changes = Arc::into_inner(changes).ok_or_else(|| meaning(Fault::Stored("unit of work")))?;
    Ok(changes.into_iter().map(|one| Recorded::after_commit(one.change.judgement)).collect())
}

/// Whether all of them hold; then they are written.
async fn apply(connection: &mut PgConnection, key: &DigestKey, changes: &[Sealed]) -> Result<bool, Fault> {
    let mut shown = None;
    lock(connection, &mut shown, changes).await?;
    for Sealed { change, body } in changes {
        show(connection, &mut shown, &change.tenant, change.subject.as_ref().map_or("", SubjectId::as_str)).await?;
        match queries::apply(connection, key, change, body).await {
            Ok(()) => {}
            // Nothing is committed: the unit of work is at an end, and undone.
            Err(Stop::Contended) => return undo(connection).await,
            Err(Stop::Fault(fault)) => return Err(fault),
        }
    }
    Ok(true)
}

async fn undo(connection: &mut PgConnection) -> Result<bool, Fault> {
    query("ROLLBACK AND CHAIN").execute(connection).await?;
    Ok(false)
}

/// Has the database show these rows from now on, unless it does already.
async fn show(
    connection: &mut PgConnection,
    shown: &mut Option<Scope>,
    tenant: &TenantId,
    subject: &str,
) -> Result<(), Fault> {
    let scope = Scope::of(tenant, subject);
    if shown.as_ref() != Some(&scope) {
        scope.set(connection).await?;
        *shown = Some(scope);
    }
    Ok(())
}

/// How an owner is locked; what comes later is stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lock {
    /// Its rows are relied on.
    Share,
    /// Its rows are written.
    Write,
}

/// Which owners of which tenants the changes lock, in order.
fn locks(changes: &[Sealed]) -> BTreeMap<(&TenantId, &str), Lock> {
    let mut locks: BTreeMap<(&TenantId, &str), Lock> = BTreeMap::new();
    let mut add = |tenant, owner, lock: Lock| {
        let held = locks.entry((tenant, owner)).or_insert(lock);
        *held = lock.max(*held);
    };
    for Sealed { change, .. } in changes {
        let tenant = &change.tenant;
        if !change.writes.is_empty() {
            add(tenant, change.owner.as_str(), Lock::Write);
        }
        for owner in change.expect.iter().flat_map(|expect| relied_on(change, expect)) {
            add(tenant, owner, Lock::Share);
        }
    }
    locks
}

/// Whose rows an expectation is about.
fn relied_on<'a>(change: &'a Change, expect: &'a Expect) -> Vec<&'a str> {
    let subject = change.subject.as_ref().map_or("", SubjectId::as_str);
    match expect {
        Expect::Address(address, _) => vec![address.owner.as_str()],
        Expect::BlockEpoch(owner, _) => vec![owner.as_str()],
        Expect::Revision(scope) => vec![scope.owner.as_str()],
        Expect::Memory(..) | Expect::Candidate(_) => vec!["", subject],
    }
}

async fn lock(connection: &mut PgConnection, shown: &mut Option<Scope>, changes: &[Sealed]) -> Result<(), Fault> {
    const WRITE: &str = "SELECT counter FROM owners WHERE tenant = $1 AND owner = $2 FOR UPDATE";
    const SHARE: &str = "SELECT counter FROM owners WHERE tenant = $1 AND owner = $2 FOR SHARE";
    const MAKE: &str = "INSERT INTO owners (tenant, owner) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    for ((tenant, owner), lock) in locks(changes) {
        show(connection, shown, tenant, owner).await?;
        let sql = if lock == Lock::Write { WRITE } else { SHARE };
        let held: Option<i64> =
            query_scalar(sql).bind(tenant.as_str()).bind(owner).fetch_optional(&mut *connection).await?;
        // An owner that has no row yet has none that could be relied on.
        if held.is_none() && lock == Lock::Write {
            query(MAKE).bind(tenant.as_str()).bind(owner).execute(&mut *connection).await?;
            query(WRITE).bind(tenant.as_str()).bind(owner).execute(&mut *connection).await?;
        }
    }
    Ok(())
}
