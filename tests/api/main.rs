//! Black-box tests: the service over a real socket, by the generated clients.

mod first;
mod harness;
mod requests;
