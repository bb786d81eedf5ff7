//! The wiring of the wire: listener, layers, health, reflection, and how to stop.
//!
//! Holds no rule. What a call does is in the routes it is handed.
//!
//! A call passes, from the outside in: its connection's place; what isolates a panic; whether it is gRPC; its span; its own place among the
//! calls; who calls; its deadline; whether its bytes are messages. Identity stands before whatever reads the request.

mod activity;
mod answer;
mod assemble;
mod authenticate;
mod calls;
mod connections;
mod deadline;
mod disk;
mod embedded;
mod framing;
mod health;
mod isolate;
mod lifetime;
mod limits;
mod messages;
mod methods;
mod outbox;
mod places;
mod protocol;
mod readiness;
mod serve;
mod tidy;
mod timeout;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_stream::StreamExt;
use tonic::service::Routes;
use tonic::transport::server::TcpIncoming;
use tower::ServiceBuilder;

pub use assemble::{AssembleError, Assembled, Upkeep, assemble, assemble_over};
pub use embedded::{Embedded, StartError};
pub use health::{Health, LIVENESS, SERVICES};
pub use limits::Limits;

use crate::api::FILE_DESCRIPTOR_SET as DESCRIPTORS;
use crate::gate::Clock;
use crate::identity::Authenticator;
use crate::store::Store;

/// Why the server could not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The descriptors that reflection serves cannot be read: a defect.
    #[error("the descriptors of the API cannot be read")]
    Descriptors(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// It ended although nobody stopped it.
    #[error("the server ended by itself")]
    Ended,
}

/// How the calls ended that were in flight when the server was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// All were answered.
    Whole,
    /// Some were not answered in time.
    Cut,
}

/// What the server needs.
pub struct Server {
    /// The services of the API.
    pub routes: Routes,
    /// Who may call.
    pub authenticator: Arc<Authenticator>,
    /// What readiness follows.
    pub store: Arc<dyn Store>,
    /// Whether the store has been found ready; if not, health waits for it.
    pub ready: bool,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// How long calls in flight may take after a stop.
    pub drain: Duration,
    /// What callers may take.
    pub limits: Limits,
}

impl Server {
    /// Serves until `stop` is done, and says `SERVING` for as long as the store can record: then health says `NOT_SERVING`, the listener is closed, calls in flight are
    /// awaited, at most for `drain`.
    ///
    /// # Errors
    /// Where the listener ends by itself.
    pub async fn run(
        self,
        listener: TcpListener,
        health: Health,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<Drained, Error> {
        let reflect = || {
            tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(DESCRIPTORS)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
                // The details of errors, so that people with a generic client can read them.
                .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
        };
        let defect = |error| Error::Descriptors(Box::new(error));
        let routes = self
            .routes
            .add_service(health.service())
            .add_service(reflect().build_v1().map_err(defect)?)
            .add_service(reflect().build_v1alpha().map_err(defect)?);
        let methods = methods::Methods::of(&[
            DESCRIPTORS,
            tonic_health::pb::FILE_DESCRIPTOR_SET,
            tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET,
            tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET,
        ])
        .map_err(|error| Error::Descriptors(Box::new(error)))?;
        let methods = Arc::new(methods);
        let limits = self.limits;
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true)).with_keepalive(Some(limits.keepalive));

        let service = ServiceBuilder::new()
            .layer(isolate::IsolateLayer)
            .layer(protocol::ProtocolLayer)
            .layer(calls::CallLayer::new(Arc::clone(&methods)))
            // Once more, so that the span of a call that panicked ends with its status.
            .layer(isolate::IsolateLayer)
            .layer(places::PlacesLayer::new(Arc::clone(&methods), limits.max_concurrent_calls))
            .layer(authenticate::AuthenticateLayer::new(self.authenticator, self.clock))
            .layer(deadline::DeadlineLayer::new(Arc::clone(&methods), limits.max_call))
            .layer(framing::FramingLayer::new(methods, limits.stall))
            .service(routes.prepare());

        let mut serving = serve::Serving::new(&limits, self.drain);
        let mut connections = connections::Connections::new(incoming, &limits);
        let mut stop = pin!(stop);
        if self.ready {
            health.ready().await;
        }
        // Polled here alone, so that it is over when the drain begins.
        let check = || self.store.check();
        let mut following = Box::pin(readiness::following(&health, readiness::PACE, self.ready, check));
        loop {
            tokio::select! {
                never = &mut following => match never {},
                connection = connections.next() => match connection {
                    Some(connection) => serving.serve(connection, service.clone()),
                    None => return Err(Error::Ended),
                },
                () = serving.ended() => {}
                () = &mut stop => break,
            }
        }
        drop(following);
        health.drain().await;
        drop(connections);
        Ok(serving.drain().await)
    }
}

#[cfg(test)]
mod tests;
