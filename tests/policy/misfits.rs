//! What of the memories that are stored another document would not have let in.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use recall_gate::memory::{
    Audience, Confidence, Consent, Evidence, Key, KindName, Level, Memory, Owner, Sensitivity, SourceKindName, Span,
    State, Text,
};
use recall_gate::policy::{Activates, Inference, Keys, Kind, LevelName, Misfit, Policy, SourceRule, ValueType};

use crate::fixture::{NOW, at, from, memory, mine, policy, purpose_name};

#[test]
fn a_key_is_text_where_policy_gives_a_pattern_unless_it_is_the_id_of_the_memory() {
    let pattern = kind(|kind| kind.keys = Keys::Pattern(regex::Regex::new("^.*$").unwrap()));
    let mut memory = stored();
    assert!(pattern.key_of_memory_is_text(&memory));
    assert!(!policy().key_of_memory_is_text(&memory), "it is listed");
    memory.address.key = Key::new(memory.id.to_string()).unwrap();
    assert!(!pattern.key_of_memory_is_text(&memory));
    memory.id.0 = uuid::Uuid::from_u128(99);
    assert!(pattern.key_of_memory_is_text(&memory), "it is another's id");
}

/// Changes the kind of a memory, as another document would.
fn kind(change: impl FnOnce(&mut Kind)) -> Policy {
    let mut policy = policy();
    change(policy.kinds.get_mut(&stored().kind).unwrap());
    policy
}

fn source(change: impl FnOnce(&mut SourceRule)) -> Policy {
    let mut policy = policy();
    let stored = stored();
    change(policy.sources.get_mut(stored.source.kind.as_ref().unwrap()).unwrap());
    policy
}

fn stored() -> Memory {
    owned(mine())
}

fn owned(owner: Owner) -> Memory {
    Memory { expire_time: Some(at(500)), ..memory(1, Level::General, owner, "style") }
}

#[track_caller]
fn assert_misfits(policy: &Policy, memory: &Memory, expected: &[Misfit]) {
    assert_eq!(policy.misfits(memory, NOW), expected, "{memory:?}");
}

#[test]
fn what_the_document_allows_fits() {
    assert_misfits(&policy(), &stored(), &[]);
    assert_misfits(&policy(), &owned(Owner::SHARED), &[]);
    assert_misfits(&policy(), &Memory { value: None, ..stored() }, &[]);
}

#[test]
fn a_kind_that_is_dropped_is_told_alone() {
    let mut without = policy();
    without.kinds.shift_remove(&stored().kind);
    assert_misfits(&without, &stored(), &[Misfit::KindUnknown]);
}

#[test]
fn each_way_in_which_a_kind_is_narrowed_is_told() {
    let others = |keys: &[&str]| keys.iter().map(|key| Key::new(*key).unwrap()).collect::<BTreeSet<_>>();
    let rows: Vec<(Policy, Misfit)> = vec![
        (kind(|kind| kind.keys = Keys::Listed(others(&["tone"]))), Misfit::KeyNotAllowed),
        (kind(|kind| kind.levels = [LevelName::Task].into()), Misfit::ScopeNotAllowed),
        (kind(|kind| kind.audiences = [Audience::Shared].into()), Misfit::AudienceNotAllowed),
        (kind(|kind| kind.value.max_chars = 1), Misfit::ValueNotAllowed),
        (kind(|kind| kind.value.value_type = ValueType::Number), Misfit::ValueNotAllowed),
        (kind(|kind| kind.sensitivity = Sensitivity::Restricted), Misfit::SensitivityTooLow),
        (
            kind(|kind| {
                kind.evidence = vec![Evidence::TaskVerified];
                kind.inference = Inference::Never;
            }),
            Misfit::EvidenceTooWeak,
        ),
    ];
    for (policy, misfit) in rows {
        assert_misfits(&policy, &stored(), &[misfit]);
    }
}

#[test]
fn purposes_that_its_kind_is_no_longer_for_are_told_and_an_empty_list_is_not() {
    let narrower = kind(|kind| kind.purposes = [purpose_name("converse")].into());
    let named =
        |purposes: &[&str]| Memory { purposes: purposes.iter().map(|name| purpose_name(name)).collect(), ..stored() };
    assert_misfits(&narrower, &named(&["converse", "draft"]), &[Misfit::PurposeNotAllowed]);
    assert_misfits(&narrower, &named(&["converse"]), &[]);
    assert_misfits(&narrower, &named(&[]), &[]);
    let consent = Consent::Granted(vec![purpose_name("nothing")]);
    assert_misfits(&policy(), &Memory { consent, ..stored() }, &[Misfit::PurposeNotAllowed]);
}

