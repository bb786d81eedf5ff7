//! A policy, memories and offers to vary, each valid as it is made here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use recall_gate::memory::{
    Address, Audience, Budget, Confidence, Consent, Context, Evidence, Key, KindName, Level, Memory, MemoryId, Owner,
    PolicyVersion, PrincipalId, ProjectId, PurposeName, Sensitivity, Source, SourceKindName, Span, State, SubjectId,
    TaskId, TenantId, Text, Time, Trust, Version,
};
use recall_gate::policy::{
    Access, Activates, Class, Inference, Keys, Kind, LevelName, NarrowerRejected, Offer, Policy, Purpose, Risk,
    Screening, SourceRule, Terms, ValueRule, ValueType, Viewpoint,
};
use uuid::Uuid;

pub(crate) const NOW: Time = Time::from_micros(1_000_000_000);

pub(crate) fn at(seconds: i64) -> Time {
    Time::from_micros(NOW.micros() + seconds * 1_000_000)
}

pub(crate) fn purpose_name(name: &str) -> PurposeName {
    PurposeName::new(name).unwrap()
}

pub(crate) fn subject() -> SubjectId {
    SubjectId::new("s").unwrap()
}

pub(crate) fn tenant() -> TenantId {
    TenantId::new("t").unwrap()
}

pub(crate) fn project() -> Level {
    Level::Project(ProjectId::new("p").unwrap())
}

pub(crate) fn task() -> Level {
    Level::Task(ProjectId::new("p").unwrap(), TaskId::new("t").unwrap())
}

pub(crate) fn mine() -> Owner {
    Owner::personal(subject())
}

pub(crate) fn kind(name: &str, inference: Inference, consent_needed: bool) -> Kind {
    Kind {
        name: KindName::new(name).unwrap(),
        class: Class::Preference,
        keys: Keys::Listed(["style", "language", "tone"].map(|key| Key::new(key).unwrap()).into()),
        many: false,
        levels: [LevelName::General, LevelName::Project, LevelName::Task].into(),
        audiences: [Audience::Personal, Audience::Shared].into(),
        purposes: ["converse", "draft", "act", "index"].map(purpose_name).into(),
        consent_needed,
        evidence: vec![Evidence::OperatorVerified, Evidence::UserConfirmed, Evidence::TaskVerified],
        inference,
        default_life: None,
        longest_life: Some(Span::from_seconds(1000)),
        sensitivity: Sensitivity::Internal,
        value: ValueRule { value_type: ValueType::Text, values: BTreeSet::new(), max_chars: 300 },
        narrower_rejected: NarrowerRejected::ByRisk,
    }
}

fn source(name: &str, trust: Trust, cap: f64, activates: Activates, lineage_required: bool) -> SourceRule {
    SourceRule {
        name: SourceKindName::new(name).unwrap(),
        trust,
        max_confidence: Confidence::value(cap).unwrap(),
        activates,
        lineage_required,
    }
}

fn purpose(name: &str, risk: Risk, floor: f64, min_trust: Trust, evidence: &[Evidence]) -> Purpose {
    Purpose {
        name: purpose_name(name),
        access: if name == "subject_access" { Access::Subject } else { Access::Judged },
        risk,
        min_confidence: Confidence::floor(floor).unwrap(),
        min_trust,
        evidence: evidence.to_vec(),
        max_sensitivity: Sensitivity::Personal,
        max_confirmation_age: (name == "act").then(|| Span::from_seconds(500)),
        nominated_version_required: name == "act",
    }
}

/// Kinds `loose` (may be inferred), `strict` (never) and `agreed` (needs consent).
pub(crate) fn policy() -> Policy {
    let kinds = [
        kind("loose", Inference::LowRisk, false),
        kind("strict", Inference::Never, false),
        kind("agreed", Inference::Never, true),
    ];
    let vouched = [Evidence::UserConfirmed, Evidence::TaskVerified, Evidence::OperatorVerified];
    let purposes = [
        purpose("converse", Risk::Low, 0.5, Trust::Unverified, &[]),
        purpose("draft", Risk::Medium, 0.8, Trust::Attributed, &[]),
        purpose("act", Risk::High, 0.9, Trust::Attributed, &vouched),
        purpose("subject_access", Risk::Low, 0.0, Trust::Untrusted, &[]),
    ];
    let sources = [
        source("user_message", Trust::Attributed, 1.0, Activates::AsKindAllows, false),
        source("user_confirmation", Trust::Verified, 1.0, Activates::AsKindAllows, false),
        source("model_inference", Trust::Unverified, 0.7, Activates::AsKindAllows, true),
        source("retrieved_document", Trust::Untrusted, 0.5, Activates::Nothing, false),
    ];
    Policy {
        version: PolicyVersion([7; 32]),
        document: String::new(),
        kinds: kinds.into_iter().map(|kind| (kind.name.clone(), kind)).collect(),
        purposes: purposes.into_iter().map(|purpose| (purpose.name.clone(), purpose)).collect(),
        sources: sources.into_iter().map(|source| (source.name.clone(), source)).collect(),
        confirming_sources: BTreeMap::from(
            vouched.map(|evidence| (evidence, SourceKindName::new("user_confirmation").unwrap())),
        ),
        unstated_source_max_confidence: Confidence::value(0.3).unwrap(),
        screening: Screening::default(),
        candidate_life: Span::from_seconds(1000),
    }
}

