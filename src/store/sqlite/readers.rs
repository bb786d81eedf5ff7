//! The connections that read: a few, each for one unit of work at a time.
//!
//! Decision: no pool of sqlx. That asks each connection that comes back whether it still lives, which on SQLite is as
//! many changes of thread as the read itself. A connection to a file lives until it fails; whoever met a failure lets go
//! of it, and the next one opens another.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::files::InPlace;

/// How long a unit of work waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// All of them.
#[derive(Clone)]
pub(super) struct Readers(Arc<Inner>);

struct Inner {
    connect: SqliteConnectOptions,
    in_place: InPlace,
    most: u32,
    places: Arc<Semaphore>,
    idle: Mutex<Vec<SqliteConnection>>,
    closed: AtomicBool,
}

/// One that is in use. It is closed when it is dropped.
pub(super) struct Reader {
    pub(super) connection: SqliteConnection,
    readers: Readers,
    _place: OwnedSemaphorePermit,
}

impl Readers {
    /// Opens the first one.
    pub(super) async fn open(connect: SqliteConnectOptions, in_place: InPlace, most: u32) -> Result<Self, sqlx::Error> {
        let most = most.max(1);
        let places = Arc::new(Semaphore::new(usize::try_from(most).unwrap_or(1)));
        let idle = Mutex::default();
        let readers = Self(Arc::new(Inner { connect, in_place, most, places, idle, closed: AtomicBool::new(false) }));
        readers.acquire().await?.give_back();
        Ok(readers)
    }

    /// Waits for one to be free.
    pub(super) async fn acquire(&self) -> Result<Reader, sqlx::Error> {
        let inner = &self.0;
        let place = timeout(ACQUIRE_TIMEOUT, Arc::clone(&inner.places).acquire_owned()).await;
        let place = place.map_err(|_| sqlx::Error::PoolTimedOut)?.map_err(|_| sqlx::Error::PoolClosed)?;
        if inner.closed.load(Ordering::Acquire) {
            return Err(sqlx::Error::PoolClosed);
        }
        let idle = self.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        Ok(Reader { connection, readers: self.clone(), _place: place })
    }

    /// One that is opened later, when more read at once than before, must find the same files: another in their place
    /// has none of our tables, and its connection would outlast it.
    async fn connect(&self) -> Result<SqliteConnection, sqlx::Error> {
        let connection = self.0.connect.connect().await?;
        self.0.in_place.verify()?;
        Ok(connection)
    }

    /// Lets nobody have one any more, and closes all when those in use have come back.
    pub(super) async fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
        let _all = self.0.places.acquire_many(self.0.most).await;
        let idle = std::mem::take(&mut *self.idle());
        for connection in idle {
            // Closed or lost, it is gone.
            let _ = connection.close().await;
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<SqliteConnection>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader {
    /// For the next one. Nothing may be under way on it.
    pub(super) fn give_back(self) {
        self.readers.idle().push(self.connection);
    }
}

#[cfg(test)]
mod tests {
    use sqlx::{query, query_scalar};

    use super::*;

    /// Readers of a database of their own, which a writer keeps open.
    async fn readers(most: u32) -> (tempfile::TempDir, SqliteConnection, Readers) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("memories.db");
        let connect = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
        let mut writer = connect.clone().pragma("journal_mode", "WAL").connect().await.unwrap();
        query("CREATE TABLE kept (number INTEGER)").execute(&mut writer).await.unwrap();
        let in_place = InPlace::of(&path).unwrap();
        let readers = Readers::open(connect, in_place, most).await.unwrap();
        (directory, writer, readers)
    }

    /// What a connection alone remembers.
    async fn mark(reader: &mut Reader, mark: &'static str) {
        query(mark).execute(&mut reader.connection).await.unwrap();
    }

    async fn marked(reader: &mut Reader) -> i64 {
        query_scalar("PRAGMA cache_size").fetch_one(&mut reader.connection).await.unwrap()
    }

    #[tokio::test]
    async fn one_that_comes_back_is_used_again_and_one_that_does_not_is_replaced() {
        let (_directory, _writer, readers) = readers(1).await;
        let mut first = readers.acquire().await.unwrap();
        mark(&mut first, "PRAGMA cache_size = 77").await;
        first.give_back();
        let mut again = readers.acquire().await.unwrap();
        assert_eq!(marked(&mut again).await, 77);
        drop(again);
        assert_ne!(marked(&mut readers.acquire().await.unwrap()).await, 77);
    }

    #[tokio::test]
    async fn no_more_are_used_at_once_than_there_may_be() {
        let (_directory, _writer, readers) = readers(2).await;
        let (one, _two) = (readers.acquire().await.unwrap(), readers.acquire().await.unwrap());
        let soon = Duration::from_millis(20);
        assert!(timeout(soon, readers.acquire()).await.is_err());
        one.give_back();
        assert!(timeout(ACQUIRE_TIMEOUT, readers.acquire()).await.unwrap().is_ok());
    }

    #[tokio::test]
    async fn closing_waits_for_those_in_use_and_nobody_has_one_afterwards() {
        let (_directory, _writer, readers) = readers(2).await;
        let one = readers.acquire().await.unwrap();
        let closing = tokio::spawn({
            let readers = readers.clone();
            async move { readers.close().await }
        });
        tokio::task::yield_now().await;
        assert!(!closing.is_finished());
        one.give_back();
        closing.await.unwrap();
        assert!(readers.idle().is_empty());
        assert!(matches!(readers.acquire().await, Err(sqlx::Error::PoolClosed)));
    }
}
