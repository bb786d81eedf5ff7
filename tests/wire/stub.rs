//! A service beside the real ones, whose methods misbehave when told.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use recall_gate::api::Deadline;
use tokio::sync::{Notify, Semaphore};
use tonic::Status;
use tonic::body::Body;
use tonic::server::NamedService;

/// What panics carry, and no log and no answer may.
pub(crate) const CANARY: &str = "zq7canary";

/// Its handles.
#[derive(Clone)]
pub(crate) struct Stub {
    /// Calls that reached it.
    pub(crate) reached: Arc<AtomicUsize>,
    /// A call of `/Wait` has begun.
    pub(crate) begun: Arc<Notify>,
    /// Lets calls of `/Wait` end.
    pub(crate) go_on: Arc<Semaphore>,
}

impl Stub {
    pub(crate) fn new() -> Self {
        Self { reached: Arc::default(), begun: Arc::default(), go_on: Arc::new(Semaphore::new(0)) }
    }
}

impl NamedService for Stub {
    const NAME: &'static str = "stub.Stub";
}

impl tower::Service<Request<Body>> for Stub {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.reached.fetch_add(1, Ordering::SeqCst);
        let method = request.uri().path().rsplit('/').next().unwrap().to_owned();
        assert_ne!(method, "PanicInCall", "{CANARY}");
        let stub = self.clone();
        Box::pin(async move {
            let response = Response::builder().header("content-type", "application/grpc");
            match method.as_str() {
                "PanicInFuture" => {
                    tokio::task::yield_now().await;
                    panic!("{CANARY}");
                }
                "PanicInBody" => Ok(response.body(Body::new(Panicking(0))).unwrap()),
                "Wait" => {
                    stub.begun.notify_one();
                    stub.go_on.acquire().await.unwrap().forget();
                    Ok(response.header("grpc-status", "0").body(Body::empty()).unwrap())
                }
                // As `api::call` does it: what stands beside the request lives as long as the work.
                "Work" => {
                    let (parts, _) = request.into_parts();
                    let work = tokio::spawn(async move {
                        stub.begun.notify_one();
                        stub.go_on.acquire().await.unwrap().forget();
                        drop(parts);
                    });
                    work.await.unwrap();
                    Ok(response.header("grpc-status", "0").body(Body::empty()).unwrap())
                }
                "Deadline" => {
                    let end = request.extensions().get::<Deadline>();
                    let left = end.map(|end| end.0.duration_since(tokio::time::Instant::now()).as_millis());
                    let left = left.map_or_else(|| "none".to_owned(), |left| left.to_string());
                    Ok(response.header("grpc-status", "0").header("x-left", left).body(Body::empty()).unwrap())
                }
                _ => Ok(response.header("grpc-status", "0").body(Body::empty()).unwrap()),
            }
        })
    }
}

/// One frame, and no more.
struct Panicking(u8);

impl http_body::Body for Panicking {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        assert_eq!(self.0, 0, "{CANARY}");
        self.0 = 1;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"\0\0\0\0\0")))))
    }
}
