//! Logs as text or JSON, to standard error.

use std::io;

use opentelemetry_otlp::ExporterBuildError;
use serde::Deserialize;
use tracing_subscriber::filter::{FilterExt, FilterFn, LevelFilter};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use super::{Endpoint, Traces, panics};

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For machines: one JSON object a line.
    Json,
}

/// What is logged, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logs {
    /// How a line looks.
    pub format: Format,
    /// What is logged, as `tracing` writes filters: `info`, or `info,recall_gate=debug`.
    pub filter: String,
}

impl Default for Logs {
    fn default() -> Self {
        Self { format: Format::Text, filter: "info".to_owned() }
    }
}

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Not a filter.
    #[error("`{0}` is no log filter; write `info`, or `info,recall_gate=debug`")]
    Filter(String),
    /// The exporter's own variables of the environment do not fit.
    #[error("no exporter of spans")]
    Exporter(#[from] ExporterBuildError),
    /// The process logs already.
    #[error("logging was started before")]
    Started,
}

impl Logs {
    /// Whether the filter can be read.
    ///
    /// # Errors
    /// `Filter`.
    pub fn check(&self) -> Result<(), StartError> {
        self.filter().map(|_| ())
    }

    fn filter(&self) -> Result<EnvFilter, StartError> {
        EnvFilter::try_new(&self.filter).map_err(|_| StartError::Filter(self.filter.clone()))
    }
}

/// Logs from here on, for the whole process, panics too, and exports spans where there is an endpoint. Needs tokio's
/// runtime.
///
/// # Errors
/// A bad filter, an exporter that cannot be made, or a second start.
pub fn start(logs: &Logs, endpoint: Option<&Endpoint>) -> Result<Traces, StartError> {
    let traces = endpoint.map_or_else(|| Ok(Traces::off()), Traces::to)?;
    layers(logs, &traces, io::stderr)?.try_init().map_err(|_| StartError::Started)?;
    panics::log_where_alone();
    Ok(traces)
}

/// The same without an endpoint, for a test to listen.
#[cfg(test)]
pub(crate) fn subscriber<W>(logs: &Logs, writer: W) -> Result<impl tracing::Subscriber + Send + Sync, StartError>
where
    W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
{
    layers(logs, &Traces::off(), writer)
}

fn layers<W>(
    logs: &Logs,
    traces: &Traces,
    writer: W,
) -> Result<impl tracing::Subscriber + Send + Sync + use<W>, StartError>
where
    W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
{
    // Spans alone: lines of the log stay in the log, and whether one would be written is for its filter to say. Without an
    // exporter, the call's alone: the log has its trace id.
    let most = if traces.are_exported() { LevelFilter::DEBUG } else { LevelFilter::INFO };
    let own_spans = FilterFn::new(move |metadata| {
        metadata.is_span() && *metadata.level() <= most && metadata.target().starts_with("recall_gate")
    })
    .with_max_level_hint(most);
    let spans = tracing_opentelemetry::layer()
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_tracer(traces.tracer())
        .with_filter(own_spans);
    // What OpenTelemetry says of itself may hold what a collector answered. Its failures are counted and told here.
    let others = FilterFn::new(|metadata| !metadata.target().starts_with("opentelemetry"));
    let lines = tracing_subscriber::fmt::layer().with_writer(writer);
    let filter = logs.filter()?.and(others);
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match logs.format {
        Format::Text => lines.with_ansi(false).with_filter(filter).boxed(),
        Format::Json => lines.json().flatten_event(true).with_current_span(false).with_filter(filter).boxed(),
    };
    Ok(tracing_subscriber::registry().with(lines).with(spans))
}
