//! Why something was accepted with remarks, held or rejected: one closed list for writes and recalls.

/// A reason. The order is the order of the gates, and the order in which reasons are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Visibility: no such memory, or none that the caller may see. Stands alone.
    UnknownNomination,
    /// Visibility: visible to the caller, but it belongs to another project or task than this recall's.
    OtherScope,
    /// Lifecycle: deleted; `Restore` can bring it back.
    Deleted,
    /// Lifecycle: erased for good. Stands alone.
    Forgotten,
    /// Lifecycle: its source has been revoked, or a write names a source or parent that was revoked, deleted or forgotten.
    SourceRevoked,
    /// Lifecycle: a memory it was derived from is no longer admissible.
    ParentRejected,
    /// Lifecycle: set aside until somebody has looked at it.
    Quarantined,
    /// Lifecycle: a held candidate, not a memory yet.
    Unconfirmed,
    /// Version: the nominated value has been replaced.
    Superseded,
    /// Version: the nomination names a version that does not exist, or none where one is required.
    StaleNomination,
    /// Time: its validity has not begun.
    NotYetValid,
    /// Time: its validity is over.
    Expired,
    /// Time: it claims to be newer than the clock; only a row written behind the service's back can.
    AheadOfClock,
    /// Provenance: its source is worth less than the purpose demands.
    UntrustedSource,
    /// Provenance: policy does not know its source kind.
    SourceKindUnknown,
    /// Provenance: policy does not know its kind.
    KindUnknown,
    /// Provenance: an attribute that has to be judged is missing.
    AttributeMissing,
    /// Provenance: policy could not be applied to it.
    PolicyError,
    /// Purpose: its kind, or the memory itself, does not allow this purpose.
    PurposeNotAllowed,
    /// Purpose: its kind needs the subject's consent, and there is none for this purpose.
    ConsentMissing,
    /// Purpose: the subject has withdrawn consent.
    ConsentWithdrawn,
    /// Purpose: more sensitive than the purpose admits.
    SensitivityTooHigh,
    /// Risk: less confident than the purpose or the request demands.
    LowConfidence,
    /// Risk: the evidence is none that counts here. On a write: evidence is wanted before it may be in force.
    EvidenceTooWeak,
    /// Risk: vouched for too long ago for this purpose.
    ConfirmationTooOld,
    /// Risk: inferred, and inferences are not used at this risk.
    InferenceNotAllowed,
    /// Selection: the same key was accepted from a scope before it in precedence.
    Shadowed,
    /// Selection: a narrower memory of the same key was rejected, so that the wider one is not used in its place.
    NarrowerRejected,
    /// Selection: the budget of items was used up.
    BudgetItems,
    /// Selection: it did not fit into what was left of the budget of characters.
    BudgetCharacters,
    /// Write, rejected: the key is not one of its kind's.
    KeyNotAllowed,
    /// Write, rejected: the kind does not hold at this level.
    ScopeNotAllowed,
    /// Write, rejected: the kind does not have this audience, or a parent's audience is narrower.
    AudienceNotAllowed,
    /// Write, rejected: the value is not of the kind's type or size.
    ValueNotAllowed,
    /// Write, held: this source kind has to name what it was derived from.
    LineageMissing,
    /// Write, rejected: a named parent is unknown, foreign, or the memory itself.
    LineageRejected,
    /// Write, rejected: something that looks like a credential.
    SecretDetected,
    /// Write, held: text that reads like an instruction to a model.
    InstructionLike,
    /// Write, rejected: observed before what is in force.
    ObservationOlder,
    /// Write, rejected: its validity would be over already.
    AlreadyExpired,
    /// Write, rejected: a review has kept the current value against this one.
    AlreadyDecided,
    /// Write, held: another value is in force, and this write may not replace it.
    ConflictsWithCurrent,
    /// Write, held: a deleted memory lies at the address.
    AddressDeleted,
    /// Remark on a write: personal data was found, and the memory was marked as personal.
    PersonalDataMarked,
    /// Remark on a write: personal data was found and replaced.
    PersonalDataRedacted,
    /// Remark on a write: its life was cut to the longest that its kind allows.
    LifeShortened,
    /// Remark on a write: its confidence was lowered to its source kind's cap.
    ConfidenceCapped,
}

