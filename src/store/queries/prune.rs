//! Removing decisions that have been kept for long enough.

use sqlx::query;

use super::Connection;
use crate::memory::Time;
use crate::store::fault::Fault;

/// The oldest decisions made before an instant; how many rows went.
pub(in crate::store) async fn prune(connection: &mut Connection, before: Time, limit: u32) -> Result<u64, Fault> {
    const SQL: &str = "DELETE FROM decisions WHERE (tenant, decision_id) IN (SELECT tenant, decision_id \
                       FROM decisions WHERE decide_time < $1 ORDER BY decide_time LIMIT $2)";
    let done = query(SQL).bind(before.micros()).bind(i64::from(limit)).execute(connection).await?;
    Ok(done.rows_affected())
}
