//! The signals that stop the service, and the one that has it read its policy again.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGHUP, from now on ours.
pub(super) struct Hangups(Signal);

impl Hangups {
    pub(super) fn install() -> io::Result<Self> {
        Ok(Self(signal(SignalKind::hangup())?))
    }

    /// Waits for the next one. Those that come while nobody waits count as one.
    pub(super) async fn next(&mut self) {
        // It never ends: it is bound to the process.
        self.0.recv().await;
    }
}

/// SIGTERM and SIGINT, from now on ours.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(super) fn install() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// The name of the next one.
    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
