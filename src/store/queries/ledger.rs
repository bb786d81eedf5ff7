//! Decisions, kept outcomes, policies, and whose digests these are.

use sqlx::{query, query_as, query_scalar};

use super::Connection;
use crate::memory::{Judgement, PolicyVersion, SubjectId, Time};
use crate::store::digest::DigestKey;
use crate::store::fault::{Fault, Stop};
use crate::store::{ReplayKey, ReplayRecord, ledger, receipt};

const KEY_ID: &str = "digest_key_id";

pub(in crate::store) const APPEND: &str = "INSERT INTO decisions (tenant, owner, decide_time, decision_id, method, outcome, \
                                 key_id, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

/// Appends a decision.
pub(super) async fn append(
    connection: &mut Connection,
    key: &DigestKey,
    judgement: &Judgement,
    body: &[u8],
) -> Result<(), Fault> {
    query(APPEND)
        .bind(judgement.tenant.as_str())
        .bind(judgement.subject.as_ref().map_or("", SubjectId::as_str))
        .bind(judgement.decide_time.micros())
        .bind(judgement.decision_id.0)
        .bind(judgement.method)
        .bind(ledger::outcome(&judgement.disposition))
        .bind(key.id())
        .bind(body)
        .execute(connection)
        .await?;
    Ok(())
}

/// Keeps an outcome. One that is there and has expired is replaced; one that still counts contends.
pub(super) async fn keep(
    connection: &mut Connection,
    digest_key: &DigestKey,
    key: &ReplayKey,
    record: &ReplayRecord,
    now: Time,
) -> Result<(), Stop> {
    const SQL: &str = "INSERT INTO idempotency (tenant, owner, principal, method, request_id, payload_digest, key_id, \
                       receipt, expire_time) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
                       ON CONFLICT (tenant, owner, principal, method, request_id) DO UPDATE SET \
                       payload_digest = excluded.payload_digest, key_id = excluded.key_id, receipt = excluded.receipt, \
                       expire_time = excluded.expire_time WHERE idempotency.expire_time <= $10";
    let done = query(SQL)
        .bind(key.tenant.as_str())
        .bind(key.subject.as_str())
        .bind(key.principal.as_str())
        .bind(key.method)
        .bind(key.request_id.0)
        .bind(record.payload_digest.as_slice())
        .bind(digest_key.id())
        .bind(receipt::encode(&record.receipt, &record.further))
        .bind(record.expire_time.micros())
        .bind(now.micros())
        .execute(connection)
        .await?;
    if done.rows_affected() == 0 { Err(Stop::Contended) } else { Ok(()) }
}

/// The outcome kept for an earlier call.
pub(in crate::store) async fn find(
    connection: &mut Connection,
    key: &ReplayKey,
    now: Time,
) -> Result<Option<ReplayRecord>, Fault> {
    const SQL: &str = "SELECT payload_digest, receipt, expire_time FROM idempotency WHERE tenant = $1 AND owner = $2 \
                       AND principal = $3 AND method = $4 AND request_id = $5 AND expire_time > $6";
    let row: Option<(Vec<u8>, Vec<u8>, i64)> = query_as(SQL)
        .bind(key.tenant.as_str())
        .bind(key.subject.as_str())
        .bind(key.principal.as_str())
        .bind(key.method)
        .bind(key.request_id.0)
        .bind(now.micros())
        .fetch_optional(connection)
        .await?;
    let Some((payload_digest, bytes, expire_time)) = row else { return Ok(None) };
    let (receipt, further) = receipt::decode(&bytes)?;
    Ok(Some(ReplayRecord {
        payload_digest: payload_digest.try_into().map_err(|_| Fault::Stored("payload_digest"))?,
        receipt,
        further,
        expire_time: Time::from_micros(expire_time),
    }))
}

/// Keeps a policy document by its hash, once.
pub(in crate::store) async fn keep_policy(
    connection: &mut Connection,
    version: PolicyVersion,
    document: &str,
    now: Time,
) -> Result<(), Fault> {
    query("INSERT INTO policies (policy_version, document, create_time) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")
        .bind(version.0.as_slice())
        .bind(document)
        .bind(now.micros())
        .execute(connection)
        .await?;
    Ok(())
}

/// The id of the key that this database's digests were made with.
pub(in crate::store) async fn key_id(connection: &mut Connection) -> Result<Option<String>, Fault> {
    Ok(query_scalar("SELECT value FROM meta WHERE name = $1").bind(KEY_ID).fetch_optional(connection).await?)
}

/// Says, once, with which key this database's digests are made.
pub(in crate::store) async fn keep_key_id(connection: &mut Connection, id: &str) -> Result<(), Fault> {
    query("INSERT INTO meta (name, value) VALUES ($1, $2)").bind(KEY_ID).bind(id).execute(connection).await?;
    Ok(())
}
