//! Enums on the way out: always explicit, never unspecified.

use crate::api::proto;
use crate::memory::{Audience, Consent, Evidence, Nominator, Outcome, Reason, Sensitivity, State, Trust};
use crate::policy::{Class, LevelName, Risk, ValueType};

/// The number that stands for it in a message.
pub(super) fn code(choice: impl Into<i32>) -> i64 {
    choice.into().into()
}

pub(super) fn audience(audience: Audience) -> proto::Audience {
    match audience {
        Audience::Personal => proto::Audience::Personal,
        Audience::Shared => proto::Audience::Shared,
    }
}

pub(super) fn level(level: LevelName) -> proto::Level {
    match level {
        LevelName::General => proto::Level::General,
        LevelName::Project => proto::Level::Project,
        LevelName::Task => proto::Level::Task,
    }
}

pub(super) fn evidence(evidence: Evidence) -> proto::Evidence {
    match evidence {
        Evidence::None => proto::Evidence::None,
        Evidence::UserConfirmed => proto::Evidence::UserConfirmed,
        Evidence::TaskVerified => proto::Evidence::TaskVerified,
        Evidence::OperatorVerified => proto::Evidence::OperatorVerified,
    }
}

pub(super) fn trust(trust: Trust) -> proto::Trust {
    match trust {
        Trust::Untrusted => proto::Trust::Untrusted,
        Trust::Unverified => proto::Trust::Unverified,
        Trust::Attributed => proto::Trust::Attributed,
        Trust::Verified => proto::Trust::Verified,
    }
}

pub(super) fn sensitivity(sensitivity: Sensitivity) -> proto::Sensitivity {
    match sensitivity {
        Sensitivity::Public => proto::Sensitivity::Public,
        Sensitivity::Internal => proto::Sensitivity::Internal,
        Sensitivity::Personal => proto::Sensitivity::Personal,
        Sensitivity::Restricted => proto::Sensitivity::Restricted,
    }
}

pub(super) fn consent(consent: &Consent) -> proto::ConsentState {
    match consent {
        Consent::Unset => proto::ConsentState::Unset,
        Consent::Granted(_) => proto::ConsentState::Granted,
        Consent::Withdrawn => proto::ConsentState::Withdrawn,
        Consent::NotApplicable => proto::ConsentState::NotApplicable,
    }
}

pub(super) fn state(state: State) -> proto::MemoryState {
    match state {
        State::Active => proto::MemoryState::Active,
        State::Deleted => proto::MemoryState::Deleted,
        State::Quarantined => proto::MemoryState::Quarantined,
        State::Forgotten => proto::MemoryState::Forgotten,
    }
}

pub(super) fn nominator(nominator: Nominator) -> proto::Nominator {
    match nominator {
        Nominator::Key => proto::Nominator::Key,
        Nominator::Index => proto::Nominator::Index,
        Nominator::All => proto::Nominator::All,
        Nominator::Text => proto::Nominator::Text,
        Nominator::SameKey => proto::Nominator::SameKey,
        Nominator::Name => proto::Nominator::Name,
    }
}

pub(super) fn outcome(outcome: Outcome) -> proto::Outcome {
    match outcome {
        Outcome::Activated => proto::Outcome::Activated,
        Outcome::Held => proto::Outcome::Held,
        Outcome::Rejected => proto::Outcome::Rejected,
        Outcome::Duplicate => proto::Outcome::Duplicate,
    }
}

pub(super) fn kind_class(class: Class) -> proto::KindClass {
    match class {
        Class::Profile => proto::KindClass::Profile,
        Class::Preference => proto::KindClass::Preference,
        Class::TaskFact => proto::KindClass::TaskFact,
        Class::Experience => proto::KindClass::Experience,
        Class::EnvironmentFact => proto::KindClass::EnvironmentFact,
    }
}

pub(super) fn risk(risk: Risk) -> proto::Risk {
    match risk {
        Risk::Low => proto::Risk::Low,
        Risk::Medium => proto::Risk::Medium,
        Risk::High => proto::Risk::High,
    }
}

pub(super) fn value_type(value_type: ValueType) -> proto::ValueType {
    match value_type {
        ValueType::Text => proto::ValueType::Text,
        ValueType::Number => proto::ValueType::Number,
        ValueType::Bool => proto::ValueType::Bool,
        ValueType::Enum => proto::ValueType::Enum,
        ValueType::Json => proto::ValueType::Json,
    }
}

pub(super) fn reasons(reasons: &[Reason]) -> Vec<i32> {
    reasons.iter().map(|each| reason(*each).into()).collect()
}

