//! Why a database is not opened, on either engine.

use std::path::PathBuf;

use sqlx::migrate::MigrateError;

use super::fault::Fault;

/// Why a database was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process serves it.
    #[error("the database is held by {}", .process_id.map_or_else(
        || "another process".to_owned(), |process_id| format!("the process {process_id}")))]
    Held {
        /// Which, where its lock file says so.
        process_id: Option<u32>,
    },
    /// The database holds digests, and the key that they were made with is not there.
    #[error("the digest key is missing: put `{}` back from its backup; without it, what was deleted could come back",
        .path.display())]
    KeyMissing {
        /// Where it should lie.
        path: PathBuf,
    },
    /// The key that lies there is another database's.
    #[error("the digest key `{}` is not the one that this database was made with", .path.display())]
    KeyForeign {
        /// Where it lies.
        path: PathBuf,
    },
    /// What lies there is no key.
    #[error("the digest key `{}` is not 32 bytes long or cannot be used", .path.display())]
    KeyMalformed {
        /// Where it lies.
        path: PathBuf,
    },
    /// A newer version of the service has been here.
    #[error(
        "the database has schema {found}, and this version of the service knows {known} at most: start a newer one"
    )]
    SchemaNewer {
        /// The schema of the database.
        found: i64,
        /// The newest that this version knows.
        known: i64,
    },
    /// Nobody has brought it up to date, and whoever only reads cannot.
    #[error(
        "the database has schema {found}, and this version of the service wants {known}: start `serve` on a file first, \
         run `recall-gate migrate` on PostgreSQL"
    )]
    SchemaOlder {
        /// The schema of the database; 0: none.
        found: i64,
        /// The one that is wanted.
        known: i64,
    },
    /// A migration failed, or one that had been applied has been changed since.
    #[error("the schema could not be brought up to date")]
    Schema(#[source] MigrateError),
    /// An address of the database cannot be read. It is not repeated: it may hold a password.
    #[error("the address of the database is not of the form postgres://user:password@host:port/database")]
    Address,
    /// The database, its server or one of the roles is set up so that what the service promises would not hold.
    #[error("the database is not fit to be served:\n{}", .faults.join("\n"))]
    Unfit {
        /// Everything that is wrong with it.
        faults: Vec<String>,
    },
    /// A file could not be made, read or written.
    #[error("a file of the database cannot be used")]
    File(#[from] std::io::Error),
    /// The database refused.
    #[error("the database cannot be opened")]
    Database(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<Fault> for OpenError {
    fn from(fault: Fault) -> Self {
        Self::Database(Box::new(fault))
    }
}

impl From<sqlx::Error> for OpenError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(Box::new(error))
    }
}
