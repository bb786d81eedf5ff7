//! What a judgement keeps of what was looked at: every attribute, and never any text.

use super::{Keys, Policy};
use crate::memory::{Attributes, Candidate, KindName, Memory, Nominator, Reason, Subject, Verdict, Version};

/// The word on a held candidate: whatever else may be said of it, it is not a memory yet.
#[must_use]
pub fn candidate_verdict(policy: &Policy, candidate: &Candidate, nominator: Nominator) -> Verdict {
    Verdict {
        subject: Subject::Candidate(candidate.id),
        reasons: vec![Reason::Unconfirmed],
        nominator,
        nomination: None,
        attributes: Some(Attributes {
            owner: candidate.address.owner.clone(),
            level: candidate.address.level.clone(),
            key: candidate.address.key.clone(),
            key_is_text: policy.key_is_text(&candidate.kind) && !candidate.has_own_key(),
            kind: candidate.kind.clone(),
            version: Version(0),
            value_version: Version(0),
            state: None,
            source_kind: candidate.source.kind.clone(),
            lineage_trust: candidate.lineage_trust,
            evidence: candidate.evidence,
            confidence: candidate.confidence,
            sensitivity: candidate.sensitivity,
            consent: candidate.consent.clone(),
            purposes: candidate.purposes.clone(),
            observe_time: candidate.observe_time,
            valid_from_time: candidate.valid_from_time,
            expire_time: candidate.expire_time,
            update_time: candidate.create_time,
            confirm_time: None,
            value_chars: 0,
        }),
    }
}

/// The word on a memory that a call named and changed: accepted.
#[must_use]
pub fn admitted(policy: &Policy, memory: &Memory) -> Verdict {
    Verdict {
        subject: Subject::Memory(memory.id),
        reasons: Vec::new(),
        nominator: Nominator::Name,
        nomination: None,
        attributes: Some(attributes(policy, memory)),
    }
}

impl Policy {
    /// Whether the keys of a kind are text: where policy gives a pattern, and where it does not know the kind.
    #[must_use]
    pub fn key_is_text(&self, kind: &KindName) -> bool {
        self.kinds.get(kind).is_none_or(|kind| matches!(kind.keys, Keys::Pattern(_)))
    }

    /// Whether a memory's key is text: not where it is the memory's id, which is told and recorded beside it.
    #[must_use]
    pub fn key_of_memory_is_text(&self, memory: &Memory) -> bool {
        self.key_is_text(&memory.kind) && !memory.has_own_key()
    }
}

/// What was looked at, for the record.
#[must_use]
pub fn attributes(policy: &Policy, memory: &Memory) -> Attributes {
    Attributes {
        owner: memory.address.owner.clone(),
        level: memory.address.level.clone(),
        key: memory.address.key.clone(),
        key_is_text: policy.key_of_memory_is_text(memory),
        kind: memory.kind.clone(),
        version: memory.version,
        value_version: memory.value_version,
        state: Some(memory.state),
        source_kind: memory.source.kind.clone(),
        lineage_trust: memory.lineage_trust,
        evidence: memory.evidence,
        confidence: memory.confidence,
        sensitivity: memory.sensitivity,
        consent: memory.consent.clone(),
        purposes: memory.purposes.clone(),
        observe_time: memory.observe_time,
        valid_from_time: memory.valid_from_time,
        expire_time: memory.expire_time,
        update_time: memory.update_time,
        confirm_time: memory.confirm_time,
        value_chars: memory.value_chars,
    }
}
