//! Recall by text: what is found, and in which order.

use std::collections::BTreeSet;

use recall_gate::memory::{
    Level, Memory, MemoryId, Nomination, Nominator, Reason, State, Subject, Text, Verdict, Version,
};
use recall_gate::policy::{MAX_ALL, RecallInput, Recalled, Search, Words, recall, tokens};
use uuid::Uuid;

use crate::fixture::{BUDGET, Setting, at, memory, mine, project, shared};

/// A memory with a value and a key of its own.
pub(crate) fn with_value(number: u128, value: &str) -> Memory {
    let value = Text::new(value.to_owned());
    let mut made = memory(number, Level::General, mine(), &format!("key-{number}"));
    made.tokens = Some(tokens(&value));
    made.value = Some(value);
    made
}

/// Memories with these values, numbered from 1.
pub(crate) fn with_values(values: &[&str]) -> Vec<Memory> {
    (1..).zip(values).map(|(number, value)| with_value(number, value)).collect()
}

fn ask(setting: &Setting, search: Search<'_>, nominations: &[Nomination], memories: &[Memory]) -> Recalled {
    let memories = shared(memories);
    let input = RecallInput {
        keys: &[],
        nominations,
        all: false,
        search: Some(search),
        budget: BUDGET,
        memories: &memories,
        candidates: &[],
    };
    recall(&setting.terms(), &input)
}

pub(crate) fn words(setting: &Setting, query: &str, memories: &[Memory]) -> Recalled {
    ask(setting, Search::Words(&Words::of(&Text::new(query.to_owned()))), &[], memories)
}

/// As a store would answer it.
pub(crate) fn substring(setting: &Setting, query: &str, memories: &[Memory]) -> Recalled {
    let holding: BTreeSet<MemoryId> = memories
        .iter()
        .filter(|memory| memory.value.as_ref().is_some_and(|value| value.expose().contains(query)))
        .map(|memory| memory.id)
        .collect();
    ask(setting, Search::Substring(&holding), &[], memories)
}

fn number(subject: Subject) -> u128 {
    match subject {
        Subject::Memory(id) => id.0.as_u128(),
        Subject::Candidate(id) => panic!("a candidate was found by text: {id}"),
    }
}

pub(crate) fn found(recalled: &Recalled) -> Vec<u128> {
    recalled.verdicts.iter().map(|verdict| number(verdict.subject)).collect()
}

const VALUES: [&str; 12] = [
    "The weekly report goes out on Friday.",
    "She drinks tea; never coffee.",
    "Sie wohnt in der Hauptstraße 7 in Köln.",
    "Der Wochenbericht geht freitags raus.",
    "她喜欢喝绿茶，不喜欢咖啡。",
    "数据库是 PostgreSQL 16。",
    "東京タワーの近くに住んでいる。",
    "Kaffee mit Milch ☕ 🎉",
    "semi-final at 3.14 o'clock",
    "iPhone 用のケース",
    "50% off, a_b",
    "report report report, and once more: report",
];

/// A query, and the values it finds, the best first.
const TABLE: &[(&str, &[u128])] = &[
    ("report", &[12, 1]),
    ("REPORT friday", &[1, 12]),
    ("tea coffee", &[2]),
    ("hauptstrasse", &[3]),
    ("HAUPTSTRASSE köln", &[3]),
    ("koln", &[]),
    ("Ko\u{308}ln", &[3]),
    ("绿茶", &[5]),
    ("喝茶", &[]),
    ("数据库", &[6]),
    ("postgresql 数据", &[6]),
    ("タワー", &[7]),
    ("ﾀﾜｰ", &[7]),
    ("東京", &[7]),
    ("京都", &[]),
    ("ケース IPHONE", &[10]),
    ("☕", &[8]),
    ("🎉", &[8]),
    ("semi final", &[9]),
    ("o\u{2019}clock", &[9]),
    ("3.14", &[9]),
    ("50%", &[11]),
    ("5%", &[]),
    ("a_b", &[11]),
    ("axb", &[]),
    ("tea*", &[2]),
    ("te*", &[]),
    ("\"tea\" NOT coffee", &[2]),
    ("( ) , ;", &[]),
    ("*", &[]),
    ("   ", &[]),
];

#[test]
fn words_find_the_values_that_have_them_the_best_first() {
    let memories = with_values(&VALUES);
    for (query, expected) in TABLE {
        let recalled = words(&Setting::default(), query, &memories);
        assert_eq!(found(&recalled), *expected, "{query}");
        assert!(recalled.verdicts.iter().all(|verdict| verdict.accepted() && verdict.nominator == Nominator::Text));
        assert_eq!(recalled.not_nominated_count, 0);
    }
}

#[test]
fn a_rarer_word_a_shorter_value_and_more_words_are_better() {
    let order = |query: &str, values: &[&str]| found(&words(&Setting::default(), query, &with_values(values)));
    assert_eq!(order("common rare", &["common a", "common b", "rare c", "common d"])[0], 3);
    assert_eq!(order("tea", &["tea and many other words that say little", "tea and cake", "milk"]), [2, 1]);
    assert_eq!(order("green tea", &["green grass", "black tea", "green tea"])[0], 3);
    assert_eq!(order("tea", &["tea milk", "tea tea", "sugar milk"]), [2, 1]);
}

