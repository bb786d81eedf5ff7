//! How the layers around the handlers refuse a call.

use std::collections::HashMap;
use std::time::Duration;

use prost::DecodeError;
use tonic::{Code, Status};
use tonic_types::ErrorDetails;

use super::{DOMAIN, MAX_ECHO_BYTES, bounded, make, reason_name};
use crate::api::MAX_REQUEST_BYTES;
use crate::api::proto::ErrorReason;

/// How long to wait before another attempt where too many calls were made at once.
const BUSY_RETRY_DELAY: Duration = Duration::from_millis(250);

/// What bad requests name where the fault is in no single field.
const WHOLE: &str = "request";

/// Why a call did not reach its handler, or was not waited for.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// `grpc-timeout` is not as gRPC writes it.
    #[error("`grpc-timeout` must be one to eight digits and one of H, M, S, m, u, n, and be sent once")]
    TimeoutHeader,
    /// The caller's deadline, or the longest that a call may take, has passed.
    #[error("out of time; a change may have taken effect: send it again with the same request id")]
    OutOfTime,
    /// Nothing of the request has come for too long.
    #[error("the request did not arrive in time")]
    Stalled,
    /// Too many calls at once.
    #[error("too many calls at once; try again")]
    Busy,
    /// A message over the limit, as sent or after decompression.
    #[error("a message may be {MAX_REQUEST_BYTES} bytes long")]
    TooLarge,
    /// The request is not the messages that its method takes.
    #[error("malformed request: {0}")]
    Framing(&'static str),
    /// The bytes are no message of the method. The cause names fields and types, never what they hold.
    #[error("malformed request: {0}")]
    NoMessage(DecodeError),
    /// There is no such method.
    #[error("no such method")]
    MethodUnknown,
    /// The request is compressed in a way that is not taken.
    #[error("requests are taken uncompressed or with gzip")]
    CompressionUnknown,
}

/// The status of a call that is refused.
#[must_use]
pub fn refused(refusal: &Refusal) -> Status {
    tracing::debug!("{}", bounded(&refusal.to_string(), MAX_ECHO_BYTES));
    let mut details = ErrorDetails::new();
    let (code, reason) = match refusal {
        Refusal::TimeoutHeader => bad(&mut details, "grpc-timeout", refusal),
        Refusal::Framing(_) | Refusal::NoMessage(_) => bad(&mut details, WHOLE, refusal),
        Refusal::OutOfTime | Refusal::Stalled => (Code::DeadlineExceeded, ErrorReason::DeadlineExceeded),
        Refusal::Busy => {
            details.set_retry_info(Some(BUSY_RETRY_DELAY));
            (Code::ResourceExhausted, ErrorReason::RateLimited)
        }
        Refusal::TooLarge => (Code::ResourceExhausted, ErrorReason::TooLarge),
        Refusal::MethodUnknown | Refusal::CompressionUnknown => (Code::Unimplemented, ErrorReason::Unimplemented),
    };
    details.set_error_info(reason_name(reason), DOMAIN, HashMap::new());
    make(code, &refusal.to_string(), details)
}

fn bad(details: &mut ErrorDetails, field: &str, refusal: &Refusal) -> (Code, ErrorReason) {
    details.add_bad_request_violation(field, bounded(&refusal.to_string(), MAX_ECHO_BYTES));
    (Code::InvalidArgument, ErrorReason::FieldInvalid)
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use tonic_types::StatusExt;

    use super::*;
    use crate::api::proto::CaptureRequest;

    #[test]
    fn every_refusal_has_its_code_one_reason_and_a_bounded_size() {
        let no_message = CaptureRequest::decode(&b"\xff\xff\xff"[..]).unwrap_err();
        for (refusal, code, reason) in [
            (Refusal::TimeoutHeader, Code::InvalidArgument, "FIELD_INVALID"),
            (Refusal::OutOfTime, Code::DeadlineExceeded, "DEADLINE_EXCEEDED"),
            (Refusal::Stalled, Code::DeadlineExceeded, "DEADLINE_EXCEEDED"),
            (Refusal::Busy, Code::ResourceExhausted, "RATE_LIMITED"),
            (Refusal::TooLarge, Code::ResourceExhausted, "TOO_LARGE"),
            (Refusal::Framing("x"), Code::InvalidArgument, "FIELD_INVALID"),
            (Refusal::NoMessage(no_message), Code::InvalidArgument, "FIELD_INVALID"),
            (Refusal::MethodUnknown, Code::Unimplemented, "UNIMPLEMENTED"),
            (Refusal::CompressionUnknown, Code::Unimplemented, "UNIMPLEMENTED"),
        ] {
            let status = refused(&refusal);
            let details = status.check_error_details_vec().unwrap();
            let infos = details.iter().filter(|detail| matches!(detail, tonic_types::ErrorDetail::ErrorInfo(_)));
            let info = status.get_details_error_info().unwrap();
            assert_eq!((status.code(), infos.count()), (code, 1), "{refusal:?}");
            assert_eq!((info.reason.as_str(), info.domain.as_str()), (reason, DOMAIN), "{refusal:?}");
            assert!(status.message().len() + status.details().len() < 4096, "{refusal:?}");
            let named = status.get_details_bad_request().map_or(0, |request| request.field_violations.len());
            assert_eq!(named, usize::from(code == Code::InvalidArgument), "{refusal:?}");
        }
        let busy = refused(&Refusal::Busy).get_details_retry_info().unwrap();
        assert_eq!(busy.retry_delay, Some(BUSY_RETRY_DELAY));
    }

    #[test]
    fn b40_a_request_that_cannot_be_decoded_names_the_field_and_not_what_it_holds() {
        let bytes = b"\x1a\x0czq7canary\xff\xfe\xfd";
        let status = refused(&Refusal::NoMessage(CaptureRequest::decode(&bytes[..]).unwrap_err()));
        assert!(!format!("{status:?}").contains("canary"), "{status:?}");
        assert!(status.message().contains("CaptureRequest"), "{status:?}");
    }
}