impl Reason {
    /// Every reason, in order.
    pub const ALL: [Self; 47] = [
        Self::UnknownNomination,
        Self::OtherScope,
        Self::Deleted,
        Self::Forgotten,
        Self::SourceRevoked,
        Self::ParentRejected,
        Self::Quarantined,
        Self::Unconfirmed,
        Self::Superseded,
        Self::StaleNomination,
        Self::NotYetValid,
        Self::Expired,
        Self::AheadOfClock,
        Self::UntrustedSource,
        Self::SourceKindUnknown,
        Self::KindUnknown,
        Self::AttributeMissing,
        Self::PolicyError,
        Self::PurposeNotAllowed,
        Self::ConsentMissing,
        Self::ConsentWithdrawn,
        Self::SensitivityTooHigh,
        Self::LowConfidence,
        Self::EvidenceTooWeak,
        Self::ConfirmationTooOld,
        Self::InferenceNotAllowed,
        Self::Shadowed,
        Self::NarrowerRejected,
        Self::BudgetItems,
        Self::BudgetCharacters,
        Self::KeyNotAllowed,
        Self::ScopeNotAllowed,
        Self::AudienceNotAllowed,
        Self::ValueNotAllowed,
        Self::LineageMissing,
        Self::LineageRejected,
        Self::SecretDetected,
        Self::InstructionLike,
        Self::ObservationOlder,
        Self::AlreadyExpired,
        Self::AlreadyDecided,
        Self::ConflictsWithCurrent,
        Self::AddressDeleted,
        Self::PersonalDataMarked,
        Self::PersonalDataRedacted,
        Self::LifeShortened,
        Self::ConfidenceCapped,
    ];

    /// The name that replies, decisions and documents write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownNomination => "UNKNOWN_NOMINATION",
            Self::OtherScope => "OTHER_SCOPE",
            Self::Deleted => "DELETED",
            Self::Forgotten => "FORGOTTEN",
            Self::SourceRevoked => "SOURCE_REVOKED",
            Self::ParentRejected => "PARENT_REJECTED",
            Self::Quarantined => "QUARANTINED",
            Self::Unconfirmed => "UNCONFIRMED",
            Self::Superseded => "SUPERSEDED",
            Self::StaleNomination => "STALE_NOMINATION",
            Self::NotYetValid => "NOT_YET_VALID",
            Self::Expired => "EXPIRED",
            Self::AheadOfClock => "AHEAD_OF_CLOCK",
            Self::UntrustedSource => "UNTRUSTED_SOURCE",
            Self::SourceKindUnknown => "SOURCE_KIND_UNKNOWN",
            Self::KindUnknown => "KIND_UNKNOWN",
            Self::AttributeMissing => "ATTRIBUTE_MISSING",
            Self::PolicyError => "POLICY_ERROR",
            Self::PurposeNotAllowed => "PURPOSE_NOT_ALLOWED",
            Self::ConsentMissing => "CONSENT_MISSING",
            Self::ConsentWithdrawn => "CONSENT_WITHDRAWN",
            Self::SensitivityTooHigh => "SENSITIVITY_TOO_HIGH",
            Self::LowConfidence => "LOW_CONFIDENCE",
            Self::EvidenceTooWeak => "EVIDENCE_TOO_WEAK",
            Self::ConfirmationTooOld => "CONFIRMATION_TOO_OLD",
            Self::InferenceNotAllowed => "INFERENCE_NOT_ALLOWED",
            Self::Shadowed => "SHADOWED",
            Self::NarrowerRejected => "NARROWER_REJECTED",
            Self::BudgetItems => "BUDGET_ITEMS",
            Self::BudgetCharacters => "BUDGET_CHARACTERS",
            Self::KeyNotAllowed => "KEY_NOT_ALLOWED",
            Self::ScopeNotAllowed => "SCOPE_NOT_ALLOWED",
            Self::AudienceNotAllowed => "AUDIENCE_NOT_ALLOWED",
            Self::ValueNotAllowed => "VALUE_NOT_ALLOWED",
            Self::LineageMissing => "LINEAGE_MISSING",
            Self::LineageRejected => "LINEAGE_REJECTED",
            Self::SecretDetected => "SECRET_DETECTED",
            Self::InstructionLike => "INSTRUCTION_LIKE",
            Self::ObservationOlder => "OBSERVATION_OLDER",
            Self::AlreadyExpired => "ALREADY_EXPIRED",
            Self::AlreadyDecided => "ALREADY_DECIDED",
            Self::ConflictsWithCurrent => "CONFLICTS_WITH_CURRENT",
            Self::AddressDeleted => "ADDRESS_DELETED",
            Self::PersonalDataMarked => "PERSONAL_DATA_MARKED",
            Self::PersonalDataRedacted => "PERSONAL_DATA_REDACTED",
            Self::LifeShortened => "LIFE_SHORTENED",
            Self::ConfidenceCapped => "CONFIDENCE_CAPPED",
        }
    }
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It is in force now.
    Activated,
    /// It waits as a candidate.
    Held,
    /// It was refused, and its text is stored nowhere.
    Rejected,
    /// The same value is in force already; nothing was written.
    Duplicate,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 4] = [Self::Activated, Self::Held, Self::Rejected, Self::Duplicate];

    /// The name that replies and decisions write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Activated => "ACTIVATED",
            Self::Held => "HELD",
            Self::Rejected => "REJECTED",
            Self::Duplicate => "DUPLICATE",
        }
    }
}
