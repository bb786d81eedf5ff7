//! How sure a fact is.

/// A number from 0 to 1 in millionths: exact in both databases, and never not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(u32);

const ONE: u32 = 1_000_000;

impl Confidence {
    /// No confidence at all.
    pub const ZERO: Self = Self(0);
    /// Certainty.
    pub const ONE: Self = Self(ONE);

    /// A value, rounded down to millionths. `None` unless finite and from 0 to 1.
    #[must_use]
    pub fn value(number: f64) -> Option<Self> {
        Self::scaled(number).map(|scaled| Self(whole(scaled.floor())))
    }

    /// A floor that values are compared with, rounded up. `None` unless finite and from 0 to 1.
    #[must_use]
    pub fn floor(number: f64) -> Option<Self> {
        Self::scaled(number).map(|scaled| Self(whole(scaled.ceil())))
    }

    fn scaled(number: f64) -> Option<f64> {
        // Written so that not-a-number fails the test instead of passing it.
        if !(0.0..=1.0).contains(&number) {
            return None;
        }
        let scaled = number * f64::from(ONE);
        // 0.29 * 1e6 is 290000.00000000006 or so: what lies within rounding error of a whole number is that number.
        let nearest = scaled.round();
        Some(if (scaled - nearest).abs() < 1e-6 && (nearest > 0.0 || scaled == 0.0) { nearest } else { scaled })
    }

    /// From millionths, as a store holds them. `None` above one million.
    #[must_use]
    pub fn from_millionths(millionths: i64) -> Option<Self> {
        u32::try_from(millionths).ok().filter(|millionths| *millionths <= ONE).map(Self)
    }

    /// Millionths.
    #[must_use]
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// As a number from 0 to 1.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / f64::from(ONE)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the caller has bounded it to 0..=1e6")]
const fn whole(number: f64) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_from_0_to_1_is_refused() {
        for bits in [f64::NAN.to_bits(), 0x7ff0_0000_0000_0001, f64::INFINITY.to_bits(), f64::NEG_INFINITY.to_bits()] {
            assert_eq!(Confidence::value(f64::from_bits(bits)), None);
            assert_eq!(Confidence::floor(f64::from_bits(bits)), None);
        }
        for number in [-0.1, 1.000_000_000_000_000_2, 2.0, -5e-324] {
            assert_eq!(Confidence::value(number), None, "{number}");
        }
        assert_eq!(Confidence::value(-0.0), Some(Confidence::ZERO));
        assert_eq!(Confidence::value(1.0), Some(Confidence::ONE));
    }

    #[test]
    fn values_round_down_and_floors_round_up() {
        assert_eq!(Confidence::value(0.799_999_9), Some(Confidence(799_999)));
        assert_eq!(Confidence::floor(0.799_999_1), Some(Confidence(800_000)));
        assert_eq!(Confidence::value(5e-324), Some(Confidence::ZERO));
        assert_eq!(Confidence::floor(5e-324), Some(Confidence(1)));
    }

    #[test]
    fn decimals_are_what_they_say_in_both_directions() {
        for millionths in (0..=ONE).step_by(7) {
            let number = f64::from(millionths) / 1e6;
            assert_eq!(Confidence::value(number), Some(Confidence(millionths)));
            assert_eq!(Confidence::floor(number), Some(Confidence(millionths)));
        }
    }
}
