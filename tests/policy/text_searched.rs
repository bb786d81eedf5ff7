//! Recall by text searches what may be read in this call, and nothing else has a say in the answer.

use proptest::prelude::*;
use recall_gate::memory::{
    Consent, KindName, Level, Memory, Owner, ProjectId, Sensitivity, State, SubjectId, TenantId,
};

use crate::fixture::{Setting, at, purpose_name};
use crate::text::{found, substring, with_value, with_values, words};

type Close = fn(&mut Memory);

/// What keeps a memory from being searched, though it may be asked for by key.
const CLOSED: &[(&str, Close)] = &[
    ("another subject", |m| m.address.owner = Owner::personal(SubjectId::new("s2").unwrap())),
    ("another tenant", |m| m.address.tenant = TenantId::new("t2").unwrap()),
    ("another project", |m| m.address.level = Level::Project(ProjectId::new("p2").unwrap())),
    ("above the ceiling", |m| m.sensitivity = Sensitivity::Restricted),
    ("deleted", |m| m.state = State::Deleted),
    ("quarantined", |m| m.state = State::Quarantined),
    ("forgotten", |m| m.state = State::Forgotten),
    ("expired", |m| m.expire_time = Some(at(0))),
    ("not yet valid", |m| m.valid_from_time = Some(at(1))),
    ("ahead of the clock", |m| m.update_time = at(1)),
    ("consent withdrawn", |m| m.consent = Consent::Withdrawn),
    ("consent missing", |m| m.kind = KindName::new("agreed").unwrap()),
    ("consent for another purpose", |m| {
        m.kind = KindName::new("agreed").unwrap();
        m.consent = Consent::Granted(vec![purpose_name("draft")]);
    }),
    ("without tokens or value", |m| (m.tokens, m.value) = (None, None)),
];

fn setting() -> Setting {
    Setting { max_sensitivity: Sensitivity::Personal, ..Setting::default() }
}

#[test]
fn i02_i12_text_matches_only_what_may_be_read_in_this_call() {
    let setting = setting();
    for (what, close) in CLOSED {
        let mut memories = with_values(&["lantern one", "lantern two"]);
        close(&mut memories[0]);
        for recalled in [words(&setting, "lantern", &memories), substring(&setting, "lantern", &memories)] {
            assert_eq!(found(&recalled), [2], "{what}");
        }
    }
}

fn values() -> impl Strategy<Value = Vec<String>> {
    let word = prop::sample::select(vec!["lantern", "torch", "candle", "绿茶", "茶", "tea", "🎉", "a_b", "50%", ";"]);
    let value = prop::collection::vec(word, 1..8).prop_map(|words| words.join(" "));
    prop::collection::vec(value, 0..12)
}

fn queries() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["lantern", "torch candle", "绿茶 tea", "🎉 50%", ";", "n t", "lantern torch tea a_b"])
        .prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn i02_what_may_not_be_read_never_changes_verdicts_ranks_or_counts(
        open in values(), closed in values(), why in prop::collection::vec(0..CLOSED.len(), 12), query in queries(),
    ) {
        let setting = setting();
        let open: Vec<Memory> = (1..).zip(&open).map(|(number, value)| with_value(number, value)).collect();
        let mut all = open.clone();
        for ((number, value), why) in (100..).zip(&closed).zip(why) {
            let mut memory = with_value(number, value);
            CLOSED[why].1(&mut memory);
            all.push(memory);
        }
        all.reverse();
        for ask in [words, substring] {
            let (alone, among) = (ask(&setting, &query, &open), ask(&setting, &query, &all));
            prop_assert_eq!(alone.verdicts, among.verdicts);
            prop_assert_eq!(alone.not_nominated_count, among.not_nominated_count);
        }
    }

    #[test]
    fn i02_the_values_of_what_may_not_be_read_change_nothing_at_all(
        open in values(), closed in values(), others in values(), why in prop::collection::vec(0..CLOSED.len(), 12),
        query in queries(),
    ) {
        let setting = setting();
        let among = |closed: &[String]| {
            let mut all: Vec<Memory> = (1..).zip(&open).map(|(number, value)| with_value(number, value)).collect();
            for ((number, value), why) in (100..).zip(closed).zip(&why) {
                let mut memory = with_value(number, value);
                CLOSED[*why].1(&mut memory);
                all.push(memory);
            }
            all
        };
        let count = closed.len().min(others.len());
        for ask in [words, substring] {
            let one = ask(&setting, &query, &among(&closed[..count]));
            prop_assert_eq!(one, ask(&setting, &query, &among(&others[..count])));
        }
    }

    #[test]
    fn i18_the_order_of_the_rows_makes_no_difference(values in values(), query in queries(), turn in 0_usize..12) {
        let mut memories: Vec<Memory> = (1..).zip(&values).map(|(number, value)| with_value(number, value)).collect();
        let one = words(&Setting::default(), &query, &memories);
        memories.reverse();
        if !memories.is_empty() {
            let by = turn % memories.len();
            memories.rotate_left(by);
        }
        prop_assert_eq!(one, words(&Setting::default(), &query, &memories));
    }

    #[test]
    fn every_value_is_found_by_each_of_its_words(value in "[a-z茶緑点ぁ-んA-ZÄÖÜß0-9 .,;']{1,40}") {
        let memories = with_values(&[&value, "another"]);
        let recalled = words(&Setting::default(), &value, &memories);
        let has_words = !value.chars().all(|character| !character.is_alphanumeric());
        prop_assert_eq!(found(&recalled).first() == Some(&1), has_words);
    }
}
