//! Settings: by flag, by environment, by file, in that order.
//!
//! The one place that reads the environment.

mod database;
mod file;
mod layer;
mod validate;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use database::Database;
pub use file::PREFIX;
pub use layer::Layer;

use crate::telemetry::{Endpoint, Logs};

/// Address to listen on where none is set.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:7437";
/// Database where none is set.
pub const DEFAULT_DATABASE: &str = "recall-gate.db";
/// Time for calls in flight after a stop, where none is set.
pub const DEFAULT_DRAIN_SECONDS: u64 = 10;
/// Free bytes below which an alarm is logged, where none are set.
pub const DEFAULT_MIN_FREE_BYTES: u64 = 256 << 20;
/// The longest that a call may take, where none is set.
pub const DEFAULT_MAX_CALL_SECONDS: u64 = 60;
/// Calls at once, where none is set.
pub const DEFAULT_MAX_CONCURRENT_CALLS: usize = 1024;
/// Connections at once, where none is set.
pub const DEFAULT_MAX_CONNECTIONS: usize = 1024;

/// How old a connection becomes, where it is not set.
pub const DEFAULT_MAX_CONNECTION_AGE_SECONDS: u64 = 3600;
/// How long a connection may carry no call, where it is not set.
pub const DEFAULT_IDLE_CONNECTION_SECONDS: u64 = 300;

/// Memory in MiB that kept contexts may take, where none is set.
pub const DEFAULT_CONTEXT_CACHE_MIB: u64 = 48;

/// Who may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// Who has no credential is the development identity. On a loopback address alone.
    Development,
    /// Who has a token of this issuer.
    Tokens {
        /// The issuer that tokens must name.
        issuer: String,
        /// The audience that tokens must name.
        audience: String,
        /// The file of each public key, by `kid`.
        keys: Vec<(String, PathBuf)>,
    },
}

/// The settings in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Where memories are kept.
    pub database: Database,
    /// The policy file; `None`: the policy that is compiled in.
    pub policy: Option<PathBuf>,
    /// Where spans are sent; `None`: nowhere.
    pub otlp_endpoint: Option<Endpoint>,
    /// What is logged, and how.
    pub logs: Logs,
    /// Who may call.
    pub identity: Identity,
    /// How long calls in flight may take after a stop.
    pub drain: Duration,
    /// How long decisions are kept; `None`: for ever.
    pub decision_retention: Option<Duration>,
    /// Free bytes below which an alarm is logged; 0: never.
    pub min_free_bytes: u64,
    /// The longest that a call may take.
    pub max_call: Duration,
    /// Calls at once.
    pub max_concurrent_calls: usize,
    /// Connections at once.
    pub max_connections: usize,
    /// How old a connection becomes; `None`: any age.
    pub max_connection_age: Option<Duration>,
    /// How long a connection may carry no call; `None`: for ever.
    pub idle_connection: Option<Duration>,
    /// What contexts kept in memory may take, in bytes; 0: none is kept.
    pub context_cache_bytes: u64,
}

/// Everything that is wrong with the settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct Faults(pub Vec<String>);

impl Settings {
    /// The settings for these flags, which hold what the environment says already, over those of the file, over the
    /// defaults.
    ///
    /// # Errors
    /// Every fault: of the environment, of the file, of each setting, and of settings that do not go together.
    pub fn load(flags: Layer, config: Option<&Path>) -> Result<Self, Faults> {
        let mut faults = file::unknown_variables(file::environment());
        let layer = match config.map(file::read).transpose() {
            Ok(file) => flags.over(file.unwrap_or_default()),
            Err(found) => {
                faults.extend(found);
                flags
            }
        };
        let settings = layer.settings().map_err(|found| faults.extend(found));
        match settings {
            Ok(settings) if faults.is_empty() => Ok(settings),
            _ => Err(Faults(faults)),
        }
    }
}
