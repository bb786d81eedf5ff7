//! What arbitrary input may do to a request, a page token and a policy file, and what it must never do. A fuzz target
//! makes the input; the test of the corpus takes what is kept of it.
//!
//! A check panics where a promise is broken.

mod empty;
pub mod limits;
pub mod policies;
pub mod ready;
pub mod requests;
pub mod tokens;
