//! Servers that live no longer than the measurement that started them, however that ends.

use std::io;

use rustix::process::{Signal, getpid, kill_process};

/// Ends this process as a signal does when its standard input ends: whoever started it holds the other end, and lets go
/// of it even when it is killed.
pub(in crate::cli) fn end_with_input() {
    std::thread::spawn(|| {
        // What is said there means nothing, and where nothing can be read it has ended.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = kill_process(getpid(), Signal::TERM);
    });
}
