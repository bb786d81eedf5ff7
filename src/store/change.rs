//! A change as a value: what must hold, what to write, what to announce, and the judgement that says why.

use crate::memory::{
    Address, Block, Candidate, CandidateId, Judgement, Key, Memory, MemoryId, Owner, PrincipalId, Receipt, RequestId,
    ScopeRevision, SubjectId, TenantId, Text, Time, Version,
};

/// Something that must still hold when the change is committed.
#[derive(Debug, Clone, PartialEq)]
pub enum Expect {
    /// This memory at this version lies at the address; `None`: nothing does.
    Address(Address, Option<(MemoryId, Version)>),
    /// The newest version of this memory, a parent for example, is this one. Of the subject's own or shared rows.
    Memory(MemoryId, Version),
    /// The owner's blocks have not changed.
    BlockEpoch(Owner, i64),
    /// The scope is at this revision.
    Revision(ScopeRevision),
    /// The candidate still waits.
    Candidate(CandidateId),
}

/// One row to write.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// A new version of a memory, or a new memory: the current row at its address, and a row of its history. Raises
    /// the owner's counter and the scope's revision once a change. Boxed, since it is much larger than the others.
    Memory(Box<Memory>),
    /// A candidate that waits.
    Candidate(Box<Candidate>),
    /// The candidate waits no longer; its text is overwritten.
    EraseCandidate(CandidateId),
    /// (Owner, source reference, key) and the memory as a parent are blocked, at every scope. Raises the block epoch.
    Block {
        /// The block.
        block: Block,
        /// The source's reference; empty: none is blocked.
        reference: Text,
        /// The key.
        key: Key,
    },
    /// What this memory's deletion blocked is free again. Raises the block epoch.
    Unblock(Owner, MemoryId),
}

/// What the feed says of a change. Ids and versions, never text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Announcement {
    /// A new value is in force.
    Activated,
    /// It is out of use, and restorable.
    Deleted,
    /// It is in use again.
    Restored,
}

impl Announcement {
    /// The name in the feed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Activated => "activated",
            Self::Deleted => "deleted",
            Self::Restored => "restored",
        }
    }
}

/// Under what an outcome is kept for replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayKey {
    /// The organisation.
    pub tenant: TenantId,
    /// About whom.
    pub subject: SubjectId,
    /// By whom.
    pub principal: PrincipalId,
    /// By which method.
    pub method: &'static str,
    /// Which attempt.
    pub request_id: RequestId,
}

/// What is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayRecord {
    /// Keyed digest of the request.
    pub payload_digest: [u8; 32],
    /// The answer; of a batch, the answer to its first item.
    pub receipt: Receipt,
    /// Of a batch, the answers to its further items, in their order.
    pub further: Vec<Receipt>,
    /// From when on it is treated as gone.
    pub expire_time: Time,
}

/// A change, whole.
#[derive(Debug)]
pub struct Change {
    /// The organisation.
    pub tenant: TenantId,
    /// Whose rows parents and memories may be: the subject's own and shared ones. `None`: a refusal that is about
    /// nobody, with nothing to write.
    pub subject: Option<SubjectId>,
    /// Whose counter it raises, where it writes.
    pub owner: Owner,
    /// What must hold.
    pub expect: Vec<Expect>,
    /// What to write.
    pub writes: Vec<Write>,
    /// What the feed says of the memory written.
    pub announce: Option<Announcement>,
    /// Why. Recorded in the same transaction.
    pub judgement: Judgement,
    /// The outcome to keep. A record that is there already makes the change `Contended`.
    pub replay: Option<(ReplayKey, ReplayRecord)>,
}

impl Change {
    /// Whether it is the decision of a read: it writes nothing, and relies on revisions alone.
    pub(super) fn is_read(&self) -> bool {
        self.writes.is_empty()
            && self.replay.is_none()
            && self.expect.iter().all(|expect| matches!(expect, Expect::Revision(_)))
    }
}
