//! What one place says about the settings: the command line with the environment, or the file.

use clap::Args;
use serde::Deserialize;

use crate::telemetry::Format;

/// Settings as written; what is unset is for a later layer. Each field is a flag, a variable of the environment, and a
/// key of the settings file by the field's name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Layer {
    /// Address to listen on: an IP address and a port; port 0 takes any that is free. Without identity keys it must
    /// be a loopback address [default: 127.0.0.1:7437]
    #[arg(long, value_name = "ADDRESS", env = "RECALL_GATE_LISTEN")]
    pub listen: Option<String>,

    /// Database file, made where there is none; or a PostgreSQL database, which any number of services share, as
    /// `postgres://host:port/database` [default: recall-gate.db]
    #[arg(long, value_name = "FILE|URL", env = "RECALL_GATE_DATABASE", hide_env_values = true)]
    pub database: Option<String>,

    /// File of the digest key: 32 random bytes, the same for every service on one database. Required with PostgreSQL;
    /// beside a database file the service makes its own
    #[arg(long, value_name = "FILE", env = "RECALL_GATE_DIGEST_KEY", help_heading = "PostgreSQL")]
    pub digest_key: Option<String>,

    /// Where the role that appends decisions logs in [default: the address of `database`, as `recall_gate_ledger`]
    #[arg(
        long,
        value_name = "URL",
        env = "RECALL_GATE_LEDGER_DATABASE",
        hide_env_values = true,
        help_heading = "PostgreSQL"
    )]
    pub ledger_database: Option<String>,

    /// Where the role that numbers the feed logs in [default: the address of `database`, as `recall_gate_feeder`]
    #[arg(
        long,
        value_name = "URL",
        env = "RECALL_GATE_FEEDER_DATABASE",
        hide_env_values = true,
        help_heading = "PostgreSQL"
    )]
    pub feeder_database: Option<String>,

    /// Where the role that removes what is over logs in [default: the address of `database`, as `recall_gate_worker`]
    #[arg(
        long,
        value_name = "URL",
        env = "RECALL_GATE_WORKER_DATABASE",
        hide_env_values = true,
        help_heading = "PostgreSQL"
    )]
    pub worker_database: Option<String>,

    /// Connections that read for recalls, and as many again for all other calls, 1 to 1000; six more serve the other
    /// roles [default: 16]
    #[arg(long, value_name = "NUMBER", env = "RECALL_GATE_DATABASE_CONNECTIONS", help_heading = "PostgreSQL")]
    pub database_connections: Option<u64>,

    /// A pooler in transaction mode lies before the database, such as PgBouncer: no prepared statement outlives its
    /// transaction. Costs a round trip for each
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        default_missing_value = "true",
        env = "RECALL_GATE_TRANSACTION_POOLER",
        help_heading = "PostgreSQL"
    )]
    pub transaction_pooler: Option<bool>,

    /// Policy file, read again at SIGHUP; without one the policy that is compiled in is in force
    /// (`recall-gate policy show`)
    #[arg(long, value_name = "FILE", env = "RECALL_GATE_POLICY")]
    pub policy: Option<String>,

    /// Issuer that credentials must name (`iss`). Required with identity keys
    #[arg(long, value_name = "NAME", env = "RECALL_GATE_ISSUER", help_heading = "Identity")]
    pub issuer: Option<String>,

    /// Audience that credentials must name (`aud`). Required with identity keys
    #[arg(long, value_name = "NAME", env = "RECALL_GATE_AUDIENCE", help_heading = "Identity")]
    pub audience: Option<String>,

    /// Ed25519 public key of the issuer: its `kid`, and its PEM file. May be given several times, for rotation (in
    /// the environment with commas between; in the settings file as the list `keys`). Without any, everybody is the development identity, and only a loopback
    /// address is listened on
    #[arg(
        long = "key",
        value_name = "KID=FILE",
        env = "RECALL_GATE_KEYS",
        value_delimiter = ',',
        help_heading = "Identity"
    )]
    pub keys: Option<Vec<String>>,

    /// Seconds that calls in flight may take after a stop, 0 to 3600 [default: 10]
    #[arg(long, value_name = "SECONDS", env = "RECALL_GATE_DRAIN_SECONDS")]
    pub drain_seconds: Option<u64>,

    /// Days that decisions are kept, 1 to 36500; older ones are removed while the service runs
    /// [default: they are kept for ever]
    #[arg(long, value_name = "DAYS", env = "RECALL_GATE_DECISION_RETENTION_DAYS", help_heading = "Disk")]
    pub decision_retention_days: Option<u64>,

    /// Free bytes where the database lies, below which an alarm is logged; 0 for none [default: 268435456, 256 MiB]
    #[arg(long, value_name = "BYTES", env = "RECALL_GATE_MIN_FREE_BYTES", help_heading = "Disk")]
    pub min_free_bytes: Option<u64>,

    /// Longest time in seconds that a call may take, its request's way here included, 1 to 3600; a caller's own
    /// deadline counts where it is earlier. Streams that only the service writes to are not bound by it [default: 60]
    #[arg(long, value_name = "SECONDS", env = "RECALL_GATE_MAX_CALL_SECONDS", help_heading = "Limits")]
    pub max_call_seconds: Option<u64>,

    /// Calls at once on all connections together, 1 to 65536; one more is refused with `RESOURCE_EXHAUSTED`. Health
    /// and reflection do not count [default: 1024]
    #[arg(long, value_name = "NUMBER", env = "RECALL_GATE_MAX_CONCURRENT_CALLS", help_heading = "Limits")]
    pub max_concurrent_calls: Option<u64>,

    /// Connections at once, 1 to 65536; one more is closed as soon as it is accepted. Each takes a file descriptor
    /// [default: 1024]
    #[arg(long, value_name = "NUMBER", env = "RECALL_GATE_MAX_CONNECTIONS", help_heading = "Limits")]
    pub max_connections: Option<u64>,

    /// Seconds after which a connection is told to go, a tenth more or less, 0 to 604800; 0 for never. It takes no more
    /// calls, and those in flight have the time that a stop gives them. So a load balancer spreads connections anew
    /// [default: 3600]
    #[arg(long, value_name = "SECONDS", env = "RECALL_GATE_MAX_CONNECTION_AGE_SECONDS", help_heading = "Limits")]
    pub max_connection_age_seconds: Option<u64>,

    /// Seconds that a connection may carry no call before it is told to go, 0 to 604800; 0 for ever [default: 300]
    #[arg(long, value_name = "SECONDS", env = "RECALL_GATE_IDLE_CONNECTION_SECONDS", help_heading = "Limits")]
    pub idle_connection_seconds: Option<u64>,

    /// Memory in MiB that contexts may take which are kept to be judged again, 0 to 65536; with 0 every recall reads
    /// the database [default: 48]
    #[arg(long, value_name = "MIB", env = "RECALL_GATE_CONTEXT_CACHE_MIB", help_heading = "Limits")]
    pub context_cache_mib: Option<u64>,

    /// OpenTelemetry collector that spans are sent to, over OTLP's gRPC without TLS, as in `http://127.0.0.1:4317`. No
    /// span holds memory text, keys, tenants or subjects [default: no spans are sent]
    #[arg(long, value_name = "URL", env = "RECALL_GATE_OTLP_ENDPOINT", help_heading = "Traces")]
    pub otlp_endpoint: Option<String>,

    /// How a line of the log looks [default: text]
    #[arg(long, value_enum, env = "RECALL_GATE_LOG_FORMAT", help_heading = "Logs")]
    pub log_format: Option<Format>,

    /// What is logged, to standard error: a level, or levels by module, as in `info,recall_gate=debug`
    /// [default: info]
    #[arg(long, value_name = "FILTER", env = "RECALL_GATE_LOG_FILTER", help_heading = "Logs")]
    pub log_filter: Option<String>,
}

