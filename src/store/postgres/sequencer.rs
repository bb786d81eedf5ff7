//! The sequencer: gives committed rows of the feed their positions, one replica at a time.
//!
//! Transactions commit in another order than they begin. A position that a transaction took for itself could be seen
//! after a later one, and a reader that has passed it would miss it. So rows are committed without, and get their
//! positions from the one who sees them committed: gapless per tenant, and in the order of each owner's counter, which
//! is the order of its commits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::query;
use uuid::Uuid;

use super::connect::Pool;
use super::lease::{self, Token};
use super::unit::{self, WRITE};
use crate::store::fault::Fault;

const LEASE: &str = "feed sequencer";

/// How long it rests when nothing waits.
const REST: Duration = Duration::from_millis(250);
/// How long it rests when another replica does the work, or the database does not answer.
const LONG_REST: Duration = Duration::from_secs(3);

/// The most rows of one transaction.
const BATCH: i64 = 1_000;

const SQL: &str = "\
    WITH waiting AS MATERIALIZED (
        SELECT tenant, owner, counter, memory_id FROM feed WHERE position IS NULL
        ORDER BY tenant, owner, counter, memory_id LIMIT $1
    ), counted AS (
        SELECT tenant, count(*) AS many FROM waiting GROUP BY tenant
    ), raised AS (
        INSERT INTO tenants (tenant, feed_position) SELECT tenant, many FROM counted
        ON CONFLICT (tenant) DO UPDATE SET feed_position = tenants.feed_position + excluded.feed_position
        RETURNING tenant, feed_position
    ), numbered AS (
        SELECT waiting.*, raised.feed_position - counted.many + row_number() OVER (
            PARTITION BY waiting.tenant ORDER BY waiting.owner, waiting.counter, waiting.memory_id) AS given
        FROM waiting JOIN raised USING (tenant) JOIN counted USING (tenant)
    )
    UPDATE feed SET position = numbered.given FROM numbered
    WHERE feed.tenant = numbered.tenant AND feed.owner = numbered.owner AND feed.counter = numbered.counter
        AND feed.memory_id = numbered.memory_id";

/// Gives positions for as long as it is polled.
pub(super) async fn run(pool: Pool, holder: Uuid, verified: Arc<AtomicBool>) {
    let mut ill = false;
    loop {
        let rest = if verified.load(Ordering::Acquire) {
            match turn(&pool, holder).await {
                Ok(rest) => {
                    ill = false;
                    rest
                }
                Err(fault) => {
                    if !ill {
                        tracing::warn!(error = &fault as &dyn std::error::Error, "the feed was not numbered");
                    }
                    ill = true;
                    LONG_REST
                }
            }
        } else {
            REST
        };
        tokio::time::sleep(rest).await;
    }
}

/// Takes the lease and numbers what waits; how long to rest then.
async fn turn(pool: &Pool, holder: Uuid) -> Result<Duration, Fault> {
    let lease =
        unit::run(pool, WRITE, None, move |connection| Box::pin(lease::take(connection, LEASE, holder))).await?;
    let Some(token) = lease else { return Ok(LONG_REST) };
    let numbered = unit::run(pool, WRITE, None, move |connection| Box::pin(number(connection, token))).await?;
    Ok(if numbered == 0 { REST } else { Duration::ZERO })
}

async fn number(connection: &mut sqlx::PgConnection, token: Token) -> Result<u64, Fault> {
    if !lease::hold(connection, LEASE, token).await? {
        return Ok(0);
    }
    Ok(query(SQL).bind(BATCH).execute(connection).await?.rows_affected())
}

/// Lets another replica go on at once.
pub(super) async fn give_back(pool: &Pool, holder: Uuid) {
    let given =
        unit::run(pool, WRITE, None, move |connection| Box::pin(lease::give_back(connection, LEASE, holder))).await;
    if let Err(fault) = given {
        tracing::info!(error = &fault as &dyn std::error::Error, "the feed's lease ends by itself");
    }
}
