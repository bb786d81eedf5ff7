//! What callers may take of the service before anybody knows who they are.

use std::time::Duration;

use crate::config::{
    DEFAULT_IDLE_CONNECTION_SECONDS, DEFAULT_MAX_CALL_SECONDS, DEFAULT_MAX_CONCURRENT_CALLS,
    DEFAULT_MAX_CONNECTION_AGE_SECONDS, DEFAULT_MAX_CONNECTIONS,
};

/// Calls at once on one connection: no single connection may take more than a part of all places.
pub(super) const MAX_CALLS_PER_CONNECTION: u32 = 256;

/// Largest set of headers of a call: twice the longest credential.
pub(super) const MAX_HEADERS_BYTES: u32 = 16 * 1024;

/// Calls that a client has reset and the service has not looked at yet: as many as one connection may have open. Past
/// that the connection is closed.
pub(super) const MAX_RESET_CALLS: usize = MAX_CALLS_PER_CONNECTION as usize;

/// Faults of HTTP/2 that a connection may make before it is closed. They are counted over all its life, and what comes
/// of a request that was refused meanwhile is one, so that a small number would close good connections.
pub(super) const MAX_STREAM_FAULTS: usize = 4096;

/// Streams of health and reflection at once, which take no place among the calls and need no credential.
pub(super) const MAX_OPEN_STREAMS: usize = 1024;

/// A request is held in memory until it is whole. The first bytes of each have their room with its place among the calls.
pub(super) const SMALL_REQUEST_BYTES: usize = 64 * 1024;

/// What is longer shares so many bytes, on all connections together: who fills them keeps no small request away.
pub(super) const LARGE_REQUESTS_BYTES: usize = 64 * 1024 * 1024;

/// The limits of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest that a call may take, its request's way here included. A stream that only the service writes to is
    /// bound by its caller's deadline alone.
    pub max_call: Duration,
    /// Calls at once, on all connections together. Health and reflection do not count.
    pub max_concurrent_calls: usize,
    /// Connections at once; one more is closed as soon as it is accepted.
    pub max_connections: usize,
    /// How long the first bytes of a connection may take.
    pub preface: Duration,
    /// How old a connection becomes, a tenth more or less, before it takes no more calls; `None`: any age.
    pub max_connection_age: Option<Duration>,
    /// How long a connection may carry no call before it takes none any more; `None`: for ever.
    pub idle_connection: Option<Duration>,
    /// How long a connection that takes no more calls, and carries none, may be silent until it is closed.
    pub farewell: Duration,
    /// How long a request may send nothing before it is whole.
    pub stall: Duration,
    /// How long a connection may be silent until it is asked whether it is alive.
    pub keepalive: Duration,
    /// How long the answer to that may take.
    pub keepalive_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_call: Duration::from_secs(DEFAULT_MAX_CALL_SECONDS),
            max_concurrent_calls: DEFAULT_MAX_CONCURRENT_CALLS,
            max_connections: DEFAULT_MAX_CONNECTIONS,
            preface: Duration::from_secs(10),
            max_connection_age: Some(Duration::from_secs(DEFAULT_MAX_CONNECTION_AGE_SECONDS)),
            idle_connection: Some(Duration::from_secs(DEFAULT_IDLE_CONNECTION_SECONDS)),
            farewell: Duration::from_secs(1),
            stall: Duration::from_secs(10),
            keepalive: Duration::from_secs(30),
            keepalive_timeout: Duration::from_secs(10),
        }
    }
}
