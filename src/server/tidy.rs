//! Erasing what is over, from time to time: candidates that have lapsed, outcomes that are kept no longer.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use crate::gate::Clock;
use crate::store::Store;

const EVERY: Duration = Duration::from_mins(1);

/// The most rows of each sort that go at once, so that callers wait for no more.
const AT_ONCE: u32 = 500;

/// The task that tidies; it ends when this is dropped.
pub struct Tidying(JoinHandle<()>);

impl Tidying {
    pub(super) fn start(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self(tokio::spawn(async move {
            let mut ticks = tokio::time::interval(EVERY);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                tidy(store.as_ref(), clock.as_ref()).await;
            }
        }))
    }
}

impl Drop for Tidying {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn tidy(store: &dyn Store, clock: &dyn Clock) {
    loop {
        match store.tidy(clock.now(), AT_ONCE).await {
            Ok(0) => return,
            Ok(rows) => tracing::debug!(rows, "erased what has lapsed"),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "what has lapsed could not be erased");
                return;
            }
        }
    }
}
