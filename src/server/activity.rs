//! What a connection is doing: how many calls it carries, and whether any byte moves.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::watch;
use tonic::body::Body;
use tower::Service;

use super::answer::{Answer, Inner};

/// Of one connection.
#[derive(Clone, Default)]
pub(super) struct Activity {
    calls: Arc<watch::Sender<usize>>,
    moved: Arc<AtomicU64>,
}

impl Activity {
    /// Bytes came or went.
    pub(super) fn moves(&self) {
        self.moved.fetch_add(1, Ordering::Relaxed);
    }

    /// Another number where bytes have come or gone since.
    pub(super) fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }

    /// How many calls it carries, as that changes.
    pub(super) fn calls(&self) -> watch::Receiver<usize> {
        self.calls.subscribe()
    }

    /// It carries no call.
    pub(super) fn is_idle(&self) -> bool {
        *self.calls.borrow() == 0
    }

    /// It carries one call, or none.
    pub(super) fn is_of_one(&self) -> bool {
        *self.calls.borrow() <= 1
    }

    /// A call, until what it gives is dropped.
    pub(super) fn begin(&self) -> InFlight {
        self.calls.send_modify(|calls| *calls += 1);
        InFlight(Arc::clone(&self.calls))
    }
}

/// One call, from its headers to the last of its answer.
pub(super) struct InFlight(Arc<watch::Sender<usize>>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.send_modify(|calls| *calls = calls.saturating_sub(1));
    }
}

/// A service whose calls are counted as one connection's.
#[derive(Clone)]
pub(super) struct Counted<S> {
    inner: S,
    activity: Activity,
}

impl<S> Counted<S> {
    pub(super) const fn new(inner: S, activity: Activity) -> Self {
        Self { inner, activity }
    }
}

impl<S: Inner> Service<Request<Incoming>> for Counted<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Incoming>) -> Answer {
        let call = self.activity.begin();
        let answer = self.inner.call(request.map(Body::new));
        Box::pin(async move {
            let response = answer.await?;
            Ok(response.map(|body| {
                Body::new(body.map_frame(move |frame| {
                    let _held = &call;
                    frame
                }))
            }))
        })
    }
}
