//! The writer: one task that owns the one connection that writes.
//!
//! It takes all orders that wait, applies each in a savepoint of its own, and after them the decisions of reads
//! together; commits once, and answers only then. Where nothing but reads waits, all of it is one text. What is to be erased goes after them in a transaction of its own, so
//! that no caller waits for it or fails with it, and so does the trial of whether it can still commit. What is out of
//! time before its turn is not applied: the wait for another process's lock lies before that.
//!
//! Invariant: nothing is acknowledged that went to a file which is not the database any more.
//!
//! Decision: the transaction is spoken as plain text, and sqlx's `Transaction` is not used. SQLite undoes a whole
//! transaction by itself when the disk is full inside a savepoint; sqlx's counter of depth does not notice, loses
//! changes it has released, commits later ones by themselves, and can begin nothing more. So after any error but a
//! constraint the writer says `ROLLBACK`, whatever it answers, and the whole group fails. Cost: one bad disk write
//! fails up to a group of changes, each of which its caller may send again.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, query};
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};

use super::decisions::{Decided, Transaction};
use super::error::{Blame, blame, is_busy, meaning};
use super::files::InPlace;
use super::orders::{Applied, Erase, Order, Read, parted};
use super::revisions::Revisions;
use super::{decisions, queries, tidy};
use crate::store::deadline::Deadline;
use crate::store::digest::DigestKey;
use crate::store::fault::{Fault, Stop};
use crate::store::ledger::Sealed;
use crate::store::{CommitError, Error, Expect};

/// The most orders of one group.
const GROUP: usize = 512;
/// The most orders that wait; whoever comes then waits to wait.
const QUEUE: usize = 1024;
/// How long another process's lock is waited for, and how often it is tried.
const BUSY: Duration = Duration::from_secs(5);
const BUSY_PACE: Duration = Duration::from_millis(5);

/// What the writer starts with.
pub(super) struct Start {
    pub(super) connection: SqliteConnection,
    pub(super) connect: SqliteConnectOptions,
    pub(super) lock: File,
    pub(super) in_place: InPlace,
}

/// What the writer has done since it started.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) groups: AtomicU64,
    pub(super) changes: AtomicU64,
}

struct Writer {
    connection: SqliteConnection,
    connect: SqliteConnectOptions,
    in_place: InPlace,
    key: Arc<DigestKey>,
    counts: Arc<Counts>,
    revisions: Revisions,
    /// A group has failed since the store was last asked whether it answers.
    failed: bool,
    /// What has failed may have left the connection broken, or inside a transaction.
    doubted: bool,
}

/// Starts the writer. It ends when it is told to close or when nobody can order any more, and then unlocks.
pub(super) fn start(start: Start, key: Arc<DigestKey>, counts: Arc<Counts>) -> mpsc::Sender<Order> {
    let (sender, orders) = mpsc::channel(QUEUE);
    let Start { connection, connect, lock, in_place } = start;
    let (revisions, failed, doubted) = (Revisions::default(), false, false);
    let writer = Writer { connection, connect, in_place, key, counts, revisions, failed, doubted };
    tokio::spawn(writer.run(orders, lock));
    sender
}

impl Writer {
    async fn run(mut self, mut orders: mpsc::Receiver<Order>, lock: File) {
        let mut group = Vec::new();
        let mut closers = Vec::new();
        while orders.recv_many(&mut group, GROUP).await > 0 {
            // Calls that are ready to run may be about to order: a group that has them too is one sync less.
            yield_now().await;
            while group.len() < GROUP
                && let Ok(order) = orders.try_recv()
            {
                group.push(order);
            }
            let erasures = group.extract_if(.., |order| matches!(order, Order::Erase { .. })).collect::<Vec<_>>();
            let rest = |order: &mut Order| matches!(order, Order::Check(_) | Order::Close(_));
            let work = group.extract_if(.., |order| !rest(order)).collect::<Vec<_>>();
            for orders in [work, erasures] {
                if !orders.is_empty() {
                    self.commit(orders).await;
                }
            }
            for order in group.drain(..) {
                match order {
                    Order::Check(answer) => {
                        let _ = answer.send(self.check().await);
                    }
                    Order::Close(closer) => {
                        closers.push(closer);
                        orders.close();
                    }
                    Order::Commit { .. } | Order::KeepPolicy { .. } | Order::Erase { .. } => {}
                }
            }
        }
        if let Err(error) = self.connection.close().await {
            tracing::warn!(error = &error as &dyn std::error::Error, "the database did not close cleanly");
        }
        drop(lock);
        for closer in closers {
            let _ = closer.send(());
        }
    }

