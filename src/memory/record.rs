//! A memory and a candidate, as stored.

use uuid::Uuid;

use super::{
    Address, CandidateId, Confidence, Consent, Evidence, KindName, MemoryId, PrincipalId, PurposeName, Reason,
    Sensitivity, Source, Text, Time, Tokens, Trust, Version,
};

/// Where a memory is in its life. Expiry is not a state: it follows from the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// In force, within its validity.
    Active,
    /// Deleted, and restorable.
    Deleted,
    /// Set aside until somebody has looked at it.
    Quarantined,
    /// Its text is erased for good.
    Forgotten,
}

impl State {
    /// The name that decisions write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Deleted => "deleted",
            Self::Quarantined => "quarantined",
            Self::Forgotten => "forgotten",
        }
    }
}

/// One version of one memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Its id.
    pub id: MemoryId,
    /// Where it lives.
    pub address: Address,
    /// What sort of fact.
    pub kind: KindName,
    /// Which state change this is.
    pub version: Version,
    /// The last version that changed the value.
    pub value_version: Version,
    /// Where it is in its life.
    pub state: State,
    /// The fact. `None` where it was not loaded.
    pub value: Option<Text>,
    /// What search knows the value by. `None` where it was not loaded, and without a value.
    pub tokens: Option<Tokens>,
    /// Its length in Unicode scalar values, known without loading it.
    pub value_chars: u32,
    /// Where it came from.
    pub source: Source,
    /// The most that its lineage lets it be worth; `Verified` where it has none that counts.
    pub lineage_trust: Trust,
    /// Who vouched.
    pub evidence: Evidence,
    /// How sure. `None` only where a row was written behind the service's back.
    pub confidence: Option<Confidence>,
    /// How harmful in the wrong hands.
    pub sensitivity: Sensitivity,
    /// What the subject agreed to.
    pub consent: Consent,
    /// What it may be used for; empty: all that its kind allows.
    pub purposes: Vec<PurposeName>,
    /// When it was observed.
    pub observe_time: Time,
    /// First instant at which it holds.
    pub valid_from_time: Option<Time>,
    /// First instant at which it no longer holds.
    pub expire_time: Option<Time>,
    /// When this memory was first made.
    pub create_time: Time,
    /// When this version was made.
    pub update_time: Time,
    /// When evidence was last given.
    pub confirm_time: Option<Time>,
    /// Who made this version.
    pub author: PrincipalId,
    /// Why, in the author's words; may be empty.
    pub change_reason: Text,
    /// False where a column held something that no version of the service writes.
    pub intact: bool,
}

impl Memory {
    /// Its key is its own id: nobody chose it, and it is no text.
    #[must_use]
    pub fn has_own_key(&self) -> bool {
        is_id(self.address.key.as_str(), self.id.0)
    }

    /// Its end has come. Validity is half-open: at `expire_time` it no longer holds.
    #[must_use]
    pub fn expired_at(&self, now: Time) -> bool {
        self.expire_time.is_some_and(|expire_time| now >= expire_time)
    }

    /// Its beginning has not come.
    #[must_use]
    pub fn not_yet_valid_at(&self, now: Time) -> bool {
        self.valid_from_time.is_some_and(|valid_from_time| now < valid_from_time)
    }
}

/// Whether a text is this id as the service writes it.
pub(super) fn is_id(text: &str, id: Uuid) -> bool {
    text == id.hyphenated().encode_lower(&mut Uuid::encode_buffer())
}

/// A captured fact that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its id.
    pub id: CandidateId,
    /// Where it would live.
    pub address: Address,
    /// What sort of fact.
    pub kind: KindName,
    /// The fact. `None` where it was not loaded.
    pub value: Option<Text>,
    /// Where it came from.
    pub source: Source,
    /// The most that its lineage lets it be worth.
    pub lineage_trust: Trust,
    /// Who vouched at capture.
    pub evidence: Evidence,
    /// How sure. `None` only where a row was written behind the service's back.
    pub confidence: Option<Confidence>,
    /// How harmful in the wrong hands.
    pub sensitivity: Sensitivity,
    /// What the subject agreed to.
    pub consent: Consent,
    /// What it may be used for; empty: all that its kind allows.
    pub purposes: Vec<PurposeName>,
    /// When it was observed.
    pub observe_time: Time,
    /// First instant at which it would hold.
    pub valid_from_time: Option<Time>,
    /// The end that its writer asked for.
    pub expire_time: Option<Time>,
    /// Why it waits.
    pub reasons: Vec<Reason>,
    /// When it was captured.
    pub create_time: Time,
    /// When it lapses: from then on it is treated as gone.
    pub lapse_time: Time,
    /// Who captured it.
    pub author: PrincipalId,
    /// Why, in the author's words; may be empty.
    pub change_reason: Text,
}

impl Candidate {
    /// Its key is its own id, which becomes the memory's.
    #[must_use]
    pub fn has_own_key(&self) -> bool {
        is_id(self.address.key.as_str(), self.id.0)
    }
}
