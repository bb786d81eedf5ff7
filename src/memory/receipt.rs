//! What a mutation answers, and answers again when it is replayed. Never any text.

use super::{CandidateId, DecisionId, MemoryId, Outcome, PolicyVersion, Reason, Time, Version};

/// The answer to a mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The decision that records it.
    pub decision_id: DecisionId,
    /// The policy it was decided under.
    pub policy_version: PolicyVersion,
    /// What became of it. `None` for calls outside the write gate: they did what was asked.
    pub outcome: Option<Outcome>,
    /// Why, and remarks.
    pub reasons: Vec<Reason>,
    /// The memory concerned, where the caller may know it.
    pub memory_id: Option<MemoryId>,
    /// The candidate that waits.
    pub candidate_id: Option<CandidateId>,
    /// The memory's version after the call.
    pub version: Option<Version>,
    /// The memory's value version after the call.
    pub value_version: Option<Version>,
    /// The end of its validity as stored.
    pub expire_time: Option<Time>,
    /// It is the stored answer to an earlier call.
    pub replayed: bool,
}

impl Receipt {
    /// Of that decision, with nothing else to say.
    #[must_use]
    pub const fn of(decision_id: DecisionId, policy_version: PolicyVersion) -> Self {
        Self {
            decision_id,
            policy_version,
            outcome: None,
            reasons: Vec::new(),
            memory_id: None,
            candidate_id: None,
            version: None,
            value_version: None,
            expire_time: None,
            replayed: false,
        }
    }

    /// The same for somebody who may not know what is there: no ids, no versions, no times.
    #[must_use]
    pub fn without_state(self) -> Self {
        Self { memory_id: None, candidate_id: None, version: None, value_version: None, expire_time: None, ..self }
    }
}
