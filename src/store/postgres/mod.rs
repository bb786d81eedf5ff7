//! The store for any number of replicas: one PostgreSQL, which keeps tenants and owners apart by itself as well.
//!
//! Every unit of work runs in a task of its own, so that a call that is dropped half-way leaves no connection inside a
//! transaction. The isolation of each:
//!
//! - A recall's view is one statement, so one snapshot (`view`).
//! - Other reads of one subject: `REPEATABLE READ, READ ONLY`, so that several statements see one snapshot.
//! - Changes: `READ COMMITTED` under locks of the owners that they write and rely on, taken first and in order, so that
//!   every statement after them sees what those before have committed (`changing`).
//! - Decisions of reads: one `READ COMMITTED` statement that compares the revisions and inserts (`recorder`).
//! - The feed's positions: under the lock of the lease that its sequencer holds (`sequencer`).

mod administer;
mod again;
mod bare;
mod changing;
mod connect;
mod error;
mod lease;
mod partitions;
mod recorder;
mod schema;
mod sequencer;
mod tidy;
mod unit;
mod verify;

/// The engine that `queries` is compiled for.
type Db = sqlx::Postgres;

/// Rows of the feed are committed in any order; the sequencer gives them their positions afterwards.
const POSITION_AT_ONCE: bool = false;

#[macro_use]
mod dialect;
#[expect(clippy::duplicate_mod, reason = "one SQL source, compiled once for each engine")]
#[path = "../queries/mod.rs"]
mod queries;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use sqlx::PgConnection;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use uuid::Uuid;

pub use self::administer::{Administration, PartitionedSize};
pub(super) use self::bare::{Bare, pgbench};
use self::connect::Pools;
pub use self::connect::PostgresOptions;
use self::error::{closed, meaning};
use self::recorder::Order;
pub use self::schema::Migrated;
use self::unit::{READ, Scope, Work};
use super::deadline::{Deadline, in_time};
use super::digest::DigestKey;
use super::fault::Fault;
use super::{
    CandidatePage, Change, CommitError, Error, MemoryPage, OpenError, Place, PlaceRequest, Position, Range, Reach,
    Recorded, ReplayKey, ReplayRecord, Store, View, ViewRequest, key_file, ledger, sound,
};
use crate::memory::{Candidate, CandidateId, Judgement, Memory, MemoryId, PolicyVersion, Text, Time, Version};

/// The store on PostgreSQL.
pub struct Postgres {
    pools: Pools,
    decisions: mpsc::Sender<Order>,
    key: Arc<DigestKey>,
    verified: Arc<AtomicBool>,
    /// What is to be kept before the first decision, where the database was not ready when it was to be kept.
    policy: Mutex<Option<(PolicyVersion, String, Time)>>,
    replica: Uuid,
    sequencer: JoinHandle<()>,
}

impl Postgres {
    /// Opens the database. Wants a tokio runtime, in which it goes on to live.
    ///
    /// A server that does not answer, and a schema that is yet to be migrated, are waited for: every method answers
    /// `Unavailable` and [`Store::check`] says why, until it finds both as they should be.
    ///
    /// # Errors
    /// The digest key is missing or another's, the schema is newer than the next, or the database is not fit to be
    /// served: with every fault of its roles, its tables and its settings.
    pub async fn open(options: PostgresOptions) -> Result<Self, OpenError> {
        let path = options.digest_key.clone();
        let key = tokio::task::spawn_blocking(move || key_file::read(&path)?.ok_or(OpenError::KeyMissing { path }))
            .await
            .map_err(|error| OpenError::Database(Box::new(error)))??;
        let pools = Pools::new(&options)?;
        if options.may_be_read_on_the_way() {
            tracing::warn!(
                database = %options,
                "the database is on another host, and nothing says that it has to prove who it is: add \
                 `?sslmode=verify-full&sslrootcert=FILE` to its address"
            );
        }
        let key = Arc::new(key);
        let verified = Arc::new(AtomicBool::new(false));
        match verify::all(&pools, key.id(), &options.digest_key).await {
            Ok(()) => verified.store(true, Ordering::Release),
            Err(verify::Verdict::Unfit(error)) => return Err(error),
            Err(verify::Verdict::NotYet(error)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "not ready yet");
            }
        }
        let decisions = recorder::start(pools.ledger.clone(), Arc::clone(&key));
        let replica = replica();
        let sequencer = tokio::spawn(sequencer::run(pools.feeder.clone(), replica, Arc::clone(&verified)));
        Ok(Self { pools, decisions, key, verified, policy: Mutex::new(None), replica, sequencer })
    }

    /// Whether the database has been found as it should be.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.verified.load(Ordering::Acquire)
    }

    /// Looks at everything, and does what has waited for it.
    async fn verify(&self) -> Result<(), Error> {
        verify::all(&self.pools, self.key.id(), &self.pools.digest_key)
            .await
            .map_err(|verdict| Error::Unavailable(Box::new(OpenError::from(verdict))))?;
        let waiting = self.policy.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((version, document, now)) = waiting {
            self.keep(version, document, now).await?;
        }
        self.verified.store(true, Ordering::Release);
        Ok(())
    }

    async fn keep(&self, version: PolicyVersion, document: String, now: Time) -> Result<(), Error> {
        unit::run(&self.pools.app, unit::WRITE, None, move |connection| {
            Box::pin(async move { queries::keep_policy(connection, version, &document, now).await })
        })
        .await
        .map_err(meaning)
    }

    /// One unit of work that only reads, within reach.
    async fn read<T: Send + 'static>(
        &self,
        reach: &Reach,
        work: impl for<'c> FnOnce(&'c mut PgConnection) -> Work<'c, T> + Send + 'static,
    ) -> Result<T, Error> {
        self.ready()?;
        let scope = Scope::of(&reach.tenant, reach.subject.as_str());
        unit::run(&self.pools.app, READ, Some(scope), work).await.map_err(meaning)
    }

    /// Nothing is done before the database has been found as it should be.
    fn ready(&self) -> Result<(), Error> {
        if self.is_ready() { Ok(()) } else { Err(Error::Unavailable(Box::new(NotVerified))) }
    }
}

