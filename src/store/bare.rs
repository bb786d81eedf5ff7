//! The two statements of a recall by themselves, for measurements: what reads what is judged, and what appends the
//! decision. Each is prepared once a connection and commits by itself; no store is around them. For nobody else, and no
//! part of what this crate promises.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use super::{Error, OpenError, PostgresOptions, Reach, postgres, sqlite};
use crate::memory::{MemoryId, ProjectId, Time};

/// What a recall of memories by their ids, in a project, asks for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Whose memories.
    pub reach: Reach,
    /// Where.
    pub project: ProjectId,
    /// Which.
    pub ids: Vec<MemoryId>,
    /// When.
    pub now: Time,
}

/// What all decisions of a measurement have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The digest key of the service that made it.
    pub key_id: String,
    /// The judgement, encoded.
    pub bytes: Vec<u8>,
}

/// A decision of a recall, to be appended.
#[derive(Debug, Clone)]
pub struct Row {
    /// The tenant.
    pub tenant: String,
    /// The subject.
    pub subject: String,
    /// When it was made.
    pub decide_time: Time,
    /// Its id.
    pub decision_id: Uuid,
}

/// Connections that say these statements.
#[async_trait]
pub trait Bare: Send + Sync + 'static {
    /// The body of the newest decision of a recall about that subject.
    async fn body(&self, reach: &Reach) -> Result<Option<Body>, Error>;

    /// Reads what a recall judges; how many rows that is.
    async fn read(&self, asked: &Asked) -> Result<usize, Error>;

    /// Appends decisions in one transaction; one by itself without saying so.
    async fn append(&self, rows: &[Row], body: &Body) -> Result<(), Error>;
}

/// Over a database file that nobody has open. So many read, one writes.
///
/// # Errors
/// Where it is not there.
pub async fn sqlite(path: &Path, readers: u32) -> Result<Arc<dyn Bare>, OpenError> {
    Ok(Arc::new(sqlite::Bare::open(path, readers).await?))
}

/// Over a PostgreSQL database: as the service's own role, which reads under row-level security, and as the ledger's. As
/// many connections of each as the options name, made as they are needed.
///
/// # Errors
/// Where an address cannot be read.
pub fn postgres(options: &PostgresOptions) -> Result<Arc<dyn Bare>, OpenError> {
    Ok(Arc::new(postgres::Bare::new(options)?))
}

/// A script for pgbench that says the same two statements. `tests/pgbench` makes the table that it takes its values from.
#[must_use]
pub fn pgbench() -> String {
    postgres::pgbench()
}
