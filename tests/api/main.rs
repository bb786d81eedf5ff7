//! Black-box tests: the service over a real socket, by the generated clients.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a promise that is broken panics")]

mod first;
mod grants;
mod harness;
mod replay;
mod requests;
mod versions;
