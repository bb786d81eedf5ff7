//! The PostgreSQL engine: so far the migrations and the shared queries, so that they stay true for both engines.

use sqlx::migrate::Migrator;

/// The engine that `queries` is compiled for.
type Db = sqlx::Postgres;

/// A bound JSON array as a set of texts.
macro_rules! texts {
    ($parameter:literal) => {
        concat!("(SELECT jsonb_array_elements_text(CAST(", $parameter, " AS jsonb)))")
    };
}
/// A bound JSON array of hexadecimal as a table of ids.
macro_rules! uuids {
    ($parameter:literal) => {
        concat!("(SELECT CAST(jsonb_array_elements_text(CAST(", $parameter, " AS jsonb)) AS uuid) AS id)")
    };
}
/// A bound JSON array of hexadecimal as a set of digests.
macro_rules! digests {
    ($parameter:literal) => {
        concat!("(SELECT decode(jsonb_array_elements_text(CAST(", $parameter, " AS jsonb)), 'hex'))")
    };
}
/// Whether a text has another in it, byte for byte.
macro_rules! contains {
    ($text:literal, $parameter:literal) => {
        concat!("strpos(", $text, ", ", $parameter, ") > 0")
    };
}

#[expect(clippy::duplicate_mod, reason = "one SQL source, compiled once for each engine")]
#[path = "queries/mod.rs"]
mod queries;

static MIGRATIONS: Migrator = sqlx::migrate!("src/store/migrations/postgres");
