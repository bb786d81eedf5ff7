//! `recall-gate demo`: the service on a temporary store with a clock that is moved by hand, asked over a real socket
//! what the gate is there for. Prints what was accepted and what was refused and why, and PASS or FAIL for each check.

mod report;
mod scenes;
mod stage;

use std::io::Write;

use clap::Args;

use report::Report;
use stage::Stage;

use super::Failure;

#[derive(Debug, Args)]
pub(super) struct Demo {
    /// Print JSON for machines instead of a table for people
    #[arg(long)]
    json: bool,
}

/// Why the demonstration broke off. A check that fails does not break it off.
#[derive(Debug, thiserror::Error)]
pub(super) enum DemoError {
    /// The service did not start.
    #[error("the service did not start")]
    Start(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A call failed that no check expects to fail.
    #[error("`{call}` failed: {status}")]
    Call {
        /// Which.
        call: &'static str,
        /// How: code and message.
        status: String,
    },
}

impl Demo {
    pub(super) async fn run(self, out: &mut (impl Write + Send)) -> Result<(), Failure> {
        let report = play().await.map_err(|error| Failure::because("the demonstration broke off", &error))?;
        let written = if self.json { report.json(out) } else { report.table(out) };
        written?;
        if report.passed() { Ok(()) } else { Err(Failure::failed("a check failed")) }
    }
}

async fn play() -> Result<Report, DemoError> {
    let stage = Stage::open().await?;
    let mut report = Report::new(stage.address());
    let played = scenes::play(&stage, &mut report).await;
    stage.close().await;
    played.map(|()| report)
}
