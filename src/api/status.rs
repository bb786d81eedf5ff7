//! Why a call failed, as gRPC says it: the one place that makes a status.
//!
//! Two audiences: the caller gets a short message and details, the log gets the causes. Neither gets text.

mod refusal;

use std::collections::HashMap;
use std::error::Error as StdError;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt};

pub use refusal::{Refusal, refused};

use super::proto::ErrorReason;
use crate::gate::{Error, FieldFault};
use crate::identity::AuthError;

/// The domain of every `google.rpc.ErrorInfo`.
pub const DOMAIN: &str = "recallgate";

const REASON_PREFIX: &str = "ERROR_REASON_";

/// Longest message and longest single echo, in bytes. The details repeat the message and travel in one header, as
/// base64; some clients hang above 8 KiB of headers.
const MAX_ECHO_BYTES: usize = 256;
const MAX_VIOLATIONS: usize = 32;
const MAX_VIOLATIONS_BYTES: usize = 3072;
/// What one violation takes beside its strings.
const VIOLATION_OVERHEAD_BYTES: usize = 8;
const MAX_LOGGED_CAUSE_BYTES: usize = 2048;

/// How long to wait before another attempt.
const STORE_RETRY_DELAY: Duration = Duration::from_secs(1);
const CONTENDED_RETRY_DELAY: Duration = Duration::from_millis(50);

/// The status of a failed call. Faults of the service and what lies below it are logged with their causes.
#[must_use]
pub fn of(error: &Error) -> Status {
    log(error);
    let mut details = ErrorDetails::new();
    let mut metadata = HashMap::new();
    let (code, reason) = match error {
        Error::Invalid(faults) => {
            details.set_bad_request(violations(faults));
            (Code::InvalidArgument, ErrorReason::FieldInvalid)
        }
        Error::PurposeUnknown => bad_field(&mut details, "purpose", error, ErrorReason::PurposeUnknown),
        Error::RequestIdReused => bad_field(&mut details, "request_id", error, ErrorReason::RequestIdReused),
        Error::PageTokenInvalid => bad_field(&mut details, "page_token", error, ErrorReason::PageTokenInvalid),
        Error::GrantMissing(grant) => denied(&mut metadata, grant, ErrorReason::GrantMissing),
        Error::EvidenceNotHeld(grant) => denied(&mut metadata, grant, ErrorReason::EvidenceNotHeld),
        Error::SourceKindNotHeld(grant) => denied(&mut metadata, grant, ErrorReason::SourceKindNotHeld),
        Error::ScopeNotHeld => (Code::PermissionDenied, ErrorReason::ScopeNotHeld),
        Error::SubjectNotHeld => (Code::PermissionDenied, ErrorReason::SubjectNotHeld),
        Error::NotFound => (Code::NotFound, ErrorReason::NotFound),
        Error::VersionConflict(current) => {
            metadata.insert("current_version".to_owned(), current.0.to_string());
            (Code::Aborted, ErrorReason::VersionConflict)
        }
        Error::JudgementContended => {
            details.set_retry_info(Some(CONTENDED_RETRY_DELAY));
            (Code::Aborted, ErrorReason::JudgementContended)
        }
        Error::MemoryDeleted => forbidden(&mut details, error, ErrorReason::MemoryDeleted),
        Error::MemoryNotDeleted => forbidden(&mut details, error, ErrorReason::MemoryNotDeleted),
        Error::MemoryForgotten => forbidden(&mut details, error, ErrorReason::MemoryForgotten),
        Error::MemoryExpired => forbidden(&mut details, error, ErrorReason::MemoryExpired),
        Error::AddressTaken => forbidden(&mut details, error, ErrorReason::AddressTaken),
        Error::SourceRevoked => forbidden(&mut details, error, ErrorReason::SourceRevoked),
        Error::StoreUnavailable(_) => {
            details.set_retry_info(Some(STORE_RETRY_DELAY));
            (Code::Unavailable, ErrorReason::StoreUnavailable)
        }
        Error::LedgerUnavailable(_) => {
            details.set_retry_info(Some(STORE_RETRY_DELAY));
            (Code::Unavailable, ErrorReason::LedgerUnavailable)
        }
        Error::OutOfTime => (Code::DeadlineExceeded, ErrorReason::DeadlineExceeded),
        Error::Internal(_) => (Code::Internal, ErrorReason::Internal),
    };
    details.set_error_info(reason_name(reason), DOMAIN, metadata);
    make(code, &error.to_string(), details)
}

