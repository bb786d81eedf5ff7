//! The memories of all tenants, for an operator who looks at the whole database. Serves no caller.

use sqlx::query;

use super::queries;
use crate::memory::{Address, Memory};
use crate::store::fault::Fault;
use sqlx::sqlite::SqliteConnection;

const SQL: &str = "SELECT tenant, owner, project, task, key, kind, source_kind, '' AS source_reference, parents, \
                   '[]' AS parent_references, lineage_trust, evidence, confidence, sensitivity, consent, \
                   consent_purposes, purposes, observe_time, valid_from_time, expire_time, create_time, author, \
                   '' AS change_reason, value, memory_id, version, value_version, state, value_chars, update_time, \
                   confirm_time, CAST(NULL AS bytea) AS tokens FROM memories \
                   WHERE (tenant, owner, project, task, key) > ($1, $2, $3, $4, $5) \
                   ORDER BY tenant, owner, project, task, key LIMIT CAST($6 AS bigint)";

/// A page of the memories of all tenants after an address, with values and no other text.
pub(super) async fn page(
    connection: &mut SqliteConnection,
    after: Option<&Address>,
    limit: u32,
) -> Result<Vec<Memory>, Fault> {
    let [tenant, owner, project, task, key] = after.map_or([""; 5], |after| {
        [after.tenant.as_str(), after.owner.as_str(), after.level.project(), after.level.task(), after.key.as_str()]
    });
    let rows = query(SQL)
        .bind(tenant)
        .bind(owner)
        .bind(project)
        .bind(task)
        .bind(key)
        .bind(i64::from(limit))
        .fetch_all(connection)
        .await?;
    rows.iter().map(queries::columns::memory).collect()
}
