//! The one place that puts a concrete store under the gate, and the services over it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use http::{HeaderValue, Response};
use tonic::body::Body;
use tonic::service::Routes;

use super::Failure;
use crate::config::Settings;
use crate::gate::Clock;
use crate::identity::AuthError;
use crate::policy::Policy;
use crate::server::Refuse;

/// The service, without its wire.
pub(super) struct Assembled {
    /// The services of the API.
    pub(super) routes: Routes,
    /// The answer to who may not call.
    pub(super) refuse: Refuse,
    /// Commits what waits and closes the store.
    pub(super) close: Pin<Box<dyn Future<Output = ()> + Send>>,
}

pub(super) async fn assemble(settings: &Settings, policy: Policy, clock: Arc<dyn Clock>) -> Result<Assembled, Failure> {
    let _ = (settings, policy, clock);
    std::future::ready(Ok(Assembled { routes: Routes::default(), refuse, close: Box::pin(async {}) })).await
}

fn refuse(error: AuthError) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    headers.insert("content-type", HeaderValue::from_static("application/grpc"));
    headers.insert("grpc-status", HeaderValue::from_static("16"));
    if let Ok(message) = HeaderValue::from_str(&error.to_string()) {
        headers.insert("grpc-message", message);
    }
    response
}
