//! Logs as text or JSON, to standard error.

use std::io;

use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use serde::Deserialize;
use tracing_subscriber::filter::{FilterFn, LevelFilter};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use super::panics;

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

/// Logs from here on, for the whole process, panics too.
///
/// # Errors
/// A bad filter, or a second start.
pub fn start(logs: &Logs) -> Result<(), StartError> {
    subscriber(logs, io::stderr)?.try_init().map_err(|_| StartError::Started)?;
    panics::log_where_alone();
    Ok(())
}

/// Decision: a tracer without exporter is there already, so that each call has a trace id in the log, its client's
/// where it sent one. Nothing collects spans yet, so none is sampled. Cost: an id made for each call.
pub(crate) fn subscriber<W>(logs: &Logs, writer: W) -> Result<impl tracing::Subscriber + Send + Sync, StartError>
where
    W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
{
    let provider = SdkTracerProvider::builder().with_sampler(Sampler::AlwaysOff).build();
    // Spans alone: lines of the log stay in the log, and whether one would be written is for its filter to say.
    let own_spans = FilterFn::new(|metadata| metadata.is_span() && metadata.target().starts_with("recall_gate"))
        .with_max_level_hint(LevelFilter::INFO);
    let traces = tracing_opentelemetry::layer().with_tracer(provider.tracer("recall-gate")).with_filter(own_spans);
    let lines = tracing_subscriber::fmt::layer().with_writer(writer);
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match logs.format {
        Format::Text => lines.with_ansi(false).with_filter(logs.filter()?).boxed(),
        Format::Json => lines.json().flatten_event(true).with_current_span(false).with_filter(logs.filter()?).boxed(),
    };
    Ok(tracing_subscriber::registry().with(lines).with(traces))
}
