//! What a store is asked, and what it answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Block;
use crate::memory::{
    Address, Candidate, Context, Key, Level, Memory, MemoryId, Owner, ScopeRevision, SubjectId, TenantId, Text, Time,
};

/// Whose rows a call may touch: one tenant's, and in it one subject's own and the shared ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// The organisation.
    pub tenant: TenantId,
    /// The subject.
    pub subject: SubjectId,
}

/// What a recall asks for.
#[derive(Debug, Clone)]
pub struct ViewRequest {
    /// Whose rows.
    pub reach: Reach,
    /// In what.
    pub context: Context,
    /// These keys.
    pub keys: Vec<Key>,
    /// These memories.
    pub ids: Vec<MemoryId>,
    /// Everything in the context.
    pub all: bool,
    /// What a search in the context needs.
    pub search: Option<SearchRead>,
    /// With `all`: of no more than so many memories and one, and with their values and tokens.
    pub whole: Option<u32>,
    /// For the lapse of candidates.
    pub now: Time,
}

/// What a search reads of every memory in the context.
#[derive(Debug, Clone)]
pub enum SearchRead {
    /// Its tokens.
    Tokens,
    /// Whether its value has one of these in it, byte for byte.
    Substring([Text; 2]),
}

/// What a recall judges, read at one point in time.
#[derive(Debug, Clone)]
pub struct View {
    /// The memories, each once; shared with whoever keeps them.
    pub memories: Vec<Arc<Memory>>,
    /// With a substring: the memories in the context whose value has it.
    pub holding: BTreeSet<MemoryId>,
    /// Held candidates.
    pub candidates: Vec<Candidate>,
    /// The revision of each scope of the context: of the subject and shared, in order of precedence. 0 where nothing
    /// was ever written.
    pub revisions: Vec<ScopeRevision>,
    /// The newest `update_time` in these scopes.
    pub newest_update_time: Option<Time>,
}

/// What a write asks for.
#[derive(Debug, Clone)]
pub struct PlaceRequest {
    /// Where.
    pub address: Address,
    /// Under which name blocks of a reference are looked up: the key, or for facts under ids of their own, their kind.
    pub blocked_as: Key,
    /// Whose rows parents may be: the subject's own and shared ones.
    pub reach: Reach,
    /// The source's reference and the references of its lineage; empty ones are left out.
    pub references: Vec<Text>,
    /// The memories of its lineage.
    pub parents: Vec<MemoryId>,
}

/// What a write judges, read at one point in time.
#[derive(Debug, Clone)]
pub struct Place {
    /// What lies at the address, with its value, in whatever state.
    pub current: Option<Memory>,
    /// The revision of the address's scope.
    pub revision: ScopeRevision,
    /// The newest `update_time` in that scope.
    pub newest_update_time: Option<Time>,
    /// The newest versions of the parents that were found, without value.
    pub parents: Vec<Memory>,
    /// One of the parents descends from what lies at the address, however far back.
    pub leads_back: bool,
    /// The blocks that this write meets: its references with its key, and its parents.
    pub blocks: Vec<Block>,
    /// Raised with every change to the owner's blocks.
    pub block_epoch: i64,
}

/// Which scopes a list shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Range {
    /// This owner's, at this level, and nothing wider or narrower.
    One(Owner, Level),
    /// Everything of this owner.
    Owner(Owner),
    /// Everything within reach.
    All,
}

/// A place in the order of a list of memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// Whose.
    pub owner: Owner,
    /// How far.
    pub level: Level,
    /// Called what.
    pub key: Key,
}

/// A page of memories with their values.
#[derive(Debug, Clone)]
pub struct MemoryPage {
    /// The memories, in order.
    pub memories: Vec<Memory>,
    /// The revisions of the scopes they lie in.
    pub revisions: Vec<ScopeRevision>,
    /// The newest `update_time` in these scopes.
    pub newest_update_time: Option<Time>,
    /// More follow.
    pub more: bool,
}

/// A page of candidates with their values.
#[derive(Debug, Clone)]
pub struct CandidatePage {
    /// The candidates, in order.
    pub candidates: Vec<Candidate>,
    /// More follow.
    pub more: bool,
}
