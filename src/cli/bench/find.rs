//! Looks for the highest rate that is kept: every call answered, none late.

use std::time::Duration;

use super::drive::{Measured, Pace};

/// Runs after the first, each of which halves what is in question.
pub(super) const STEPS: u32 = 7;
/// Of the calls that were to be made in a second, so many have to be answered.
const KEPT: f64 = 0.99;
/// The answers a second of a closed loop are no bound from above: a little more is tried too.
const BEYOND: f64 = 1.2;

/// What is in question.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search {
    kept: f64,
    too_high: f64,
}

impl Search {
    /// Begins with what a closed loop came to, in answers a second.
    pub(super) fn from(closed: f64) -> Self {
        Self { kept: 0.0, too_high: (closed * BEYOND).max(2.0) }
    }

    /// What to try next.
    pub(super) fn next(&self) -> f64 {
        f64::midpoint(self.kept, self.too_high).round().max(1.0)
    }

    pub(super) const fn learn(&mut self, rate: f64, was_kept: bool) {
        if was_kept {
            self.kept = rate;
        } else {
            self.too_high = rate;
        }
    }

    /// The highest that was kept; `None`: none was.
    pub(super) fn found(&self) -> Option<f64> {
        (self.kept > 0.0).then_some(self.kept)
    }
}

/// Whether a run kept its rate: nothing failed or was held back, and 99 of 100 answers came in that time.
pub(super) fn was_kept(run: &Measured, answered_per_second: f64, p99: Duration, longest: Duration) -> bool {
    let Pace::Open { rate } = run.pace else { return false };
    run.tally.errors().is_empty() && run.unsent == 0 && answered_per_second >= KEPT * rate && p99 <= longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::bench::mix::Method;
    use crate::cli::bench::tally::Tally;

    #[test]
    fn it_comes_close_to_the_highest_rate_from_either_side() {
        for (closed, limit) in [(1000.0, 730.0), (1000.0, 1150.0), (50.0, 50.0)] {
            let mut search = Search::from(closed);
            for _ in 0..STEPS {
                let rate = search.next();
                search.learn(rate, rate <= limit);
            }
            let found = search.found().unwrap();
            assert!(found <= limit && found > limit - closed * 0.05, "{closed} {limit} {found}");
        }
        let mut never = Search::from(100.0);
        never.learn(60.0, false);
        assert_eq!(never.found(), None);
    }

    #[test]
    fn a_rate_is_kept_only_where_all_is_answered_in_time() {
        let run = |errors: bool, unsent| {
            let mut tally = Tally::new().unwrap();
            tally.answered(Method::Recall, Duration::from_millis(1));
            if errors {
                tally.failed("UNAVAILABLE");
            }
            let pace = Pace::Open { rate: 100.0 };
            Measured { pace, elapsed: Duration::from_secs(1), tally, unsent, server: None, generator: None }
        };
        let (fast, longest) = (Duration::from_millis(5), Duration::from_millis(50));
        assert!(was_kept(&run(false, 0), 99.5, fast, longest));
        assert!(!was_kept(&run(true, 0), 99.5, fast, longest));
        assert!(!was_kept(&run(false, 1), 99.5, fast, longest));
        assert!(!was_kept(&run(false, 0), 98.0, fast, longest));
        assert!(!was_kept(&run(false, 0), 99.5, Duration::from_millis(51), longest));
    }
}
