//! Black-box tests: the service over a real socket, by the generated clients.

#![expect(clippy::unwrap_used, reason = "a call that fails where it must not panics")]

mod first;
mod harness;
mod requests;
mod text;
mod text_oracle;
