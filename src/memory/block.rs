//! What may not come back by itself.

use super::{MemoryId, Owner, Time};

/// Why something is blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockCause {
    /// A memory was deleted, and may be restored.
    Deleted,
    /// A memory was erased.
    Forgotten,
    /// A source was revoked.
    Revoked,
}

/// Something that may not come back by itself. A store keeps digests of the reference and the key beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Whose.
    pub owner: Owner,
    /// Why.
    pub cause: BlockCause,
    /// The memory that was taken out of use, which no new one may name as its parent.
    pub memory_id: Option<MemoryId>,
    /// Since when.
    pub since: Time,
}
