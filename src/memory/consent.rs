//! What the subject agreed to, and how much harm a memory can do.

use super::PurposeName;

/// Whether the subject agreed to the use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consent {
    /// Nothing was said.
    Unset,
    /// Agreed to, for these purposes.
    Granted(Vec<PurposeName>),
    /// Taken back.
    Withdrawn,
    /// Shared memories have no subject who could agree.
    NotApplicable,
}

impl Consent {
    /// The name that decisions write.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Unset => "unset",
            Self::Granted(_) => "granted",
            Self::Withdrawn => "withdrawn",
            Self::NotApplicable => "not_applicable",
        }
    }

    /// The purposes agreed to.
    #[must_use]
    pub fn purposes(&self) -> &[PurposeName] {
        match self {
            Self::Granted(purposes) => purposes,
            Self::Unset | Self::Withdrawn | Self::NotApplicable => &[],
        }
    }
}

/// How much harm a memory does in the wrong hands, low to high.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sensitivity {
    /// May be published.
    Public,
    /// For members of the tenant.
    Internal,
    /// About a person.
    Personal,
    /// Need to know only.
    Restricted,
}

impl Sensitivity {
    /// Every value, low to high.
    pub const ALL: [Self; 4] = [Self::Public, Self::Internal, Self::Personal, Self::Restricted];

    /// The name that policy, grants and decisions write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Internal => "internal",
            Self::Personal => "personal",
            Self::Restricted => "restricted",
        }
    }
}
