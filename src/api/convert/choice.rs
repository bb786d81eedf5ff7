//! Enums: an unknown number is refused everywhere, the unspecified one where a choice is required.

use super::faults::{Checked, Faults, Path};
use super::field::REQUIRED;
use crate::api::proto;
use crate::memory::{Audience, Evidence, Sensitivity};

/// A number that the enum knows.
pub(super) fn known<E: TryFrom<i32>>(faults: &mut Faults, path: Path<'_>, number: i32) -> Checked<E> {
    E::try_from(number).map_err(|_| faults.add(path, "is not a value of its enum"))
}

/// Whose memory it is; unspecified: the subject's own.
pub(super) fn audience(faults: &mut Faults, path: Path<'_>, number: i32) -> Checked<Audience> {
    Ok(match known(faults, path, number)? {
        proto::Audience::Unspecified | proto::Audience::Personal => Audience::Personal,
        proto::Audience::Shared => Audience::Shared,
    })
}

/// How harmful; unspecified: the kind's default, or as it was.
pub(super) fn sensitivity(faults: &mut Faults, number: i32) -> Checked<Option<Sensitivity>> {
    Ok(match known(faults, Path::of("sensitivity"), number)? {
        proto::Sensitivity::Unspecified => None,
        proto::Sensitivity::Public => Some(Sensitivity::Public),
        proto::Sensitivity::Internal => Some(Sensitivity::Internal),
        proto::Sensitivity::Personal => Some(Sensitivity::Personal),
        proto::Sensitivity::Restricted => Some(Sensitivity::Restricted),
    })
}

/// Who vouches; unspecified: nobody.
pub(super) fn evidence(faults: &mut Faults, number: i32) -> Checked<Evidence> {
    Ok(match known(faults, Path::of("evidence"), number)? {
        proto::Evidence::Unspecified | proto::Evidence::None => Evidence::None,
        proto::Evidence::UserConfirmed => Evidence::UserConfirmed,
        proto::Evidence::TaskVerified => Evidence::TaskVerified,
        proto::Evidence::OperatorVerified => Evidence::OperatorVerified,
    })
}

/// Who vouches, where somebody has to.
pub(super) fn required_evidence(faults: &mut Faults, number: i32) -> Checked<Evidence> {
    match evidence(faults, number)? {
        Evidence::None => Err(faults.add(Path::of("evidence"), REQUIRED)),
        stated @ (Evidence::UserConfirmed | Evidence::TaskVerified | Evidence::OperatorVerified) => Ok(stated),
    }
}

/// Who decided on a deletion: the subject or an operator.
pub(super) fn deciding_evidence(faults: &mut Faults, number: i32) -> Checked<Evidence> {
    match required_evidence(faults, number)? {
        Evidence::None | Evidence::TaskVerified => {
            Err(faults.add(Path::of("evidence"), "must be USER_CONFIRMED or OPERATOR_VERIFIED"))
        }
        stated @ (Evidence::UserConfirmed | Evidence::OperatorVerified) => Ok(stated),
    }
}
