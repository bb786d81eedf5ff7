//! Each recall gate by a memory that fails it alone, and the order of reasons by one that fails them all.

use recall_gate::memory::{
    Confidence, Consent, Evidence, KindName, Level, Memory, Nomination, Nominator, Owner, ProjectId, Reason,
    Sensitivity, SourceKindName, State, SubjectId, TenantId, Trust, Version,
};
use recall_gate::policy::{Nominated, judge};

use crate::fixture::{NOW, Setting, at, memory, mine, project, purpose_name};

fn judged(setting: &Setting, memory: &Memory) -> Vec<Reason> {
    judge(&setting.terms(), &Nominated { memory, nominator: Nominator::Key, nomination: None })
}

fn nominated_at(setting: &Setting, memory: &Memory, value_version: Option<i64>) -> Vec<Reason> {
    let nomination = Nomination {
        memory_id: memory.id,
        value_version: value_version.map(Version),
        score: None,
        derived_store: None,
    };
    judge(&setting.terms(), &Nominated { memory, nominator: Nominator::Index, nomination: Some(&nomination) })
}

fn good() -> Memory {
    memory(1, project(), mine(), "style")
}

type Spoil = fn(&mut Memory);

/// Purpose, what is wrong with the memory, and the one reason that says so.
const TABLE: &[(&str, Spoil, &[Reason])] = &[
    ("act", |_| {}, &[]),
    ("converse", |m| m.address.level = Level::Project(ProjectId::new("p2").unwrap()), &[Reason::OtherScope]),
    ("converse", |m| m.state = State::Deleted, &[Reason::Deleted]),
    ("converse", |m| m.state = State::Forgotten, &[Reason::Forgotten]),
    ("converse", |m| m.state = State::Quarantined, &[Reason::Quarantined]),
    ("converse", |m| m.valid_from_time = Some(at(1)), &[Reason::NotYetValid]),
    ("converse", |m| m.valid_from_time = Some(NOW), &[]),
    ("converse", |m| m.expire_time = Some(at(1)), &[]),
    ("converse", |m| m.expire_time = Some(NOW), &[Reason::Expired]),
    ("converse", |m| m.expire_time = Some(at(-1)), &[Reason::Expired]),
    ("converse", |m| m.update_time = at(1), &[Reason::AheadOfClock]),
    ("converse", |m| m.observe_time = at(1), &[Reason::AheadOfClock]),
    ("converse", |m| m.source.kind = SourceKindName::new("retrieved_document").ok(), &[Reason::UntrustedSource]),
    ("converse", |m| m.source.kind = None, &[Reason::UntrustedSource]),
    ("converse", |m| m.lineage_trust = Trust::Untrusted, &[Reason::UntrustedSource]),
    ("draft", |m| m.lineage_trust = Trust::Unverified, &[Reason::UntrustedSource]),
    (
        "converse",
        |m| m.source.kind = SourceKindName::new("rumour").ok(),
        &[Reason::UntrustedSource, Reason::SourceKindUnknown],
    ),
    (
        "converse",
        |m| m.kind = KindName::new("permission").unwrap(),
        &[Reason::KindUnknown, Reason::PurposeNotAllowed, Reason::ConsentMissing, Reason::InferenceNotAllowed],
    ),
    ("converse", |m| m.intact = false, &[Reason::AttributeMissing]),
    ("converse", |m| m.confidence = None, &[Reason::AttributeMissing, Reason::LowConfidence]),
    ("converse", |m| m.purposes = vec![purpose_name("draft")], &[Reason::PurposeNotAllowed]),
    ("converse", |m| m.consent = Consent::Withdrawn, &[Reason::ConsentWithdrawn]),
    ("converse", |m| m.kind = KindName::new("agreed").unwrap(), &[Reason::ConsentMissing]),
    (
        "converse",
        |m| {
            m.kind = KindName::new("agreed").unwrap();
            m.consent = Consent::Granted(vec![purpose_name("draft")]);
        },
        &[Reason::ConsentMissing],
    ),
    (
        "converse",
        |m| {
            m.kind = KindName::new("agreed").unwrap();
            m.consent = Consent::Granted(vec![purpose_name("converse")]);
        },
        &[],
    ),
    (
        "converse",
        |m| {
            m.kind = KindName::new("agreed").unwrap();
            m.address.owner = Owner::SHARED;
            m.evidence = Evidence::OperatorVerified;
            m.consent = Consent::NotApplicable;
        },
        &[],
    ),
    ("converse", |m| m.sensitivity = Sensitivity::Restricted, &[Reason::SensitivityTooHigh]),
    ("draft", |m| m.confidence = Confidence::value(0.8), &[]),
    ("draft", |m| m.confidence = Confidence::value(0.799_999), &[Reason::LowConfidence]),
    ("act", |m| m.confirm_time = Some(at(-500)), &[Reason::ConfirmationTooOld]),
    ("act", |m| m.confirm_time = Some(at(-499)), &[]),
    ("converse", |m| m.evidence = Evidence::None, &[Reason::InferenceNotAllowed]),
    (
        "converse",
        |m| {
            m.kind = KindName::new("loose").unwrap();
            m.evidence = Evidence::None;
        },
        &[],
    ),
    (
        "draft",
        |m| {
            m.kind = KindName::new("loose").unwrap();
            m.evidence = Evidence::None;
        },
        &[Reason::InferenceNotAllowed],
    ),
    // The subject's word does not count for what is shared.
    ("converse", |m| m.address.owner = Owner::SHARED, &[Reason::InferenceNotAllowed]),
];

