//! Looking into a database from outside, beside the service that runs on it: for operators.
//!
//! It serves no caller, holds no lock, makes no file and can change nothing.

use std::path::Path;

use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection, query_as, query_scalar};

use super::error::meaning;
use super::every;
use super::open;
use crate::memory::{Address, Memory, Time};
use crate::store::Error;
use crate::store::OpenError;
use crate::store::fault::Fault;

/// A database that is read from outside.
pub struct Inspection(SqliteConnection);

/// How large the ledger is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerSize {
    /// Decisions that it holds.
    pub decisions: u64,
    /// When the oldest was made.
    pub oldest: Option<Time>,
    /// When the newest was made.
    pub newest: Option<Time>,
    /// What they and their indexes take in the database file.
    pub bytes: u64,
    /// The whole database file, without its write-ahead log.
    pub file_bytes: u64,
    /// Pages of the file that hold nothing: they are used again before it grows.
    pub reusable_bytes: u64,
}

impl Inspection {
    /// Opens a database that exists.
    ///
    /// # Errors
    /// There is none, it is not this service's, or its schema is not the one that this version knows.
    pub async fn open(path: &Path) -> Result<Self, OpenError> {
        let mut connection = open::reading(path).connect().await?;
        open::same_schema(&mut connection).await?;
        Ok(Self(connection))
    }

    /// How large the ledger is. Reads all of its pages.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn ledger_size(&mut self) -> Result<LedgerSize, Error> {
        const BYTES: &str = "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE aggregate = TRUE AND name IN \
                             (SELECT name FROM sqlite_schema WHERE tbl_name = 'decisions')";
        const FILE: &str = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        const REUSABLE: &str = "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size";
        // Each on its own: a long read would keep the write-ahead log of the running service from starting over.
        let decisions = self.number("SELECT count(*) FROM decisions").await?;
        let ends: (Option<i64>, Option<i64>) =
            query_as("SELECT (SELECT min(decide_time) FROM decisions), (SELECT max(decide_time) FROM decisions)")
                .fetch_one(&mut self.0)
                .await
                .map_err(failed)?;
        Ok(LedgerSize {
            decisions,
            oldest: ends.0.map(Time::from_micros),
            newest: ends.1.map(Time::from_micros),
            bytes: self.number(BYTES).await?,
            file_bytes: self.number(FILE).await?,
            reusable_bytes: self.number(REUSABLE).await?,
        })
    }

    /// How many decisions were made before an instant.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn decisions_before(&mut self, before: Time) -> Result<u64, Error> {
        const SQL: &str = "SELECT count(*) FROM decisions WHERE decide_time < $1";
        let number: i64 = query_scalar(SQL).bind(before.micros()).fetch_one(&mut self.0).await.map_err(failed)?;
        Ok(u64::try_from(number).unwrap_or_default())
    }

    /// Up to `limit` memories of all tenants after an address, by tenant, owner, project, task and key, bytewise. Of
    /// their text the value alone.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn memories(&mut self, after: Option<&Address>, limit: u32) -> Result<Vec<Memory>, Error> {
        every::page(&mut self.0, after, limit).await.map_err(meaning)
    }

    /// Closes it.
    pub async fn close(self) {
        // It has written nothing that could be lost.
        let _ = self.0.close().await;
    }

    async fn number(&mut self, sql: &'static str) -> Result<u64, Error> {
        let number: i64 = query_scalar(sql).fetch_one(&mut self.0).await.map_err(failed)?;
        Ok(u64::try_from(number).unwrap_or_default())
    }
}

fn failed(error: sqlx::Error) -> Error {
    meaning(Fault::Sql(error))
}
