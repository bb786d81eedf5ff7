//! Who may know whom, as data. A path covers everything below it.

/// One layer: a module at the crate's root.
pub(crate) struct Layer {
    /// Its name.
    pub(crate) name: &'static str,
    /// What of the other layers it may name.
    pub(crate) knows: &'static [&'static str],
    /// What of other crates it may name.
    pub(crate) crates: &'static [&'static str],
    /// What of `std` it may not name.
    pub(crate) no_std: &'static [&'static str],
}

/// Clocks, randomness and I/O. `Duration` is a plain value.
const IMPURE: &[&str] = &[
    "env",
    "fs",
    "hash::RandomState",
    "io",
    "net",
    "os",
    "process",
    "thread",
    "time::Instant",
    "time::SystemTime",
    "time::UNIX_EPOCH",
    "time::*",
];

/// Settings, sockets and how the process ends are the wiring's. Its id may stand in the name of a draft or a lock.
const OUTER: &[&str] = &["env", "net", "process::Command", "process::abort", "process::exit"];

/// The layers. A module that is not listed is a fault.
pub(crate) const LAYERS: &[Layer] = &[
    Layer {
        name: "memory",
        knows: &[],
        crates: &["smol_str", "thiserror", "unicode_normalization", "unicode_properties", "uuid"],
        no_std: IMPURE,
    },
    Layer { name: "wire", knows: &[], crates: &["prost"], no_std: IMPURE },
    Layer {
        name: "policy",
        knows: &["memory"],
        crates: &[
            "aws_lc_rs::digest",
            "foldhash",
            "indexmap",
            "regex",
            "regex_automata",
            "serde",
            "serde_json",
            "thiserror",
            "toml",
            "unicode_normalization",
            "unicode_properties",
            "unicode_segmentation",
        ],
        no_std: IMPURE,
    },
    Layer {
        name: "identity",
        knows: &["memory"],
        crates: &[
            "arc_swap",
            "aws_lc_rs",
            "http",
            "jsonwebtoken",
            "pem",
            "serde",
            "serde_json",
            "thiserror",
            "tracing",
            "uuid",
        ],
        no_std: OUTER,
    },
    Layer {
        name: "store",
        knows: &["memory", "wire"],
        crates: &[
            "async_trait",
            "aws_lc_rs",
            "foldhash",
            "lz4_flex",
            "moka",
            "prost",
            "rustix::fs::statvfs",
            "serde",
            "serde_json",
            "sqlx",
            "thiserror",
            "tokio",
            "tracing",
            "uuid",
            "zeroize",
        ],
        no_std: OUTER,
    },
    Layer {
        name: "gate",
        knows: &[
            "memory",
            "policy",
            "store",
            "identity::ActFor",
            "identity::Caller",
            "identity::CallerParts",
            "identity::Grants",
            "identity::Holding",
            "identity::Projects",
            "identity::Verb",
        ],
        crates: &["arc_swap", "async_trait", "serde", "serde_json", "thiserror", "tokio", "tracing", "uuid"],
        no_std: OUTER,
    },
    Layer {
        name: "api",
        // Of the policy the plain values alone, for GetPolicy to show.
        knows: &[
            "gate",
            "identity",
            "memory",
            "policy::Access",
            "policy::Activates",
            "policy::Class",
            "policy::Inference",
            "policy::Keys",
            "policy::Kind",
            "policy::LevelName",
            "policy::NarrowerRejected",
            "policy::Policy",
            "policy::Purpose",
            "policy::Risk",
            "policy::SourceRule",
            "policy::ValueRule",
            "policy::ValueType",
            "wire",
        ],
        crates: &[
            "async_trait",
            "base64",
            "http",
            "prost",
            "prost_types",
            "thiserror",
            "tokio",
            "tokio_stream",
            "tonic",
            "tonic_prost",
            "tonic_types",
            "tower",
            "tracing",
            "uuid",
        ],
        no_std: OUTER,
    },
    Layer {
        name: "config",
        knows: &["store::PostgresOptions", "telemetry"],
        crates: &["clap", "serde", "thiserror", "toml"],
        no_std: &[],
    },
    Layer {
        name: "telemetry",
        knows: &[],
        crates: &[
            "clap",
            "http",
            "opentelemetry",
            "opentelemetry_otlp",
            "opentelemetry_sdk",
            "serde",
            "thiserror",
            "tokio",
            "tonic::Code",
            "tonic::transport",
            "tracing",
            "tracing_opentelemetry",
            "tracing_subscriber",
        ],
        no_std: &[],
    },
    Layer {
        name: "server",
        knows: &["api", "config", "gate", "identity", "memory", "policy", "store", "telemetry"],
        crates: &[
            "arc_swap",
            "bytes",
            "http",
            "http_body",
            "http_body_util",
            "hyper",
            "hyper_util",
            "opentelemetry",
            "opentelemetry_sdk::propagation",
            "prost",
            "prost_types",
            "thiserror",
            "tokio",
            "tokio_stream",
            "tonic",
            "tonic_health",
            "tonic_reflection",
            "tonic_types::pb",
            "tower",
            "tracing",
            "tracing_opentelemetry",
            "uuid",
        ],
        no_std: &[],
    },
    Layer {
        name: "cli",
        knows: &["config", "gate", "identity", "memory", "policy", "server", "store", "telemetry"],
        crates: &[
            "aws_lc_rs",
            "clap",
            "http",
            "jsonwebtoken",
            "serde",
            "serde_json",
            "thiserror",
            "tokio",
            "tokio_stream",
            "toml",
            "tonic::transport",
            "tonic_health",
            "tower",
            "tracing",
            "uuid",
        ],
        no_std: &[],
    },
    Layer { name: "main", knows: &["cli"], crates: &["clap", "tikv_jemallocator", "tokio"], no_std: &[] },
    Layer { name: "lib", knows: &[], crates: &[], no_std: IMPURE },
];

