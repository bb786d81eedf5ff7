//! Erasing what is over, and what has been kept for long enough.

use sqlx::query;

use super::Connection;
use crate::memory::Time;
use crate::store::fault::Fault;

/// Candidates that have lapsed, and outcomes that are kept no longer; how many rows went.
pub(in crate::store) async fn tidy(connection: &mut Connection, now: Time, limit: u32) -> Result<u64, Fault> {
    const CANDIDATES: &str = "DELETE FROM candidates WHERE (tenant, candidate_id) IN (SELECT tenant, candidate_id \
                              FROM candidates WHERE lapse_time <= $1 ORDER BY lapse_time LIMIT $2)";
    const OUTCOMES: &str = "DELETE FROM idempotency WHERE (tenant, owner, principal, method, request_id) IN (SELECT \
                            tenant, owner, principal, method, request_id FROM idempotency WHERE expire_time <= $1 \
                            ORDER BY expire_time LIMIT $2)";
    let mut rows = 0;
    for sql in [CANDIDATES, OUTCOMES] {
        let done = query(sql).bind(now.micros()).bind(i64::from(limit)).execute(&mut *connection).await?;
        rows += done.rows_affected();
    }
    Ok(rows)
}

/// The oldest decisions made before an instant; how many rows went.
pub(in crate::store) async fn prune(connection: &mut Connection, before: Time, limit: u32) -> Result<u64, Fault> {
    const SQL: &str = "DELETE FROM decisions WHERE (tenant, decision_id) IN (SELECT tenant, decision_id \
                       FROM decisions WHERE decide_time < $1 ORDER BY decide_time LIMIT $2)";
    let done = query(SQL).bind(before.micros()).bind(i64::from(limit)).execute(connection).await?;
    Ok(done.rows_affected())
}
