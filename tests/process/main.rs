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
#[path = "../support/held.rs"]
mod held;
mod identity;
mod injected;
#[path = "../said/keys.rs"]
mod keys;
mod load;
mod many;
mod measures;
mod mounts;
mod on_postgres;
#[path = "../support/pgbouncer.rs"]
mod pgbouncer;
#[path = "../support/postgres.rs"]
mod postgres;
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
#[path = "../support/unpacked.rs"]
mod unpacked;
