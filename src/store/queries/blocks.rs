//! What may not come back by itself.

use sqlx::{query, query_as};
use uuid::Uuid;

use super::{Connection, hexes, ids};
use crate::memory::{Key, MemoryId, Owner, TenantId, Text, Time};
use crate::store::digest::DigestKey;
use crate::store::fault::Fault;
use crate::store::{Block, BlockCause, PlaceRequest, codes, rows::owner};

/// The blocks that a write meets: of its owner, by its references under its key; of all within reach, by its parents.
pub(super) async fn met(
    connection: &mut Connection,
    key: &DigestKey,
    request: &PlaceRequest,
) -> Result<Vec<Block>, Fault> {
    const SQL: &str = concat!(
        "SELECT owner, cause, memory_id, since FROM blocks WHERE tenant = $1 AND owner = $2 ",
        "AND owner IN ($3, '') AND reference_digest IN ",
        digests!("$4"),
        " AND key_digest IN ",
        digests!("$5"),
        " UNION SELECT owner, cause, memory_id, since FROM ",
        uuids!("$6"),
        " AS wanted CROSS JOIN blocks WHERE tenant = $1 AND owner IN ($3, '') AND memory_id = wanted.id"
    );
    let tenant = &request.reach.tenant;
    let references = request.references.iter().filter(|reference| !reference.is_empty());
    let references: Vec<Vec<u8>> = references.map(|reference| key.reference(tenant, reference.expose())).collect();
    if references.is_empty() && request.parents.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<(String, i64, Uuid, i64)> = query_as(SQL)
        .bind(tenant.as_str())
        .bind(request.address.owner.as_str())
        .bind(request.reach.subject.as_str())
        .bind(hexes(&references))
        .bind(hexes(&[key.key(tenant, request.blocked_as.as_str()), Vec::new()]))
        .bind(ids(request.parents.iter().map(|id| id.0)))
        .fetch_all(connection)
        .await?;
    rows.into_iter()
        .map(|(its_owner, cause, memory_id, since)| {
            Ok(Block {
                owner: owner(&its_owner)?,
                cause: codes::cause(cause),
                memory_id: Some(MemoryId(memory_id)).filter(|id| !id.0.is_nil()),
                since: Time::from_micros(since),
            })
        })
        .collect()
}

/// Blocks the reference with the key and, of a memory, every reference that one of its versions came from.
pub(super) async fn insert(
    connection: &mut Connection,
    digest_key: &DigestKey,
    tenant: &TenantId,
    block: &Block,
    reference: &Text,
    key: &Key,
) -> Result<(), Fault> {
    const SQL: &str = "INSERT INTO blocks (tenant, owner, reference_digest, key_digest, memory_id, cause, since, key_id) \
                       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    const EARLIER: &str = "INSERT INTO blocks (tenant, owner, reference_digest, key_digest, memory_id, cause, since, \
                           key_id) SELECT tenant, owner, reference_digest, $4, memory_id, $5, $6, $7 \
                           FROM lineage WHERE tenant = $1 AND owner = $2 AND memory_id = $3 AND relation = $8 \
                           ON CONFLICT DO NOTHING";
    let reference_digest =
        if reference.is_empty() { Vec::new() } else { digest_key.reference(tenant, reference.expose()) };
    query(SQL)
        .bind(tenant.as_str())
        .bind(block.owner.as_str())
        .bind(reference_digest)
        .bind(digest_key.key(tenant, key.as_str()))
        .bind(block.memory_id.map_or(Uuid::nil(), |id| id.0))
        .bind(codes::of_cause(block.cause))
        .bind(block.since.micros())
        .bind(digest_key.id())
        .execute(&mut *connection)
        .await?;
    let Some(memory_id) = block.memory_id else { return Ok(()) };
    query(EARLIER)
        .bind(tenant.as_str())
        .bind(block.owner.as_str())
        .bind(memory_id.0)
        .bind(digest_key.key(tenant, key.as_str()))
        .bind(codes::of_cause(block.cause))
        .bind(block.since.micros())
        .bind(digest_key.id())
        .bind(codes::RELATION_SOURCE)
        .execute(connection)
        .await?;
    Ok(())
}

/// Lifts what the memory's deletion blocked, and nothing that a revocation or a forget did.
pub(super) async fn lift(
    connection: &mut Connection,
    tenant: &TenantId,
    owner: &Owner,
    id: MemoryId,
) -> Result<(), Fault> {
    query("DELETE FROM blocks WHERE tenant = $1 AND owner = $2 AND memory_id = $3 AND cause = $4")
        .bind(tenant.as_str())
        .bind(owner.as_str())
        .bind(id.0)
        .bind(codes::of_cause(BlockCause::Deleted))
        .execute(connection)
        .await?;
    Ok(())
}
