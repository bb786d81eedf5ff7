//! What the service says about itself: logs, and spans, which an OpenTelemetry collector may be sent.
//!
//! Invariant: text, credentials, headers and ids of subjects are in no log and no span.

mod logs;
pub mod names;
mod panics;
mod traces;
mod way;

#[cfg(test)]
pub(crate) use logs::subscriber;
pub use logs::{Format, Logs, StartError, start};
pub use traces::{Endpoint, NoEndpoint, Traces};
