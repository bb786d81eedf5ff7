//! Numbers that look random and are the same in every run with the same seed.

/// The choices of one call.
pub(super) struct Dice(u64);

impl Dice {
    /// Those of the call with that number.
    pub(super) const fn of(seed: u64, number: u64) -> Self {
        Self(mixed(seed ^ mixed(number)))
    }

    /// The next number (`SplitMix64`).
    pub(super) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// One below `limit`; 0 where that is 0.
    pub(super) fn below(&mut self, limit: u32) -> u32 {
        u32::try_from(self.next() % u64::from(limit.max(1))).unwrap_or_default()
    }

    /// So many different ones below `limit`, in no order.
    pub(super) fn different(&mut self, count: u32, limit: u32) -> Vec<u32> {
        let mut chosen = Vec::new();
        for _ in 0..count.min(limit) {
            let mut one = self.below(limit);
            while chosen.contains(&one) {
                one = self.below(limit);
            }
            chosen.push(one);
        }
        chosen
    }
}

const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_same_call_has_the_same_choices_and_another_has_others() {
        let first = |number| Dice::of(1, number).next();
        assert_eq!(first(7), first(7));
        let all: BTreeSet<u64> = (0..1000).map(first).collect();
        assert_eq!(all.len(), 1000);
        assert_ne!(Dice::of(2, 7).next(), first(7));
    }

    #[test]
    fn different_ones_are_different_and_in_range_and_all_of_them_where_all_are_asked_for() {
        for number in 0..100 {
            let chosen: BTreeSet<u32> = Dice::of(1, number).different(10, 12).into_iter().collect();
            assert_eq!(chosen.len(), 10);
            assert!(chosen.iter().all(|one| *one < 12));
        }
        assert_eq!(Dice::of(1, 1).different(9, 3).len(), 3);
    }
}
