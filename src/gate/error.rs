//! Why a call failed. Closed: each has one code and one reason on the wire.

use crate::memory::Version;

/// One bad field.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldFault {
    /// Which, as a path in the request: `query.nominations[3].score`.
    pub field: String,
    /// What is wrong, in plain words, never the field's content.
    pub description: String,
}

/// How many bad fields the message names; the details name all.
const NAMED: usize = 5;

fn names(faults: &[FieldFault]) -> String {
    let named: Vec<String> = faults.iter().take(NAMED).map(|fault| format!("`{}`", fault.field)).collect();
    let more = faults.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("bad fields: {}{rest}", named.join(", "))
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Bad fields, all of them.
    #[error("{}", names(.0))]
    Invalid(Vec<FieldFault>),
    /// Policy has no such purpose.
    #[error("the policy has no such purpose")]
    PurposeUnknown,
    /// The request id was used with another payload.
    #[error("this request id was used with another payload")]
    RequestIdReused,
    /// Not a page token of this list, caller and filter.
    #[error("not a page token of this list")]
    PageTokenInvalid,
    /// A grant is missing, named as a credential writes it.
    #[error("the grant `{0}` is missing")]
    GrantMissing(String),
    /// Not a member of the project or task.
    #[error("not a member of this project or task")]
    ScopeNotHeld,
    /// May not act for the subject.
    #[error("may not act for this subject")]
    SubjectNotHeld,
    /// May not state this evidence or consent; the grant it takes.
    #[error("the grant `{0}` is missing")]
    EvidenceNotHeld(String),
    /// May not state this source kind; the grant it takes.
    #[error("the grant `{0}` is missing")]
    SourceKindNotHeld(String),
    /// Missing, foreign or not visible.
    #[error("not found")]
    NotFound,
    /// The memory has moved on.
    #[error("the memory has moved on to version {}", .0.0)]
    VersionConflict(Version),
    /// Overtaken each time it was judged.
    #[error("overtaken by other changes three times; try again")]
    JudgementContended,
    /// The memory is deleted.
    #[error("the memory is deleted")]
    MemoryDeleted,
    /// The memory is not deleted.
    #[error("the memory is not deleted")]
    MemoryNotDeleted,
    /// The memory has been erased.
    #[error("the memory has been erased")]
    MemoryForgotten,
    /// The memory's validity is over.
    #[error("the memory's validity is over")]
    MemoryExpired,
    /// Another memory lives at the address.
    #[error("another memory lives at the address")]
    AddressTaken,
    /// The source has been revoked.
    #[error("the source has been revoked")]
    SourceRevoked,
    /// The store cannot be reached.
    #[error("the store is unavailable; try again")]
    StoreUnavailable(#[source] crate::store::Error),
    /// The decision could not be recorded.
    #[error("the decision could not be recorded, so nothing is answered; try again")]
    LedgerUnavailable(#[source] crate::store::Error),
    /// The call's time was over before its work was done; nothing was written.
    #[error("out of time before anything was written")]
    OutOfTime,
    /// A defect.
    #[error("a defect of the service; its log says more")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// A read of the store failed.
    pub(super) fn store(cause: crate::store::Error) -> Self {
        match cause {
            crate::store::Error::Unavailable(_) => Self::StoreUnavailable(cause),
            crate::store::Error::OutOfTime => Self::OutOfTime,
            crate::store::Error::Corrupt(_) => Self::Internal(Box::new(cause)),
        }
    }

    /// A commit failed.
    pub(super) fn ledger(cause: crate::store::Error) -> Self {
        match cause {
            crate::store::Error::Unavailable(_) => Self::LedgerUnavailable(cause),
            crate::store::Error::OutOfTime => Self::OutOfTime,
            crate::store::Error::Corrupt(_) => Self::Internal(Box::new(cause)),
        }
    }

    /// The reason's name on the wire and in the record.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "FIELD_INVALID",
            Self::PurposeUnknown => "PURPOSE_UNKNOWN",
            Self::RequestIdReused => "REQUEST_ID_REUSED",
            Self::PageTokenInvalid => "PAGE_TOKEN_INVALID",
            Self::GrantMissing(_) => "GRANT_MISSING",
            Self::ScopeNotHeld => "SCOPE_NOT_HELD",
            Self::SubjectNotHeld => "SUBJECT_NOT_HELD",
            Self::EvidenceNotHeld(_) => "EVIDENCE_NOT_HELD",
            Self::SourceKindNotHeld(_) => "SOURCE_KIND_NOT_HELD",
            Self::NotFound => "NOT_FOUND",
            Self::VersionConflict(_) => "VERSION_CONFLICT",
            Self::JudgementContended => "JUDGEMENT_CONTENDED",
            Self::MemoryDeleted => "MEMORY_DELETED",
            Self::MemoryNotDeleted => "MEMORY_NOT_DELETED",
            Self::MemoryForgotten => "MEMORY_FORGOTTEN",
            Self::MemoryExpired => "MEMORY_EXPIRED",
            Self::AddressTaken => "ADDRESS_TAKEN",
            Self::SourceRevoked => "SOURCE_REVOKED",
            Self::StoreUnavailable(_) => "STORE_UNAVAILABLE",
            Self::LedgerUnavailable(_) => "LEDGER_UNAVAILABLE",
            Self::OutOfTime => "DEADLINE_EXCEEDED",
            Self::Internal(_) => "INTERNAL",
        }
    }
}
