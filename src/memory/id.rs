//! Names and numbers that must not be mistaken for one another.

use std::fmt;

use smol_str::SmolStr;
use unicode_normalization::is_nfc;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use uuid::Uuid;

/// Why a string is no id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdFault {
    /// Nothing there.
    #[error("must not be empty")]
    Empty,
    /// More than 128 characters.
    #[error("must have at most 128 characters")]
    TooLong,
    /// Nothing that can be seen.
    #[error("must not consist of white space and format characters alone")]
    Blank,
    /// A control character, NUL included.
    #[error("must not contain control characters")]
    Control,
    /// Not in Unicode normal form C.
    #[error("must be in Unicode normal form C")]
    NotNormal,
}

/// Longest id, in Unicode scalar values.
const MAX_ID_CHARS: usize = 128;

fn check(id: &str) -> Result<(), IdFault> {
    if id.is_empty() {
        return Err(IdFault::Empty);
    }
    // What most ids are: in ASCII each byte is a character, normal, and no format character.
    if id.len() <= MAX_ID_CHARS && id.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    if id.chars().count() > MAX_ID_CHARS {
        return Err(IdFault::TooLong);
    }
    if id.chars().any(char::is_control) {
        return Err(IdFault::Control);
    }
    if id.chars().all(|c| c.is_whitespace() || c.general_category() == GeneralCategory::Format) {
        return Err(IdFault::Blank);
    }
    if !is_nfc(id) {
        return Err(IdFault::NotNormal);
    }
    Ok(())
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(SmolStr);

        impl $name {
            /// Checks the rules that all ids share and keeps the bytes as they are.
            ///
            /// # Errors
            /// The first rule that is broken.
            pub fn new(id: impl Into<SmolStr>) -> Result<Self, IdFault> {
                let id = id.into();
                check(&id)?;
                Ok(Self(id))
            }

            /// The id, byte for byte.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:?})", stringify!($name), self.0)
            }
        }
    )*};
}

names! {
    /// An organisation. Comes from the credential alone.
    TenantId;
    /// The person or agent whom a memory is about.
    SubjectId;
    /// Who is calling.
    PrincipalId;
    /// A project of the tenant.
    ProjectId;
    /// A task of a project.
    TaskId;
    /// What a memory is called within its scope.
    Key;
    /// A kind of fact, as policy names it.
    KindName;
    /// A use of recalled facts, as policy names it.
    PurposeName;
    /// A kind of source, as policy names it.
    SourceKindName;
    /// Something outside that holds copies.
    DerivedStoreId;
}

macro_rules! uuids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }
    )*};
}

uuids! {
    /// Names one memory for as long as it lives at its address.
    MemoryId;
    /// Names one held candidate.
    CandidateId;
    /// Names one decision, and the snapshot it stands for.
    DecisionId;
    /// Names one attempt of a caller at a mutation, however often it is sent.
    RequestId;
}

/// Counts the state changes of one memory, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub i64);

impl Version {
    /// The first version of a new memory.
    pub const FIRST: Self = Self(1);

    /// The version after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// The value that an owner's counter had at the last change in a scope; 0 where there was none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(pub i64);

/// The SHA-256 of a policy document.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyVersion(pub [u8; 32]);

impl fmt::Display for PolicyVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (halves, _) = self.0.as_chunks();
        halves.iter().try_for_each(|half| write!(f, "{:032x}", u128::from_be_bytes(*half)))
    }
}

impl fmt::Debug for PolicyVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PolicyVersion({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_kept_byte_for_byte() {
        for id in ["a", " a ", "50%_'; --", "a\u{200c}b", "日本", "A", "a:b/c"] {
            assert_eq!(Key::new(id).unwrap().as_str(), id);
        }
    }

    #[test]
    fn what_is_no_id_is_refused_and_not_normalised() {
        assert_eq!(Key::new(""), Err(IdFault::Empty));
        assert_eq!(Key::new("x".repeat(129)), Err(IdFault::TooLong));
        assert!(Key::new("\u{1f600}".repeat(128)).is_ok());
        assert_eq!(Key::new("   "), Err(IdFault::Blank));
        assert_eq!(Key::new("\u{200b}\u{feff}"), Err(IdFault::Blank));
        assert_eq!(Key::new("a\0b"), Err(IdFault::Control));
        assert_eq!(Key::new("a\u{85}b"), Err(IdFault::Control));
        assert_eq!(Key::new("e\u{301}"), Err(IdFault::NotNormal));
    }
}
