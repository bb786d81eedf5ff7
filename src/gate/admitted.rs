//! The only things that text leaves in.
//!
//! Invariant I6: both are made out of a [`Recorded`] judgement alone, so that the decision is durable first.

use crate::memory::{Candidate, Judgement, Memory, Trust};
use crate::store::Recorded;

/// A memory as a caller may see it: whole, or without any text.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// The memory. Where it was not admitted: no value, no references, no change reason.
    pub memory: Memory,
    /// The key is text and the memory was not admitted: the key is not to be shown.
    pub key_withheld: bool,
    /// What its source is worth under the policy in force.
    pub trust: Trust,
    /// In force without evidence that counts.
    pub inferred: bool,
}

/// Memories after a recorded recall, get or list.
#[derive(Debug)]
pub struct Admitted {
    pub(super) recorded: Recorded<Judgement>,
    pub(super) shown: Vec<Shown>,
    pub(super) next_page_token: Option<Vec<u8>>,
}

impl Admitted {
    /// The judgement that admitted them.
    #[must_use]
    pub const fn judgement(&self) -> &Judgement {
        self.recorded.get()
    }

    /// After a recall: the admitted facts, in rank, one for each accepted verdict. After a get or a list: one for
    /// each verdict about a memory, in order, without text where it was rejected.
    #[must_use]
    pub fn shown(&self) -> &[Shown] {
        &self.shown
    }

    /// For the next page of a list.
    #[must_use]
    pub fn next_page_token(&self) -> Option<&[u8]> {
        self.next_page_token.as_deref()
    }
}

/// A candidate as somebody granted `confirm` may see it.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownCandidate {
    /// The candidate, with its value.
    pub candidate: Candidate,
    /// What its source is worth under the policy in force.
    pub trust: Trust,
}

/// Held candidates after their showing was recorded.
#[derive(Debug)]
pub struct Disclosed {
    pub(super) recorded: Recorded<Judgement>,
    pub(super) candidates: Vec<ShownCandidate>,
    pub(super) next_page_token: Option<Vec<u8>>,
}

impl Disclosed {
    /// The judgement that disclosed them.
    #[must_use]
    pub const fn judgement(&self) -> &Judgement {
        self.recorded.get()
    }

    /// The candidates, in order.
    #[must_use]
    pub fn candidates(&self) -> &[ShownCandidate] {
        &self.candidates
    }

    /// For the next page of a list.
    #[must_use]
    pub fn next_page_token(&self) -> Option<&[u8]> {
        self.next_page_token.as_deref()
    }
}
