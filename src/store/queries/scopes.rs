//! Revisions of scopes, and the counters of owners.

use std::collections::HashMap;

use sqlx::{query, query_as, query_scalar};

use super::Connection;
use crate::memory::{Level, Memory, Owner, Revision, ScopeRevision, Time};
use crate::store::fault::Fault;
use crate::store::rows::{level, list, owner};

/// A scope that was written to.
pub(super) struct Scope {
    owner: Owner,
    level: Level,
    revision: Revision,
    update_time: Time,
}

impl Scope {
    /// Of the columns of a row.
    pub(super) fn of(
        its_owner: &str,
        project: &str,
        task: &str,
        revision: i64,
        update_time: i64,
    ) -> Result<Self, Fault> {
        Ok(Self {
            owner: owner(its_owner)?,
            level: level(project, task)?,
            revision: Revision(revision),
            update_time: Time::from_micros(update_time),
        })
    }
}

/// The scopes that were written to, of those asked.
pub(super) struct Revisions(HashMap<(Owner, Level), (Revision, Time)>);

impl Revisions {
    pub(super) fn of(scopes: impl IntoIterator<Item = Scope>) -> Self {
        let found = |scope: Scope| ((scope.owner, scope.level), (scope.revision, scope.update_time));
        Self(scopes.into_iter().map(found).collect())
    }

    /// The scope's revision; 0 where nothing was ever written.
    pub(super) fn of_scope(&self, owner: &Owner, level: &Level) -> ScopeRevision {
        let found = self.0.get(&(owner.clone(), level.clone()));
        ScopeRevision {
            owner: owner.clone(),
            level: level.clone(),
            revision: found.map_or(Revision::default(), |(revision, _)| *revision),
        }
    }

    /// The newest `update_time` in these scopes.
    pub(super) fn newest_update_time<'a>(&self, scopes: impl IntoIterator<Item = &'a ScopeRevision>) -> Option<Time> {
        let time = |scope: &ScopeRevision| self.0.get(&(scope.owner.clone(), scope.level.clone())).map(|found| found.1);
        scopes.into_iter().filter_map(time).max()
    }
}

/// The revisions of a set of scopes, in one statement; those of other subjects are not looked for. It may find more
/// than was asked; nobody asks for those.
pub(super) async fn revisions<'a>(
    connection: &mut Connection,
    tenant: &str,
    subject: &str,
    scopes: impl IntoIterator<Item = (&'a Owner, &'a Level)>,
) -> Result<Revisions, Fault> {
    const SQL: &str = concat!(
        "SELECT owner, project, task, revision, update_time FROM revisions WHERE tenant = $1 AND owner IN ",
        texts!("$2"),
        " AND project IN ",
        texts!("$3"),
        " AND task IN ",
        texts!("$4")
    );
    let (mut owners, mut projects, mut tasks) = (Vec::new(), Vec::new(), Vec::new());
    for (owner, level) in scopes.into_iter().filter(|(owner, _)| ["", subject].contains(&owner.as_str())) {
        owners.push(owner.as_str());
        projects.push(level.project());
        tasks.push(level.task());
    }
    if owners.is_empty() {
        return Ok(Revisions(HashMap::new()));
    }
    let rows: Vec<(String, String, String, i64, i64)> =
        query_as(SQL).bind(tenant).bind(set(owners)).bind(set(projects)).bind(set(tasks)).fetch_all(connection).await?;
    let scopes = rows
        .iter()
        .map(|(owner, project, task, revision, update_time)| Scope::of(owner, project, task, *revision, *update_time));
    Ok(Revisions::of(scopes.collect::<Result<Vec<_>, _>>()?))
}

fn set(mut texts: Vec<&str>) -> String {
    texts.sort_unstable();
    texts.dedup();
    list(texts)
}

/// How often the owner's blocks have changed.
pub(super) async fn block_epoch(
    connection: &mut Connection,
    tenant: &str,
    subject: &str,
    owner: &Owner,
) -> Result<i64, Fault> {
    const SQL: &str = "SELECT block_epoch FROM owners WHERE tenant = $1 AND owner = $2 AND owner IN ($3, '')";
    let epoch: Option<i64> =
        query_scalar(SQL).bind(tenant).bind(owner.as_str()).bind(subject).fetch_optional(connection).await?;
    Ok(epoch.unwrap_or_default())
}

/// Raises the owner's counter and block epoch by so much; answers the counter.
pub(super) async fn raise(
    connection: &mut Connection,
    tenant: &str,
    owner: &Owner,
    counter: i64,
    block_epoch: i64,
) -> Result<i64, Fault> {
    const SQL: &str = "INSERT INTO owners (tenant, owner, counter, block_epoch, subject_epoch) VALUES ($1, $2, $3, $4, 0) \
                       ON CONFLICT (tenant, owner) DO UPDATE SET counter = owners.counter + excluded.counter, \
                       block_epoch = owners.block_epoch + excluded.block_epoch RETURNING counter";
    Ok(query_scalar(SQL)
        .bind(tenant)
        .bind(owner.as_str())
        .bind(counter)
        .bind(block_epoch)
        .fetch_one(connection)
        .await?)
}

/// The memory's scope has changed.
pub(super) async fn revise(connection: &mut Connection, memory: &Memory, counter: i64) -> Result<(), Fault> {
    const SQL: &str = "INSERT INTO revisions (tenant, owner, project, task, revision, update_time) \
                       VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant, owner, project, task) DO UPDATE SET \
                       revision = excluded.revision, update_time = CASE WHEN excluded.update_time > \
                       revisions.update_time THEN excluded.update_time ELSE revisions.update_time END";
    query(SQL)
        .bind(memory.address.tenant.as_str())
        .bind(memory.address.owner.as_str())
        .bind(memory.address.level.project())
        .bind(memory.address.level.task())
        .bind(counter)
        .bind(memory.update_time.micros())
        .execute(connection)
        .await?;
    Ok(())
}
