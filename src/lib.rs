//! Recall Gate decides which memories of an agent may be used, and records why before any text leaves.
//!
//! # Layers
//!
//! ```text
//! main, cli, config, server, telemetry     wiring: the only ones that name a concrete store
//!   api                                    gRPC: the only one that names the public protobuf
//!     gate                                 use cases: load, judge, commit
//!       policy         store               rules, pure           the seam, and the engines behind it
//!       identity                           who calls
//!         memory                           plain values: what a memory is, and the outcomes of judging it
//!         wire                             protobuf messages, for whoever writes them field by field
//! ```
//!
//! A layer knows those below it and none beside or above it; `tests/architecture` reads the sources and fails where one
//! does. `memory` and `policy` have no clock, no randomness and no I/O: what time it is, is an argument.
//!
//! # Two types carry the product
//!
//! - [`store::Recorded`]: a store's ledger takes a judgement by value, and hands it back only after it is durable.
//! - [`gate::Admitted`] and [`gate::Disclosed`]: the only things that text leaves in, made out of a `Recorded` alone.
//!
//! # One call, from the wire and back
//!
//! `server` verifies the credential and puts a [`identity::Caller`] beside the request. `api` asks the gate for the
//! method's grant, checks the form of every field, and makes a [`gate::command`]. `gate` asks the store for what is there
//! at one point in time, has `policy` judge it, and commits a [`store::Change`]: what must still hold, what to write, what
//! to announce, and the judgement that says why. Where something no longer holds, it judges again, three times at most.
//! What has not begun in the store by the call's [`store::Deadline`] never does.
//!
//! # Recipes
//!
//! - **A new reason**: `memory::Reason` and `verdict.proto` at the same place in the order, the gate in `policy::judge`
//!   or the row in `policy::write` that gives it, a row in `tests/policy`, and the README's table.
//! - **A new kind, purpose or source kind**: `policy/default.toml`, and nothing else.
//! - **A new field of a memory**: `memory::Memory`, both migrations (a new one each), `store::queries`, `Attributes` and
//!   `decision.proto` if it is judged.
//! - **A new method**: its proto, a command, a file in `gate` and in `api`, and its row in the table of methods in
//!   `tests/api`, which fails until it has a leak test or a resurrection test.
//! - **A new failure**: `gate::Error`, whose compiler errors lead to the one place that turns it into a status.

pub mod api;
pub mod cli;
pub mod config;
pub mod gate;
pub mod identity;
pub mod memory;
pub mod policy;
pub mod server;
pub mod store;
pub mod telemetry;
mod wire;