    /// Whether a commit would be durable now: makes one that changes nothing, where there is room for more than that
    /// and no group has failed since the last time. A page fits where a change does not: into what an earlier,
    /// failed commit has left of the log.
    async fn check(&mut self) -> Result<(), Error> {
        let failed = std::mem::take(&mut self.failed);
        let tried = self.try_to_commit().await;
        if tried.is_err() {
            self.doubted = true;
            let _ = query("ROLLBACK").execute(&mut self.connection).await;
        }
        tried.map_err(meaning)?;
        self.in_place.verify_room().map_err(|error| meaning(error.into()))?;
        if failed { Err(Error::Unavailable(Box::new(GroupsFailed))) } else { Ok(()) }
    }

    /// SQLite writes no page whose bytes stay the same, so an update of a row to itself needs no room and proves
    /// nothing. The number of the header, which is ours and 0, is written whatever it was.
    async fn try_to_commit(&mut self) -> Result<(), Fault> {
        self.begin().await?;
        query("PRAGMA user_version = 0").execute(&mut self.connection).await?;
        self.end().await
    }

    async fn commit(&mut self, orders: Vec<Order>) {
        let mut applied = Vec::with_capacity(orders.len());
        let (mut reads, mut orders) = parted(orders);
        let result = self.transaction(&mut orders, &mut reads, &mut applied).await;
        match result {
            Ok(()) => {
                self.counts.groups.fetch_add(1, Ordering::Relaxed);
                for one in applied {
                    if let Applied::Changes(changes, _) = &one {
                        let count = u64::try_from(changes.len()).unwrap_or(u64::MAX);
                        self.counts.changes.fetch_add(count, Ordering::Relaxed);
                    }
                    one.committed();
                }
            }
            Err(fault) => {
                let _ = query("ROLLBACK").execute(&mut self.connection).await;
                tracing::error!(error = &fault as &dyn std::error::Error, "a group of changes was not committed");
                (self.failed, self.doubted) = (true, true);
                self.revisions.forget_all();
                let fault = Arc::new(meaning(fault));
                let rest = orders.filter_map(|order| match order {
                    Order::Commit { changes, answer, .. } => Some(Applied::Changes(changes, answer)),
                    Order::KeepPolicy { answer, .. } => Some(Applied::Policy(answer)),
                    Order::Erase { answer, .. } => Some(Applied::Erased(0, answer)),
                    Order::Check(_) | Order::Close(_) => None,
                });
                let reads = reads.into_iter().map(|read| Applied::Changes(read.changes, read.answer));
                for one in applied.into_iter().chain(rest).chain(reads) {
                    one.failed(Error::Unavailable(Box::new(GroupFailed(Arc::clone(&fault)))));
                }
            }
        }
    }

    /// Applies orders until one fails, and the decisions of reads after them; what has been applied or refused by then
    /// is in `applied`, the failed one too.
    async fn transaction(
        &mut self,
        orders: &mut impl ExactSizeIterator<Item = Order>,
        reads: &mut Vec<Read>,
        applied: &mut Vec<Applied>,
    ) -> Result<(), Fault> {
        if orders.len() == 0 && !self.doubted && self.record_alone(reads, applied).await? {
            return Ok(());
        }
        self.begin().await?;
        for order in orders {
            match order {
                Order::Commit { deadline: Some(deadline), answer, .. } if deadline.is_over() => {
                    applied.push(Applied::Refused(Error::OutOfTime.into(), answer));
                }
                Order::Commit { changes, answer, .. } => match self.apply(&changes).await {
                    Ok(None) => applied.push(Applied::Changes(changes, answer)),
                    Ok(Some(why)) => applied.push(Applied::Refused(why, answer)),
                    Err(fault) => {
                        applied.push(Applied::Changes(changes, answer));
                        return Err(fault);
                    }
                },
                Order::KeepPolicy { version, document, now, answer } => {
                    applied.push(Applied::Policy(answer));
                    queries::keep_policy(&mut self.connection, version, &document, now).await?;
                }
                Order::Erase { what, limit, answer } => match self.erase(what, limit).await {
                    Ok(rows) => applied.push(Applied::Erased(rows, answer)),
                    Err(fault) => {
                        applied.push(Applied::Erased(0, answer));
                        return Err(fault);
                    }
                },
                Order::Check(_) | Order::Close(_) => {}
            }
        }
        self.refuse(reads, applied).await?;
        self.record(reads, applied, Transaction::Begun).await
    }

