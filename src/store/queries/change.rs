//! Applying a change: what must hold, then rows, feed, decision and kept outcome.

use sqlx::query::Query;
use sqlx::{query, query_scalar};
use uuid::Uuid;

use super::{Connection, Db, blocks, candidates, expect, ledger, scopes};
use crate::memory::{Memory, SubjectId, Text};
use crate::store::digest::DigestKey;
use crate::store::fault::{Fault, Stop};
use crate::store::rows::{FactRow, MemoryRow};
use crate::store::{Announcement, Change, Write, codes};

type Statement<'q> = Query<'q, Db, <Db as sqlx::Database>::Arguments>;

/// Applies a change within the transaction or savepoint that the engine has opened, and closes after it. `body` is the
/// encoded judgement.
pub(in crate::store) async fn apply(
    connection: &mut Connection,
    key: &DigestKey,
    change: &Change,
    body: &[u8],
) -> Result<(), Stop> {
    expect::all(connection, change).await?;
    write(connection, key, change).await?;
    if let Some((replay_key, record)) = &change.replay {
        ledger::keep(connection, key, replay_key, record, change.judgement.decide_time).await?;
    }
    ledger::append(connection, key, &change.judgement, body).await?;
    Ok(())
}

async fn write(connection: &mut Connection, key: &DigestKey, change: &Change) -> Result<(), Stop> {
    let tenant = &change.tenant;
    let subject = change.subject.as_ref().map_or("", SubjectId::as_str);
    let memories = change.writes.iter().any(|write| matches!(write, Write::Memory(_)));
    let blocks = change.writes.iter().any(|write| matches!(write, Write::Block { .. } | Write::Unblock(..)));
    let counter = if memories || blocks {
        scopes::raise(connection, tenant.as_str(), &change.owner, i64::from(memories), i64::from(blocks)).await?
    } else {
        0
    };
    for write in &change.writes {
        match write {
            Write::Memory(memory) => {
                supersede(connection, memory).await?;
                insert(connection, key, memory, counter).await?;
                lineage(connection, key, memory).await?;
                scopes::revise(connection, memory, counter).await?;
                if let Some(what) = change.announce {
                    announce(connection, memory, what, counter).await?;
                }
            }
            Write::Candidate(candidate) => candidates::insert(connection, candidate).await?,
            Write::EraseCandidate(id) => candidates::erase(connection, tenant.as_str(), subject, *id).await?,
            Write::Block { block, reference, key: name } => {
                blocks::insert(connection, key, tenant, block, reference, name).await?;
            }
            Write::Unblock(owner, id) => blocks::lift(connection, tenant, owner, *id).await?,
        }
    }
    Ok(())
}

async fn supersede(connection: &mut Connection, memory: &Memory) -> Result<(), Fault> {
    const SQL: &str = "UPDATE memory_versions SET superseded_by = $4 WHERE tenant = $1 AND owner = $2 \
                       AND memory_id = $3 AND superseded_by IS NULL AND version < $4";
    query(SQL)
        .bind(memory.address.tenant.as_str())
        .bind(memory.address.owner.as_str())
        .bind(memory.id.0)
        .bind(memory.version.0)
        .execute(connection)
        .await?;
    Ok(())
}

async fn insert(connection: &mut Connection, key: &DigestKey, memory: &Memory, counter: i64) -> Result<(), Fault> {
    const VERSION: &str = concat!(
        "INSERT INTO memory_versions (",
        memory_columns!("value"),
        ", counter, key_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, \
         $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33)"
    );
    const CURRENT: &str = concat!(
        "INSERT INTO memories (",
        memory_columns!("value"),
        ", counter, key_id, tokens) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
         $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34) \
         ON CONFLICT (tenant, owner, project, task, key) DO UPDATE SET kind = excluded.kind, value = excluded.value, \
         source_kind = excluded.source_kind, source_reference = excluded.source_reference, parents = excluded.parents, \
         parent_references = excluded.parent_references, lineage_trust = excluded.lineage_trust, \
         evidence = excluded.evidence, confidence = excluded.confidence, sensitivity = excluded.sensitivity, \
         consent = excluded.consent, consent_purposes = excluded.consent_purposes, purposes = excluded.purposes, \
         observe_time = excluded.observe_time, valid_from_time = excluded.valid_from_time, \
         expire_time = excluded.expire_time, create_time = excluded.create_time, author = excluded.author, \
         change_reason = excluded.change_reason, memory_id = excluded.memory_id, version = excluded.version, \
         value_version = excluded.value_version, state = excluded.state, value_chars = excluded.value_chars, \
         update_time = excluded.update_time, confirm_time = excluded.confirm_time, counter = excluded.counter, \
         key_id = excluded.key_id, tokens = excluded.tokens"
    );
    for (sql, current) in [(VERSION, false), (CURRENT, true)] {
        let row = MemoryRow::of(memory);
        let statement = bind_fact(query(sql), row.fact)
            .bind(row.memory_id)
            .bind(row.version)
            .bind(row.value_version)
            .bind(row.state)
            .bind(row.value_chars)
            .bind(row.update_time)
            .bind(row.confirm_time)
            .bind(counter)
            .bind(key.id());
        let statement = if current { statement.bind(row.tokens) } else { statement };
        statement.execute(&mut *connection).await?;
    }
    Ok(())
}

