//! Selection: precedence, withholding, rank and budget; nomination closed over keys.

use recall_gate::memory::{
    Budget, Confidence, DerivedStoreId, Evidence, Key, KindName, Level, Memory, MemoryId, Nomination, Nominator, Owner,
    ProjectId, Reason, State, Subject, Trust, Verdict, Version,
};
use recall_gate::policy::{MAX_ALL, RecallInput, Recalled, recall};
use uuid::Uuid;

use crate::fixture::{BUDGET, Setting, at, memory, mine, project, shared, task};

struct Query {
    keys: Vec<Key>,
    nominations: Vec<Nomination>,
    all: bool,
    budget: Budget,
}

fn asking(keys: &[&str]) -> Query {
    Query {
        keys: keys.iter().map(|key| Key::new(*key).unwrap()).collect(),
        nominations: Vec::new(),
        all: false,
        budget: BUDGET,
    }
}

fn everything() -> Query {
    Query { all: true, ..asking(&[]) }
}

fn nominate(number: u128, score: f64, index: &str) -> Nomination {
    Nomination {
        memory_id: MemoryId(Uuid::from_u128(number)),
        value_version: Some(Version(2)),
        score: Some(score),
        derived_store: DerivedStoreId::new(index).ok(),
    }
}

fn run(setting: &Setting, query: &Query, memories: &[Memory]) -> Recalled {
    let memories = shared(memories);
    let input = RecallInput {
        keys: &query.keys,
        nominations: &query.nominations,
        all: query.all,
        search: None,
        budget: query.budget,
        memories: &memories,
        candidates: &[],
    };
    recall(&setting.terms(), &input)
}

fn number(verdict: &Verdict) -> u128 {
    match verdict.subject {
        Subject::Memory(id) => id.0.as_u128(),
        Subject::Candidate(id) => id.0.as_u128(),
    }
}

fn accepted(recalled: &Recalled) -> Vec<u128> {
    recalled.verdicts.iter().filter(|verdict| verdict.accepted()).map(number).collect()
}

fn reasons(recalled: &Recalled, of: u128) -> Vec<Reason> {
    recalled.verdicts.iter().find(|verdict| number(verdict) == of).unwrap().reasons.clone()
}

/// One key at all six places of precedence, narrowest first, numbered 1 to 6.
fn ladder() -> Vec<Memory> {
    let mut ladder = Vec::new();
    for level in [task(), project(), Level::General] {
        for owner in [mine(), Owner::SHARED] {
            ladder.push(memory(ladder.len() as u128 + 1, level.clone(), owner, "style"));
        }
    }
    ladder
}

#[test]
fn the_narrowest_is_used_and_every_wider_one_is_shadowed() {
    let mut ladder = ladder();
    for narrowest in 1..=6 {
        let recalled = run(&Setting::of("act"), &asking(&["style"]), &ladder);
        assert_eq!(accepted(&recalled), [narrowest]);
        for wider in narrowest + 1..=6 {
            assert_eq!(reasons(&recalled, wider), [Reason::Shadowed]);
        }
        ladder.remove(0);
    }
}

type Spoil = fn(&mut Memory);

/// Purpose, what is wrong with the narrower memory, and whether the wider one is withheld.
const WITHHOLDING: &[(&str, Spoil, bool)] = &[
    ("draft", |m| m.expire_time = Some(at(0)), true),
    ("converse", |m| m.expire_time = Some(at(0)), false),
    ("draft", |m| m.state = State::Quarantined, true),
    ("draft", |m| m.lineage_trust = Trust::Untrusted, true),
    ("draft", |m| m.confidence = None, true),
    ("draft", |m| m.purposes = vec![crate::fixture::purpose_name("act")], true),
    ("act", |m| m.confirm_time = Some(at(-900)), true),
    ("draft", |m| m.state = State::Deleted, false),
    ("draft", |m| m.state = State::Forgotten, false),
    ("draft", |m| m.valid_from_time = Some(at(5)), false),
    ("draft", |m| m.evidence = Evidence::None, false),
    ("draft", |m| m.kind = KindName::new("permission").unwrap(), true),
];

