//! When a call has to be answered, and the answer where it is not.
//!
//! Work that has begun goes on in a task of its own: what ran out of time may have taken effect, and the same request
//! id sent again tells.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use tokio::time::{Instant, Sleep, sleep_until};
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

use super::answer::{Answer, Inner, instead, trailers};
use super::methods::Methods;
use super::timeout;
use crate::api::Deadline;
use crate::api::status::{Refusal, refused};

#[derive(Clone)]
pub(super) struct DeadlineLayer {
    methods: Arc<Methods>,
    max_call: Duration,
}

impl DeadlineLayer {
    pub(super) fn new(methods: Arc<Methods>, max_call: Duration) -> Self {
        Self { methods, max_call }
    }
}

impl<S> Layer<S> for DeadlineLayer {
    type Service = Timed<S>;

    fn layer(&self, inner: S) -> Timed<S> {
        Timed { layer: self.clone(), inner }
    }
}

#[derive(Clone)]
pub(super) struct Timed<S> {
    layer: DeadlineLayer,
    inner: S,
}

impl<S: Inner> Service<Request<Body>> for Timed<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Answer {
        let begin = Instant::now();
        let Ok(asked) = timeout::asked(request.headers()) else {
            return instead(refused(&Refusal::TimeoutHeader), request);
        };
        let shape = self.layer.methods.shape(request.uri().path());
        let longest = (!shape.is_watch()).then_some(self.layer.max_call);
        let allowed = asked.into_iter().chain(longest).min();
        let Some(end) = allowed.and_then(|allowed| begin.checked_add(allowed)) else {
            return Box::pin(self.inner.call(request));
        };
        if Instant::now() >= end {
            return instead(refused(&Refusal::OutOfTime), request);
        }
        request.extensions_mut().insert(Deadline(end));
        let answer = self.inner.call(request);
        Box::pin(async move {
            let mut answer = pin!(answer);
            let mut timer = pin!(sleep_until(end));
            let response = poll_fn(|context| match answer.as_mut().poll(context) {
                Poll::Pending if timer.as_mut().poll(context).is_ready() => {
                    Poll::Ready(Ok(refused(&Refusal::OutOfTime).into_http()))
                }
                polled => polled,
            });
            let response = response.await?;
            let ending = |body| Body::new(Ending { body: Some(body), timer: Box::pin(sleep_until(end)) });
            Ok(if shape.answers_many { response.map(ending) } else { response })
        })
    }
}

/// A stream of replies that ends when its time is up.
struct Ending {
    body: Option<Body>,
    timer: Pin<Box<Sleep>>,
}

impl http_body::Body for Ending {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.body.is_some() && self.timer.as_mut().poll(context).is_ready() {
            self.body = None;
            return Poll::Ready(Some(Ok(trailers(&refused(&Refusal::OutOfTime)))));
        }
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(http_body::Body::is_end_stream)
    }
}
