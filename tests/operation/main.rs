//! The program while it runs: its policy read anew, its ledger measured and pruned, calls in flight.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod in_flight;
#[path = "../said/keys.rs"]
mod keys;
mod ledger;
mod policy;
mod program;
#[path = "../said/file.rs"]
mod said;
#[path = "../support/unpacked.rs"]
mod unpacked;