impl Layer {
    /// This layer, with what it does not set taken from the one below.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        Self {
            listen: self.listen.or(below.listen),
            database: self.database.or(below.database),
            digest_key: self.digest_key.or(below.digest_key),
            ledger_database: self.ledger_database.or(below.ledger_database),
            feeder_database: self.feeder_database.or(below.feeder_database),
            worker_database: self.worker_database.or(below.worker_database),
            database_connections: self.database_connections.or(below.database_connections),
            transaction_pooler: self.transaction_pooler.or(below.transaction_pooler),
            policy: self.policy.or(below.policy),
            issuer: self.issuer.or(below.issuer),
            audience: self.audience.or(below.audience),
            keys: self.keys.or(below.keys),
            drain_seconds: self.drain_seconds.or(below.drain_seconds),
            decision_retention_days: self.decision_retention_days.or(below.decision_retention_days),
            min_free_bytes: self.min_free_bytes.or(below.min_free_bytes),
            max_call_seconds: self.max_call_seconds.or(below.max_call_seconds),
            max_concurrent_calls: self.max_concurrent_calls.or(below.max_concurrent_calls),
            max_connections: self.max_connections.or(below.max_connections),
            max_connection_age_seconds: self.max_connection_age_seconds.or(below.max_connection_age_seconds),
            idle_connection_seconds: self.idle_connection_seconds.or(below.idle_connection_seconds),
            context_cache_mib: self.context_cache_mib.or(below.context_cache_mib),
            otlp_endpoint: self.otlp_endpoint.or(below.otlp_endpoint),
            log_format: self.log_format.or(below.log_format),
            log_filter: self.log_filter.or(below.log_filter),
        }
    }
}
