//! How many calls there may be at once. One more is refused rather than kept waiting.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::body::Body;
use tower::{Layer, Service};

use super::answer::{Answer, Inner, instead};
use super::authenticate::is_open;
use super::limits::MAX_OPEN_STREAMS;
use super::methods::Methods;
use crate::api::status::{Refusal, refused};

/// A call's place. It stands beside the request, so that work which outlives its call keeps it: a client that cancels
/// and asks anew gets no more done at once than one that waits.
#[derive(Debug, Clone)]
struct Place(#[expect(dead_code, reason = "held, not read")] Arc<OwnedSemaphorePermit>);

#[derive(Clone)]
pub(super) struct PlacesLayer {
    methods: Arc<Methods>,
    calls: Arc<Semaphore>,
    /// Streams of the open services, in a count of their own. A health check has one answer and is never refused.
    open_streams: Arc<Semaphore>,
}

impl PlacesLayer {
    pub(super) fn new(methods: Arc<Methods>, max_concurrent_calls: usize) -> Self {
        let calls = Arc::new(Semaphore::new(max_concurrent_calls));
        Self { methods, calls, open_streams: Arc::new(Semaphore::new(MAX_OPEN_STREAMS)) }
    }
}

impl<S> Layer<S> for PlacesLayer {
    type Service = Places<S>;

    fn layer(&self, inner: S) -> Places<S> {
        Places { layer: self.clone(), inner }
    }
}

#[derive(Clone)]
pub(super) struct Places<S> {
    layer: PlacesLayer,
    inner: S,
}

impl<S: Inner> Service<Request<Body>> for Places<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Answer {
        let path = request.uri().path();
        let streams = self.layer.methods.shape(path).answers_many;
        let places = match (is_open(path), streams) {
            (true, false) => return Box::pin(self.inner.call(request)),
            (true, true) => &self.layer.open_streams,
            (false, _) => &self.layer.calls,
        };
        let Ok(place) = Arc::clone(places).try_acquire_owned() else {
            return instead(refused(&Refusal::Busy), request);
        };
        let place = Place(Arc::new(place));
        request.extensions_mut().insert(place.clone());
        let answer = self.inner.call(request);
        Box::pin(async move {
            let response = answer.await?;
            // The one reply of other calls is made already: who is slow to read it keeps nobody from calling.
            Ok(if streams { response.map(|body| keeping(body, place)) } else { response })
        })
    }
}

fn keeping(body: Body, place: Place) -> Body {
    Body::new(body.map_frame(move |frame| {
        let _kept = &place;
        frame
    }))
}