#[test]
fn evidence_counts_by_audience_and_inference_stands_only_where_kind_and_source_allow_it() {
    let inferred = Memory { evidence: Evidence::None, confirm_time: None, ..stored() };
    let allowed = kind(|kind| kind.inference = Inference::LowRisk);
    assert_misfits(&allowed, &inferred, &[]);
    assert_misfits(&kind(|kind| kind.inference = Inference::Never), &inferred, &[Misfit::EvidenceTooWeak]);
    let mut passive = allowed.clone();
    let source_kind = inferred.source.kind.clone().unwrap();
    passive.sources.get_mut(&source_kind).unwrap().activates = Activates::Nothing;
    assert_misfits(&passive, &inferred, &[Misfit::EvidenceTooWeak]);
    let mut shared = owned(Owner::SHARED);
    shared.evidence = Evidence::UserConfirmed;
    assert_misfits(&kind(|kind| kind.inference = Inference::Never), &shared, &[Misfit::EvidenceTooWeak]);
}

#[test]
fn a_source_that_is_dropped_or_worth_less_is_told() {
    let unknown = Memory { source: from("user_message"), ..stored() };
    let mut without = policy();
    without.sources.shift_remove(&SourceKindName::new("user_message").unwrap());
    assert_misfits(&without, &unknown, &[Misfit::SourceKindUnknown]);
    let lower = source(|source| source.max_confidence = Confidence::value(0.1).unwrap());
    assert_misfits(&lower, &stored(), &[Misfit::ConfidenceTooHigh]);
}

#[test]
fn a_life_counts_from_observation_confirmation_or_beginning_whichever_is_last() {
    let policy = kind(|kind| kind.longest_life = Some(Span::from_seconds(100)));
    let life = |observe, confirm: Option<i64>, begin: Option<i64>, end: Option<i64>| Memory {
        observe_time: at(observe),
        confirm_time: confirm.map(at),
        valid_from_time: begin.map(at),
        expire_time: end.map(at),
        ..stored()
    };
    assert_misfits(&policy, &life(-50, None, None, Some(50)), &[]);
    assert_misfits(&policy, &life(-50, None, None, Some(51)), &[Misfit::LifeTooLong]);
    assert_misfits(&policy, &life(-50, Some(-49), None, Some(51)), &[]);
    assert_misfits(&policy, &life(-50, Some(-49), Some(10), Some(110)), &[]);
    assert_misfits(&policy, &life(-50, Some(-49), Some(10), Some(111)), &[Misfit::LifeTooLong]);
    assert_misfits(&policy, &life(-50, None, None, None), &[Misfit::LifeTooLong]);
    assert_misfits(&kind(|kind| kind.longest_life = None), &life(-50, None, None, None), &[]);
}

#[test]
fn a_key_that_is_the_memorys_own_id_fits_a_kind_of_many_alone() {
    let mut own = stored();
    own.address.key = Key::new(own.id.to_string()).unwrap();
    assert_misfits(&kind(|kind| kind.many = true), &own, &[]);
    assert_misfits(&kind(|kind| kind.many = false), &own, &[Misfit::KeyNotAllowed]);
    own.address.key = Key::new(uuid::Uuid::from_u128(2).to_string()).unwrap();
    assert_misfits(&kind(|kind| kind.many = true), &own, &[Misfit::KeyNotAllowed]);
}

#[test]
fn what_is_over_or_forgotten_is_left_out_and_what_could_come_back_is_not() {
    let mut without = policy();
    without.kinds.shift_remove(&KindName::new(stored().kind.as_str()).unwrap());
    assert_misfits(&without, &Memory { expire_time: Some(NOW), ..stored() }, &[]);
    assert_misfits(&without, &Memory { state: State::Forgotten, value: None, ..stored() }, &[]);
    for state in [State::Deleted, State::Quarantined] {
        assert_misfits(&without, &Memory { state, ..stored() }, &[Misfit::KindUnknown]);
    }
}

#[test]
fn every_misfit_is_told_at_once_in_order() {
    let policy = kind(|kind| {
        kind.levels = BTreeSet::new();
        kind.value.max_chars = 2;
        kind.sensitivity = Sensitivity::Restricted;
    });
    let mut memory = stored();
    memory.value = Some(Text::new("日本語".to_owned()));
    memory.source = from("nobody");
    let expected =
        [Misfit::ScopeNotAllowed, Misfit::ValueNotAllowed, Misfit::SourceKindUnknown, Misfit::SensitivityTooLow];
    assert_misfits(&policy, &memory, &expected);
}