#[test]
fn a_confirmed_narrower_fact_that_cannot_be_used_withholds_the_wider_one() {
    for (row, (purpose, spoil, withheld)) in WITHHOLDING.iter().enumerate() {
        let mut narrow = memory(1, project(), mine(), "style");
        spoil(&mut narrow);
        let wide = memory(2, Level::General, mine(), "style");
        let recalled = run(&Setting::of(purpose), &asking(&["style"]), &[wide, narrow]);
        let expected: &[Reason] = if *withheld { &[Reason::NarrowerRejected] } else { &[] };
        assert_eq!(reasons(&recalled, 2), expected, "row {row}");
    }
}

#[test]
fn a_memory_of_another_project_neither_shadows_nor_withholds() {
    let mut elsewhere = memory(1, Level::Project(ProjectId::new("p2").unwrap()), mine(), "style");
    elsewhere.expire_time = Some(at(0));
    let wide = memory(2, Level::General, mine(), "style");
    let mut query = asking(&["style"]);
    query.nominations = vec![nominate(1, 1.0, "index")];
    let recalled = run(&Setting::of("act"), &query, &[elsewhere, wide]);
    assert_eq!(accepted(&recalled), [2]);
    assert_eq!(reasons(&recalled, 1), [Reason::OtherScope, Reason::Expired]);
}

#[test]
fn a_wider_fact_that_the_index_found_does_not_slip_past_the_narrower_one_at_its_key() {
    let memories = [memory(1, project(), mine(), "style"), memory(2, Level::General, mine(), "style")];
    let mut query = asking(&[]);
    query.nominations = vec![nominate(2, 0.9, "index")];
    let recalled = run(&Setting::default(), &query, &memories);
    assert_eq!(accepted(&recalled), [1]);
    assert_eq!(reasons(&recalled, 2), [Reason::Shadowed]);
    assert_eq!(recalled.verdicts[0].nominator, Nominator::SameKey);
}

#[test]
fn an_id_that_names_nothing_visible_is_unknown() {
    let mut query = asking(&[]);
    query.nominations = vec![nominate(9, 0.9, "index")];
    let mut foreign = memory(9, project(), mine(), "style");
    foreign.address.tenant = recall_gate::memory::TenantId::new("t2").unwrap();
    let missing = run(&Setting::default(), &query, &[]);
    let leaked = run(&Setting::default(), &query, &[foreign]);
    assert_eq!(reasons(&missing, 9), [Reason::UnknownNomination]);
    assert_eq!(missing.verdicts, leaked.verdicts);
    assert_eq!((missing.leaked_count, leaked.leaked_count), (0, 1));
}

#[test]
fn scores_order_within_their_ranking_and_rankings_merge_by_rank() {
    let memories: Vec<Memory> =
        ["style", "language", "tone"].iter().zip(1..).map(|(key, id)| memory(id, project(), mine(), key)).collect();
    let mut query = asking(&[]);
    // By score alone 3 would win; by rank 2 is second in one ranking and first in the other.
    query.nominations =
        vec![nominate(3, 900.0, "a"), nominate(2, 0.1, "a"), nominate(2, 0.3, "b"), nominate(1, 0.2, "b")];
    assert_eq!(accepted(&run(&Setting::default(), &query, &memories)), [2, 3, 1]);
    // Without the second ranking it is not.
    query.nominations.truncate(2);
    assert_eq!(accepted(&run(&Setting::default(), &query, &memories)), [3, 2]);
    query.nominations = vec![nominate(2, f64::MIN_POSITIVE, "a"), nominate(1, -1.0, "a")];
    assert_eq!(accepted(&run(&Setting::default(), &query, &memories)), [2, 1]);
}

