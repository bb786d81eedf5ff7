//! The signals that stop the service, and the one that has it read its policy again.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGXFSZ, under its number on Linux and macOS: a file would grow beyond the limit of the process (`RLIMIT_FSIZE`).
const FILE_TOO_LARGE: i32 = 25;

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

/// SIGTERM and SIGINT, from now on ours. SIGXFSZ too, which nobody waits for: it ends a process that leaves it alone,
/// and with it here the write fails, as on a full disk.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    _file_too_large: Signal,
}

impl Signals {
    pub(super) fn install() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            _file_too_large: signal(SignalKind::from_raw(FILE_TOO_LARGE))?,
        })
    }

    /// The name of the next one.
    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
