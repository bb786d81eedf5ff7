//! Memories by id and by key.

use sqlx::{query, query_as, query_scalar};

use super::{Connection, Row, columns, ids};
use crate::memory::{Address, Memory, MemoryId, Text, Version};
use crate::store::Reach;
use crate::store::fault::Fault;

macro_rules! newest_by_ids {
    ($now:expr, $version:expr) => {
        concat!(
            "SELECT ",
            $now,
            " FROM ",
            rows_of_ids!("memories", "$3"),
            " AND tenant = $1 AND owner IN ($2, '') UNION ALL SELECT ",
            $version,
            " FROM ",
            rows_of_ids!("memory_versions", "$3"),
            " AND tenant = $1 AND owner IN ($2, '') AND superseded_by IS NULL AND NOT EXISTS (SELECT 1 FROM memories",
            " AS taken WHERE taken.tenant = $1 AND taken.memory_id = ",
            wanted_id!("memory_versions"),
            ")"
        )
    };
}

/// The newest versions of these memories, with values, also of those whose address another has taken.
pub(super) async fn by_ids(
    connection: &mut Connection,
    reach: &Reach,
    wanted: &[MemoryId],
) -> Result<Vec<Memory>, Fault> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let rows = query(newest_by_ids!(memory_with!(value, tokens), memory_with!(value)))
        .bind(reach.tenant.as_str())
        .bind(reach.subject.as_str())
        .bind(ids(wanted.iter().map(|id| id.0)))
        .fetch_all(connection)
        .await?;
    read(&rows)
}

/// The same without values.
pub(super) async fn by_ids_without_value(
    connection: &mut Connection,
    reach: &Reach,
    wanted: &[MemoryId],
) -> Result<Vec<Memory>, Fault> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let rows = query(newest_by_ids!(memory_with!(), memory_with!()))
        .bind(reach.tenant.as_str())
        .bind(reach.subject.as_str())
        .bind(ids(wanted.iter().map(|id| id.0)))
        .fetch_all(connection)
        .await?;
    read(&rows)
}

/// The newest version of one memory.
pub(in crate::store) async fn newest(
    connection: &mut Connection,
    reach: &Reach,
    id: MemoryId,
) -> Result<Option<Memory>, Fault> {
    Ok(by_ids(connection, reach, &[id]).await?.pop())
}

/// What lies at an address, with its value, where the address is within reach.
pub(super) async fn at(connection: &mut Connection, reach: &Reach, address: &Address) -> Result<Option<Memory>, Fault> {
    const SQL: &str = concat!(
        "SELECT ",
        memory_with!(value, tokens),
        " FROM memories WHERE tenant = $1 AND owner = $2 AND owner IN ($3, '') AND project = $4 AND task = $5",
        " AND key = $6"
    );
    let row = query(SQL)
        .bind(reach.tenant.as_str())
        .bind(address.owner.as_str())
        .bind(reach.subject.as_str())
        .bind(address.level.project())
        .bind(address.level.task())
        .bind(address.key.as_str())
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(columns::memory).transpose()
}

/// Id and version of what lies at an address.
pub(super) async fn version_at(
    connection: &mut Connection,
    address: &Address,
) -> Result<Option<(MemoryId, Version)>, Fault> {
    const SQL: &str = "SELECT memory_id, version FROM memories WHERE tenant = $1 AND owner = $2 AND project = $3 \
                       AND task = $4 AND key = $5";
    let row: Option<(uuid::Uuid, i64)> = query_as(SQL)
        .bind(address.tenant.as_str())
        .bind(address.owner.as_str())
        .bind(address.level.project())
        .bind(address.level.task())
        .bind(address.key.as_str())
        .fetch_optional(connection)
        .await?;
    Ok(row.map(|(id, version)| (MemoryId(id), Version(version))))
}

/// The newest version of a memory of the subject's own or of shared ones.
pub(super) async fn newest_version(
    connection: &mut Connection,
    tenant: &str,
    subject: &str,
    id: MemoryId,
) -> Result<Option<Version>, Fault> {
    const SQL: &str = "SELECT version FROM memory_versions WHERE tenant = $1 AND owner IN ($2, '') \
                       AND memory_id = $3 AND superseded_by IS NULL";
    let version: Option<i64> =
        query_scalar(SQL).bind(tenant).bind(subject).bind(id.0).fetch_optional(connection).await?;
    Ok(version.map(Version))
}

/// The values of these versions; what no longer is at that version is left out.
pub(in crate::store) async fn values(
    connection: &mut Connection,
    reach: &Reach,
    versions: &[(MemoryId, Version)],
) -> Result<Vec<(MemoryId, Text)>, Fault> {
    const SQL: &str = concat!(
        "SELECT memory_id, version, value FROM ",
        rows_of_ids!("memories", "$3"),
        " AND tenant = $1 AND owner IN ($2, '') AND value IS NOT NULL"
    );
    let rows: Vec<(uuid::Uuid, i64, String)> = query_as(SQL)
        .bind(reach.tenant.as_str())
        .bind(reach.subject.as_str())
        .bind(ids(versions.iter().map(|(id, _)| id.0)))
        .fetch_all(connection)
        .await?;
    let wanted = |id, version| versions.contains(&(MemoryId(id), Version(version)));
    Ok(rows
        .into_iter()
        .filter(|(id, version, _)| wanted(*id, *version))
        .map(|(id, _, value)| (MemoryId(id), Text::new(value)))
        .collect())
}

pub(super) fn read(rows: &[Row]) -> Result<Vec<Memory>, Fault> {
    rows.iter().map(columns::memory).collect()
}