/// The status of a call whose credential is missing, or could not be verified. It says no more than that.
#[must_use]
pub fn unauthenticated(error: AuthError) -> Status {
    let reason = match error {
        AuthError::Missing => ErrorReason::CredentialMissing,
        AuthError::Invalid => ErrorReason::CredentialInvalid,
    };
    let details = ErrorDetails::with_error_info(reason_name(reason), DOMAIN, HashMap::new());
    make(Code::Unauthenticated, &error.to_string(), details)
}

#[expect(clippy::disallowed_methods, reason = "the one home of statuses")]
fn make(code: Code, message: &str, details: ErrorDetails) -> Status {
    Status::with_error_details(code, bounded(message, MAX_ECHO_BYTES), details)
}

fn reason_name(reason: ErrorReason) -> &'static str {
    let name = reason.as_str_name();
    name.strip_prefix(REASON_PREFIX).unwrap_or(name)
}

fn bad_field(details: &mut ErrorDetails, field: &str, error: &Error, reason: ErrorReason) -> (Code, ErrorReason) {
    details.add_bad_request_violation(field, error.to_string());
    (Code::InvalidArgument, reason)
}

fn denied(metadata: &mut HashMap<String, String>, grant: &str, reason: ErrorReason) -> (Code, ErrorReason) {
    metadata.insert("grant".to_owned(), bounded(grant, MAX_ECHO_BYTES));
    (Code::PermissionDenied, reason)
}

fn forbidden(details: &mut ErrorDetails, error: &Error, reason: ErrorReason) -> (Code, ErrorReason) {
    details.add_precondition_failure_violation(reason_name(reason), "memory", error.to_string());
    (Code::FailedPrecondition, reason)
}

/// As many faults as fit, and how many did not.
fn violations(faults: &[FieldFault]) -> Vec<FieldViolation> {
    let most = if faults.len() > MAX_VIOLATIONS { MAX_VIOLATIONS - 1 } else { MAX_VIOLATIONS };
    let mut room = MAX_VIOLATIONS_BYTES;
    let mut violations = Vec::new();
    for fault in faults.iter().take(most) {
        let field = bounded(&fault.field, MAX_ECHO_BYTES);
        let description = bounded(&fault.description, MAX_ECHO_BYTES);
        let Some(left) = room.checked_sub(field.len() + description.len() + VIOLATION_OVERHEAD_BYTES) else { break };
        room = left;
        violations.push(FieldViolation::new(field, description));
    }
    let left_out = faults.len() - violations.len();
    if left_out > 0 {
        violations.push(FieldViolation::new("*", format!("{left_out} more bad fields")));
    }
    violations
}

/// At most so many bytes of it, with what cannot be printed escaped.
fn bounded(text: &str, max_bytes: usize) -> String {
    let mut bounded = String::with_capacity(text.len().min(max_bytes));
    for c in text.chars() {
        let start = bounded.len();
        if c == ' ' || c.is_ascii_graphic() {
            bounded.push(c);
        } else {
            bounded.extend(c.escape_debug());
        }
        if bounded.len() > max_bytes.saturating_sub(3) {
            bounded.truncate(start);
            bounded.push_str("...");
            break;
        }
    }
    bounded
}

fn log(error: &Error) {
    match error {
        Error::StoreUnavailable(cause) | Error::LedgerUnavailable(cause) => {
            tracing::error!(causes = %causes(cause), "{error}");
        }
        Error::Internal(cause) => tracing::error!(causes = %causes(cause.as_ref()), "{error}"),
        Error::Invalid(faults) => {
            let first = faults.first().map_or("", |fault| fault.field.as_str());
            tracing::info!(fault_count = faults.len(), first_field = %bounded(first, MAX_ECHO_BYTES), "malformed request");
        }
        Error::PurposeUnknown
        | Error::RequestIdReused
        | Error::PageTokenInvalid
        | Error::GrantMissing(_)
        | Error::ScopeNotHeld
        | Error::SubjectNotHeld
        | Error::EvidenceNotHeld(_)
        | Error::SourceKindNotHeld(_)
        | Error::NotFound
        | Error::VersionConflict(_)
        | Error::JudgementContended
        | Error::MemoryDeleted
        | Error::MemoryNotDeleted
        | Error::MemoryForgotten
        | Error::MemoryExpired
        | Error::AddressTaken
        | Error::SourceRevoked
        | Error::OutOfTime => tracing::debug!("{error}"),
    }
}

