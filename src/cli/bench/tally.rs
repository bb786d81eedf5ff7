//! How long calls took, and how the others ended.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::Failure;
use super::mix::Method;

/// Latencies are kept to three digits.
const DIGITS: u8 = 3;
/// What took longer counts as this long: an hour.
const LONGEST_MICROS: u64 = 3_600_000_000;

/// What came of the calls of one run.
pub(super) struct Tally {
    /// Microseconds from the intended start to the whole answer, of the calls that were answered well.
    by_method: BTreeMap<Method, Histogram<u64>>,
    /// Microseconds that calls were sent after their intended start.
    late: Histogram<u64>,
    /// How many ended otherwise, by code.
    errors: BTreeMap<&'static str, u64>,
}

/// A few points of a distribution, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub(super) struct Quantiles {
    pub(super) p50: u64,
    pub(super) p90: u64,
    pub(super) p99: u64,
    #[serde(rename = "p99.9")]
    pub(super) p999: u64,
    pub(super) max: u64,
}

impl Quantiles {
    fn of(histogram: &Histogram<u64>) -> Self {
        Self {
            p50: histogram.value_at_quantile(0.5),
            p90: histogram.value_at_quantile(0.9),
            p99: histogram.value_at_quantile(0.99),
            p999: histogram.value_at_quantile(0.999),
            max: histogram.max(),
        }
    }
}

impl Tally {
    pub(super) fn new() -> Result<Self, Failure> {
        let by_method = Method::ALL.into_iter().map(|method| Ok((method, histogram()?)));
        Ok(Self { by_method: by_method.collect::<Result<_, Failure>>()?, late: histogram()?, errors: BTreeMap::new() })
    }

    /// One call that was answered well.
    pub(super) fn answered(&mut self, method: Method, took: Duration) {
        if let Some(histogram) = self.by_method.get_mut(&method) {
            record(histogram, took);
        }
    }

    /// One that ended otherwise.
    pub(super) fn failed(&mut self, code: &'static str) {
        *self.errors.entry(code).or_default() += 1;
    }

    /// How late one was sent.
    pub(super) fn sent(&mut self, late: Duration) {
        record(&mut self.late, late);
    }

    /// Takes over what another has counted.
    pub(super) fn add(&mut self, other: &Self) -> Result<(), Failure> {
        let full = |error| Failure::because("latencies could not be added up", &error);
        self.late.add(&other.late).map_err(full)?;
        for (method, latencies) in &other.by_method {
            if let Some(own) = self.by_method.get_mut(method) {
                own.add(latencies).map_err(full)?;
            }
        }
        for (code, count) in &other.errors {
            *self.errors.entry(code).or_default() += count;
        }
        Ok(())
    }

    /// How many calls were answered well.
    pub(super) fn answered_count(&self) -> u64 {
        self.by_method.values().map(Histogram::len).sum()
    }

    /// How many ended otherwise, by code.
    pub(super) const fn errors(&self) -> &BTreeMap<&'static str, u64> {
        &self.errors
    }

    /// Of each method how many were answered, and how fast.
    pub(super) fn by_method(&self) -> BTreeMap<&'static str, (u64, Quantiles)> {
        let row = |(method, histogram): (&Method, &Histogram<u64>)| {
            (method.name(), (histogram.len(), Quantiles::of(histogram)))
        };
        self.by_method.iter().filter(|(_, histogram)| !histogram.is_empty()).map(row).collect()
    }

    /// How fast all were answered.
    pub(super) fn latency(&self) -> Result<Quantiles, Failure> {
        let mut all = histogram()?;
        for one in self.by_method.values() {
            all.add(one).map_err(|error| Failure::because("latencies could not be added up", &error))?;
        }
        Ok(Quantiles::of(&all))
    }

    /// How late they were sent.
    pub(super) fn late(&self) -> Quantiles {
        Quantiles::of(&self.late)
    }
}

fn histogram() -> Result<Histogram<u64>, Failure> {
    Histogram::new_with_bounds(1, LONGEST_MICROS, DIGITS).map_err(|error| Failure::because("no histogram", &error))
}

fn record(histogram: &mut Histogram<u64>, time: Duration) {
    histogram.saturating_record(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_all_calls_whoever_counted_them() {
        let (mut one, mut other) = (Tally::new().unwrap(), Tally::new().unwrap());
        for millis in 1..=500 {
            one.answered(Method::Recall, Duration::from_millis(millis));
            other.answered(Method::Capture, Duration::from_millis(500 + millis));
        }
        other.failed("UNAVAILABLE");
        one.failed("UNAVAILABLE");
        one.sent(Duration::from_micros(40));
        one.add(&other).unwrap();
        let all = one.latency().unwrap();
        let near = |found: u64, expected: u64| found.abs_diff(expected) * 500 <= expected;
        assert!(near(all.p50, 500_000) && near(all.p90, 900_000) && near(all.p99, 990_000), "{all:?}");
        assert!(near(all.p999, 999_000) && near(all.max, 1_000_000), "{all:?}");
        assert_eq!(one.answered_count(), 1000);
        assert_eq!(one.by_method().get("recall").map(|(count, _)| *count), Some(500));
        assert_eq!(one.errors().get("UNAVAILABLE"), Some(&2));
        assert_eq!(one.late().max, 40);
    }
}
