//! Where a fact came from, what that is worth, and who vouched.

use super::{MemoryId, SourceKindName, Text};

/// Where a fact came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What sort of source. `None`: not stated, the lowest trust.
    pub kind: Option<SourceKindName>,
    /// Which one; may be empty.
    pub reference: Text,
    /// Memories it was derived from.
    pub parents: Vec<MemoryId>,
    /// Other sources it was derived from.
    pub parent_references: Vec<Text>,
}

impl Source {
    /// Whether it names anything that it was derived from.
    #[must_use]
    pub const fn has_lineage(&self) -> bool {
        !self.parents.is_empty() || !self.parent_references.is_empty()
    }
}

/// What a source is worth, low to high. Computed by policy, never stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// Anybody may have written it.
    Untrusted,
    /// Plausible, and nobody checked.
    Unverified,
    /// Said by somebody who is known.
    Attributed,
    /// Checked by a system or a person whose job that is.
    Verified,
}

impl Trust {
    /// Every value, low to high.
    pub const ALL: [Self; 4] = [Self::Untrusted, Self::Unverified, Self::Attributed, Self::Verified];

    /// The name that policy and decisions write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::Unverified => "unverified",
            Self::Attributed => "attributed",
            Self::Verified => "verified",
        }
    }
}

/// Who vouched for a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Evidence {
    /// Nobody.
    None,
    /// The subject.
    UserConfirmed,
    /// The task's own checks.
    TaskVerified,
    /// An operator.
    OperatorVerified,
}

impl Evidence {
    /// Every value.
    pub const ALL: [Self; 4] = [Self::None, Self::UserConfirmed, Self::TaskVerified, Self::OperatorVerified];

    /// The name that policy, grants and decisions write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::UserConfirmed => "user_confirmed",
            Self::TaskVerified => "task_verified",
            Self::OperatorVerified => "operator_verified",
        }
    }
}
