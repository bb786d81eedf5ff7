//! What the pure core is measured on: memories that are all admitted, and what is asked of them.

use std::sync::Arc;

use recall_gate::memory::{
    Address, Budget, Confidence, Consent, Context, DecisionId, Disposition, Evidence, Judgement, Key, KindName, Level,
    Memory, MemoryId, Nomination, Owner, PrincipalId, ProjectId, PurposeName, Sensitivity, Source, SourceKindName,
    Span, State, SubjectId, TenantId, Text, Time, Trust, Version,
};
use recall_gate::policy::{Policy, RecallInput, Terms, Viewpoint, recall, tokens};
use uuid::Uuid;

pub(crate) const NOW: Time = Time::from_micros(1_767_225_600_000_000);
pub(crate) const VALUE: &str =
    "prefers short answers, green tea before noon, trains over planes, and quiet rooms with large windows";
const BUDGET: Budget = Budget { max_items: 20, max_value_chars: 100_000 };

pub(crate) struct Stage {
    pub(crate) policy: Policy,
    tenant: TenantId,
    subject: SubjectId,
    context: Context,
    purpose: PurposeName,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self {
            policy: Policy::compiled_in().unwrap(),
            tenant: TenantId::new("tenant").unwrap(),
            subject: SubjectId::new("subject").unwrap(),
            context: Context(Level::Project(ProjectId::new("project").unwrap())),
            purpose: PurposeName::new("converse").unwrap(),
        }
    }

    pub(crate) fn terms(&self) -> Terms<'_> {
        Terms {
            policy: &self.policy,
            purpose: self.policy.purposes.get(&self.purpose).expect("a purpose"),
            context: Some(&self.context),
            min_confidence: None,
            viewpoint: Viewpoint {
                tenant: &self.tenant,
                subject: &self.subject,
                holds_level: &|_| true,
                max_sensitivity: Sensitivity::Restricted,
                sees_candidates: false,
            },
            now: NOW,
        }
    }

    pub(crate) fn memories(&self, count: u16) -> Vec<Arc<Memory>> {
        (0..count).map(|number| Arc::new(self.memory(u128::from(number)))).collect()
    }

    pub(crate) fn memory(&self, number: u128) -> Memory {
        let id = MemoryId(Uuid::from_u128(number));
        let value = Text::new(format!("{VALUE} {number}"));
        Memory {
            id,
            address: Address {
                tenant: self.tenant.clone(),
                owner: Owner::personal(self.subject.clone()),
                level: if number % 2 == 1 { self.context.0.clone() } else { Level::General },
                key: Key::new(id.to_string()).unwrap(),
            },
            kind: KindName::new("experience").unwrap(),
            version: Version::FIRST,
            value_version: Version::FIRST,
            state: State::Active,
            value_chars: u32::try_from(value.char_count()).unwrap(),
            tokens: Some(tokens(&value)),
            value: Some(value),
            source: source(),
            lineage_trust: Trust::Verified,
            evidence: Evidence::UserConfirmed,
            confidence: Some(Confidence::ONE),
            sensitivity: Sensitivity::Personal,
            consent: Consent::Granted(vec![self.purpose.clone()]),
            purposes: Vec::new(),
            observe_time: NOW,
            valid_from_time: None,
            expire_time: Some(NOW.plus(Span::from_seconds(1000))),
            create_time: NOW,
            update_time: NOW,
            confirm_time: Some(NOW),
            author: PrincipalId::new("agent").unwrap(),
            change_reason: Text::default(),
            intact: true,
        }
    }

    pub(crate) fn judgement(&self, memories: &[Arc<Memory>]) -> Judgement {
        let nominations = nominations(memories);
        Judgement {
            decision_id: DecisionId(Uuid::from_u128(1)),
            method: "Recall",
            tenant: self.tenant.clone(),
            subject: Some(self.subject.clone()),
            principal: PrincipalId::new("agent").unwrap(),
            grants: ["recall".to_owned(), "purpose:converse".to_owned()].into(),
            max_sensitivity: Sensitivity::Restricted,
            purpose: Some(self.purpose.clone()),
            context: Some(self.context.clone()),
            policy_version: self.policy.version,
            decide_time: NOW,
            stale_time: None,
            revisions: Vec::new(),
            verdicts: recall(&self.terms(), &input(memories, &nominations)).verdicts,
            not_nominated_count: 0,
            min_confidence: None,
            budget: Some(BUDGET),
            evidence: Evidence::None,
            disposition: Disposition::Answered,
            validate_only: false,
        }
    }
}

pub(crate) fn source() -> Source {
    Source {
        kind: Some(SourceKindName::new("user_message").unwrap()),
        reference: Text::new("message 17".to_owned()),
        parents: Vec::new(),
        parent_references: Vec::new(),
    }
}

pub(crate) fn nominations(memories: &[Arc<Memory>]) -> Vec<Nomination> {
    let nomination = |memory: &Arc<Memory>| Nomination {
        memory_id: memory.id,
        value_version: Some(memory.value_version),
        score: Some(0.5),
        derived_store: None,
    };
    memories.iter().map(nomination).collect()
}

pub(crate) const fn input<'a>(memories: &'a [Arc<Memory>], nominations: &'a [Nomination]) -> RecallInput<'a> {
    RecallInput { keys: &[], nominations, all: false, search: None, budget: BUDGET, memories, candidates: &[] }
}
