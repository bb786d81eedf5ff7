//! One task a connection, and the end of all of them.
//!
//! Decision: hyper serves the connections, and not the server of tonic's transport, which puts a timer of its own for
//! `grpc-timeout` around all layers. That timer answers `CANCELLED` without a reason, and whichever of the two a loaded
//! machine looks at last would win. tonic's services, codec and routes stay. The cost is this file; beside the timer it
//! buys that a drain which is over closes what is left.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2::Builder;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::activity::Counted;
use super::answer::Inner;
use super::connections::Connection;
use super::lifetime::Lifetime;
use super::limits::{MAX_CALLS_PER_CONNECTION, MAX_HEADERS_BYTES, MAX_RESET_CALLS, MAX_STREAM_FAULTS};
use super::outbox::Outbox;
use super::{Drained, Limits};

/// Serves a connection, and sends what it has to say each time that its task has been polled.
fn sending<F: Future>(mut serving: Pin<&mut F>, outbox: &Outbox) -> impl Future<Output = F::Output> {
    poll_fn(move |context| {
        let ended = serving.as_mut().poll(context);
        outbox.send(context);
        ended
    })
}

/// The connections that are being served.
pub(super) struct Serving {
    http2: Arc<Builder<TokioExecutor>>,
    connections: JoinSet<()>,
    lifetime: Lifetime,
    longest: Duration,
    drain: watch::Sender<()>,
}

impl Serving {
    /// At most so long a drain may take, of all connections and of a single one.
    pub(super) fn new(limits: &Limits, longest: Duration) -> Self {
        let mut http2 = Builder::new(TokioExecutor::new());
        http2
            .timer(TokioTimer::new())
            .max_concurrent_streams(MAX_CALLS_PER_CONNECTION)
            .max_header_list_size(MAX_HEADERS_BYTES)
            .max_pending_accept_reset_streams(MAX_RESET_CALLS)
            .max_local_error_reset_streams(MAX_STREAM_FAULTS)
            .keep_alive_interval(limits.keepalive)
            .keep_alive_timeout(limits.keepalive_timeout);
        Self {
            http2: Arc::new(http2),
            connections: JoinSet::new(),
            lifetime: Lifetime::new(limits, longest),
            longest,
            drain: watch::Sender::new(()),
        }
    }

    /// Serves one more.
    pub(super) fn serve<S: Inner + Clone + Send + 'static>(&mut self, connection: Connection, service: S) {
        let (activity, outbox) = (connection.activity().clone(), connection.outbox().clone());
        let service = TowerToHyperService::new(Counted::new(service, activity.clone()));
        let (http2, lifetime, mut drain) = (Arc::clone(&self.http2), self.lifetime, self.drain.subscribe());
        self.connections.spawn(async move {
            let mut serving = pin!(http2.serve_connection(TokioIo::new(connection), service));
            let ended = tokio::select! {
                ended = sending(serving.as_mut(), &outbox) => ended,
                _ = drain.changed() => {
                    serving.as_mut().graceful_shutdown();
                    // How long its calls may take is the drain's to say.
                    tokio::select! {
                        ended = sending(serving, &outbox) => ended,
                        () = lifetime.silence(&activity) => Ok(()),
                    }
                }
                () = lifetime.over(&activity) => {
                    serving.as_mut().graceful_shutdown();
                    tokio::select! {
                        ended = sending(serving, &outbox) => ended,
                        () = lifetime.silence_or_drain(&activity) => Ok(()),
                    }
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

    /// Takes no more calls and awaits those in flight; what is left after the longest time is cut off.
    pub(super) async fn drain(mut self) -> Drained {
        self.drain.send_replace(());
        let all = async { while self.connections.join_next().await.is_some() {} };
        match tokio::time::timeout(self.longest, all).await {
            Ok(()) => Drained::Whole,
            Err(_) => Drained::Cut,
        }
    }
}
