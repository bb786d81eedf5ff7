//! The program as an operator meets it: the binary in a process of its own, on a loopback port and a temporary folder.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod bench;
mod callers;
mod canaries;
mod collector;
mod commands;
mod console;
mod copying;
mod crashes;
mod database;
mod faults;
mod identity;
mod injected;
#[path = "../said/keys.rs"]
mod keys;
mod load;
mod many;
mod mounts;
mod program;
mod readme;
#[path = "../said/file.rs"]
mod said;
mod serving;
mod settings;
mod starting;
mod stopping;
mod system_calls;
mod traces;