/// Binds $1 to $24, in the order of `fact_columns!`, the value last.
pub(super) fn bind_fact<'q>(statement: Statement<'q>, row: FactRow<'_>) -> Statement<'q> {
    statement
        .bind(row.tenant)
        .bind(row.owner)
        .bind(row.project)
        .bind(row.task)
        .bind(row.key)
        .bind(row.kind)
        .bind(row.source_kind)
        .bind(row.source_reference)
        .bind(row.parents)
        .bind(row.parent_references)
        .bind(row.lineage_trust)
        .bind(row.evidence)
        .bind(row.confidence)
        .bind(row.sensitivity)
        .bind(row.consent)
        .bind(row.consent_purposes)
        .bind(row.purposes)
        .bind(row.observe_time)
        .bind(row.valid_from_time)
        .bind(row.expire_time)
        .bind(row.create_time)
        .bind(row.author)
        .bind(row.change_reason)
        .bind(row.value)
}

/// What this version was made from: its source, its parents, and their references, as digests.
async fn lineage(connection: &mut Connection, key: &DigestKey, memory: &Memory) -> Result<(), Fault> {
    const SQL: &str = "INSERT INTO lineage (tenant, owner, memory_id, version, relation, parent_id, reference_digest, \
                       key_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    let tenant = &memory.address.tenant;
    let digest = |reference: &Text| (Uuid::nil(), key.reference(tenant, reference.expose()));
    let source = [&memory.source.reference];
    let own = source.into_iter().map(|reference| (codes::RELATION_SOURCE, reference));
    let others = memory.source.parent_references.iter().map(|one| (codes::RELATION_PARENT_REFERENCE, one));
    let references = own.chain(others).filter(|(_, reference)| !reference.is_empty());
    let parents = memory.source.parents.iter().map(|id| (codes::RELATION_PARENT, (id.0, Vec::new())));
    for (relation, (parent_id, reference_digest)) in
        references.map(|(relation, reference)| (relation, digest(reference))).chain(parents)
    {
        query(SQL)
            .bind(tenant.as_str())
            .bind(memory.address.owner.as_str())
            .bind(memory.id.0)
            .bind(memory.version.0)
            .bind(relation)
            .bind(parent_id)
            .bind(reference_digest)
            .bind(key.id())
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// Tells the feed. Where only committed rows get a position, the sequencer gives it.
async fn announce(connection: &mut Connection, memory: &Memory, what: Announcement, counter: i64) -> Result<(), Fault> {
    const POSITION: &str = "INSERT INTO tenants (tenant, feed_position) VALUES ($1, 1) ON CONFLICT (tenant) \
                            DO UPDATE SET feed_position = tenants.feed_position + 1 RETURNING feed_position";
    const FEED: &str = "INSERT INTO feed (tenant, owner, counter, memory_id, position, version, value_version, what, \
                        project, task, update_time) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let tenant = memory.address.tenant.as_str();
    let position: Option<i64> = if super::super::POSITION_AT_ONCE {
        Some(query_scalar(POSITION).bind(tenant).fetch_one(&mut *connection).await?)
    } else {
        None
    };
    query(FEED)
        .bind(tenant)
        .bind(memory.address.owner.as_str())
        .bind(counter)
        .bind(memory.id.0)
        .bind(position)
        .bind(memory.version.0)
        .bind(memory.value_version.0)
        .bind(what.name())
        .bind(memory.address.level.project())
        .bind(memory.address.level.task())
        .bind(memory.update_time.micros())
        .execute(connection)
        .await?;
    Ok(())
}
