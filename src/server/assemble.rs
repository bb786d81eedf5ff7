//! Puts a concrete store under the gate, and the services over it.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tonic::service::Routes;

use super::{disk, tidy};
use crate::api;
use crate::config::Database;
use crate::gate::{Clock, Gate};
use crate::memory::Span;
use crate::policy::Policy;
use crate::store::{self, Cached, OpenError, Postgres, Sqlite, SqliteOptions, Store};

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

/// What is looked after beside the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upkeep {
    /// How long decisions are kept; `None`: for ever.
    pub decision_retention: Option<Span>,
    /// Below this many free bytes where the database lies, an alarm is logged; 0: never.
    pub min_free_bytes: u64,
    /// What contexts kept in memory may take, in bytes; 0: none is kept.
    pub context_cache_bytes: u64,
}

/// The service without its wire.
pub struct Assembled {
    /// The services of the API.
    pub routes: Routes,
    /// What they ask, to put another policy in force.
    pub gate: Arc<Gate>,
    /// What they stand on; to be closed when they are done.
    pub store: Arc<dyn Store>,
    /// Whether that was found ready; a server that does not answer yet is waited for.
    pub ready: bool,
    /// Erases what is over, and watches the disk; to be dropped before the store is closed.
    pub upkeep: JoinSet<()>,
}

/// Opens the database, keeps the policy there by its hash, and builds the services.
///
/// # Errors
/// Where the database cannot be opened or written.
pub async fn assemble(
    database: &Database,
    policy: Policy,
    clock: Arc<dyn Clock>,
    upkeep: Upkeep,
) -> Result<Assembled, AssembleError> {
    match database {
        Database::File(path) => {
            let store = Sqlite::open(path, SqliteOptions::default()).await?;
            let file = path.to_owned();
            let mut assembled = assemble_over(Arc::new(store), policy, clock, upkeep).await?;
            assembled.upkeep.spawn(disk::watching(move || store::free_bytes(&file), upkeep.min_free_bytes));
            Ok(assembled)
        }
        Database::Postgres(options) => {
            let store = Postgres::open(options.clone()).await?;
            let mut ready = store.is_ready();
            let assembled = assemble_over(Arc::new(store), policy, clock, upkeep).await?;
            if ready && let Err(error) = assembled.store.check().await {
                tracing::error!(error = &error as &dyn std::error::Error, "not ready: the store can record nothing");
                ready = false;
            }
            Ok(Assembled { ready, ..assembled })
        }
    }
}
/// How long a context is kept in memory. No change is missed for it; a candidate that another service held is seen when
/// it is over.
const CONTEXT_AGE: Duration = Duration::from_secs(30);

/// Keeps the policy in a store by its hash, and builds the services over it. It is taken to be ready, and nobody watches its
/// disk.
///
/// # Errors
/// Where the store cannot be written.
pub async fn assemble_over(
    store: Arc<dyn Store>,
    policy: Policy,
    clock: Arc<dyn Clock>,
    upkeep: Upkeep,
) -> Result<Assembled, AssembleError> {
    let store: Arc<dyn Store> = match upkeep.context_cache_bytes {
        0 => store,
        bytes => Arc::new(Cached::new(store, CONTEXT_AGE, bytes)),
    };
    store.keep_policy(policy.version, &policy.document, clock.now()).await?;
    let mut tasks = JoinSet::new();
    tasks.spawn(tidy::tidying(Arc::clone(&store), Arc::clone(&clock), upkeep.decision_retention));
    let gate = Arc::new(Gate::new(Arc::clone(&store), policy, clock));
    Ok(Assembled { routes: api::routes(Arc::clone(&gate)), gate, store, ready: true, upkeep: tasks })
}
