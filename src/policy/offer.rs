//! A fact as it is offered, how it is vouched for, and how things stand where it is to live.

use crate::memory::{
    Address, Block, Confidence, Consent, Evidence, KindName, Memory, PurposeName, Sensitivity, Source, Text, Time,
};

/// By which call a fact comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Act {
    /// `Capture`: never replaces a confirmed fact with another value.
    Capture,
    /// `Correct`, or a confirmation that names the version it saw: replaces it.
    Replace,
    /// `ConfirmCandidate` without a version.
    Confirm,
    /// `ConfirmCandidate` that names the version it saw.
    ConfirmAndReplace,
}

impl Act {
    pub(super) const fn replaces(self) -> bool {
        matches!(self, Self::Replace | Self::ConfirmAndReplace)
    }

    pub(super) const fn confirms(self) -> bool {
        matches!(self, Self::Confirm | Self::ConfirmAndReplace)
    }
}

/// A fact as it is offered, after form and grants.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Where it is to live.
    pub address: Address,
    /// The key is the new memory's own id.
    pub own_key: bool,
    /// What sort of fact.
    pub kind: KindName,
    /// The fact.
    pub value: Text,
    /// Where it came from.
    pub source: Source,
    /// Who vouches.
    pub evidence: Evidence,
    /// How sure; `None`: as its source's cap.
    pub confidence: Option<Confidence>,
    /// How harmful in the wrong hands; `None`: as its kind.
    pub sensitivity: Option<Sensitivity>,
    /// What the subject agreed to.
    pub consent: Consent,
    /// What it may be used for; empty: all that its kind allows.
    pub purposes: Vec<PurposeName>,
    /// When it was observed, never after `now`.
    pub observe_time: Time,
    /// First instant at which it holds.
    pub valid_from_time: Option<Time>,
    /// First instant at which it no longer holds; `None`: as its kind.
    pub expire_time: Option<Time>,
    /// Why, in the author's words.
    pub change_reason: Text,
    /// The subject confirms anew what was revoked.
    pub accept_revoked: bool,
}

/// How things stand where the fact is to live.
#[derive(Clone, Copy)]
pub struct Standing<'a> {
    /// What lies at the address.
    pub current: Option<&'a Memory>,
    /// The parents that were found and that the caller may see.
    pub parents: &'a [Memory],
    /// One of the parents descends from what lies at the address, or is it.
    pub leads_back: bool,
    /// The blocks that the offer meets.
    pub blocks: &'a [Block],
}

/// How an offer is vouched for.
#[derive(Clone, Copy)]
pub(super) struct Vouching {
    /// The evidence counts for the kind.
    pub(super) confirmed: bool,
    /// The evidence is given to what was captured before: the confirming act is its source.
    pub(super) confirming: bool,
    /// When the evidence was given.
    pub(super) at: Time,
}
