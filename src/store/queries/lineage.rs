//! What was derived from what.

use sqlx::query_scalar;

use super::{Connection, ids};
use crate::memory::MemoryId;
use crate::store::Reach;
use crate::store::fault::Fault;

/// Whether one of these memories, as it is now, descends from that one, or is that one.
pub(super) async fn leads_back(
    connection: &mut Connection,
    reach: &Reach,
    parents: &[MemoryId],
    to: MemoryId,
) -> Result<bool, Fault> {
    // UNION and not UNION ALL: each ancestor is walked once, so that the walk ends even on a loop.
    const SQL: &str = concat!(
        "WITH RECURSIVE ancestors (id) AS (SELECT wanted.id FROM ",
        uuids!("$3"),
        " AS wanted UNION SELECT lineage.parent_id FROM ancestors",
        " CROSS JOIN memory_versions CROSS JOIN lineage",
        " WHERE memory_versions.tenant = $1 AND memory_versions.memory_id = ancestors.id",
        " AND memory_versions.owner IN ($2, '') AND memory_versions.superseded_by IS NULL",
        " AND lineage.tenant = memory_versions.tenant AND lineage.owner = memory_versions.owner",
        " AND lineage.memory_id = memory_versions.memory_id AND lineage.version = memory_versions.version",
        " AND lineage.relation = 2)",
        " SELECT count(*) FROM ancestors WHERE id = $4"
    );
    if parents.is_empty() {
        return Ok(false);
    }
    let found: i64 = query_scalar(SQL)
        .bind(reach.tenant.as_str())
        .bind(reach.subject.as_str())
        .bind(ids(parents.iter().map(|id| id.0)))
        .bind(to.0)
        .fetch_one(connection)
        .await?;
    Ok(found > 0)
}