pub(crate) fn from(source_kind: &str) -> Source {
    Source {
        kind: Some(SourceKindName::new(source_kind).unwrap()),
        reference: Text::new("message-1".to_owned()),
        parents: Vec::new(),
        parent_references: Vec::new(),
    }
}

/// A confirmed memory of the subject's own, admissible for every purpose.
pub(crate) fn memory(number: u128, level: Level, owner: Owner, key: &str) -> Memory {
    let shared = owner.audience() == Audience::Shared;
    Memory {
        id: MemoryId(Uuid::from_u128(number)),
        address: Address { tenant: tenant(), owner, level, key: Key::new(key).unwrap() },
        kind: KindName::new("strict").unwrap(),
        version: Version(2),
        value_version: Version(2),
        state: State::Active,
        value: Some(Text::new("brief".to_owned())),
        tokens: None,
        value_chars: 5,
        source: from("user_message"),
        lineage_trust: Trust::Verified,
        evidence: if shared { Evidence::OperatorVerified } else { Evidence::UserConfirmed },
        confidence: Some(Confidence::ONE),
        sensitivity: Sensitivity::Internal,
        consent: if shared { Consent::NotApplicable } else { Consent::Unset },
        purposes: Vec::new(),
        observe_time: at(-100),
        valid_from_time: None,
        expire_time: None,
        create_time: at(-100),
        update_time: at(-100),
        confirm_time: Some(at(-100)),
        author: PrincipalId::new("agent").unwrap(),
        change_reason: Text::default(),
        intact: true,
    }
}

/// A confirmed offer of another value for the same place.
pub(crate) fn offer() -> Offer {
    Offer {
        address: memory(1, Level::General, mine(), "style").address,
        own_key: false,
        kind: KindName::new("strict").unwrap(),
        value: Text::new("detailed".to_owned()),
        source: from("user_message"),
        evidence: Evidence::UserConfirmed,
        confidence: None,
        sensitivity: None,
        consent: Consent::Unset,
        purposes: Vec::new(),
        observe_time: at(-10),
        valid_from_time: None,
        expire_time: None,
        change_reason: Text::default(),
        accept_revoked: false,
    }
}

/// What a test varies of one judgement.
pub(crate) struct Setting {
    pub(crate) policy: Policy,
    pub(crate) purpose: &'static str,
    pub(crate) context: Option<Context>,
    pub(crate) min_confidence: Option<Confidence>,
    pub(crate) max_sensitivity: Sensitivity,
    pub(crate) now: Time,
    pub(crate) tenant: TenantId,
    pub(crate) subject: SubjectId,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            policy: policy(),
            purpose: "converse",
            context: Some(Context(task())),
            min_confidence: None,
            max_sensitivity: Sensitivity::Restricted,
            now: NOW,
            tenant: tenant(),
            subject: subject(),
        }
    }
}

impl Setting {
    pub(crate) fn of(purpose: &'static str) -> Self {
        Self { purpose, ..Self::default() }
    }

    pub(crate) fn terms(&self) -> Terms<'_> {
        Terms {
            policy: &self.policy,
            purpose: &self.policy.purposes[&purpose_name(self.purpose)],
            context: self.context.as_ref(),
            min_confidence: self.min_confidence,
            viewpoint: Viewpoint {
                tenant: &self.tenant,
                subject: &self.subject,
                holds_level: &|_| true,
                max_sensitivity: self.max_sensitivity,
                sees_candidates: true,
            },
            now: self.now,
        }
    }
}

pub(crate) const BUDGET: Budget = Budget { max_items: 20, max_value_chars: 1500 };

/// As a store hands them out.
pub(crate) fn shared(memories: &[Memory]) -> Vec<Arc<Memory>> {
    memories.iter().cloned().map(Arc::new).collect()
}
