//! What comes over the wire that no client would send: odd timeouts, panics, too much, too slow, not even gRPC.
//!
//! In each case somebody else works on undisturbed, over a connection of their own.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod abuse;
mod clients;
mod connections;
mod deadlines;
mod harness;
mod lifetimes;
mod limits;
#[path = "../said/listening.rs"]
mod listening;
mod messages;
mod panics;
mod paths;
mod process;
mod protocol;
mod raw;
#[path = "../said/file.rs"]
mod said;
mod storm;
mod stub;
mod witness;
