//! The only things that text leaves in.
//!
//! Invariant I6: both are made out of a [`Recorded`] judgement alone, so that the decision is durable first.

use std::sync::Arc;

use crate::memory::{Candidate, Judgement, Memory, Trust};
use crate::store::Recorded;

/// A memory as a caller may see it: whole, or without any text. Made by the gate alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    pub(super) memory: Arc<Memory>,
    pub(super) key_withheld: bool,
    pub(super) trust: Trust,
    pub(super) inferred: bool,
}

impl Shown {
    /// The memory. Where it was not admitted: no value, no references, no change reason.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The key is text and the memory was not admitted: the key is not to be shown.
    #[must_use]
    pub const fn key_withheld(&self) -> bool {
        self.key_withheld
    }

    /// What its source is worth under the policy in force.
    #[must_use]
    pub const fn trust(&self) -> Trust {
        self.trust
    }

    /// In force without evidence that counts.
    #[must_use]
    pub const fn inferred(&self) -> bool {
        self.inferred
    }

    /// One that nothing admitted, for tests of how it is encoded.
    #[cfg(test)]
    pub(crate) fn made_up(memory: Memory, key_withheld: bool, trust: Trust, inferred: bool) -> Self {
        Self { memory: Arc::new(memory), key_withheld, trust, inferred }
    }
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

/// A candidate as somebody granted `confirm` may see it. Made by the gate alone.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownCandidate {
    pub(super) candidate: Candidate,
    pub(super) trust: Trust,
}

impl ShownCandidate {
    /// The candidate, with its value.
    #[must_use]
    pub const fn candidate(&self) -> &Candidate {
        &self.candidate
    }

    /// What its source is worth under the policy in force.
    #[must_use]
    pub const fn trust(&self) -> Trust {
        self.trust
    }
}

#[cfg(test)]
impl ShownCandidate {
    /// One that nothing disclosed, for tests of how it is encoded.
    pub(crate) const fn made_up(candidate: Candidate, trust: Trust) -> Self {
        Self { candidate, trust }
    }
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
