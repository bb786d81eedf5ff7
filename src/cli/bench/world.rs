//! The memories that are asked for: who has how many of them, which ids they have, and what they say.

use clap::Args;
use uuid::{Builder, Uuid};

use super::dice::Dice;

/// The project in which everything is recalled. Every second memory lies in it, the others at general level.
pub(super) const PROJECT: &str = "bench";
/// What all of them are.
pub(super) const KIND: &str = "experience";
/// What they are recalled for.
pub(super) const PURPOSE: &str = "converse";
/// Where they came from.
pub(super) const SOURCE: &str = "user_message";
/// Who calls.
pub(super) const PRINCIPAL: &str = "bench";

/// Milliseconds of 2026-01-01, from where ids count: they sort as those of a service that has run for a while.
const BEGIN_MILLIS: u64 = 1_767_225_600_000;

/// How many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args, serde::Serialize, serde::Deserialize)]
pub(super) struct World {
    /// Tenants; each has one credential
    #[arg(long, value_name = "NUMBER", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) tenants: u32,
    /// Subjects of each tenant
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 25,
        value_parser = clap::value_parser!(u32).range(1..=10_000_000)
    )]
    pub(super) subjects: u32,
    /// Of these, so many are asked about: the first [default: all]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(super) asked_subjects: Option<u32>,
    /// Memories of each subject
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    pub(super) memories: u32,
    /// Bytes of each value
    #[arg(long, value_name = "BYTES", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(super) value_bytes: u16,
}

impl World {
    pub(super) fn tenant(tenant: u32) -> String {
        format!("bench-{tenant}")
    }

    pub(super) fn subject(subject: u32) -> String {
        format!("subject-{subject}")
    }

    /// A tenant and a subject that are asked about.
    pub(super) fn asked(&self, dice: &mut Dice) -> (u32, u32) {
        let subjects = self.asked_subjects.map_or(self.subjects, |asked| asked.min(self.subjects));
        (dice.below(self.tenants), dice.below(subjects))
    }

    /// How many memories there are in all.
    pub(super) fn size(&self) -> u64 {
        u64::from(self.tenants) * u64::from(self.subjects) * u64::from(self.memories)
    }

    /// The place of one among all.
    pub(super) fn ordinal(&self, tenant: u32, subject: u32, memory: u32) -> u64 {
        (u64::from(tenant) * u64::from(self.subjects) + u64::from(subject)) * u64::from(self.memories)
            + u64::from(memory)
    }

    /// The id of one that was loaded in bulk. It follows from its place, so that nobody has to remember it.
    pub(super) fn id(&self, tenant: u32, subject: u32, memory: u32) -> Uuid {
        made(self.ordinal(tenant, subject, memory), 0)
    }

    /// Some of the words of which all values are made, each as often as the others.
    pub(super) fn words(dice: &mut Dice, count: u32) -> Vec<&'static str> {
        const WORDS: [&str; 16] = [
            "prefers", "short", "answers", "green", "tea", "before", "noon", "trains", "over", "planes", "and",
            "quiet", "rooms", "with", "large", "windows",
        ];
        let word = |_| WORDS.get(usize::try_from(dice.below(16)).unwrap_or_default()).copied();
        (0..count).filter_map(word).collect()
    }

    /// What one says: words, as long as every other.
    pub(super) fn value(&self, number: u64) -> String {
        let mut dice = Dice::of(number, 0);
        let mut value = format!("note {number}");
        let length = usize::from(self.value_bytes);
        while value.len() < length {
            value.push(' ');
            value.extend(Self::words(&mut dice, 1));
        }
        value.truncate(length);
        // A value may not end in nothing.
        if value.ends_with(' ') {
            value.pop();
            value.push('.');
        }
        value
    }
}

/// An id of version 7 that follows from a number; `salt` keeps memories and decisions apart.
pub(super) fn made(number: u64, salt: u64) -> Uuid {
    let mut random = [0; 10];
    let mut dice = Dice::of(salt, number);
    let bytes = dice.next().to_be_bytes().into_iter().chain(dice.next().to_be_bytes());
    random.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    Builder::from_unix_timestamp_millis(BEGIN_MILLIS + number / 4, &random).into_uuid()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const WORLD: World = World { tenants: 2, subjects: 3, asked_subjects: None, memories: 50, value_bytes: 60 };

    #[test]
    fn every_memory_has_an_id_of_its_own_and_decisions_have_others() {
        let mut ids = BTreeSet::new();
        for tenant in 0..2 {
            for subject in 0..3 {
                for memory in 0..50 {
                    ids.insert(WORLD.id(tenant, subject, memory));
                    ids.insert(made(WORLD.ordinal(tenant, subject, memory), 1));
                }
            }
        }
        assert_eq!(ids.len(), 600);
        assert!(ids.iter().all(|id| id.get_version_num() == 7));
    }

    #[test]
    fn all_are_asked_about_or_the_first() {
        let asked = |asked_subjects| -> BTreeSet<(u32, u32)> {
            let world = World { asked_subjects, ..WORLD };
            (0..1000).map(|number| world.asked(&mut Dice::of(1, number))).collect()
        };
        assert_eq!(asked(None).len(), 6);
        assert_eq!(asked(Some(9)).len(), 6);
        assert_eq!(asked(Some(1)), [(0, 0), (1, 0)].into());
    }

    #[test]
    fn values_are_as_long_as_was_asked_and_of_one_piece() {
        for number in 0..1000 {
            for value_bytes in [1, 5, 60] {
                let value = World { value_bytes, ..WORLD }.value(number);
                assert_eq!(value.len(), usize::from(value_bytes));
                assert_eq!(value.trim(), value);
            }
        }
    }
}
