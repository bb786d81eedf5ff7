//! What callers ask, checked for form and turned into plain values.

use crate::memory::{
    Budget, CandidateId, Confidence, Consent, Context, Evidence, Key, KindName, MemoryId, Nomination, PurposeName,
    RequestId, Scope, Sensitivity, Source, SubjectId, Text, TextQuery, Time, Version,
};

/// Names one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryName {
    /// By id.
    Id(MemoryId),
    /// By address; tenant and owner follow from the caller.
    Address(Scope, Key),
}

/// `Capture`.
#[derive(Debug, Clone)]
pub struct Capture {
    /// About whom; `None`: the credential's subject.
    pub subject: Option<SubjectId>,
    /// Where.
    pub scope: Scope,
    /// What sort of fact.
    pub kind: KindName,
    /// Called what; `None`: the new memory's id.
    pub key: Option<Key>,
    /// The fact.
    pub value: Text,
    /// Where it came from.
    pub source: Source,
    /// Who vouches.
    pub evidence: Evidence,
    /// How sure.
    pub confidence: Option<Confidence>,
    /// How harmful in the wrong hands; `None`: the kind's.
    pub sensitivity: Option<Sensitivity>,
    /// What the subject agreed to; `Unset` where nothing was said.
    pub consent: Consent,
    /// What it may be used for; empty: all that its kind allows.
    pub purposes: Vec<PurposeName>,
    /// When it was observed; `None`: now.
    pub observe_time: Option<Time>,
    /// First instant at which it holds.
    pub valid_from_time: Option<Time>,
    /// First instant at which it no longer holds.
    pub expire_time: Option<Time>,
    /// The version that the caller saw; 0: nothing.
    pub expected_version: Option<Version>,
    /// The subject confirms anew what was revoked.
    pub accept_revoked: bool,
    /// Which attempt.
    pub request_id: Option<RequestId>,
    /// Only ask.
    pub validate_only: bool,
}

/// `BatchCapture`.
#[derive(Debug, Clone)]
pub struct BatchCapture {
    /// About whom; `None`: the credential's subject.
    pub subject: Option<SubjectId>,
    /// The facts, in order. What they say of subject and request id does not count, nor whether they only ask.
    pub items: Vec<Capture>,
    /// It is an import.
    pub import: bool,
    /// Which attempt.
    pub request_id: Option<RequestId>,
    /// Only ask.
    pub validate_only: bool,
}

/// `Correct`.
#[derive(Debug, Clone)]
pub struct Correct {
    /// About whom; `None`: the credential's subject.
    pub subject: Option<SubjectId>,
    /// Which memory.
    pub memory: MemoryName,
    /// The version that the caller saw.
    pub expected_version: Version,
    /// The new fact.
    pub value: Text,
    /// Where it came from.
    pub source: Source,
    /// Who vouches.
    pub evidence: Evidence,
    /// How sure.
    pub confidence: Option<Confidence>,
    /// How harmful in the wrong hands; `None`: as it was.
    pub sensitivity: Option<Sensitivity>,
    /// When it was observed; `None`: now.
    pub observe_time: Option<Time>,
    /// First instant at which it holds.
    pub valid_from_time: Option<Time>,
    /// First instant at which it no longer holds.
    pub expire_time: Option<Time>,
    /// Why.
    pub reason: Text,
    /// The subject confirms anew what was revoked.
    pub accept_revoked: bool,
    /// Which attempt.
    pub request_id: Option<RequestId>,
    /// Only ask.
    pub validate_only: bool,
}

/// `ConfirmCandidate`.
#[derive(Debug, Clone)]
pub struct ConfirmCandidate {
    /// About whom; `None`: the credential's subject.
    pub subject: Option<SubjectId>,
    /// Which candidate.
    pub candidate_id: CandidateId,
    /// Who vouches.
    pub evidence: Evidence,
    /// The version that the caller saw at the address; 0: nothing.
    pub expected_version: Option<Version>,
    /// The subject confirms anew what was revoked.
    pub accept_revoked: bool,
    /// Which attempt.
    pub request_id: Option<RequestId>,
    /// Only ask.
    pub validate_only: bool,
}

/// `RejectCandidate`.
#[derive(Debug, Clone)]
pub struct RejectCandidate {
    /// About whom; `None`: the credential's subject.
    pub subject: Option<SubjectId>,
    /// Which candidate.
    pub candidate_id: CandidateId,
    /// Which attempt.
    pub request_id: Option<RequestId>,
}

/// `GetCandidate`.
#[derive(Debug, Clone)]
pub struct GetCandidate {
    /// About whom; `None`: the credential's subject.
    pub subject: Option<SubjectId>,
    /// Which candidate.
    pub candidate_id: CandidateId,
}

/// `ListCandidates`.
#[derive(Debug, Clone)]
pub struct ListCandidates {
    /// About whom; `None`: the credential's subject.
    pub subject: Option<SubjectId>,
    /// Which scope.
    pub scope: Scope,
    /// At most so many, 1 to 200.
    pub page_size: u32,
    /// From the reply before; empty: the first page.
    pub page_token: Vec<u8>,
}

/// `Recall`, and what `ExplainRecall` explains.
#[derive(Debug, Clone)]
pub struct Recall {
    /// Whose memories; `None`: the credential's subject.
    pub subject: Option<SubjectId>,
    /// In what.
    pub context: Context,
    /// For what.
    pub purpose: PurposeName,
    /// Exact keys, each once, in the order asked.
    pub keys: Vec<Key>,
    /// What the caller's index found, each memory once.
    pub nominations: Vec<Nomination>,
    /// Everything in the context.
    pub all: bool,
    /// What is looked for in values.
    pub text: Option<TextQuery>,
    /// How much fits; defaults are filled in.
    pub budget: Budget,
    /// Raises the floor of confidence.
    pub min_confidence: Option<Confidence>,
}

/// `GetMemory`.
#[derive(Debug, Clone)]
pub struct GetMemory {
    /// Whose memory; `None`: the credential's subject.
    pub subject: Option<SubjectId>,
    /// Which.
    pub memory: MemoryName,
    /// For what.
    pub purpose: PurposeName,
}

/// Which scopes `ListMemories` shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListRange {
    /// One exactly.
    Scope(Scope),
    /// All that the caller holds.
    AllProjects,
}

/// `ListMemories`.
#[derive(Debug, Clone)]
pub struct ListMemories {
    /// Whose memories; `None`: the credential's subject.
    pub subject: Option<SubjectId>,
    /// For what.
    pub purpose: PurposeName,
    /// Which scopes.
    pub range: ListRange,
    /// At most so many, 1 to 200.
    pub page_size: u32,
    /// From the reply before; empty: the first page.
    pub page_token: Vec<u8>,
}

/// `Delete` and `Restore`.
#[derive(Debug, Clone)]
pub struct ChangeDeleted {
    /// Whose memory; `None`: the credential's subject.
    pub subject: Option<SubjectId>,
    /// Which.
    pub memory: MemoryName,
    /// The version that the caller saw.
    pub expected_version: Version,
    /// Who decided.
    pub evidence: Evidence,
    /// Which attempt.
    pub request_id: Option<RequestId>,
}