#[test]
fn equally_good_matches_rank_by_precedence_and_time() {
    let mut memories = with_values(&["tea", "tea", "tea"]);
    memories[2].address.level = project();
    memories[1].update_time = at(-1);
    assert_eq!(found(&words(&Setting::default(), "tea", &memories)), [3, 2, 1]);
    assert_eq!(found(&substring(&Setting::default(), "e", &memories)), [3, 2, 1]);
}

#[test]
fn a_substring_is_literal() {
    let memories = with_values(&VALUES);
    for (query, expected) in
        [("50%", &[11][..]), ("5%", &[]), ("a_b", &[11]), ("axb", &[]), ("茶，", &[5]), ("tea;", &[2])]
    {
        assert_eq!(found(&substring(&Setting::default(), query, &memories)), expected, "{query}");
    }
}

#[test]
fn a_match_that_is_rejected_for_its_worth_is_nominated_and_says_why() {
    let mut memories = with_values(&["lantern", "lantern"]);
    memories[0].confidence = None;
    let recalled = words(&Setting::default(), "lantern", &memories);
    assert_eq!(found(&recalled), [2, 1]);
    assert_eq!(recalled.verdicts[1].reasons, [Reason::AttributeMissing, Reason::LowConfidence]);
}

#[test]
fn rejected_matches_cannot_crowd_out_an_admissible_one_and_the_rest_is_counted() {
    let mut memories: Vec<Memory> = (2..400).map(|number| with_value(number, "lantern lantern")).collect();
    for memory in &mut memories {
        memory.confidence = None;
    }
    memories.push(with_value(1, "a lantern among a good many other words"));
    for recalled in
        [words(&Setting::default(), "lantern", &memories), substring(&Setting::default(), "lantern", &memories)]
    {
        assert_eq!(found(&recalled)[0], 1);
        assert!(recalled.verdicts[0].accepted());
        assert_eq!((recalled.verdicts.len(), recalled.not_nominated_count), (MAX_ALL, 399 - MAX_ALL as u64));
    }
}

#[test]
fn what_lies_at_the_key_of_a_match_comes_along_and_what_lies_at_the_key_of_a_lesser_one_does_not() {
    let mut narrow = memory(1000, project(), mine(), "key-1");
    narrow.tokens = Some(tokens(&Text::new("torch".to_owned())));
    let mut of_the_last = memory(1001, project(), mine(), "key-99");
    of_the_last.tokens = narrow.tokens.clone();
    let mut memories: Vec<Memory> = (1..=300).map(|number| with_value(number, "lantern")).collect();
    memories[0].update_time = at(-1);
    memories.extend([narrow, of_the_last]);
    let recalled = words(&Setting::default(), "lantern", &memories);
    let found = found(&recalled);
    assert_eq!(found[0], 1000);
    assert_eq!(recalled.verdicts[0].nominator, Nominator::SameKey);
    assert!(found.contains(&1) && !found.contains(&1001));
    assert_eq!((found.len(), recalled.not_nominated_count), (MAX_ALL + 1, 300 - MAX_ALL as u64));
}

#[test]
fn a_text_and_an_index_agree_by_reciprocal_rank() {
    let memories = with_values(&["lantern lantern", "lantern and torch", "torch"]);
    let nominate = |number, score| Nomination {
        memory_id: MemoryId(Uuid::from_u128(number)),
        value_version: Some(Version(2)),
        score: Some(score),
        derived_store: None,
    };
    let query = Words::of(&Text::new("lantern".to_owned()));
    let both = ask(&Setting::default(), Search::Words(&query), &[nominate(3, 0.9), nominate(2, 0.8)], &memories);
    assert_eq!(found(&both), [2, 1, 3]);
    let stale = Nomination { value_version: Some(Version(1)), ..nominate(1, 0.9) };
    let both = ask(&Setting::default(), Search::Words(&query), &[stale], &memories);
    assert!(both.verdicts.iter().all(Verdict::accepted), "the text matched the value as it is now");
}

#[test]
fn the_answer_goes_stale_when_time_opens_or_closes_any_memory_to_search_whatever_its_value() {
    let mut memories = with_values(&["lantern", "torch", "lantern"]);
    let stale_time = |memories: &[Memory]| words(&Setting::default(), "lantern", memories).stale_time;
    assert_eq!(stale_time(&memories), None);
    memories[2].valid_from_time = Some(at(50));
    assert_eq!(stale_time(&memories), Some(at(50)));
    memories[1].expire_time = Some(at(40));
    assert_eq!(stale_time(&memories), Some(at(40)));
    memories[1].state = State::Deleted;
    assert_eq!(stale_time(&memories), Some(at(50)));
    let before = words(&Setting { now: at(49), ..Setting::default() }, "lantern", &memories);
    let after = words(&Setting { now: at(50), ..Setting::default() }, "lantern", &memories);
    assert_eq!((before.verdicts.len(), after.verdicts.len()), (1, 2));
}

#[test]
fn the_words_of_a_query_and_of_a_value_are_not_shown_by_debug() {
    let words = Words::of(&Text::new("zq7canary".to_owned()));
    let tokens = tokens(&Text::new("zq7canary".to_owned()));
    assert_eq!(format!("{words:?} {tokens:?}"), "Words(1) Tokens(10 bytes)");
    assert_eq!(format!("{:?}", Search::Words(&words)), "Words(Words(1))");
}
