//! What goes out, and above all what does not.

mod fields;

use std::collections::{BTreeMap, BTreeSet};

use prost::Message;
use regex::Regex;
use uuid::Uuid;

use super::verdict::{self, TextKeys};
use super::{candidate, discovery, memory, recall, receipt};
use crate::api::codec::Written;
use crate::api::proto;
use crate::gate::{Error, Shown, ShownCandidate};
use crate::identity::{Caller, Grants};
use crate::memory::{
    Address, Attributes, Candidate, CandidateId, Confidence, Consent, DecisionId, Disposition, Evidence, Judgement,
    Key, KindName, Level, Memory, MemoryId, Nominator, Outcome, Owner, PolicyVersion, PrincipalId, ProjectId,
    PurposeName, Reason, Receipt, Revision, ScopeRevision, Sensitivity, Source, SourceKindName, Span, State, Subject,
    SubjectId, TaskId, TenantId, Text, Time, Trust, Verdict, Version,
};
use crate::policy::{
    Access, Activates, Class, Inference, Keys, Kind, LevelName, NarrowerRejected, Policy, Purpose, Risk, Screening,
    SourceRule, ValueRule, ValueType,
};
use crate::wire;

fn memory_id(number: u128) -> MemoryId {
    MemoryId(Uuid::from_u128(number))
}

fn key() -> Key {
    Key::new("zq7canary").unwrap()
}

fn attributes(key_is_text: bool) -> Attributes {
    Attributes {
        owner: Owner::SHARED,
        level: Level::Project(ProjectId::new("alpha").unwrap()),
        key: key(),
        key_is_text,
        kind: KindName::new("preference").unwrap(),
        version: Version(3),
        value_version: Version(2),
        state: Some(State::Active),
        source_kind: None,
        lineage_trust: Trust::Verified,
        evidence: Evidence::None,
        confidence: None,
        sensitivity: Sensitivity::Internal,
        consent: Consent::NotApplicable,
        purposes: Vec::new(),
        observe_time: Time::from_micros(0),
        valid_from_time: None,
        expire_time: None,
        update_time: Time::from_micros(0),
        confirm_time: None,
        value_chars: 4,
    }
}

fn judged(number: u128, reasons: Vec<Reason>, attributes: Option<Attributes>) -> Verdict {
    let subject = Subject::Memory(memory_id(number));
    Verdict { subject, reasons, nominator: Nominator::Key, nomination: None, attributes }
}

fn judgement(verdicts: Vec<Verdict>) -> Judgement {
    Judgement {
        decision_id: DecisionId(Uuid::from_u128(9)),
        method: "Recall",
        tenant: TenantId::new("acme").unwrap(),
        subject: None,
        principal: PrincipalId::new("agent").unwrap(),
        grants: [].into(),
        max_sensitivity: Sensitivity::Internal,
        purpose: Some(PurposeName::new("draft").unwrap()),
        context: None,
        policy_version: PolicyVersion([0xab; 32]),
        decide_time: Time::from_micros(-1),
        stale_time: None,
        revisions: Vec::new(),
        verdicts,
        not_nominated_count: u64::MAX,
        min_confidence: None,
        budget: None,
        evidence: Evidence::None,
        disposition: Disposition::Answered,
        validate_only: false,
    }
}

fn shown(number: u128) -> Shown {
    let text = |text: &str| Text::new(text.to_owned());
    let memory = Memory {
        id: memory_id(number),
        address: Address {
            tenant: TenantId::new("acme").unwrap(),
            owner: Owner::personal(SubjectId::new("ada").unwrap()),
            level: Level::General,
            key: key(),
        },
        kind: KindName::new("preference").unwrap(),
        version: Version(3),
        value_version: Version(2),
        state: State::Quarantined,
        value: Some(text("Rust")),
        tokens: None,
        value_chars: 4,
        source: Source {
            kind: Some(SourceKindName::new("user_message").unwrap()),
            reference: text("message 7"),
            parents: vec![memory_id(8)],
            parent_references: vec![text("ticket 9")],
        },
        lineage_trust: Trust::Verified,
        evidence: Evidence::UserConfirmed,
        confidence: Confidence::from_millionths(290_000),
        sensitivity: Sensitivity::Personal,
        consent: Consent::Granted(vec![PurposeName::new("draft").unwrap()]),
        purposes: vec![PurposeName::new("draft").unwrap()],
        observe_time: Time::from_micros(1),
        valid_from_time: Some(Time::from_micros(2)),
        expire_time: Some(Time::from_micros(3)),
        create_time: Time::from_micros(4),
        update_time: Time::from_micros(5),
        confirm_time: Some(Time::from_micros(6)),
        author: PrincipalId::new("agent").unwrap(),
        change_reason: text("zq7canary"),
        intact: true,
    };
    Shown::made_up(memory, true, Trust::Attributed, true)
}

