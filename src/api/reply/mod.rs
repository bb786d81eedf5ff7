//! Outcomes into replies.
//!
//! Invariant I6: text is encoded out of [`Admitted`](crate::gate::Admitted) and [`Disclosed`](crate::gate::Disclosed)
//! alone. Invariant I9: what is recalled says that it is data.
//!
//! Replies that hold facts or verdicts are written field by field; others are values of their generated types.

mod candidate;
mod choice;
mod discovery;
mod memory;
mod place;
mod recall;
mod receipt;
#[cfg(test)]
mod tests;
mod verdict;

pub(super) use candidate::{get_candidate, list_candidates};
pub(super) use discovery::{caller, policy};
pub(super) use recall::{explain_recall, get_memory, list_memories, recall};
pub(super) use receipt::{batch_capture, capture, confirm_candidate, correct, delete, reject_candidate, restore};

use crate::gate::Error;

/// What every reply with facts calls them.
const CONTENT_TYPE: &str = "untrusted_memory_data";
/// What facts authorise: nothing.
const ACTION_AUTHORITY: bool = false;

/// The gate answered with less than it promises.
#[derive(Debug, thiserror::Error)]
#[error("an answer without {0}")]
struct Incomplete(&'static str);

fn incomplete(what: &'static str) -> Error {
    Error::Internal(Box::new(Incomplete(what)))
}