    /// Appends the decisions of reads in a transaction of their own. `false`: another process holds the lock, and none
    /// was appended.
    async fn record_alone(&mut self, reads: &mut Vec<Read>, applied: &mut Vec<Applied>) -> Result<bool, Fault> {
        self.in_place.verify()?;
        self.refuse(reads, applied).await?;
        match self.record(reads, applied, Transaction::Own).await {
            Ok(()) => Ok(true),
            Err(Fault::Sql(error)) if is_busy(&error) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// Refuses the reads that are out of time, or whose revisions no longer stand.
    async fn refuse(&mut self, reads: &mut Vec<Read>, applied: &mut Vec<Applied>) -> Result<(), Fault> {
        let mut asked = std::mem::take(reads).into_iter();
        while let Some(read) = asked.next() {
            if read.deadline.is_some_and(Deadline::is_over) {
                applied.push(Applied::Refused(Error::OutOfTime.into(), read.answer));
                continue;
            }
            match self.stands(&read.changes).await {
                Ok(true) => reads.push(read),
                Ok(false) => applied.push(Applied::Refused(CommitError::Contended, read.answer)),
                Err(fault) => {
                    reads.push(read);
                    reads.extend(asked);
                    return Err(fault);
                }
            }
        }
        Ok(())
    }

    /// Appends the decisions of reads together, and commits.
    async fn record(
        &mut self,
        reads: &mut Vec<Read>,
        applied: &mut Vec<Applied>,
        transaction: Transaction,
    ) -> Result<(), Fault> {
        let sealed = reads.iter().flat_map(|read| &read.changes);
        let rows: Vec<Decided<'_>> = sealed.map(|sealed| Decided::of(sealed, &self.key)).collect();
        if !rows.is_empty() {
            decisions::append_and_commit(&mut self.connection, &rows, transaction).await?;
            self.in_place.verify()?;
        } else if transaction == Transaction::Begun {
            self.end().await?;
        }
        applied.extend(reads.drain(..).map(|read| Applied::Changes(read.changes, read.answer)));
        Ok(())
    }

    async fn stands(&mut self, changes: &[Sealed]) -> Result<bool, Fault> {
        for Sealed { change, .. } in changes {
            for expect in &change.expect {
                if let Expect::Revision(scope) = expect
                    && !self.revisions.stands(&mut self.connection, &change.tenant, scope).await?
                {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    async fn erase(&mut self, what: Erase, limit: u32) -> Result<u64, Fault> {
        match what {
            Erase::Lapsed(now) => tidy::tidy(&mut self.connection, now, limit).await,
            Erase::Decisions(before) => queries::prune(&mut self.connection, before, limit).await,
        }
    }

    /// Begins. A connection that is broken, or that an earlier failure has left inside a transaction, is replaced.
    async fn begin(&mut self) -> Result<(), Fault> {
        self.in_place.verify()?;
        if let Err(error) = self.begin_in_time().await {
            if is_busy(&error) {
                return Err(error.into());
            }
            let fresh = self.connect.connect().await.map_err(|_| error)?;
            let broken = std::mem::replace(&mut self.connection, fresh);
            let _ = broken.close_hard().await;
            self.begin_in_time().await?;
        }
        self.doubted = false;
        Ok(())
    }

    /// The connection itself waits for no lock, so that a text which begins by itself is never late.
    async fn begin_in_time(&mut self) -> Result<(), sqlx::Error> {
        let patience = Instant::now() + BUSY;
        loop {
            match query("BEGIN IMMEDIATE").execute(&mut self.connection).await {
                Err(error) if is_busy(&error) && Instant::now() < patience => sleep(BUSY_PACE).await,
                begun => return begun.map(drop),
            }
        }
    }

    /// Commits. What went to a file that has been removed or replaced meanwhile is not there after a restart, and counts
    /// as not committed.
    async fn end(&mut self) -> Result<(), Fault> {
        query("COMMIT").execute(&mut self.connection).await?;
        self.in_place.verify()?;
        Ok(())
    }

    /// Applies the changes of one order in a savepoint. `Some`: one was refused, all are undone, and the group goes on.
    async fn apply(&mut self, changes: &[Sealed]) -> Result<Option<CommitError>, Fault> {
        query("SAVEPOINT change").execute(&mut self.connection).await?;
        let mut refusal = None;
        for Sealed { change, body } in changes {
            self.revisions.forget(change);
            refusal = match queries::apply(&mut self.connection, &self.key, change, body).await {
                Ok(()) => continue,
                Err(Stop::Contended) => Some(CommitError::Contended),
                Err(Stop::Fault(fault)) => match blame(fault) {
                    Blame::Change(why) => Some(why),
                    Blame::Group(fault) => return Err(fault),
                },
            };
            break;
        }
        if refusal.is_some() {
            query("ROLLBACK TO change").execute(&mut self.connection).await?;
        }
        query("RELEASE change").execute(&mut self.connection).await?;
        Ok(refusal)
    }
}

/// Told to every change of a group that failed.
#[derive(Debug, thiserror::Error)]
#[error("the group that the change was in was not committed")]
struct GroupFailed(#[source] Arc<Error>);

/// Told to whoever asks whether the store answers.
#[derive(Debug, thiserror::Error)]
#[error("changes were not committed a moment ago")]
struct GroupsFailed;
