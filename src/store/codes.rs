//! The codes that columns hold for enums, in one place. A code is never given a second meaning.

use super::BlockCause;
use crate::memory::{Consent, Evidence, PurposeName, Sensitivity, State, Trust};

const ACTIVE: i64 = 1;
const DELETED: i64 = 2;
const QUARANTINED: i64 = 3;
const FORGOTTEN: i64 = 4;

const UNTRUSTED: i64 = 1;
const UNVERIFIED: i64 = 2;
const ATTRIBUTED: i64 = 3;
const VERIFIED: i64 = 4;

const NO_EVIDENCE: i64 = 1;
const USER_CONFIRMED: i64 = 2;
const TASK_VERIFIED: i64 = 3;
const OPERATOR_VERIFIED: i64 = 4;

const PUBLIC: i64 = 1;
const INTERNAL: i64 = 2;
const PERSONAL: i64 = 3;
const RESTRICTED: i64 = 4;

const UNSET: i64 = 1;
const GRANTED: i64 = 2;
const WITHDRAWN: i64 = 3;
const NOT_APPLICABLE: i64 = 4;

const BLOCKED_DELETED: i64 = 1;
const BLOCKED_FORGOTTEN: i64 = 2;
const BLOCKED_REVOKED: i64 = 3;

/// A lineage row names a version's own source.
pub(super) const RELATION_SOURCE: i64 = 1;
/// A lineage row names a parent memory.
pub(super) const RELATION_PARENT: i64 = 2;
/// A lineage row names a source among the parents.
pub(super) const RELATION_PARENT_REFERENCE: i64 = 3;

pub(super) const fn of_state(state: State) -> i64 {
    match state {
        State::Active => ACTIVE,
        State::Deleted => DELETED,
        State::Quarantined => QUARANTINED,
        State::Forgotten => FORGOTTEN,
    }
}

pub(super) const fn state(code: i64) -> Option<State> {
    match code {
        ACTIVE => Some(State::Active),
        DELETED => Some(State::Deleted),
        QUARANTINED => Some(State::Quarantined),
        FORGOTTEN => Some(State::Forgotten),
        _ => None,
    }
}

pub(super) const fn of_trust(trust: Trust) -> i64 {
    match trust {
        Trust::Untrusted => UNTRUSTED,
        Trust::Unverified => UNVERIFIED,
        Trust::Attributed => ATTRIBUTED,
        Trust::Verified => VERIFIED,
    }
}

pub(super) const fn trust(code: i64) -> Option<Trust> {
    match code {
        UNTRUSTED => Some(Trust::Untrusted),
        UNVERIFIED => Some(Trust::Unverified),
        ATTRIBUTED => Some(Trust::Attributed),
        VERIFIED => Some(Trust::Verified),
        _ => None,
    }
}

pub(super) const fn of_evidence(evidence: Evidence) -> i64 {
    match evidence {
        Evidence::None => NO_EVIDENCE,
        Evidence::UserConfirmed => USER_CONFIRMED,
        Evidence::TaskVerified => TASK_VERIFIED,
        Evidence::OperatorVerified => OPERATOR_VERIFIED,
    }
}

pub(super) const fn evidence(code: i64) -> Option<Evidence> {
    match code {
        NO_EVIDENCE => Some(Evidence::None),
        USER_CONFIRMED => Some(Evidence::UserConfirmed),
        TASK_VERIFIED => Some(Evidence::TaskVerified),
        OPERATOR_VERIFIED => Some(Evidence::OperatorVerified),
        _ => None,
    }
}

pub(super) const fn of_sensitivity(sensitivity: Sensitivity) -> i64 {
    match sensitivity {
        Sensitivity::Public => PUBLIC,
        Sensitivity::Internal => INTERNAL,
        Sensitivity::Personal => PERSONAL,
        Sensitivity::Restricted => RESTRICTED,
    }
}

pub(super) const fn sensitivity(code: i64) -> Option<Sensitivity> {
    match code {
        PUBLIC => Some(Sensitivity::Public),
        INTERNAL => Some(Sensitivity::Internal),
        PERSONAL => Some(Sensitivity::Personal),
        RESTRICTED => Some(Sensitivity::Restricted),
        _ => None,
    }
}

pub(super) const fn of_consent(consent: &Consent) -> i64 {
    match consent {
        Consent::Unset => UNSET,
        Consent::Granted(_) => GRANTED,
        Consent::Withdrawn => WITHDRAWN,
        Consent::NotApplicable => NOT_APPLICABLE,
    }
}

pub(super) fn consent(code: i64, purposes: Vec<PurposeName>) -> Option<Consent> {
    match code {
        UNSET => Some(Consent::Unset),
        GRANTED => Some(Consent::Granted(purposes)),
        WITHDRAWN => Some(Consent::Withdrawn),
        NOT_APPLICABLE => Some(Consent::NotApplicable),
        _ => None,
    }
}

pub(super) const fn of_cause(cause: BlockCause) -> i64 {
    match cause {
        BlockCause::Deleted => BLOCKED_DELETED,
        BlockCause::Forgotten => BLOCKED_FORGOTTEN,
        BlockCause::Revoked => BLOCKED_REVOKED,
    }
}

/// An unknown cause blocks for good: it is read as a revocation, which nothing but the subject's word lifts.
pub(super) const fn cause(code: i64) -> BlockCause {
    match code {
        BLOCKED_DELETED => BlockCause::Deleted,
        BLOCKED_FORGOTTEN => BlockCause::Forgotten,
        _ => BlockCause::Revoked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_comes_back_as_what_it_was() {
        for value in [State::Active, State::Deleted, State::Quarantined, State::Forgotten] {
            assert_eq!(state(of_state(value)), Some(value));
        }
        for value in Trust::ALL {
            assert_eq!(trust(of_trust(value)), Some(value));
        }
        for value in Evidence::ALL {
            assert_eq!(evidence(of_evidence(value)), Some(value));
        }
        for value in Sensitivity::ALL {
            assert_eq!(sensitivity(of_sensitivity(value)), Some(value));
        }
        for value in [Consent::Unset, Consent::Granted(Vec::new()), Consent::Withdrawn, Consent::NotApplicable] {
            assert_eq!(consent(of_consent(&value), Vec::new()), Some(value));
        }
        for value in [BlockCause::Deleted, BlockCause::Forgotten, BlockCause::Revoked] {
            assert_eq!(cause(of_cause(value)), value);
        }
    }

    #[test]
    fn i08_an_unknown_code_is_nothing_and_an_unknown_cause_blocks_hardest() {
        for code in [i64::MIN, -1, 0, 5, i64::MAX] {
            assert_eq!(state(code), None);
            assert_eq!(trust(code), None);
            assert_eq!(evidence(code), None);
            assert_eq!(sensitivity(code), None);
            assert_eq!(consent(code, Vec::new()), None);
            assert_eq!(cause(code), BlockCause::Revoked);
        }
    }
}
