//! The whole service within this process, with limits of its own and a service beside that misbehaves.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use recall_gate::api::proto::{CaptureRequest, Evidence, Level, Scope, Source};
use recall_gate::config::Database;
use recall_gate::gate::SystemClock;
use recall_gate::identity::{Authenticator, SigningKey};
use recall_gate::policy::Policy;
use recall_gate::server::{Drained, Error, Health, Limits, Server, Upkeep, assemble};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tonic::transport::{Channel, Endpoint};

use crate::raw::Raw;
use crate::stub::Stub;

/// No credential is needed; a bad one is refused.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    pub(crate) stub: Stub,
    pub(crate) folder: TempDir,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<Drained, Error>>,
    _upkeep: JoinSet<()>,
}

impl Service {
    pub(crate) async fn start(limits: Limits) -> Self {
        Self::draining(limits, Duration::from_secs(1)).await
    }

    /// One whose calls have so long after a stop.
    pub(crate) async fn draining(limits: Limits, drain: Duration) -> Self {
        crate::listening::listen();
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(SystemClock);
        let policy = Policy::compiled_in().unwrap();
        let upkeep = Upkeep { decision_retention: None, min_free_bytes: 0, context_cache_bytes: 0 };
        let database = folder.path().join("recall-gate.db");
        let assembled = assemble(&Database::File(database), policy, clock.clone(), upkeep).await.unwrap();
        let stub = Stub::new();
        let server = Server {
            routes: assembled.routes.add_service(stub.clone()),
            authenticator: Arc::new(Authenticator::development(&SigningKey::generate().unwrap())),
            store: assembled.store,
            ready: true,
            clock,
            drain,
            limits,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let health = Health::new().await;
        let serving = tokio::spawn(server.run(listener, health, async { stopped.await.unwrap_or_default() }));
        Self { address, stub, folder, stop, serving, _upkeep: assembled.upkeep }
    }

    pub(crate) async fn stop(self) -> Drained {
        self.stop.send(()).unwrap();
        self.serving.await.unwrap().unwrap()
    }

    pub(crate) async fn raw(&self) -> Raw {
        Raw::connect(self.address).await
    }
}

pub(crate) async fn channel(address: SocketAddr) -> Channel {
    Endpoint::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap()
}

/// A general fact that the subject told and confirmed.
pub(crate) fn fact(value: &str, request_id: &str) -> CaptureRequest {
    CaptureRequest {
        scope: Some(Scope { level: Level::General.into(), ..Scope::default() }),
        kind: "response_style".to_owned(),
        key: "response_style".to_owned(),
        value: value.to_owned(),
        source: Some(Source {
            kind: "user_message".to_owned(),
            reference: "zq7-message-1".to_owned(),
            ..Source::default()
        }),
        evidence: Evidence::UserConfirmed.into(),
        request_id: request_id.to_owned(),
        ..CaptureRequest::default()
    }
}