/// The error and everything below it, as one line.
fn causes(error: &(dyn StdError + 'static)) -> String {
    let mut lines = vec![error.to_string()];
    let mut below = error.source();
    while let Some(cause) = below {
        lines.push(cause.to_string());
        below = cause.source();
    }
    bounded(&lines.join(": "), MAX_LOGGED_CAUSE_BYTES)
}

#[cfg(test)]
mod tests {
    use tonic_types::StatusExt;

    use super::*;
    use crate::memory::Version;
    use crate::store;

    const CANARY: &str = "zq7canary";

    fn store_error() -> store::Error {
        store::Error::Unavailable(CANARY.into())
    }

    fn faults(count: usize, length: usize) -> Error {
        let fault = |index| FieldFault {
            field: format!("query.nominations[{index}].{}", "f".repeat(length)),
            description: "d".repeat(length),
        };
        Error::Invalid((0..count).map(fault).collect())
    }

    /// One of each, with the code and the reason that callers rely on.
    fn every_error() -> Vec<(Error, Code, ErrorReason)> {
        let grant = || "act_for:\u{202e}\n\u{1f600}".to_owned() + &"\u{1f600}".repeat(10_000);
        vec![
            (faults(1, 10), Code::InvalidArgument, ErrorReason::FieldInvalid),
            (faults(10_000, 60), Code::InvalidArgument, ErrorReason::FieldInvalid),
            (faults(10_000, 0), Code::InvalidArgument, ErrorReason::FieldInvalid),
            (faults(40, 100_000), Code::InvalidArgument, ErrorReason::FieldInvalid),
            (Error::PurposeUnknown, Code::InvalidArgument, ErrorReason::PurposeUnknown),
            (Error::RequestIdReused, Code::InvalidArgument, ErrorReason::RequestIdReused),
            (Error::PageTokenInvalid, Code::InvalidArgument, ErrorReason::PageTokenInvalid),
            (Error::GrantMissing(grant()), Code::PermissionDenied, ErrorReason::GrantMissing),
            (Error::ScopeNotHeld, Code::PermissionDenied, ErrorReason::ScopeNotHeld),
            (Error::SubjectNotHeld, Code::PermissionDenied, ErrorReason::SubjectNotHeld),
            (Error::EvidenceNotHeld(grant()), Code::PermissionDenied, ErrorReason::EvidenceNotHeld),
            (Error::SourceKindNotHeld(grant()), Code::PermissionDenied, ErrorReason::SourceKindNotHeld),
            (Error::NotFound, Code::NotFound, ErrorReason::NotFound),
            (Error::VersionConflict(Version(i64::MAX)), Code::Aborted, ErrorReason::VersionConflict),
            (Error::JudgementContended, Code::Aborted, ErrorReason::JudgementContended),
            (Error::MemoryDeleted, Code::FailedPrecondition, ErrorReason::MemoryDeleted),
            (Error::MemoryNotDeleted, Code::FailedPrecondition, ErrorReason::MemoryNotDeleted),
            (Error::MemoryForgotten, Code::FailedPrecondition, ErrorReason::MemoryForgotten),
            (Error::MemoryExpired, Code::FailedPrecondition, ErrorReason::MemoryExpired),
            (Error::AddressTaken, Code::FailedPrecondition, ErrorReason::AddressTaken),
            (Error::SourceRevoked, Code::FailedPrecondition, ErrorReason::SourceRevoked),
            (Error::StoreUnavailable(store_error()), Code::Unavailable, ErrorReason::StoreUnavailable),
            (Error::LedgerUnavailable(store_error()), Code::Unavailable, ErrorReason::LedgerUnavailable),
            (Error::OutOfTime, Code::DeadlineExceeded, ErrorReason::DeadlineExceeded),
            (Error::Internal(CANARY.into()), Code::Internal, ErrorReason::Internal),
        ]
    }

    #[test]
    fn every_error_has_its_code_and_exactly_one_reason() {
        for (error, code, reason) in every_error() {
            let status = of(&error);
            assert_eq!(status.code(), code, "{reason:?}");
            let details = status.check_error_details_vec().unwrap();
            let infos = details.iter().filter(|detail| matches!(detail, tonic_types::ErrorDetail::ErrorInfo(_)));
            assert_eq!(infos.count(), 1, "{reason:?}");
            let info = status.get_details_error_info().unwrap();
            assert_eq!((info.reason.as_str(), info.domain.as_str()), (reason_name(reason), "recallgate"));
        }
    }

    #[test]
    fn every_reason_of_the_proto_reads_back_from_its_name() {
        let reasons = (0..=i32::from(u8::MAX)).filter_map(|number| ErrorReason::try_from(number).ok());
        for reason in reasons {
            let name = reason_name(reason);
            assert!(!name.starts_with(REASON_PREFIX));
            assert_eq!(ErrorReason::from_str_name(&format!("{REASON_PREFIX}{name}")), Some(reason));
        }
    }

    #[test]
    fn b39_message_and_details_stay_below_four_kib_and_ascii_escapes_what_does_not_print() {
        for (error, _, reason) in every_error() {
            let status = of(&error);
            let size = status.message().len() + status.details().len();
            assert!(size < 4096, "{reason:?}: {size} bytes");
            assert!(!status.message().contains(['\n', '\u{202e}']), "{reason:?}");
        }
    }

    #[test]
    fn b39_what_is_left_out_is_counted() {
        for (count, length) in [(33, 0), (10_000, 0), (10_000, 60), (40, 100_000)] {
            let violations = of(&faults(count, length)).get_details_bad_request().unwrap().field_violations;
            assert!(violations.len() <= MAX_VIOLATIONS);
            let (last, named) = violations.split_last().unwrap();
            assert_eq!(last.field, "*");
            assert_eq!(last.description, format!("{} more bad fields", count - named.len()));
        }
        let violations = of(&faults(32, 0)).get_details_bad_request().unwrap().field_violations;
        assert!(violations.len() == 32 && violations.iter().all(|violation| violation.field != "*"));
    }

    #[test]
    fn causes_go_to_the_log_and_never_to_the_caller() {
        for (error, _, reason) in every_error() {
            assert!(!format!("{:?}", of(&error)).contains(CANARY), "{reason:?}");
        }
        let all = causes(&Error::StoreUnavailable(store_error()));
        assert_eq!(all, "the store is unavailable; try again: the store is unavailable: zq7canary");
    }

    #[test]
    fn details_say_what_to_do_next() {
        let conflict = of(&Error::VersionConflict(Version(4))).get_details_error_info().unwrap();
        assert_eq!(conflict.metadata["current_version"], "4");
        let denied = of(&Error::GrantMissing("purpose:act".to_owned())).get_details_error_info().unwrap();
        assert_eq!(denied.metadata["grant"], "purpose:act");
        let deleted = of(&Error::MemoryDeleted).get_details_precondition_failure().unwrap();
        assert_eq!(deleted.violations[0].r#type, "MEMORY_DELETED");
        for error in [Error::StoreUnavailable(store_error()), Error::LedgerUnavailable(store_error())] {
            assert_eq!(of(&error).get_details_retry_info().unwrap().retry_delay, Some(STORE_RETRY_DELAY));
        }
        let contended = of(&Error::JudgementContended).get_details_retry_info().unwrap();
        assert_eq!(contended.retry_delay, Some(CONTENDED_RETRY_DELAY));
        let token = of(&Error::PageTokenInvalid).get_details_bad_request().unwrap();
        assert_eq!(token.field_violations[0].field, "page_token");
    }

    #[test]
    fn a_missing_and_a_bad_credential_are_told_apart_and_nothing_more() {
        for (error, reason) in [(AuthError::Missing, "CREDENTIAL_MISSING"), (AuthError::Invalid, "CREDENTIAL_INVALID")]
        {
            let status = unauthenticated(error);
            assert_eq!(status.code(), Code::Unauthenticated);
            assert_eq!(status.get_details_error_info().unwrap().reason, reason);
        }
    }
}
