//! Black-box tests: the service over a real socket, by the generated clients.

mod account;
mod budget;
mod first;
mod harness;
mod isolation;
mod nominees;
mod places;
mod reading;
mod requests;
