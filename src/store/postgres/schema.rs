//! The schema: brought up to date by the migrator alone, and compared by everybody else.

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{PgConnection, query_scalar};

use super::error::{UNDEFINED_TABLE, state};
use super::partitions;
use crate::memory::Time;
use crate::store::OpenError;
use crate::store::fault::Fault;

static MIGRATIONS: Migrator = sqlx::migrate!("src/store/migrations/postgres");

/// What a migration found and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// The schema before; 0: none.
    pub from: i64,
    /// The schema now.
    pub to: i64,
    /// Partitions of the decision ledger that were made ahead.
    pub partitions: u64,
}

/// Brings the schema up to date, and makes partitions of the ledger ahead.
pub(super) async fn migrate(connection: &mut PgConnection, now: Time) -> Result<Migrated, OpenError> {
    let from = found(connection).await?;
    MIGRATIONS.run_direct(None, connection, false).await.or_else(newer_is_well).map_err(OpenError::Schema)?;
    let to = found(connection).await?;
    let partitions = partitions::make(connection, now).await?;
    Ok(Migrated { from, to, partitions })
}

fn newer_is_well(error: MigrateError) -> Result<(), MigrateError> {
    match error {
        MigrateError::VersionMissing(found) if found > known() => Ok(()),
        error => Err(error),
    }
}

/// The newest schema that this version of the service knows.
pub(super) fn known() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// The schema of the database; 0 where there is none.
pub(super) async fn found(connection: &mut PgConnection) -> Result<i64, Fault> {
    const SQL: &str = "SELECT max(version) FROM _sqlx_migrations WHERE success";
    let found: Result<Option<i64>, sqlx::Error> = query_scalar(SQL).fetch_one(connection).await;
    match found.map_err(Fault::from) {
        Ok(found) => Ok(found.unwrap_or_default()),
        Err(fault) if state(&fault).as_deref() == Some(UNDEFINED_TABLE) => Ok(0),
        Err(fault) => Err(fault),
    }
}
