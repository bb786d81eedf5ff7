//! A panic ends the call it happens in, and no other.
//!
//! Decision: a layer of our own rather than `CatchPanic` of tower-http, which does not guard the body of an answer. A
//! reply is encoded there, and a stream of replies is made there.

use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

use super::answer::{Answer, Inner, at_once, trailers};
use crate::api::status;
use crate::gate::Error;

/// What it panicked with stays out: it may hold text. Where it did is in the log already.
#[derive(Debug, thiserror::Error)]
#[error("a call panicked")]
struct Panicked;

fn panicked() -> Status {
    status::of(&Error::Internal(Box::new(Panicked)))
}

#[derive(Clone)]
pub(super) struct IsolateLayer;

impl<S> Layer<S> for IsolateLayer {
    type Service = Isolate<S>;

    fn layer(&self, inner: S) -> Isolate<S> {
        Isolate(inner)
    }
}

#[derive(Clone)]
pub(super) struct Isolate<S>(S);

impl<S: Inner> Service<Request<Body>> for Isolate<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let Ok(answer) = catch_unwind(AssertUnwindSafe(|| self.0.call(request))) else { return at_once(panicked()) };
        Box::pin(async move {
            let mut answer = pin!(answer);
            let response = poll_fn(|context| {
                catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context)))
                    .unwrap_or_else(|_| Poll::Ready(Ok(panicked().into_http())))
            });
            Ok(response.await?.map(|body| Body::new(Guarded(Some(body)))))
        })
    }
}

/// A body that ends with a status where it panics.
struct Guarded(Option<Body>);

impl http_body::Body for Guarded {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let Some(body) = &mut self.0 else { return Poll::Ready(None) };
        catch_unwind(AssertUnwindSafe(|| Pin::new(body).poll_frame(context))).unwrap_or_else(|_| {
            self.0 = None;
            Poll::Ready(Some(Ok(trailers(&panicked()))))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(http_body::Body::is_end_stream)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{Ready, ready};

    use tonic::Code;

    use super::*;

    /// Panics before there is a future.
    #[derive(Clone)]
    struct Hasty;

    impl Service<Request<Body>> for Hasty {
        type Response = Response<Body>;
        type Error = Infallible;
        type Future = Ready<Result<Response<Body>, Infallible>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request<Body>) -> Self::Future {
            assert_ne!(request.uri().path(), "/hasty", "zq7canary");
            ready(Ok(Response::default()))
        }
    }

    #[tokio::test]
    async fn a_layer_that_panics_before_there_is_a_future_is_answered_for() {
        let mut service = IsolateLayer.layer(Hasty);
        let request = Request::post("/hasty").body(Body::empty()).unwrap();
        let status = Status::from_header_map(service.call(request).await.unwrap().headers()).unwrap();
        assert_eq!(status.code(), Code::Internal);
        assert!(!format!("{status:?}").contains("zq7canary"));
        let request = Request::post("/other").body(Body::empty()).unwrap();
        assert!(service.call(request).await.unwrap().headers().is_empty());
    }
}
