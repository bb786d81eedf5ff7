//! What the layers have in common: how they answer by themselves.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::pin::Pin;

use http::{HeaderMap, Response};
use http_body::Frame;
use tonic::Status;
use tonic::body::Body;

/// The future of a layer.
pub(super) type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

/// A service that a layer can stand before.
pub(super) trait Inner:
    tower::Service<http::Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
{
}

impl<S> Inner for S where
    S: tower::Service<http::Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
{
}

/// Instead of the answer of the service behind.
pub(super) fn instead(status: Status) -> Answer {
    Box::pin(ready(Ok(status.into_http())))
}

/// What ends a body that has begun.
pub(super) fn trailers<D>(status: &Status) -> Frame<D> {
    let mut trailers = HeaderMap::new();
    // It fails only where the message is no header value; the code is written before that.
    let _ = status.add_header(&mut trailers);
    Frame::trailers(trailers)
}
