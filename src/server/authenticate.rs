//! Who calls is settled before anything else, for every path but a few.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::AUTHORIZATION;
use http::{Request, Response};
use tonic::body::Body;
use tower::{Layer, Service};

use super::answer::{Answer, Inner, instead};
use crate::api::status;
use crate::gate::Clock;
use crate::identity::Authenticator;

/// Services that need no credential, by their whole names. They tell nothing of any tenant.
const OPEN: [&str; 3] =
    ["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];

/// Whether the path needs no credential.
pub(super) fn is_open(path: &str) -> bool {
    let service = path.strip_prefix('/').and_then(|path| path.split_once('/'));
    service.is_some_and(|(service, _)| OPEN.contains(&service))
}

#[derive(Clone)]
pub(super) struct AuthenticateLayer {
    authenticator: Arc<Authenticator>,
    clock: Arc<dyn Clock>,
}

impl AuthenticateLayer {
    pub(super) fn new(authenticator: Arc<Authenticator>, clock: Arc<dyn Clock>) -> Self {
        Self { authenticator, clock }
    }
}

impl<S> Layer<S> for AuthenticateLayer {
    type Service = Authenticate<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Authenticate { layer: self.clone(), inner }
    }
}

#[derive(Clone)]
pub(super) struct Authenticate<S> {
    layer: AuthenticateLayer,
    inner: S,
}

impl<S: Inner> Service<Request<Body>> for Authenticate<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Answer {
        if !is_open(request.uri().path()) {
            match self.layer.authenticator.authenticate(request.headers(), self.layer.clock.now()) {
                Ok(caller) => {
                    request.extensions_mut().insert(caller);
                }
                Err(error) => return instead(status::unauthenticated(error), request),
            }
        }
        // Nobody behind this point needs it, so nobody can log it.
        request.headers_mut().remove(AUTHORIZATION);
        Box::pin(self.inner.call(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i01_only_health_and_reflection_are_open() {
        for path in [
            "/grpc.health.v1.Health/Check",
            "/grpc.health.v1.Health/Watch",
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        ] {
            assert!(is_open(path), "{path}");
        }
        for path in [
            "",
            "/",
            "/recallgate.v1.RecallService/Recall",
            "/grpc.health.v1.HealthX/Check",
            "//grpc.health.v1.Health/Check",
            "/grpc.health.v1.Health",
            "/x/grpc.health.v1.Health/Check",
            "/GRPC.health.v1.Health/Check",
            "/grpc.health.v1.Health%2FCheck",
            "grpc.health.v1.Health/Check",
            "/grpc.reflection.v2.ServerReflection/ServerReflectionInfo",
        ] {
            assert!(!is_open(path), "{path}");
        }
    }
}