pub(super) fn reason(reason: Reason) -> proto::Reason {
    match reason {
        Reason::UnknownNomination => proto::Reason::UnknownNomination,
        Reason::OtherScope => proto::Reason::OtherScope,
        Reason::Deleted => proto::Reason::Deleted,
        Reason::Forgotten => proto::Reason::Forgotten,
        Reason::SourceRevoked => proto::Reason::SourceRevoked,
        Reason::ParentRejected => proto::Reason::ParentRejected,
        Reason::Quarantined => proto::Reason::Quarantined,
        Reason::Unconfirmed => proto::Reason::Unconfirmed,
        Reason::Superseded => proto::Reason::Superseded,
        Reason::StaleNomination => proto::Reason::StaleNomination,
        Reason::NotYetValid => proto::Reason::NotYetValid,
        Reason::Expired => proto::Reason::Expired,
        Reason::AheadOfClock => proto::Reason::AheadOfClock,
        Reason::UntrustedSource => proto::Reason::UntrustedSource,
        Reason::SourceKindUnknown => proto::Reason::SourceKindUnknown,
        Reason::KindUnknown => proto::Reason::KindUnknown,
        Reason::AttributeMissing => proto::Reason::AttributeMissing,
        Reason::PolicyError => proto::Reason::PolicyError,
        Reason::PurposeNotAllowed => proto::Reason::PurposeNotAllowed,
        Reason::ConsentMissing => proto::Reason::ConsentMissing,
        Reason::ConsentWithdrawn => proto::Reason::ConsentWithdrawn,
        Reason::SensitivityTooHigh => proto::Reason::SensitivityTooHigh,
        Reason::LowConfidence => proto::Reason::LowConfidence,
        Reason::EvidenceTooWeak => proto::Reason::EvidenceTooWeak,
        Reason::ConfirmationTooOld => proto::Reason::ConfirmationTooOld,
        Reason::InferenceNotAllowed => proto::Reason::InferenceNotAllowed,
        Reason::Shadowed => proto::Reason::Shadowed,
        Reason::NarrowerRejected => proto::Reason::NarrowerRejected,
        Reason::BudgetItems => proto::Reason::BudgetItems,
        Reason::BudgetCharacters => proto::Reason::BudgetCharacters,
        Reason::KeyNotAllowed => proto::Reason::KeyNotAllowed,
        Reason::ScopeNotAllowed => proto::Reason::ScopeNotAllowed,
        Reason::AudienceNotAllowed => proto::Reason::AudienceNotAllowed,
        Reason::ValueNotAllowed => proto::Reason::ValueNotAllowed,
        Reason::LineageMissing => proto::Reason::LineageMissing,
        Reason::LineageRejected => proto::Reason::LineageRejected,
        Reason::SecretDetected => proto::Reason::SecretDetected,
        Reason::InstructionLike => proto::Reason::InstructionLike,
        Reason::ObservationOlder => proto::Reason::ObservationOlder,
        Reason::AlreadyExpired => proto::Reason::AlreadyExpired,
        Reason::AlreadyDecided => proto::Reason::AlreadyDecided,
        Reason::ConflictsWithCurrent => proto::Reason::ConflictsWithCurrent,
        Reason::AddressDeleted => proto::Reason::AddressDeleted,
        Reason::PersonalDataMarked => proto::Reason::PersonalDataMarked,
        Reason::PersonalDataRedacted => proto::Reason::PersonalDataRedacted,
        Reason::LifeShortened => proto::Reason::LifeShortened,
        Reason::ConfidenceCapped => proto::Reason::ConfidenceCapped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i07_every_reason_and_outcome_goes_out_under_its_own_name() {
        for each in Reason::ALL {
            assert_eq!(reason(each).as_str_name(), format!("REASON_{}", each.name()));
        }
        for each in Outcome::ALL {
            assert_eq!(outcome(each).as_str_name(), format!("OUTCOME_{}", each.name()));
        }
    }

    #[test]
    fn every_reason_of_the_proto_is_one_that_the_gate_can_give() {
        let known = (0..=i32::from(u8::MAX)).filter_map(|number| proto::Reason::try_from(number).ok());
        assert_eq!(known.count(), Reason::ALL.len() + 1, "one more is REASON_UNSPECIFIED");
    }

    #[test]
    fn evidence_sensitivity_and_trust_go_out_under_their_own_names() {
        for each in Evidence::ALL {
            let name = format!("EVIDENCE_{}", each.name().to_uppercase());
            assert_eq!(evidence(each).as_str_name(), name);
        }
        for each in Sensitivity::ALL {
            let name = format!("SENSITIVITY_{}", each.name().to_uppercase());
            assert_eq!(sensitivity(each).as_str_name(), name);
        }
        for each in Trust::ALL {
            assert_eq!(trust(each).as_str_name(), format!("TRUST_{}", each.name().to_uppercase()));
        }
    }
}