/// What single files may name beyond their layer, and why.
pub(crate) const EXCEPTIONS: &[(&str, &[&str], &str)] = &[
    (
        "src/cli/demo/",
        &["api::proto", "prost_types", "serde", "tempfile", "tonic", "tonic_types"],
        "a client of the service",
    ),
    (
        "src/cli/bench/",
        &["api::proto", "bytes", "hdrhistogram", "indicatif", "prost", "rustix", "tempfile", "tonic"],
        "a client of the service, which measures it, and what it is compared with",
    ),
    ("src/cli/health.rs", &["api::proto", "tonic"], "a client of the service"),
    ("src/cli/ledger.rs", &["prost_types::Timestamp"], "writes instants as RFC 3339 has them"),
];

/// What is named only below these places, whatever a layer knows.
pub(crate) const HOMES: &[(&str, &[&str])] = &[
    // A concrete engine: behind the seam, and where the service is put together.
    ("crate::store::Sqlite", &["src/store/", "src/server", "src/cli", "src/config", "src/telemetry", "src/main.rs"]),
    ("crate::store::sqlite", &["src/store/"]),
    ("crate::store::Postgres", &["src/store/", "src/server", "src/cli", "src/config", "src/telemetry", "src/main.rs"]),
    ("crate::store::postgres", &["src/store/"]),
    // The public protobuf, and its generated code.
    ("crate::api::proto", &["src/api/", "src/server", "src/cli/bench/", "src/cli/demo/", "src/cli/health.rs"]),
    ("tonic::include_proto", &["src/api/"]),
    ("tonic::include_file_descriptor_set", &["src/api/"]),
    // The generated code of the stored messages.
    ("include!", &["src/api/", "src/store/"]),
];

/// What unit tests may name beside: the crates of `[dev-dependencies]`, and these.
pub(crate) const IN_TESTS: &[&str] = &["regex", "serde_json", "tempfile", "tokio", "toml", "uuid"];

/// Which layers the unit tests of a layer may name beside, to make what it is handed.
pub(crate) const TESTS_KNOW: &[(&str, &[&str])] = &[("api", &["policy", "store"])];

/// Where a file grows past this, look for the second idea.
pub(crate) const MAX_LINES: usize = 400;

/// The files that are longer, and why.
pub(crate) const LONG: &[(&str, &str)] =
    &[("src/policy/document/tests.rs", "one table of faults, a row for each that an operator can make")];
