//! Erasing what is over. One statement reaches the rows of all owners, as nothing keeps the writer from them here.

use sqlx::query;
use sqlx::sqlite::SqliteConnection;

use crate::memory::Time;
use crate::store::fault::Fault;

/// Candidates that have lapsed, and outcomes that are kept no longer; how many rows went.
pub(super) async fn tidy(connection: &mut SqliteConnection, now: Time, limit: u32) -> Result<u64, Fault> {
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
