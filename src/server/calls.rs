//! A span for every call, from its first byte to the last of its answer.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{HeaderMap, Request, Response};
use http_body_util::BodyExt;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::TraceContextExt;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tonic::Code;
use tonic::body::Body;
use tower::{Layer, Service};
use tracing::field::Empty;
use tracing::{Instrument, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::answer::{Answer, Inner};
use super::methods::Methods;
use crate::telemetry::names;

const GRPC_STATUS: &str = "grpc-status";
const TRACE_PARENT: &str = "traceparent";

#[derive(Clone)]
pub(super) struct CallLayer {
    methods: Arc<Methods>,
    propagator: Arc<TraceContextPropagator>,
}

impl CallLayer {
    pub(super) fn new(methods: Arc<Methods>) -> Self {
        Self { methods, propagator: Arc::new(TraceContextPropagator::new()) }
    }

    fn span(&self, request: &Request<Body>) -> Span {
        let method = self.methods.name(request.uri().path());
        let span = tracing::info_span!(
            "call",
            { names::SPAN_NAME } = method,
            { names::SPAN_KIND } = "server",
            { names::RPC_SYSTEM } = names::GRPC,
            { names::RPC_METHOD } = method,
            { names::RPC_STATUS } = Empty,
            { names::SPAN_STATUS } = Empty,
            { names::TRACE_ID } = Empty,
        );
        let parent = self.propagator.extract(&Carrier(request.headers()));
        // Without a tracer there is nothing to continue.
        if span.set_parent(parent).is_ok() {
            let trace_id = span.context().span().span_context().trace_id();
            span.record(names::TRACE_ID, tracing::field::display(trace_id));
        }
        span
    }
}

impl<S> Layer<S> for CallLayer {
    type Service = Calls<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Calls { layer: self.clone(), inner }
    }
}

#[derive(Clone)]
pub(super) struct Calls<S> {
    layer: CallLayer,
    inner: S,
}

impl<S: Inner> Service<Request<Body>> for Calls<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        let span = self.layer.span(&request);
        let ending = Ending { span: span.clone(), code: None };
        let answer = span.in_scope(|| self.inner.call(request));
        Box::pin(async move { Ok(watch(answer.await?, ending)) }.instrument(span))
    }
}

fn watch(response: Response<Body>, mut ending: Ending) -> Response<Body> {
    ending.see(response.headers());
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            if let Some(trailers) = frame.trailers_ref() {
                ending.see(trailers);
            }
            frame
        }))
    })
}

/// Writes the outcome into the span when the call is over. A call that ends without a status was given up.
struct Ending {
    span: Span,
    code: Option<Code>,
}

impl Ending {
    fn see(&mut self, headers: &HeaderMap) {
        if let Some(status) = headers.get(GRPC_STATUS) {
            self.code = Some(Code::from_bytes(status.as_bytes()));
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let code = self.code.unwrap_or(Code::Cancelled);
        self.span.record(names::RPC_STATUS, names::status(code));
        if names::is_server_error(code) {
            self.span.record(names::SPAN_STATUS, "ERROR");
        }
        self.span.in_scope(|| tracing::debug!("call ended"));
    }
}

struct Carrier<'a>(&'a HeaderMap);

/// The trace that a client continues here, and nothing of its `tracestate`: that is free text, which only calls of this
/// service to others would pass on, and it makes none.
impl Extractor for Carrier<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).filter(|_| key == TRACE_PARENT).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}
