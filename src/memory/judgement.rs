//! One judgement, whole: who, for whom, for what, at what state of things, with what result. Never any text.

use std::sync::Arc;

use super::record::is_id;
use super::{
    CandidateId, Confidence, Consent, Context, DecisionId, DerivedStoreId, Evidence, Key, KindName, Level, MemoryId,
    Outcome, Owner, PolicyVersion, PrincipalId, PurposeName, Reason, Revision, Sensitivity, SourceKindName, State,
    SubjectId, TenantId, Time, Trust, Version,
};

/// A memory put forward by the caller's index.
#[derive(Debug, Clone, PartialEq)]
pub struct Nomination {
    /// The memory.
    pub memory_id: MemoryId,
    /// The value version that the index holds.
    pub value_version: Option<Version>,
    /// The index's relevance; finite.
    pub score: Option<f64>,
    /// The index.
    pub derived_store: Option<DerivedStoreId>,
}

/// How something came before the gate; the first that applies, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Nominator {
    /// Its key was asked for.
    Key,
    /// The request asked for all.
    All,
    /// Its value has the text that the request looks for.
    Text,
    /// The caller's index put it forward.
    Index,
    /// Another memory with its key was nominated.
    SameKey,
    /// It was named by id or address.
    Name,
}

/// What a verdict is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A memory, or an id that names none the caller can see.
    Memory(MemoryId),
    /// A held candidate.
    Candidate(CandidateId),
}

/// What the gate looked at, as it was at that moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Attributes {
    /// Whose.
    pub owner: Owner,
    /// How far.
    pub level: Level,
    /// Called what.
    pub key: Key,
    /// The key is text, because policy gives a pattern and it is no id of its own: it is recorded as a digest.
    pub key_is_text: bool,
    /// What sort of fact.
    pub kind: KindName,
    /// The version; 0 for a candidate.
    pub version: Version,
    /// The value version; 0 for a candidate.
    pub value_version: Version,
    /// Where it is in its life; `None` for a candidate.
    pub state: Option<State>,
    /// What sort of source.
    pub source_kind: Option<SourceKindName>,
    /// The most that its lineage lets it be worth.
    pub lineage_trust: Trust,
    /// Who vouched.
    pub evidence: Evidence,
    /// How sure.
    pub confidence: Option<Confidence>,
    /// How harmful in the wrong hands.
    pub sensitivity: Sensitivity,
    /// What the subject agreed to.
    pub consent: Consent,
    /// What it may be used for.
    pub purposes: Vec<PurposeName>,
    /// When it was observed.
    pub observe_time: Time,
    /// First instant at which it holds.
    pub valid_from_time: Option<Time>,
    /// First instant at which it no longer holds.
    pub expire_time: Option<Time>,
    /// When this version was made.
    pub update_time: Time,
    /// When evidence was last given.
    pub confirm_time: Option<Time>,
    /// Length of the value in Unicode scalar values.
    pub value_chars: u32,
}

/// The word on one nomination.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// About what.
    pub subject: Subject,
    /// Why not, in the order of the gates; empty: accepted.
    pub reasons: Vec<Reason>,
    /// How it was nominated.
    pub nominator: Nominator,
    /// The index's nomination, where there was one.
    pub nomination: Option<Nomination>,
    /// What was judged; `None` where the memory is unknown.
    pub attributes: Option<Attributes>,
}

impl Verdict {
    /// Whether it was admitted.
    #[must_use]
    pub const fn accepted(&self) -> bool {
        self.reasons.is_empty()
    }

    /// What was judged has its own id for a key.
    #[must_use]
    pub fn has_own_key(&self) -> bool {
        let id = match self.subject {
            Subject::Memory(id) => id.0,
            Subject::Candidate(id) => id.0,
        };
        self.attributes.as_ref().is_some_and(|attributes| is_id(attributes.key.as_str(), id))
    }
}

/// The revision of one scope.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScopeRevision {
    /// Whose.
    pub owner: Owner,
    /// How far.
    pub level: Level,
    /// The revision; 0 where nothing was ever written.
    pub revision: Revision,
}

/// How much fits into one recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// At most so many facts.
    pub max_items: u32,
    /// At most so many characters of value.
    pub max_value_chars: u32,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disposition {
    /// A read was answered; the verdicts say with what.
    Answered,
    /// The write gate decided.
    Decided {
        /// What became of it.
        outcome: Outcome,
        /// Why, and remarks.
        reasons: Vec<Reason>,
    },
    /// A call outside the write gate did what was asked.
    Done,
    /// The call was refused by grant, version or state: the error reason's name.
    Refused(&'static str),
}

/// One judgement.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The decision's id.
    pub decision_id: DecisionId,
    /// The method's name, `Recall` for example.
    pub method: &'static str,
    /// The caller's tenant.
    pub tenant: TenantId,
    /// About whom; `None` where the call is about nobody.
    pub subject: Option<SubjectId>,
    /// Who called.
    pub principal: PrincipalId,
    /// What the caller held, sorted.
    pub grants: Arc<[String]>,
    /// The highest sensitivity the caller may see.
    pub max_sensitivity: Sensitivity,
    /// For what; `None` for writes.
    pub purpose: Option<PurposeName>,
    /// In what; `None` for writes.
    pub context: Option<Context>,
    /// Under which policy.
    pub policy_version: PolicyVersion,
    /// When.
    pub decide_time: Time,
    /// The earliest instant at which time alone would change the outcome.
    pub stale_time: Option<Time>,
    /// At which revisions.
    pub revisions: Vec<ScopeRevision>,
    /// The verdicts: accepted ones first, in rank.
    pub verdicts: Vec<Verdict>,
    /// Matches that were never nominated.
    pub not_nominated_count: u64,
    /// The confidence that the request demanded.
    pub min_confidence: Option<Confidence>,
    /// How much was to fit.
    pub budget: Option<Budget>,
    /// The evidence that a write stated.
    pub evidence: Evidence,
    /// What became of it.
    pub disposition: Disposition,
    /// The caller only asked what would happen.
    pub validate_only: bool,
}

impl Judgement {
    /// The verdicts of what was admitted, in rank.
    pub fn accepted(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(|verdict| verdict.accepted())
    }

    /// The verdicts of what was not.
    pub fn rejected(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(|verdict| !verdict.accepted())
    }
}
