//! One task a connection, and the end of all of them.
//!
//! Decision: hyper serves the connections, and not the server of tonic's transport, which puts a timer of its own for
//! `grpc-timeout` around all layers. That timer answers `CANCELLED` without a reason, and whichever of the two a loaded
//! machine looks at last would win. tonic's services, codec and routes stay. The cost is this file; beside the timer it
//! buys that a drain which is over closes what is left.

use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http2::Builder;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tonic::body::Body;
use tower::ServiceExt;

use super::answer::Inner;
use super::connections::Connection;
use super::limits::{MAX_CALLS_PER_CONNECTION, MAX_HEADERS_BYTES, MAX_RESET_CALLS, MAX_STREAM_FAULTS};
use super::{Drained, Limits};

/// The connections that are being served.
pub(super) struct Serving {
    http2: Arc<Builder<TokioExecutor>>,
    connections: JoinSet<()>,
    drain: watch::Sender<()>,
}

impl Serving {
    pub(super) fn new(limits: &Limits) -> Self {
        let mut http2 = Builder::new(TokioExecutor::new());
        http2
            .timer(TokioTimer::new())
            .max_concurrent_streams(MAX_CALLS_PER_CONNECTION)
            .max_header_list_size(MAX_HEADERS_BYTES)
            .max_pending_accept_reset_streams(MAX_RESET_CALLS)
            .max_local_error_reset_streams(MAX_STREAM_FAULTS)
            .keep_alive_interval(limits.keepalive)
            .keep_alive_timeout(limits.keepalive_timeout);
        Self { http2: Arc::new(http2), connections: JoinSet::new(), drain: watch::Sender::new(()) }
    }

    /// Serves one more.
    pub(super) fn serve<S: Inner + Clone + Send + 'static>(&mut self, connection: Connection, service: S) {
        let service = service.map_request(|request: Request<Incoming>| request.map(Body::new));
        let (http2, mut drain) = (Arc::clone(&self.http2), self.drain.subscribe());
        self.connections.spawn(async move {
            let serving = http2.serve_connection(TokioIo::new(connection), TowerToHyperService::new(service));
            let mut serving = std::pin::pin!(serving);
            let ended = tokio::select! {
                ended = &mut serving => ended,
                _ = drain.changed() => {
                    serving.as_mut().graceful_shutdown();
                    serving.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(error = &error as &dyn std::error::Error, "a connection failed");
            }
        });
    }

    /// When one has ended; never where there is none.
    pub(super) async fn ended(&mut self) {
        if self.connections.join_next().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Takes no more calls and awaits those in flight, at most for so long; what is left then is cut off.
    pub(super) async fn drain(mut self, longest: Duration) -> Drained {
        self.drain.send_replace(());
        let all = async { while self.connections.join_next().await.is_some() {} };
        match tokio::time::timeout(longest, all).await {
            Ok(()) => Drained::Whole,
            Err(_) => Drained::Cut,
        }
    }
}
