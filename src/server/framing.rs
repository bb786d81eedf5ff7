//! Whether the bytes of a request are the messages that its method takes.
//!
//! Decision: tonic blames itself (`INTERNAL`) for what its client framed wrongly, reads past a second message of a
//! unary call, and calls a long message `OUT_OF_RANGE`. So the five bytes before each message are read here, before
//! tonic does. gRPC would have `INTERNAL` for a compressed message without `grpc-encoding`; that is kept for our own
//! defects, and this too is `INVALID_ARGUMENT`. What remains of tonic's own answers is told apart by its code alone.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::Frame;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{Layer, Service};

use super::answer::{Answer, Inner};
use super::limits::{LARGE_REQUESTS_BYTES, SMALL_REQUEST_BYTES};
use super::messages::Messages;
use super::methods::Methods;
use crate::api::status::{Refusal, refused};

const ENCODING: &str = "grpc-encoding";
const ENCODINGS_TAKEN: &str = "grpc-accept-encoding";

#[derive(Clone)]
pub(super) struct FramingLayer {
    methods: Arc<Methods>,
    stall: Duration,
    room: Arc<Semaphore>,
}

impl FramingLayer {
    pub(super) fn new(methods: Arc<Methods>, stall: Duration) -> Self {
        Self { methods, stall, room: Arc::new(Semaphore::new(LARGE_REQUESTS_BYTES)) }
    }
}

impl<S> Layer<S> for FramingLayer {
    type Service = Framing<S>;

    fn layer(&self, inner: S) -> Framing<S> {
        Framing { layer: self.clone(), inner }
    }
}

#[derive(Clone)]
pub(super) struct Framing<S> {
    layer: FramingLayer,
    inner: S,
}

impl<S: Inner> Service<Request<Body>> for Framing<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let takes_many = self.layer.methods.shape(request.uri().path()).takes_many;
        let compressed = request.headers().get(ENCODING).is_some_and(|encoding| encoding != "identity");
        let messages = Messages::new(!takes_many, compressed);
        // A client may take its time between two messages of a stream.
        let stall = (!takes_many).then_some(self.layer.stall);
        let room = Arc::clone(&self.layer.room);
        let request = request.map(|body| {
            Body::new(Checked {
                body,
                messages,
                stall,
                timer: None,
                small: SMALL_REQUEST_BYTES,
                room,
                held: None,
                over: false,
            })
        });
        let answer = self.inner.call(request);
        Box::pin(async move { answer.await.map(in_our_words) })
    }
}

/// The answers of tonic itself carry no details.
fn in_our_words(response: Response<Body>) -> Response<Body> {
    let headers = response.headers();
    let Some(code) = headers.get(Status::GRPC_STATUS) else { return response };
    if headers.contains_key(Status::GRPC_STATUS_DETAILS) {
        return response;
    }
    let encodings = headers.get(ENCODINGS_TAKEN).cloned();
    match Code::from_bytes(code.as_bytes()) {
        Code::OutOfRange | Code::ResourceExhausted => refused(&Refusal::TooLarge).into_http(),
        Code::Internal => refused(&Refusal::Framing("what is compressed cannot be read")).into_http(),
        Code::Unimplemented => match encodings {
            Some(taken) => with(refused(&Refusal::CompressionUnknown).into_http(), taken),
            None => refused(&Refusal::MethodUnknown).into_http(),
        },
        _ => response,
    }
}

fn with(mut response: Response<Body>, encodings: HeaderValue) -> Response<Body> {
    let headers: &mut HeaderMap = response.headers_mut();
    headers.insert(ENCODINGS_TAKEN, encodings);
    response
}

/// A request's body that ends where it is no sequence of messages, or stops coming.
struct Checked {
    body: Body,
    messages: Messages,
    stall: Option<Duration>,
    timer: Option<Pin<Box<Sleep>>>,
    /// What may still come before it takes room.
    small: usize,
    room: Arc<Semaphore>,
    held: Option<OwnedSemaphorePermit>,
    over: bool,
}

impl Checked {
    fn stalled(&mut self, context: &mut Context<'_>) -> bool {
        let Some(stall) = self.stall else { return false };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(stall)));
        timer.as_mut().poll(context).is_ready()
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let small = self.small.min(bytes.len());
        self.small -= small;
        let more = u32::try_from(bytes.len() - small).unwrap_or(u32::MAX);
        if more > 0 {
            let more = Arc::clone(&self.room).try_acquire_many_owned(more).map_err(|_| Refusal::Busy)?;
            match &mut self.held {
                Some(held) => held.merge(more),
                None => self.held = Some(more),
            }
        }
        self.messages.take(bytes)
    }

    fn refuse(&mut self, refusal: &Refusal) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.over = true;
        Poll::Ready(Some(Err(refused(refusal))))
    }
}

impl http_body::Body for Checked {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.over {
            return Poll::Ready(None);
        }
        let polled = Pin::new(&mut self.body).poll_frame(context);
        let checked = match &polled {
            Poll::Pending if self.stalled(context) => Err(Refusal::Stalled),
            Poll::Pending => Ok(()),
            Poll::Ready(frame) => {
                self.timer = None;
                match frame {
                    Some(Ok(frame)) => match frame.data_ref() {
                        Some(bytes) => self.take(bytes),
                        None => self.messages.end(),
                    },
                    None => self.messages.end(),
                    Some(Err(_)) => Ok(()),
                }
            }
        };
        match checked {
            Ok(()) => polled,
            Err(refusal) => self.refuse(&refusal),
        }
    }
}
