//! Spans on their way to the exporter: how many wait, how many were lost, and how often that is told: at the first loss,
//! once a minute while there are more, when they are sent again, and at the end.
//!
//! Invariant: a span that cannot go out is counted and forgotten; nothing waits for it, and memory stays bounded.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use opentelemetry::Context;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanExporter, SpanProcessor};

/// How many spans wait at most; one more is lost.
pub(super) const MAX_WAITING: usize = 2048;

/// How often losses are told at most.
const TOLD_EVERY: Duration = Duration::from_mins(1);

/// Counts of one way, shared by both its ends.
#[derive(Debug, Clone, Default)]
pub(super) struct Way(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    waiting: AtomicUsize,
    lost: AtomicUsize,
    /// Losses were told, and nothing has gone out since.
    failing: AtomicBool,
    /// What was lost when it was told last, and when that was.
    told: Mutex<Option<(usize, Instant)>>,
}

impl Way {
    /// Whether there is room for one more, which then waits; else it is lost.
    fn enter(&self) -> bool {
        let entered = self.0.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |waiting| {
            (waiting < MAX_WAITING).then_some(waiting + 1)
        });
        if entered.is_err() {
            self.0.lost.fetch_add(1, Ordering::Relaxed);
        }
        entered.is_ok()
    }

    /// They wait no longer: gone out, or lost.
    fn leave(&self, count: usize, outcome: &OTelSdkResult) {
        self.0.waiting.fetch_sub(count, Ordering::Relaxed);
        if outcome.is_err() {
            self.0.lost.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// How many were lost since the start, where that is to be told now.
    fn news(&self, now: Instant) -> Option<usize> {
        let lost = self.0.lost.load(Ordering::Relaxed);
        let mut told = self.0.told.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, due) = told.map_or((0, true), |(lost, at)| (lost, now.duration_since(at) >= TOLD_EVERY));
        if lost == before || !due {
            return None;
        }
        *told = Some((lost, now));
        self.0.failing.store(true, Ordering::Relaxed);
        Some(lost)
    }

    /// How many were lost since the start, where spans go out again after losses that were told.
    fn again(&self, outcome: &OTelSdkResult) -> Option<usize> {
        let again = outcome.is_ok() && self.0.failing.swap(false, Ordering::Relaxed);
        again.then(|| self.0.lost.load(Ordering::Relaxed))
    }

    /// How many have not gone out, where none will any more.
    pub(super) fn unsent(&self) -> usize {
        self.0.lost.load(Ordering::Relaxed) + self.0.waiting.load(Ordering::Relaxed)
    }
}

/// Lets no more spans into a processor than may wait.
///
/// Decision: the processor has a bounded queue of its own, which tells of the first span that it drops and no more, and
/// counts in private. So they are counted before it, and its queue, of the same length, is never full.
#[derive(Debug)]
pub(super) struct Bounded<P> {
    inner: P,
    way: Way,
}

impl<P> Bounded<P> {
    pub(super) fn new(inner: P, way: Way) -> Self {
        Self { inner, way }
    }
}

impl<P: SpanProcessor> SpanProcessor for Bounded<P> {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.inner.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if self.way.enter() {
            self.inner.on_end(span);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

/// Tells in the log what an exporter could not send, seldom, and without its reason: a collector may have repeated in
/// it what it was sent.
#[derive(Debug)]
pub(super) struct Told<E> {
    inner: E,
    way: Way,
}

impl<E> Told<E> {
    pub(super) fn new(inner: E, way: Way) -> Self {
        Self { inner, way }
    }
}

impl<E: SpanExporter> SpanExporter for Told<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let outcome = self.inner.export(batch).await;
        self.way.leave(count, &outcome);
        if let Some(lost_spans) = self.way.news(Instant::now()) {
            tracing::warn!(lost_spans, "spans cannot be exported; so many were lost since the start");
        }
        if let Some(lost_spans) = self.way.again(&outcome) {
            tracing::info!(lost_spans, "spans are exported again; so many were lost since the start");
        }
        outcome
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry_sdk::error::OTelSdkError;

    use super::*;

    #[test]
    fn no_more_spans_wait_than_may_and_the_others_are_counted() {
        let way = Way::default();
        assert!((0..MAX_WAITING).all(|_| way.enter()));
        assert!(!way.enter() && !way.enter());
        assert_eq!(way.news(Instant::now()), Some(2));
        way.leave(1, &Ok(()));
        assert!(way.enter() && !way.enter());
    }

    #[test]
    fn losses_are_told_at_once_then_once_a_minute_and_only_new_ones() {
        let (way, begin) = (Way::default(), Instant::now());
        let lose = || {
            assert!(way.enter());
            way.leave(1, &Err(OTelSdkError::AlreadyShutdown));
        };
        assert_eq!(way.news(begin), None);
        lose();
        assert_eq!(way.news(begin), Some(1));
        lose();
        lose();
        assert_eq!(way.news(begin + Duration::from_secs(59)), None);
        assert_eq!(way.news(begin + TOLD_EVERY), Some(3));
        assert_eq!(way.news(begin + 3 * TOLD_EVERY), None);
    }

    #[test]
    fn recovery_is_told_once_with_all_that_was_lost_and_the_end_counts_what_still_waits() {
        let (way, failed) = (Way::default(), Err(OTelSdkError::AlreadyShutdown));
        assert!((0..5).all(|_| way.enter()));
        assert_eq!(way.again(&Ok(())), None, "nothing was lost");
        way.leave(2, &failed);
        assert_eq!((way.news(Instant::now()), way.again(&failed)), (Some(2), None));
        way.leave(1, &failed);
        way.leave(1, &Ok(()));
        assert_eq!((way.again(&Ok(())), way.again(&Ok(()))), (Some(3), None));
        assert_eq!(way.unsent(), 4, "three were lost and one waits");
    }
}
