//! Requests into commands: every field is checked, and every fault is named.
//!
//! Checks form alone. What the caller may do, and what policy and state say, is for the gate.
//!
//! Invariant: a request that becomes a command has no fault left in it, and no input can make a check panic.

mod batch;
mod capture;
mod choice;
mod correct;
mod delete;
mod faults;
mod field;
pub(super) mod page;
mod place;
mod provenance;
mod recall;
#[cfg(test)]
mod tests;

pub(super) use batch::batch_capture;
pub(super) use capture::{capture, confirm_candidate, get_candidate, list_candidates, reject_candidate};
pub(super) use correct::correct;
pub(super) use delete::{delete, restore};
pub(super) use recall::{explain_recall, get_memory, list_memories, recall};