/// Names this process among the replicas.
#[expect(clippy::disallowed_methods, reason = "the id of a process is made here, by no clock of the gate")]
fn replica() -> Uuid {
    Uuid::new_v4()
}

#[async_trait]
impl Store for Postgres {
    async fn view(&self, request: &ViewRequest) -> Result<View, Error> {
        self.ready()?;
        let request = request.clone();
        unit::run_alone(&self.pools.views, move |connection| {
            Box::pin(async move { queries::view(connection, &request).await })
        })
        .await
        .map_err(meaning)
    }

    async fn values(&self, reach: &Reach, versions: &[(MemoryId, Version)]) -> Result<Vec<(MemoryId, Text)>, Error> {
        let (its, versions) = (reach.clone(), versions.to_vec());
        self.read(reach, move |connection| Box::pin(async move { queries::values(connection, &its, &versions).await }))
            .await
    }

    async fn memory(&self, reach: &Reach, id: MemoryId) -> Result<Option<Memory>, Error> {
        let its = reach.clone();
        self.read(reach, move |connection| Box::pin(async move { queries::memory(connection, &its, id).await })).await
    }

    async fn place(&self, request: &PlaceRequest) -> Result<Place, Error> {
        let (request, key) = (request.clone(), Arc::clone(&self.key));
        let reach = request.reach.clone();
        self.read(&reach, move |connection| Box::pin(async move { queries::place(connection, &key, &request).await }))
            .await
    }

    async fn memories(
        &self,
        reach: &Reach,
        range: &Range,
        after: Option<&Position>,
        limit: u32,
    ) -> Result<MemoryPage, Error> {
        let (its, range, after) = (reach.clone(), range.clone(), after.cloned());
        self.read(reach, move |connection| {
            Box::pin(async move { queries::memories(connection, &its, &range, after.as_ref(), limit).await })
        })
        .await
    }

    async fn candidate(&self, reach: &Reach, id: CandidateId, now: Time) -> Result<Option<Candidate>, Error> {
        let its = reach.clone();
        self.read(reach, move |connection| Box::pin(async move { queries::candidate(connection, &its, id, now).await }))
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
        let (its, range) = (reach.clone(), range.clone());
        self.read(reach, move |connection| {
            Box::pin(async move { queries::candidates(connection, &its, &range, after, limit, now).await })
        })
        .await
    }

    async fn replay(&self, key: &ReplayKey, now: Time) -> Result<Option<ReplayRecord>, Error> {
        let key = key.clone();
        let reach = Reach { tenant: key.tenant.clone(), subject: key.subject.clone() };
        self.read(&reach, move |connection| Box::pin(async move { queries::replay(connection, &key, now).await })).await
    }

    async fn commit(&self, change: Change) -> Result<Recorded<Judgement>, CommitError> {
        sound::check(&change).map_err(meaning)?;
        if !change.is_read() {
            let mut recorded = self.commit_all(vec![change]).await?;
            return recorded.pop().ok_or_else(|| meaning(Fault::Stored("change")).into());
        }
        self.ready()?;
        let (answer, answered) = oneshot::channel();
        let deadline = Deadline::current();
        let order = Order::Record { sealed: Box::new(ledger::seal(change, &self.key)), deadline, answer };
        in_time(deadline, self.decisions.send(order)).await?.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }

    async fn commit_all(&self, changes: Vec<Change>) -> Result<Vec<Recorded<Judgement>>, CommitError> {
        changes.iter().try_for_each(sound::check).map_err(meaning)?;
        self.ready()?;
        let changes = changes.into_iter().map(|change| ledger::seal(change, &self.key)).collect();
        changing::commit(&self.pools.app, &self.key, changes).await
    }

    async fn keep_policy(&self, version: PolicyVersion, document: &str, now: Time) -> Result<(), Error> {
        if self.is_ready() {
            return self.keep(version, document.to_owned(), now).await;
        }
        // Nothing can be decided by it before it is kept.
        *self.policy.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, document.to_owned(), now));
        Ok(())
    }

    async fn tidy(&self, now: Time, limit: u32) -> Result<u64, Error> {
        self.ready()?;
        tidy::tidy(&self.pools.worker, now, limit).await.map_err(meaning)
    }

    async fn prune(&self, before: Time, limit: u32) -> Result<u64, Error> {
        self.ready()?;
        unit::run(&self.pools.worker, unit::WRITE, None, move |connection| {
            Box::pin(async move { queries::prune(connection, before, limit).await })
        })
        .await
        .map_err(meaning)
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
        if !self.is_ready() {
            self.verify().await?;
        }
        verify::still(&self.pools).await?;
        let (answer, answered) = oneshot::channel();
        self.decisions.send(Order::Check(answer)).await.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }

    async fn close(&self) {
        self.sequencer.abort();
        let (answer, answered) = oneshot::channel();
        if self.decisions.send(Order::Close(answer)).await.is_ok() {
            // That the recorder has ended already is as good.
            let _ = answered.await;
        }
        if self.ready().is_ok() {
            sequencer::give_back(&self.pools.feeder, self.replica).await;
        }
        self.pools.close().await;
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.sequencer.abort();
    }
}

/// The database has not been found as it should be.
#[derive(Debug, thiserror::Error)]
#[error("the database has not been found ready yet")]
struct NotVerified;
