//! Looking after a database from outside, as the role that owns its tables. Serves no caller.

use sqlx::{ConnectOptions, Connection, PgConnection};

use super::connect::{self, MIGRATOR};
use super::error::meaning;
use super::partitions;
use super::schema::{self, Migrated};
use crate::memory::Time;
use crate::store::{Error, OpenError};

/// A PostgreSQL database, for its owner.
pub struct Administration(PgConnection);

/// How large the ledger of decisions is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartitionedSize {
    /// Partitions, without the default one.
    pub partitions: u64,
    /// Decisions in all.
    pub decisions: u64,
    /// Those of them that no partition was made for.
    pub in_default: u64,
    /// When the oldest was made.
    pub oldest: Option<Time>,
    /// When the newest was made.
    pub newest: Option<Time>,
    /// What they and their indexes take.
    pub bytes: u64,
}

impl Administration {
    /// Connects. An address without a user means `recall_gate_migrator`.
    ///
    /// # Errors
    /// Where the address cannot be read, or the database not be reached.
    pub async fn open(address: &str) -> Result<Self, OpenError> {
        Ok(Self(connect::once(&connect::with_default_user(address, MIGRATOR))?.connect().await?))
    }

    /// Brings the schema up to date, and makes partitions of the ledger ahead. Two at once do it once; a schema that is
    /// newer stays as it is.
    ///
    /// # Errors
    /// Where a migration fails, or the role may not.
    pub async fn migrate(&mut self, now: Time) -> Result<Migrated, OpenError> {
        schema::migrate(&mut self.0, now).await
    }

    /// How large the ledger is. Reads all of it.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn ledger_size(&mut self) -> Result<PartitionedSize, Error> {
        partitions::size(&mut self.0).await.map_err(meaning)
    }

    /// How many decisions [`Administration::drop_decisions`] would remove.
    ///
    /// # Errors
    /// Where the database does not answer.
    pub async fn droppable_decisions(&mut self, before: Time) -> Result<u64, Error> {
        partitions::count_before(&mut self.0, before).await.map_err(meaning)
    }

    /// Drops the partitions of which every decision was made before an instant, and removes what is older in the
    /// default one; how many decisions went.
    ///
    /// # Errors
    /// Where the database does not answer, or the role may not.
    pub async fn drop_decisions(&mut self, before: Time) -> Result<u64, Error> {
        partitions::drop_before(&mut self.0, before).await.map_err(meaning)
    }

    /// Closes it.
    pub async fn close(self) {
        // Every statement was committed by itself.
        let _ = self.0.close().await;
    }
}
