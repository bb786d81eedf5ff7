//! Names of OpenTelemetry's conventions, here alone: some are still to change.

use tonic::Code;

/// Which system of remote calls: [`GRPC`].
pub const RPC_SYSTEM: &str = "rpc.system.name";
/// The value of [`RPC_SYSTEM`].
pub const GRPC: &str = "grpc";
/// `package.Service/Method`.
pub const RPC_METHOD: &str = "rpc.method";
/// The value of [`RPC_METHOD`] where the service has no such method: what a client made up is not repeated.
pub const OTHER_METHOD: &str = "_OTHER";
/// The name of the status code.
pub const RPC_STATUS: &str = "rpc.response.status_code";
/// The span's name for `tracing-opentelemetry`.
pub const SPAN_NAME: &str = "otel.name";
/// The span's kind for `tracing-opentelemetry`.
pub const SPAN_KIND: &str = "otel.kind";
/// The span's status for `tracing-opentelemetry`.
pub const SPAN_STATUS: &str = "otel.status_code";
/// The trace's id, so that a line of the log leads to its trace.
pub const TRACE_ID: &str = "trace_id";

/// The name of a status code on the wire.
#[must_use]
pub const fn status(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

/// Whether the code is the server's failure, as the conventions have it for server spans.
#[must_use]
pub const fn is_server_error(code: Code) -> bool {
    matches!(
        code,
        Code::Unknown
            | Code::DeadlineExceeded
            | Code::Unimplemented
            | Code::Internal
            | Code::Unavailable
            | Code::DataLoss
    )
}
