//! The seam to the databases: what the gate may ask of a store, and what a store promises.
//!
//! Knows `memory`, and the stored messages of `recallgate.store.v1`. A change is a value: the gate says what must
//! hold, what to write and what to announce; the store commits all of it or nothing. No rule lives here.
//!
//! Invariant I6: [`Recorded`] is made by a store's ledger alone, after the judgement is durable.

#[doc(hidden)]
pub mod bare;
mod cached;
mod change;
mod codes;
mod deadline;
mod digest;
mod fault;
mod key_file;
mod ledger;
#[doc(hidden)]
pub mod measuring;
mod open;
mod packing;
mod postgres;
mod read;
mod receipt;
mod recorded;
mod rows;
mod sound;
mod sqlite;
mod stored;

use async_trait::async_trait;

pub use crate::memory::{Block, BlockCause};
pub use cached::Cached;
pub use change::{Announcement, Change, Expect, ReplayKey, ReplayRecord, Write};
pub use deadline::Deadline;
pub use open::OpenError;
pub use postgres::{Administration, Migrated, PartitionedSize, Postgres, PostgresOptions};
pub use read::{CandidatePage, MemoryPage, Place, PlaceRequest, Position, Range, Reach, SearchRead, View, ViewRequest};
pub use recorded::Recorded;
pub use sqlite::{Inspection, LedgerCounts, LedgerSize, Sqlite, SqliteOptions, free_bytes};

use crate::memory::{Candidate, CandidateId, Judgement, Memory, MemoryId, PolicyVersion, Text, Time, Version};

/// Why a store did not answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database cannot be reached, is full, or did not answer in time. Nothing of the unit of work took effect,
    /// or it is not known whether it did.
    #[error("the store is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The call's [`Deadline`] passed before the unit of work began. Nothing of it took effect, and nothing will.
    #[error("out of time before the work began")]
    OutOfTime,
    /// A row holds what no version of the service writes, or a statement is wrong: a defect.
    #[error("the store holds what it cannot hold")]
    Corrupt(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Why a change was not committed. Nothing of it was written.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Something that had to hold no longer does: read and judge again.
    #[error("overtaken by another change")]
    Contended,
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] Error),
}

/// A store. Every method is one unit of work; none leaves anything half done when its future is dropped.
///
/// Each method keeps to [`Deadline::current`]: what has not begun by then is answered `OutOfTime` and never begins, and
/// a change that has may be committed later.
///
/// A memory that comes with its value comes with the tokens of it, unless another has taken its address.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Everything a recall judges, read at one point in time.
    ///
    /// Holds, of the subject's own and of shared rows alike: every memory in the context whose key was asked for;
    /// every memory with a nominated id, wherever it lies, or lay before another took its address; every memory in the
    /// context at the key of such a one; with `all` or a search, every memory in the context. Those found only through
    /// `all` or a search come without value; with their tokens where those are searched, else without. Further up to 64 held candidates of the context that the keys or `all` touch, oldest first,
    /// without value and not lapsed at `now`.
    async fn view(&self, request: &ViewRequest) -> Result<View, Error>;

    /// The values of these versions, in no order; what no longer is at that version is left out.
    async fn values(&self, reach: &Reach, versions: &[(MemoryId, Version)]) -> Result<Vec<(MemoryId, Text)>, Error>;

    /// The newest version of the memory with that id, also where another has taken its address.
    async fn memory(&self, reach: &Reach, id: MemoryId) -> Result<Option<Memory>, Error>;

    /// Everything a write judges, read at one point in time.
    async fn place(&self, request: &PlaceRequest) -> Result<Place, Error>;

    /// Up to `limit` memories after a position, by owner (shared first), project, task and key, bytewise. With the
    /// revisions of the scopes that the page shows.
    async fn memories(
        &self,
        reach: &Reach,
        range: &Range,
        after: Option<&Position>,
        limit: u32,
    ) -> Result<MemoryPage, Error>;

    /// One candidate with its value, unless decided or lapsed at `now`.
    async fn candidate(&self, reach: &Reach, id: CandidateId, now: Time) -> Result<Option<Candidate>, Error>;

    /// Up to `limit` held candidates of the range, by `create_time` and id, after a position, with their values, not
    /// lapsed at `now`.
    async fn candidates(
        &self,
        reach: &Reach,
        range: &Range,
        after: Option<(Time, CandidateId)>,
        limit: u32,
        now: Time,
    ) -> Result<CandidatePage, Error>;

    /// The outcome kept for an earlier call, unless it has expired at `now`.
    async fn replay(&self, key: &ReplayKey, now: Time) -> Result<Option<ReplayRecord>, Error>;

    /// Commits a change with its judgement, or nothing.
    ///
    /// Changes that wait are committed together, each for itself, with one flush; no answer leaves before it.
    ///
    /// # Errors
    /// `Contended` where an expectation does not hold. `Unavailable` where the commit failed. `Corrupt` where the
    /// change is not of one piece: it names another tenant, rows out of its subject's reach, a memory of another
    /// owner than its own, or one in use without its value.
    async fn commit(&self, change: Change) -> Result<Recorded<Judgement>, CommitError>;

    /// Commits changes in their order, all of them or none, with one flush. Each sees what those before it wrote, so
    /// that it may expect it. Answers in the same order. A store that locks owners locks all of theirs in the order of
    /// their keys before it applies the first.
    ///
    /// # Errors
    /// As with `commit`, where it holds for any one of them.
    async fn commit_all(&self, changes: Vec<Change>) -> Result<Vec<Recorded<Judgement>>, CommitError>;

    /// Keeps a policy document by its hash, once.
    async fn keep_policy(&self, version: PolicyVersion, document: &str, now: Time) -> Result<(), Error>;

    /// Erases candidates that have lapsed at `now` and outcomes that are kept no longer, up to `limit` of each; how
    /// many rows went. They are treated as gone already; this makes their text so.
    async fn tidy(&self, now: Time, limit: u32) -> Result<u64, Error>;

    /// Removes up to `limit` of the decisions that were made before an instant, oldest first, and nothing else; how
    /// many went.
    async fn prune(&self, before: Time, limit: u32) -> Result<u64, Error>;

    /// A keyed digest over length-prefixed parts: equality without the text. `domain` keeps uses apart.
    fn digest(&self, domain: &'static str, parts: &[&[u8]]) -> [u8; 32];

    /// Seals a page token: unreadable and unforgeable, bound to `binding`.
    fn seal(&self, binding: &[u8; 32], plain: &[u8]) -> Option<Vec<u8>>;

    /// Opens a page token that was sealed with the same binding.
    fn open(&self, binding: &[u8; 32], sealed: &[u8]) -> Option<Vec<u8>>;

    /// Whether the store answers, and could make a change durable now: it has room, and is still where it was opened.
    /// Changes nothing.
    async fn check(&self) -> Result<(), Error>;

    /// Commits what waits and closes. Later calls answer `Unavailable`.
    async fn close(&self);
}
