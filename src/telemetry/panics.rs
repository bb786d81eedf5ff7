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

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::panic::{catch_unwind, take_hook};
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::telemetry::{Logs, subscriber};

    #[derive(Clone, Default)]
    struct Captured(Arc<Mutex<Vec<u8>>>);

    impl Write for Captured {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn b40_a_panic_is_logged_by_its_place_and_without_what_it_says() {
        let (captured, before) = (Captured::default(), take_hook());
        let writer = captured.clone();
        log_where_alone();
        let logging = subscriber(&Logs::default(), move || writer.clone()).unwrap();
        let panicked = tracing::subscriber::with_default(logging, || catch_unwind(|| panic!("zq7canary")));
        set_hook(before);
        assert!(panicked.is_err());
        let text = String::from_utf8(captured.0.lock().unwrap().clone()).unwrap();
        assert!(text.contains("panicked") && text.contains(file!()), "{text}");
        assert!(!text.contains("zq7canary"), "{text}");
    }
}
