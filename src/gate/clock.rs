//! What time it is: the one place that asks the host.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::memory::{Span, Time};

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Time;
}

/// The host's clock.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        #[expect(clippy::disallowed_methods, reason = "the one home of the host's clock")]
        let now = SystemTime::now();
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        Time::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// A clock that stands still until it is moved: for demonstrations and tests.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Stands at that instant.
    #[must_use]
    pub const fn at(time: Time) -> Self {
        Self(AtomicI64::new(time.micros()))
    }

    /// Moves to that instant, backwards too.
    pub fn set(&self, time: Time) {
        self.0.store(time.micros(), Ordering::SeqCst);
    }

    /// Moves forward.
    pub fn advance(&self, span: Span) {
        self.set(self.now().plus(span));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Time {
        Time::from_micros(self.0.load(Ordering::SeqCst))
    }
}
