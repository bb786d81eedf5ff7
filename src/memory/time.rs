//! Instants and spans as whole microseconds.

use std::fmt;

/// An instant: microseconds since 1970, within the years 1 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

/// A span of time in microseconds, never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(i64);

const MICROS_PER_SECOND: i64 = 1_000_000;
const FIRST_SECOND: i64 = -62_135_596_800;
const LAST_SECOND: i64 = 253_402_300_799;
const LAST_MICRO: i64 = LAST_SECOND * MICROS_PER_SECOND + 999_999;

impl Time {
    /// From seconds and nanoseconds as a protobuf Timestamp has them; what is finer than a microsecond is cut off.
    /// `None` outside the years 1 to 9999, or where `nanos` is not within 0..1,000,000,000.
    #[must_use]
    pub fn from_parts(seconds: i64, nanos: i32) -> Option<Self> {
        let in_range = (FIRST_SECOND..=LAST_SECOND).contains(&seconds) && (0..1_000_000_000).contains(&nanos);
        in_range.then(|| Self(seconds * MICROS_PER_SECOND + i64::from(nanos / 1000)))
    }

    /// Seconds and nanoseconds, `nanos` never negative.
    #[must_use]
    pub fn parts(self) -> (i64, i32) {
        let micros = i32::try_from(self.0.rem_euclid(MICROS_PER_SECOND)).unwrap_or_default();
        (self.0.div_euclid(MICROS_PER_SECOND), micros * 1000)
    }

    /// From microseconds since 1970, as a store holds them.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// That much later; stops at the last instant there is, the end of the year 9999.
    #[must_use]
    pub fn plus(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0).min(LAST_MICRO))
    }

    /// That much earlier; stops at the first instant there is.
    #[must_use]
    pub const fn minus(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// How long after `earlier`; zero where it is not after it.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        let span = self.0.saturating_sub(earlier.0);
        Span(if span > 0 { span } else { 0 })
    }
}

impl Span {
    /// From whole seconds; a negative number is no time at all.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        let micros = seconds.saturating_mul(MICROS_PER_SECOND);
        Self(if micros > 0 { micros } else { 0 })
    }

    /// Microseconds.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanos) = self.parts();
        write!(f, "{seconds}.{:06}", nanos / 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_and_denormal_timestamps_are_no_time() {
        for (seconds, nanos) in [
            (i64::MAX, 0),
            (i64::MIN, 0),
            (LAST_SECOND + 1, 0),
            (FIRST_SECOND - 1, 0),
            (0, -1),
            (0, 1_000_000_000),
            (0, i32::MAX),
            (0, i32::MIN),
        ] {
            assert_eq!(Time::from_parts(seconds, nanos), None, "{seconds} {nanos}");
        }
    }

    #[test]
    fn time_before_1970_keeps_positive_nanos() {
        let time = Time::from_parts(-1, 999_999_999).unwrap();
        assert_eq!(time.micros(), -1);
        assert_eq!(time.parts(), (-1, 999_999_000));
    }

    #[test]
    fn adding_stops_at_the_last_instant_that_a_timestamp_can_name() {
        let last = Time::from_parts(LAST_SECOND, 999_999_999).unwrap();
        assert_eq!(Time::from_parts(LAST_SECOND, 0).unwrap().plus(Span::from_seconds(i64::MAX)), last);
        assert_eq!(Time::from_micros(i64::MAX).plus(Span::from_seconds(1)), last);
        assert_eq!(Time::from_micros(i64::MIN).minus(Span::from_seconds(i64::MAX)).micros(), i64::MIN);
        assert_eq!(Time::from_micros(i64::MIN).since(Time::from_micros(i64::MAX)).micros(), 0);
    }
}