#[test]
fn ties_are_broken_by_precedence_then_newer_then_confidence_then_key() {
    let wide = memory(1, Level::General, mine(), "language");
    let mut newer = memory(2, Level::General, mine(), "tone");
    newer.update_time = at(-50);
    let narrow = memory(3, project(), mine(), "style");
    let mut surer = memory(4, Level::General, mine(), "accent");
    surer.confidence = Confidence::value(0.9);
    let mut unsure = memory(5, Level::General, mine(), "aaa");
    unsure.confidence = Confidence::value(0.8);
    let mut as_sure = memory(6, Level::General, mine(), "zzz");
    as_sure.confidence = Confidence::value(0.9);
    let memories = [unsure, as_sure, wide, newer, surer, narrow];
    assert_eq!(accepted(&run(&Setting::default(), &everything(), &memories)), [3, 2, 1, 4, 6, 5]);
}

#[test]
fn an_item_that_does_not_fit_is_skipped_and_the_next_is_tried() {
    let mut memories: Vec<Memory> =
        ["language", "style", "tone"].iter().zip(1..).map(|(key, id)| memory(id, project(), mine(), key)).collect();
    memories[1].value_chars = 8;
    let mut query = everything();
    query.budget = Budget { max_items: 20, max_value_chars: 10 };
    let recalled = run(&Setting::default(), &query, &memories);
    assert_eq!(accepted(&recalled), [1, 3]);
    assert_eq!(reasons(&recalled, 2), [Reason::BudgetCharacters]);
    query.budget = Budget { max_items: 1, max_value_chars: 10 };
    let recalled = run(&Setting::default(), &query, &memories);
    assert_eq!(reasons(&recalled, 2), [Reason::BudgetItems, Reason::BudgetCharacters]);
    assert_eq!(reasons(&recalled, 3), [Reason::BudgetItems]);
}

#[test]
fn what_is_rejected_cannot_crowd_out_what_is_not() {
    let mut memories: Vec<Memory> = (0..2 * MAX_ALL)
        .map(|number| {
            let mut stale = memory(number as u128 + 10, task(), mine(), &format!("stale-{number}"));
            stale.expire_time = Some(at(-1));
            stale.update_time = at(-1);
            stale
        })
        .collect();
    memories.push(memory(1, Level::General, Owner::SHARED, "style"));
    let recalled = run(&Setting::default(), &everything(), &memories);
    assert_eq!(accepted(&recalled), [1]);
    assert_eq!(recalled.verdicts.len(), MAX_ALL);
    assert_eq!(recalled.not_nominated_count, 2 * MAX_ALL as u64 + 1 - MAX_ALL as u64);
}

#[test]
fn the_stale_time_is_the_first_instant_at_which_the_answer_changes_by_itself() {
    let mut first = memory(1, project(), mine(), "style");
    first.expire_time = Some(at(30));
    let mut second = memory(2, project(), mine(), "language");
    second.valid_from_time = Some(at(20));
    // Deleted and expired at once: that it expires changes its reasons, too.
    let mut third = memory(3, project(), mine(), "tone");
    third.state = State::Forgotten;
    third.expire_time = Some(at(10));
    let memories = [first, second, third];
    let recalled = run(&Setting::default(), &everything(), &memories);
    assert_eq!(recalled.stale_time, Some(at(20)));
    let before = run(&Setting { now: at(19), ..Setting::default() }, &everything(), &memories);
    let after = run(&Setting { now: at(20), ..Setting::default() }, &everything(), &memories);
    assert_eq!(before.verdicts, recalled.verdicts);
    assert_ne!(after.verdicts, recalled.verdicts);
}

#[test]
fn what_is_asked_for_by_key_is_meant_as_it_is_now_however_old_the_index() {
    let memories = [memory(1, project(), mine(), "style")];
    let stale = Nomination { value_version: Some(Version(1)), ..nominate(1, 0.9, "index") };
    let by_index = Query { nominations: vec![stale.clone()], ..asking(&[]) };
    assert_eq!(reasons(&run(&Setting::of("act"), &by_index, &memories), 1), [Reason::Superseded]);
    for query in [asking(&["style"]), everything()] {
        let both = Query { nominations: vec![stale.clone()], ..query };
        assert_eq!(accepted(&run(&Setting::of("act"), &both, &memories)), [1]);
    }
}