/// What was written, as whoever gets it reads it.
fn read<M: Message + Default>(write: impl FnOnce(&mut wire::Message)) -> M {
    Written::new(0, write).read()
}

fn verdict(judged: &Verdict, text_keys: TextKeys) -> proto::Verdict {
    read(|message| verdict::verdict(message, judged, text_keys))
}

#[test]
fn a_key_that_is_text_is_told_of_what_was_admitted_alone() {
    let told = |reasons: Vec<Reason>, key_is_text, text_keys| {
        verdict(&judged(1, reasons, Some(attributes(key_is_text))), text_keys).key
    };
    assert_eq!(told(vec![], true, TextKeys::OfAdmitted), "zq7canary");
    assert_eq!(told(vec![Reason::Expired], true, TextKeys::OfAdmitted), "");
    assert_eq!(told(vec![], true, TextKeys::Withheld), "");
    assert_eq!(told(vec![Reason::Expired], false, TextKeys::Withheld), "zq7canary");
}

#[test]
fn i06_an_explanation_holds_no_text_at_all() {
    let verdicts = vec![
        judged(1, vec![], Some(attributes(true))),
        judged(2, vec![Reason::Expired, Reason::LowConfidence], Some(attributes(true))),
    ];
    let explained = recall::explain_recall(&judgement(verdicts)).read();
    assert_eq!((explained.accepted.len(), explained.rejected.len()), (1, 1));
    assert!(!String::from_utf8_lossy(&explained.encode_to_vec()).contains("zq7canary"));
    assert_eq!(explained.not_nominated_count, i64::MAX);
    assert_eq!(explained.policy_version, "ab".repeat(32));
    assert_eq!(explained.decide_time.unwrap().nanos, 999_999_000);
}

#[test]
fn i07_the_counts_are_over_all_rejected_verdicts_though_the_first_are_listed() {
    let mut verdicts = vec![judged(0, vec![], None)];
    verdicts.extend((1..=100).map(|number| judged(number, vec![Reason::Deleted, Reason::Expired], None)));
    verdicts.push(judged(200, vec![Reason::UnknownNomination], None));
    let judgement = judgement(verdicts);
    let explained = recall::explain_recall(&judgement).read();
    assert_eq!((explained.rejected.len(), explained.rejected_count), (64, 101));
    let counts: Vec<_> = explained.reason_counts.iter().map(|count| (count.reason(), count.count)).collect();
    let expected =
        [(proto::Reason::UnknownNomination, 1), (proto::Reason::Deleted, 100), (proto::Reason::Expired, 100)];
    assert_eq!(counts, expected);
}

#[test]
fn a_verdict_on_what_is_unknown_tells_its_id_and_nothing_else() {
    let unknown = verdict(&judged(7, vec![Reason::UnknownNomination], None), TextKeys::OfAdmitted);
    let expected = proto::Verdict {
        memory_id: memory_id(7).to_string(),
        reasons: vec![proto::Reason::UnknownNomination.into()],
        nominator: proto::Nominator::Key.into(),
        ..proto::Verdict::default()
    };
    assert_eq!(unknown, expected);
}

#[test]
fn i09_facts_are_called_untrusted_data_without_authority() {
    let envelope: proto::Envelope = read(|message| recall::envelope(message, &judgement(Vec::new()), &[shown(1)]));
    assert_eq!((envelope.content_type.as_str(), envelope.action_authority), ("untrusted_memory_data", false));
    assert_eq!((envelope.purpose.as_str(), envelope.facts.len()), ("draft", 1));
}

#[test]
fn each_memory_stands_beside_its_own_verdict_and_a_candidate_beside_none() {
    let candidate = Verdict {
        subject: Subject::Candidate(CandidateId(Uuid::from_u128(2))),
        ..judged(0, vec![Reason::Unconfirmed], None)
    };
    let verdicts = [judged(1, vec![], None), candidate, judged(3, vec![], None), judged(4, vec![], None)];
    let listed: proto::ListMemoriesResponse =
        read(|message| recall::entries(message, 2, &verdicts, &[shown(1), shown(3)]));
    let entries = listed.entries;
    let ids = entries.iter().map(|entry| entry.memory.as_ref().map(|memory| memory.memory_id.clone()));
    let expected = [Some(memory_id(1).to_string()), None, Some(memory_id(3).to_string()), None];
    assert!(ids.eq(expected));
    assert!(entries.iter().all(|entry| entry.verdict.is_some()));
}

