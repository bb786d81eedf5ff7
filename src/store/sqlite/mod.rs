//! The embedded store: one SQLite file, one process.
//!
//! A few connections read, each unit of work in one statement or one deferred transaction; one task writes. Reads run in
//! tasks of their own, so that a call that is dropped half-way leaves no connection inside a transaction.

mod bare;
mod decisions;
mod error;
mod every;
mod files;
mod inspect;
mod open;
mod orders;
#[cfg(test)]
mod plans;
mod readers;
mod revisions;
mod tidy;
mod writer;

/// The engine that `queries` is compiled for.
type Db = sqlx::Sqlite;

/// The writer gives each row of the feed its position as it writes it.
const POSITION_AT_ONCE: bool = true;

#[macro_use]
mod dialect;
#[expect(clippy::duplicate_mod, reason = "one SQL source, compiled once for each engine")]
#[path = "../queries/mod.rs"]
mod queries;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::{mpsc, oneshot};

pub(super) use self::bare::Bare;
use self::error::{closed, meaning};
pub use self::files::free_bytes;
pub use self::inspect::{Inspection, LedgerSize};
pub use self::open::SqliteOptions;
use self::orders::{Erase, Order};
use self::readers::Readers;
use self::writer::Counts;
use super::deadline::{Deadline, in_time};
use super::digest::DigestKey;
use super::fault::Fault;
use super::{
    CandidatePage, Change, CommitError, Error, MemoryPage, OpenError, Place, PlaceRequest, Position, Range, Reach,
    Recorded, ReplayKey, ReplayRecord, Store, View, ViewRequest, ledger, sound,
};
use crate::memory::{Candidate, CandidateId, Judgement, Memory, MemoryId, PolicyVersion, Text, Time, Version};

/// The embedded store.
pub struct Sqlite {
    readers: Readers,
    orders: mpsc::Sender<Order>,
    key: Arc<DigestKey>,
    counts: Arc<Counts>,
}

/// What the ledger has done since the store was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerCounts {
    /// Groups committed, each with one flush at most.
    pub groups: u64,
    /// Changes committed in them.
    pub changes: u64,
}

type Work<'c, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'c>>;

impl Sqlite {
    /// Opens the database at a path, or makes one there, with its digest key beside it. Wants a tokio runtime, in
    /// which it goes on to live.
    ///
    /// # Errors
    /// Another process holds it, its digest key is missing or another's, its schema is newer than the next, or a file cannot be used.
    pub async fn open(path: impl Into<PathBuf>, options: SqliteOptions) -> Result<Self, OpenError> {
        let opened = open::open(path.into(), options).await?;
        let key = Arc::new(opened.key);
        let counts = Arc::new(Counts::default());
        let orders = writer::start(opened.writer, Arc::clone(&key), Arc::clone(&counts));
        Ok(Self { readers: opened.readers, orders, key, counts })
    }

    /// What the ledger has done so far.
    #[must_use]
    pub fn ledger_counts(&self) -> LedgerCounts {
        LedgerCounts {
            groups: self.counts.groups.load(Ordering::Relaxed),
            changes: self.counts.changes.load(Ordering::Relaxed),
        }
    }

    /// A unit of several statements, which see one state.
    async fn read<T: Send + 'static>(
        &self,
        work: impl for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
    ) -> Result<T, Error> {
        self.read_alone(move |connection| Box::pin(transaction(connection, work))).await
    }

    /// A unit of one statement, which sees one state by itself.
    async fn read_alone<T: Send + 'static>(
        &self,
        work: impl for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
    ) -> Result<T, Error> {
        let (readers, deadline) = (self.readers.clone(), Deadline::current());
        let unit = tokio::spawn(async move {
            let mut reader = in_time(deadline, readers.acquire()).await?.map_err(|error| meaning(error.into()))?;
            let done = work(&mut reader.connection).await;
            if !matches!(done, Err(Fault::Sql(_))) {
                reader.give_back();
            }
            done.map_err(meaning)
        });
        unit.await.map_err(|error| Error::Corrupt(Box::new(error)))?
    }

    async fn erase(&self, what: Erase, limit: u32) -> Result<u64, Error> {
        let (answer, answered) = oneshot::channel();
        self.orders.send(Order::Erase { what, limit, answer }).await.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }
}

async fn transaction<T>(
    connection: &mut SqliteConnection,
    work: impl for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T>,
) -> Result<T, Fault> {
    let mut transaction = connection.begin().await?;
    let found = work(&mut transaction).await?;
    transaction.commit().await?;
    Ok(found)
}

#[async_trait]
impl Store for Sqlite {
    async fn view(&self, request: &ViewRequest) -> Result<View, Error> {
        let request = request.clone();
        self.read_alone(move |connection| Box::pin(async move { queries::view(connection, &request).await })).await
    }