#[test]
fn each_gate_rejects_with_its_own_reason() {
    for (row, (purpose, spoil, reasons)) in TABLE.iter().enumerate() {
        let mut memory = good();
        spoil(&mut memory);
        assert_eq!(judged(&Setting::of(purpose), &memory), *reasons, "row {row}");
    }
}

#[test]
fn i02_another_tenants_or_subjects_memory_is_unknown_and_nothing_else_is_said() {
    let mut memory = good();
    memory.state = State::Deleted;
    let foreign = Setting { tenant: TenantId::new("t2").unwrap(), ..Setting::default() };
    assert_eq!(judged(&foreign, &memory), [Reason::UnknownNomination]);
    let other = Setting { subject: SubjectId::new("s2").unwrap(), ..Setting::default() };
    assert_eq!(judged(&other, &memory), [Reason::UnknownNomination]);
}

#[test]
fn above_the_callers_ceiling_a_memory_is_not_visible_at_all() {
    let mut memory = good();
    memory.sensitivity = Sensitivity::Personal;
    let setting = Setting { max_sensitivity: Sensitivity::Internal, ..Setting::default() };
    assert_eq!(judged(&setting, &memory), [Reason::UnknownNomination]);
}

#[test]
fn i07_a_memory_that_fails_everything_is_rejected_for_everything_in_gate_order() {
    let mut memory = good();
    memory.address.level = Level::Project(ProjectId::new("p2").unwrap());
    memory.state = State::Deleted;
    memory.valid_from_time = Some(at(5));
    memory.expire_time = Some(at(-5));
    memory.update_time = at(9);
    memory.source.kind = SourceKindName::new("rumour").ok();
    memory.kind = KindName::new("permission").unwrap();
    memory.intact = false;
    memory.confidence = None;
    memory.consent = Consent::Withdrawn;
    memory.sensitivity = Sensitivity::Restricted;
    memory.evidence = Evidence::None;
    memory.confirm_time = None;
    let reasons = nominated_at(&Setting::of("act"), &memory, Some(1));
    assert_eq!(
        reasons,
        [
            Reason::OtherScope,
            Reason::Deleted,
            Reason::Superseded,
            Reason::NotYetValid,
            Reason::Expired,
            Reason::AheadOfClock,
            Reason::UntrustedSource,
            Reason::SourceKindUnknown,
            Reason::KindUnknown,
            Reason::AttributeMissing,
            Reason::PurposeNotAllowed,
            Reason::ConsentWithdrawn,
            Reason::SensitivityTooHigh,
            Reason::LowConfidence,
            Reason::EvidenceTooWeak,
            Reason::ConfirmationTooOld,
            Reason::InferenceNotAllowed,
        ]
    );
    assert!(reasons.is_sorted());
}

#[test]
fn an_index_that_holds_another_value_version_is_told_so() {
    let memory = good();
    let converse = Setting::default();
    assert_eq!(nominated_at(&converse, &memory, Some(1)), [Reason::Superseded]);
    assert_eq!(nominated_at(&converse, &memory, Some(2)), []);
    assert_eq!(nominated_at(&converse, &memory, Some(3)), [Reason::StaleNomination]);
    assert_eq!(nominated_at(&converse, &memory, None), []);
    assert_eq!(nominated_at(&Setting::of("act"), &memory, None), [Reason::StaleNomination]);
}

#[test]
fn i08_a_request_may_raise_the_floor_of_confidence_and_never_lower_it() {
    let mut memory = good();
    memory.confidence = Confidence::value(0.7);
    let raised = Setting { min_confidence: Confidence::floor(0.75), ..Setting::default() };
    assert_eq!(judged(&raised, &memory), [Reason::LowConfidence]);
    let lowered = Setting { min_confidence: Confidence::floor(0.0), ..Setting::of("draft") };
    assert_eq!(judged(&lowered, &memory), [Reason::LowConfidence]);
}

#[test]
fn the_subject_sees_their_own_memories_in_every_state_and_no_others() {
    let access = Setting { context: None, ..Setting::of("subject_access") };
    let mut memory = good();
    memory.expire_time = Some(at(-1));
    memory.source.kind = None;
    memory.consent = Consent::Withdrawn;
    assert_eq!(judged(&access, &memory), []);
    memory.state = State::Quarantined;
    assert_eq!(judged(&access, &memory), []);
    memory.state = State::Deleted;
    assert_eq!(judged(&access, &memory), [Reason::Deleted]);
    memory.state = State::Forgotten;
    assert_eq!(judged(&access, &memory), [Reason::Forgotten]);
    memory.state = State::Active;
    memory.address.owner = Owner::SHARED;
    assert_eq!(judged(&access, &memory), [Reason::PurposeNotAllowed]);
}

#[test]
fn i16_reading_at_a_later_time_gives_the_same_end() {
    let mut memory = good();
    memory.expire_time = Some(at(10));
    for (now, reasons) in [(at(9), &[][..]), (at(10), &[Reason::Expired][..]), (at(11), &[Reason::Expired][..])] {
        let setting = Setting { now, ..Setting::default() };
        assert_eq!(judged(&setting, &memory), reasons);
        assert_eq!(judged(&setting, &memory), reasons);
    }
}
