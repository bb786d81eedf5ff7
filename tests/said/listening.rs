//! A service within the test's own process is listened to at every level, with every field of every span.

use std::sync::{Mutex, Once};

use tracing_subscriber::fmt::format::FmtSpan;

/// Keeps what is said in this process from here on.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tracing_subscriber::fmt()
            .with_env_filter("info,recall_gate=trace,sqlx=trace")
            .with_span_events(FmtSpan::NEW | FmtSpan::CLOSE)
            .with_ansi(false)
            .with_writer(Mutex::new(crate::said::file("in-process")))
            .init();
    });
}
