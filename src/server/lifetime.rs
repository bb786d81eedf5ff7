//! How long a connection lasts, and how it ends.
//!
//! A connection that has become old, so that a load balancer spreads them anew, or that has carried no call for long,
//! is told to go: it takes no more calls and ends when those in flight are answered. One that then carries none and
//! stays silent is closed, since its other side has perhaps never spoken.

use std::future::pending;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::Limits;
use super::activity::Activity;

/// In thousandths, to either side: connections that were made together do not all come back together.
const JITTER: u64 = 100;

/// The bounds of a connection's life.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lifetime {
    age: Option<Duration>,
    idle: Option<Duration>,
    drain: Duration,
    farewell: Duration,
}

impl Lifetime {
    pub(super) fn new(limits: &Limits, drain: Duration) -> Self {
        Self { age: limits.max_connection_age, idle: limits.idle_connection, drain, farewell: limits.farewell }
    }

    /// Until the connection is old, or has carried no call for too long.
    pub(super) async fn over(self, activity: &Activity) {
        tokio::select! {
            () = old(self.age) => tracing::debug!("a connection is old"),
            () = unused(self.idle, activity) => tracing::debug!("a connection is not used"),
        }
    }

    /// Until the connection carries no call and nothing moves on it.
    pub(super) async fn silence(self, activity: &Activity) {
        loop {
            let before = activity.moved();
            sleep(self.farewell).await;
            if activity.is_idle() && activity.moved() == before {
                return;
            }
        }
    }

    /// The same, for calls that are not waited for any longer than at a stop.
    pub(super) async fn silence_or_drain(self, activity: &Activity) {
        // Either way it is closed.
        let _ = timeout(self.drain, self.silence(activity)).await;
    }
}

async fn old(age: Option<Duration>) {
    match age {
        Some(age) => sleep(jittered(age, RandomState::new().hash_one(()))).await,
        None => pending().await,
    }
}

async fn unused(idle: Option<Duration>, activity: &Activity) {
    let Some(idle) = idle else { return pending().await };
    let mut calls = activity.calls();
    loop {
        // The other side of the channel lives in `activity`.
        let _ = calls.wait_for(|calls| *calls == 0).await;
        tokio::select! {
            () = sleep(idle) => return,
            _ = calls.changed() => {}
        }
    }
}

fn jittered(age: Duration, dice: u64) -> Duration {
    let thousandths = 1000 - JITTER + dice % (2 * JITTER + 1);
    age.mul_f64(f64::from(u32::try_from(thousandths).unwrap_or(1000)) / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_spread_by_a_tenth_to_either_side_and_no_further() {
        let age = Duration::from_hours(1);
        let all: Vec<_> = (0..1000).map(|dice| jittered(age, dice)).collect();
        assert_eq!(all.iter().min(), Some(&Duration::from_mins(54)));
        assert_eq!(all.iter().max(), Some(&Duration::from_mins(66)));
        assert!(all.contains(&age));
        assert!(jittered(age, u64::MAX) <= Duration::from_mins(66));
    }

    #[test]
    fn connections_made_at_once_get_ages_of_their_own() {
        let draw = || jittered(Duration::from_hours(1), RandomState::new().hash_one(()));
        let first = draw();
        assert!((0..100).any(|_| draw() != first));
    }
}
