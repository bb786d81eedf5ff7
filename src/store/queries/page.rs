//! Memories in the order of their addresses.

use sqlx::query;

use super::{Connection, Row, memories, owners, scopes};
use crate::memory::Level;
use crate::store::fault::Fault;
use crate::store::{MemoryPage, Position, Range, Reach};

const OF_OWNER: &str = concat!(
    "SELECT ",
    memory_with!(value, tokens),
    " FROM memories WHERE tenant = $1 AND owner = $2 AND (project, task, key) > ($3, $4, $5)",
    " ORDER BY project, task, key",
    at_most!("$6")
);

const OF_SCOPE: &str = concat!(
    "SELECT ",
    memory_with!(value, tokens),
    " FROM memories WHERE tenant = $1 AND owner = $2 AND project = $3 AND task = $4 AND key > $5",
    " ORDER BY key",
    at_most!("$6")
);

/// A page of memories. Owner by owner, so that a page costs the same however far on it lies. Wants a transaction.
pub(in crate::store) async fn page(
    connection: &mut Connection,
    reach: &Reach,
    range: &Range,
    after: Option<&Position>,
    limit: u32,
) -> Result<MemoryPage, Fault> {
    let limit = i64::from(limit);
    let mut rows: Vec<Row> = Vec::new();
    for owner in owners(reach, range) {
        let found = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let Some((project, task, key)) = start(owner, range, after) else { continue };
        let select = match range {
            Range::One(..) => query(OF_SCOPE),
            Range::Owner(_) | Range::All => query(OF_OWNER),
        };
        rows.extend(
            select
                .bind(reach.tenant.as_str())
                .bind(owner)
                .bind(project)
                .bind(task)
                .bind(key)
                .bind(limit + 1 - found)
                .fetch_all(&mut *connection)
                .await?,
        );
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    rows.truncate(limit);
    let memories = memories::read(&rows)?;

    let mut shown: Vec<_> = memories.iter().map(|memory| (&memory.address.owner, &memory.address.level)).collect();
    shown.dedup();
    let found =
        scopes::revisions(connection, reach.tenant.as_str(), reach.subject.as_str(), shown.iter().copied()).await?;
    let revisions: Vec<_> = shown.into_iter().map(|(owner, level)| found.of_scope(owner, level)).collect();
    Ok(MemoryPage { newest_update_time: found.newest_update_time(&revisions), revisions, memories, more })
}

/// After which project, task and key the rows of this owner begin; `None`: they all lie before the position.
fn start<'a>(owner: &str, range: &'a Range, after: Option<&'a Position>) -> Option<(&'a str, &'a str, &'a str)> {
    let of = |level: &'a Level| (level.project(), level.task());
    let (first_project, first_task) = match range {
        Range::One(_, level) => of(level),
        Range::Owner(_) | Range::All => ("", ""),
    };
    let Some(after) = after else { return Some((first_project, first_task, "")) };
    let (project, task) = of(&after.level);
    match (owner, range) {
        (owner, _) if owner < after.owner.as_str() => None,
        (owner, _) if owner > after.owner.as_str() => Some((first_project, first_task, "")),
        (_, Range::Owner(_) | Range::All) => Some((project, task, after.key.as_str())),
        (_, Range::One(..)) if (first_project, first_task) < (project, task) => None,
        (_, Range::One(..)) if (first_project, first_task) > (project, task) => Some((first_project, first_task, "")),
        (_, Range::One(..)) => Some((first_project, first_task, after.key.as_str())),
    }
}
