//! The whole service within this process, on a port of its own: for demonstrations, measurements and tests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use super::{AssembleError, Assembled, Drained, Error, Health, Limits, Server, Upkeep, assemble, assemble_over};
use crate::config::{DEFAULT_CONTEXT_CACHE_MIB, Database};
use crate::gate::Clock;
use crate::identity::Authenticator;
use crate::policy::Policy;
use crate::store::Store;

const DRAIN: Duration = Duration::from_secs(5);

/// It keeps everything, and does not live long enough to fill a disk.
const UPKEEP: Upkeep =
    Upkeep { decision_retention: None, min_free_bytes: 0, context_cache_bytes: DEFAULT_CONTEXT_CACHE_MIB << 20 };

/// Why it did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no port to be had.
    #[error("no port on the loopback address")]
    Listen(#[from] std::io::Error),
    /// The store did not open.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
}

/// A running service.
pub struct Embedded {
    address: SocketAddr,
    store: Arc<dyn Store>,
    upkeep: JoinSet<()>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<Drained, Error>>,
}

impl Embedded {
    /// Starts on a free port of the loopback address.
    ///
    /// # Errors
    /// Where there is no port, or the database cannot be opened.
    pub async fn start(
        database: impl Into<Database>,
        policy: Policy,
        clock: Arc<dyn Clock>,
        authenticator: Authenticator,
    ) -> Result<Self, StartError> {
        let assembled = assemble(&database.into(), policy, Arc::clone(&clock), UPKEEP).await?;
        Self::serve(assembled, clock, authenticator).await
    }

    /// Starts over a store that is open already, on a free port of the loopback address.
    ///
    /// # Errors
    /// Where there is no port, or the store cannot be written.
    pub async fn start_over(
        store: Arc<dyn Store>,
        policy: Policy,
        clock: Arc<dyn Clock>,
        authenticator: Authenticator,
    ) -> Result<Self, StartError> {
        let assembled = assemble_over(store, policy, Arc::clone(&clock), UPKEEP).await?;
        Self::serve(assembled, clock, authenticator).await
    }

    async fn serve(
        assembled: Assembled,
        clock: Arc<dyn Clock>,
        authenticator: Authenticator,
    ) -> Result<Self, StartError> {
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let server = Server {
            routes: assembled.routes,
            authenticator: Arc::new(authenticator),
            store: Arc::clone(&assembled.store),
            ready: assembled.ready,
            clock,
            drain: DRAIN,
            limits: Limits::default(),
        };
        let (stop, stopped) = oneshot::channel();
        let health = Health::new().await;
        let serving = tokio::spawn(server.run(listener, health, async { stopped.await.unwrap_or_default() }));
        Ok(Self { address, store: assembled.store, upkeep: assembled.upkeep, stop, serving })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it: calls in flight are awaited, what waits is committed, the store is closed. `None` where it failed.
    pub async fn stop(self) -> Option<Drained> {
        // Nobody receives it only where it has ended already, which its outcome says.
        let _ = self.stop.send(());
        let drained = self.serving.await.ok().and_then(Result::ok);
        drop(self.upkeep);
        self.store.close().await;
        drained
    }
}
