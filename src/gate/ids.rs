//! New ids: UUIDs of version 7, which sort by the time they were made.

use uuid::{NoContext, Timestamp, Uuid};

use crate::memory::{CandidateId, DecisionId, MemoryId, Time};

fn new(now: Time) -> Uuid {
    let (seconds, nanos) = now.parts();
    let seconds = u64::try_from(seconds).unwrap_or_default();
    Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, u32::try_from(nanos).unwrap_or_default()))
}

/// An id for a new memory.
pub(super) fn memory_id(now: Time) -> MemoryId {
    MemoryId(new(now))
}

/// An id for a new candidate.
pub(super) fn candidate_id(now: Time) -> CandidateId {
    CandidateId(new(now))
}

/// An id for a new decision.
pub(super) fn decision_id(now: Time) -> DecisionId {
    DecisionId(new(now))
}