    async fn values(&self, reach: &Reach, versions: &[(MemoryId, Version)]) -> Result<Vec<(MemoryId, Text)>, Error> {
        let (reach, versions) = (reach.clone(), versions.to_vec());
        self.read_alone(move |connection| Box::pin(async move { queries::values(connection, &reach, &versions).await }))
            .await
    }

    async fn memory(&self, reach: &Reach, id: MemoryId) -> Result<Option<Memory>, Error> {
        let reach = reach.clone();
        self.read_alone(move |connection| Box::pin(async move { queries::memory(connection, &reach, id).await })).await
    }

    async fn place(&self, request: &PlaceRequest) -> Result<Place, Error> {
        let (request, key) = (request.clone(), Arc::clone(&self.key));
        self.read(move |connection| Box::pin(async move { queries::place(connection, &key, &request).await })).await
    }

    async fn memories(
        &self,
        reach: &Reach,
        range: &Range,
        after: Option<&Position>,
        limit: u32,
    ) -> Result<MemoryPage, Error> {
        let (reach, range, after) = (reach.clone(), range.clone(), after.cloned());
        self.read(move |connection| {
            Box::pin(async move { queries::memories(connection, &reach, &range, after.as_ref(), limit).await })
        })
        .await
    }

    async fn candidate(&self, reach: &Reach, id: CandidateId, now: Time) -> Result<Option<Candidate>, Error> {
        let reach = reach.clone();
        self.read_alone(move |connection| {
            Box::pin(async move { queries::candidate(connection, &reach, id, now).await })
        })
        .await
    }

    async fn candidates(
        &self,
        reach: &Reach,
        range: &Range,
        after: Option<(Time, CandidateId)>,
        limit: u32,
        now: Time,
    ) -> Result<CandidatePage, Error> {
        let (reach, range) = (reach.clone(), range.clone());
        self.read(move |connection| {
            Box::pin(async move { queries::candidates(connection, &reach, &range, after, limit, now).await })
        })
        .await
    }

    async fn replay(&self, key: &ReplayKey, now: Time) -> Result<Option<ReplayRecord>, Error> {
        let key = key.clone();
        self.read_alone(move |connection| Box::pin(async move { queries::replay(connection, &key, now).await })).await
    }

    async fn commit(&self, change: Change) -> Result<Recorded<Judgement>, CommitError> {
        let mut recorded = self.commit_all(vec![change]).await?;
        recorded.pop().ok_or_else(|| meaning(Fault::Stored("change")).into())
    }

    async fn commit_all(&self, changes: Vec<Change>) -> Result<Vec<Recorded<Judgement>>, CommitError> {
        changes.iter().try_for_each(sound::check).map_err(meaning)?;
        let changes = changes.into_iter().map(|change| ledger::seal(change, &self.key)).collect();
        let (answer, answered) = oneshot::channel();
        let deadline = Deadline::current();
        let order = Order::Commit { changes, deadline, answer };
        in_time(deadline, self.orders.send(order)).await?.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }

    async fn keep_policy(&self, version: PolicyVersion, document: &str, now: Time) -> Result<(), Error> {
        let (answer, answered) = oneshot::channel();
        let order = Order::KeepPolicy { version, document: document.to_owned(), now, answer };
        self.orders.send(order).await.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }

    async fn tidy(&self, now: Time, limit: u32) -> Result<u64, Error> {
        self.erase(Erase::Lapsed(now), limit).await
    }

    async fn prune(&self, before: Time, limit: u32) -> Result<u64, Error> {
        self.erase(Erase::Decisions(before), limit).await
    }

    fn digest(&self, domain: &'static str, parts: &[&[u8]]) -> [u8; 32] {
        self.key.digest(domain, parts)
    }

    fn seal(&self, binding: &[u8; 32], plain: &[u8]) -> Option<Vec<u8>> {
        self.key.seal(binding, plain)
    }

    fn open(&self, binding: &[u8; 32], sealed: &[u8]) -> Option<Vec<u8>> {
        self.key.open(binding, sealed)
    }

    async fn check(&self) -> Result<(), Error> {
        let (answer, answered) = oneshot::channel();
        self.orders.send(Order::Check(answer)).await.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())??;
        self.read_alone(|connection| Box::pin(async move { queries::key_id(connection).await.map(drop) })).await
    }

    async fn close(&self) {
        // Whoever closes last writes the log back into the file, and only the writer may write.
        self.readers.close().await;
        let (closer, done) = oneshot::channel();
        if self.orders.send(Order::Close(closer)).await.is_ok() {
            // The writer has unlocked the file by then; that it is gone already is as good.
            let _ = done.await;
        }
    }
}
