//! Black-box tests: the service over a real socket, by the generated clients.

mod account;
mod budget;
mod deleted;
mod discovery;
mod first;
mod harness;
mod isolation;
mod lists;
mod methods;
mod nominees;
mod places;
mod reading;
mod requests;
