//! Spans to a collector, over OTLP's gRPC, where an endpoint is set.
//!
//! Decision: the exporter brings no TLS, so an endpoint is `http://`: a collector beside the service, which adds TLS
//! and credentials on the way further. Metadata that it wants all the same comes from `OTEL_EXPORTER_OTLP_HEADERS`, which
//! the exporter reads by itself; nothing of it is logged.

use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig, WithTonicConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider};

use super::way::{Bounded, MAX_WAITING, Told, Way};

const SERVICE: &str = "recall-gate";

/// How many spans go in one request.
const BATCH: usize = 512;

/// How long a span waits for others to go with it.
const DELAY: Duration = Duration::from_secs(1);

/// How long a connection to the endpoint, and then an answer of it, is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the spans that wait may take at the end.
const FLUSH: Duration = Duration::from_secs(3);

/// Where spans go: `http://HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint(Uri);

/// Not where spans can go. What was written is not repeated: it may hold a password.
#[derive(Debug, thiserror::Error)]
#[error("must be `http://HOST:PORT`, without a path and without credentials")]
pub struct NoEndpoint;

impl Endpoint {
    /// Reads `http://HOST:PORT`.
    ///
    /// # Errors
    /// Another scheme, no host, a path, a query, or a user.
    pub fn parse(text: &str) -> Result<Self, NoEndpoint> {
        let uri: Uri = text.parse().map_err(|_| NoEndpoint)?;
        let plain = uri.scheme() == Some(&Scheme::HTTP) && matches!(uri.path(), "" | "/") && uri.query().is_none();
        let host = uri.authority().is_some_and(|at| !at.host().is_empty() && !at.as_str().contains('@'));
        if plain && host && !text.contains('#') { Ok(Self(uri)) } else { Err(NoEndpoint) }
    }
}

/// The traces of this process.
#[derive(Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
    /// To the exporter; `None`: there is none.
    way: Option<Way>,
}

impl Traces {
    /// Decision: a tracer without exporter is there in any case, so that each call has a trace id in the log, its
    /// client's where it sent one. Nothing collects its spans, so none is sampled. Cost: an id made for each call.
    pub(super) fn off() -> Self {
        Self { provider: SdkTracerProvider::builder().with_sampler(Sampler::AlwaysOff).build(), way: None }
    }

    /// Every call is sampled, but one whose client has a trace and does not sample it. Needs tokio's runtime.
    pub(super) fn to(endpoint: &Endpoint) -> Result<Self, ExporterBuildError> {
        let channel = tonic::transport::Endpoint::from(endpoint.0.clone())
            .connect_timeout(PATIENCE)
            .timeout(PATIENCE)
            .connect_lazy();
        let exporter = SpanExporter::builder().with_tonic().with_channel(channel).with_timeout(PATIENCE).build()?;
        let way = Way::default();
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(MAX_WAITING)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(DELAY)
            .build();
        let processor =
            BatchSpanProcessor::builder(Told::new(exporter, way.clone())).with_batch_config(batches).build();
        let resource = Resource::builder_empty()
            .with_service_name(SERVICE)
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::AlwaysOn)))
            .with_span_processor(Bounded::new(processor, way.clone()))
            .with_resource(resource)
            .build();
        Ok(Self { provider, way: Some(way) })
    }

    pub(super) const fn are_exported(&self) -> bool {
        self.way.is_some()
    }

    pub(super) fn tracer(&self) -> SdkTracer {
        self.provider.tracer(SERVICE)
    }

    /// Exports what waits, for a few seconds at most, and nothing after it. Tells how many spans never went out.
    pub async fn stop(self) {
        let Some(way) = self.way else { return };
        // It waits for a thread, and the connection that the thread needs is served here.
        let stopped = tokio::task::spawn_blocking(move || self.provider.shutdown_with_timeout(FLUSH)).await;
        if !matches!(stopped, Ok(Ok(()))) {
            tracing::warn!("the last spans were not exported in time");
        }
        let lost_spans = way.unsent();
        if lost_spans > 0 {
            tracing::warn!(lost_spans, "so many spans were never exported");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_a_host_reached_by_http_and_nothing_more() {
        for text in ["http://localhost:4317", "http://127.0.0.1:4317/", "http://[::1]:4317", "http://collector"] {
            assert!(Endpoint::parse(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "localhost:4317",
            "https://localhost:4317",
            "grpc://localhost:4317",
            "http://",
            "http://:4317",
            "http://localhost:4317/v1/traces",
            "http://localhost:4317/?a=b",
            "http://localhost:4317/#a",
            "http://user:zq7canary@localhost:4317",
            "/v1/traces",
        ] {
            let Err(fault) = Endpoint::parse(text) else { panic!("{text}") };
            assert!(!fault.to_string().contains("zq7canary"));
        }
    }
}