fn receipt_with(outcome: Option<Outcome>) -> Receipt {
    Receipt {
        decision_id: DecisionId(Uuid::from_u128(9)),
        policy_version: PolicyVersion([1; 32]),
        outcome,
        reasons: vec![Reason::InstructionLike],
        memory_id: Some(memory_id(1)),
        candidate_id: None,
        version: Some(Version(3)),
        value_version: None,
        expire_time: Some(Time::from_micros(1)),
        replayed: true,
    }
}

#[test]
fn a_receipt_tells_its_outcome_or_is_a_defect() {
    let held = receipt::capture(&receipt_with(Some(Outcome::Held))).unwrap();
    assert_eq!(held.outcome(), proto::Outcome::Held);
    assert_eq!(held.reasons, [i32::from(proto::Reason::InstructionLike)]);
    assert_eq!((held.version, held.value_version, held.candidate_id.as_str()), (3, 0, ""));
    assert!(held.replayed);
    assert!(matches!(receipt::capture(&receipt_with(None)), Err(Error::Internal(_))));
    assert!(matches!(receipt::correct(&receipt_with(None)), Err(Error::Internal(_))));
    assert!(matches!(receipt::confirm_candidate(&receipt_with(None)), Err(Error::Internal(_))));
    assert_eq!(receipt::delete(&receipt_with(None)).version, 3);
}

fn policy() -> Policy {
    let kind = Kind {
        name: KindName::new("preference").unwrap(),
        class: Class::Preference,
        keys: Keys::Pattern(Regex::new("^x$").unwrap()),
        many: true,
        levels: BTreeSet::from([LevelName::General, LevelName::Task]),
        audiences: BTreeSet::new(),
        purposes: BTreeSet::new(),
        consent_needed: false,
        evidence: vec![Evidence::OperatorVerified, Evidence::UserConfirmed],
        inference: Inference::LowRisk,
        default_life: Some(Span::from_seconds(60)),
        longest_life: None,
        sensitivity: Sensitivity::Personal,
        value: ValueRule { value_type: ValueType::Text, values: BTreeSet::new(), max_chars: 100 },
        narrower_rejected: NarrowerRejected::ByRisk,
    };
    let purpose = |name: &str| Purpose {
        name: PurposeName::new(name).unwrap(),
        access: Access::Judged,
        risk: Risk::High,
        min_confidence: Confidence::ONE,
        min_trust: Trust::Attributed,
        evidence: Vec::new(),
        max_sensitivity: Sensitivity::Personal,
        max_confirmation_age: None,
        nominated_version_required: false,
    };
    let source = |name: &str| SourceRule {
        name: SourceKindName::new(name).unwrap(),
        trust: Trust::Attributed,
        max_confidence: Confidence::ONE,
        activates: Activates::Nothing,
        lineage_required: true,
    };
    Policy {
        version: PolicyVersion([2; 32]),
        document: String::new(),
        kinds: [(kind.name.clone(), kind)].into_iter().collect(),
        purposes: ["act", "draft"].map(purpose).map(|purpose| (purpose.name.clone(), purpose)).into_iter().collect(),
        sources: ["tool", "user_message"].map(source).map(|source| (source.name.clone(), source)).into_iter().collect(),
        confirming_sources: BTreeMap::new(),
        unstated_source_max_confidence: Confidence::ZERO,
        screening: Screening::default(),
        candidate_life: Span::from_seconds(1),
    }
}

#[test]
fn a_caller_sees_every_kind_but_only_the_purposes_and_sources_it_holds() {
    let grants = Grants::parse(["purpose:draft", "source:user_message"]).unwrap();
    let seen = discovery::policy(&policy(), &grants);
    assert_eq!((seen.kinds.len(), seen.purposes.len(), seen.sources.len()), (1, 1, 1));
    assert_eq!((seen.purposes[0].purpose.as_str(), seen.sources[0].source_kind.as_str()), ("draft", "user_message"));
    let kind = &seen.kinds[0];
    assert_eq!(kind.levels().collect::<Vec<_>>(), [proto::Level::General, proto::Level::Task]);
    assert_eq!(kind.evidence().next(), Some(proto::Evidence::OperatorVerified));
    assert_eq!((kind.default_life.unwrap().seconds, kind.longest_life), (60, None));
    let nothing = discovery::policy(&policy(), &Grants::none());
    assert!(nothing.purposes.is_empty() && nothing.sources.is_empty());
}

#[test]
fn all_projects_are_told_apart_from_none() {
    let caller = discovery::caller(&Caller::development().unwrap());
    assert!(caller.development && caller.all_projects && caller.projects.is_empty());
    assert_eq!((caller.tenant_id.as_str(), caller.subject_id.as_str()), ("dev", "dev"));
    assert_eq!(caller.grants, Grants::all().names());
    assert_eq!(caller.max_sensitivity(), proto::Sensitivity::Restricted);
}
