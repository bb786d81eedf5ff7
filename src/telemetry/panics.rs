//! A panic goes to the log like everything else, and says where it was. What it says beside may be text of a memory.

use std::panic::{PanicHookInfo, set_hook};

/// From here on, for the whole process.
pub(super) fn log_where_alone() {
    set_hook(Box::new(log));
}

fn log(panic: &PanicHookInfo<'_>) {
    let (file, line) = panic.location().map_or(("", 0), |place| (place.file(), place.line()));
    tracing::error!(file, line, "panicked");
}
