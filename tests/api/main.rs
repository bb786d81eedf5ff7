//! Black-box tests: the service over a real socket, by the generated clients.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what is not as promised panics")]

mod account;
mod at_once;
#[path = "../support/backdoor.rs"]
mod backdoor;
mod bad_input;
mod bad_reads;
mod bad_writes;
mod batch;
mod beside_the_credential;
mod budget;
mod candidates;
mod clock_steps;
mod deleted;
mod depth;
mod discovery;
mod dropped;
mod first;
mod foreign;
mod grants;
mod harness;
#[path = "../support/held.rs"]
mod held;
mod hidden;
#[path = "../support/home.rs"]
mod home;
mod in_force;
mod isolation;
#[path = "../said/listening.rs"]
mod listening;
mod lists;
mod methods;
mod nominees;
mod places;
#[path = "../support/postgres.rs"]
mod postgres;
mod raw_bytes;
mod reading;
mod replay;
mod requests;
#[path = "../said/file.rs"]
mod said;
mod seeds_conflicts;
mod seeds_limits;
mod seeds_writes;
mod stored;
mod text;
mod text_oracle;
mod trust;
#[path = "../support/unpacked.rs"]
mod unpacked;
mod versions;
mod write_gate;
mod write_masks;
