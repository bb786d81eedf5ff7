//! Puts a concrete store under the gate, and the services over it.

use std::path::Path;
use std::sync::Arc;

use tonic::service::Routes;

use super::tidy::Tidying;
use crate::api;
use crate::gate::{Clock, Gate};
use crate::policy::Policy;
use crate::store::{self, OpenError, Sqlite, SqliteOptions, Store};

/// Why the service could not be put together.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// The database cannot be opened.
    #[error("the database cannot be opened")]
    Open(#[from] OpenError),
    /// The policy could not be kept beside the decisions that will name it.
    #[error("the policy cannot be kept in the database")]
    KeepPolicy(#[from] store::Error),
}

/// The service without its wire.
pub struct Assembled {
    /// The services of the API.
    pub routes: Routes,
    /// What they stand on; to be closed when they are done.
    pub store: Arc<dyn Store>,
    /// Erases what is over; to be dropped before the store is closed.
    pub tidying: Tidying,
}

/// Opens the database at a path, keeps the policy there by its hash, and builds the services.
///
/// # Errors
/// Where the database cannot be opened or written.
pub async fn assemble(database: &Path, policy: Policy, clock: Arc<dyn Clock>) -> Result<Assembled, AssembleError> {
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(database, SqliteOptions::default()).await?);
    store.keep_policy(policy.version, &policy.document, clock.now()).await?;
    let tidying = Tidying::start(Arc::clone(&store), Arc::clone(&clock));
    let gate = Arc::new(Gate::new(Arc::clone(&store), policy, clock));
    Ok(Assembled { routes: api::routes(gate), store, tidying })
}
