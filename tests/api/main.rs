//! Black-box tests: the service over a real socket, by the generated clients.

mod first;
mod grants;
mod harness;
mod replay;
mod requests;
mod versions;
