//! What PostgreSQL itself keeps apart, and what many who use one database at once do to each other.
//!
//! The promises of every store are in `tests/contract`. Here the database is met behind the service's back: by raw SQL
//! as each role, through a pooler, and through a wire that rewrites, delays or adds statements.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "what is not as promised panics")]

#[path = "../support/backdoor.rs"]
mod backdoor;
#[expect(dead_code, reason = "what only the promises look at")]
#[path = "../contract/behind.rs"]
mod behind;
mod caller;
mod catalog;
mod contention;
#[expect(dead_code, reason = "what only the promises need")]
#[path = "../contract/fixture.rs"]
mod fixture;
mod ground;
#[path = "../support/held.rs"]
mod held;
#[path = "../support/home.rs"]
mod home;
#[path = "../support/pgbouncer.rs"]
mod pgbouncer;
mod policies;
#[path = "../support/postgres.rs"]
mod postgres;
mod predicates;
mod privileged;
mod roles;
mod sequencer;
mod storm;
mod stray;
mod wire;
