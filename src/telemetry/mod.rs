//! What the service says about itself: logs, and the spans they carry.
//!
//! Invariant: text, credentials, headers and ids of subjects are in no log and no span.

mod logs;
pub mod names;
mod panics;

#[cfg(test)]
pub(crate) use logs::subscriber;
pub use logs::{Format, Logs, StartError, start};
