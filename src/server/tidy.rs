//! Erasing what is over, from time to time: candidates that have lapsed, outcomes that are kept no longer, and decisions
//! past their retention, where there is one.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

use crate::gate::Clock;
use crate::memory::Span;
use crate::store::{Error, Store};

const EVERY: Duration = Duration::from_mins(1);

/// The most rows of each sort that go at once, so that callers wait for no more.
const AT_ONCE: u32 = 500;

/// The same for decisions, which are large.
const DECISIONS_AT_ONCE: u32 = 100;

/// Tidies for as long as it is polled.
pub(super) async fn tidying(store: Arc<dyn Store>, clock: Arc<dyn Clock>, retention: Option<Span>) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let now = clock.now();
        let rows = batches(|| store.tidy(now, AT_ONCE)).await;
        tracing::debug!(rows, "erased what has lapsed");
        if let Some(retention) = retention {
            let rows = batches(|| store.prune(now.minus(retention), DECISIONS_AT_ONCE)).await;
            if rows > 0 {
                tracing::info!(rows, "removed decisions past their retention");
            }
        }
    }
}

/// Erases batch after batch until there is nothing left; how many rows went. After each, callers have the store to
/// themselves for as long as it took.
async fn batches<F>(mut erase: impl FnMut() -> F) -> u64
where
    F: Future<Output = Result<u64, Error>>,
{
    let mut total = 0;
    loop {
        let begin = Instant::now();
        match erase().await {
            Ok(0) => return total,
            Ok(rows) => total += rows,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "what is over could not be erased");
                return total;
            }
        }
        tokio::time::sleep(begin.elapsed()).await;
    }
}
