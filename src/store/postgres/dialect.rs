//! What `queries` says of sets, texts and whose rows they are, as PostgreSQL says it.

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
/// The rows of a table that have one of these ids, up to where more is asked of them.
macro_rules! rows_of_ids {
    ($table:literal, $parameter:literal) => {
        concat!(
            $table,
            " WHERE memory_id = ANY (ARRAY(SELECT CAST(jsonb_array_elements_text(CAST(",
            $parameter,
            " AS jsonb)) AS uuid)))"
        )
    };
}
/// The id of such a row.
macro_rules! wanted_id {
    ($table:literal) => {
        concat!($table, ".memory_id")
    };
}
/// Whether a column has one of the values of a query. As an array, which the index is asked for: the planner thinks a
/// subject to have few rows, and would rather compare all of them with the query's.
macro_rules! one_of {
    ($column:literal, $query:expr) => {
        concat!($column, " = ANY (ARRAY(", $query, "))")
    };
}
/// Whether a text has another in it, byte for byte.
macro_rules! contains {
    ($text:literal, $parameter:literal) => {
        concat!("strpos(", $text, ", ", $parameter, ") > 0")
    };
}

/// The tenant and the subject of a statement within `visible!`, and the id of nothing.
macro_rules! tenant {
    () => {
        "ctx.tenant"
    };
}
macro_rules! subject {
    () => {
        "ctx.subject"
    };
}
macro_rules! nil {
    () => {
        "CAST('00000000-0000-0000-0000-000000000000' AS uuid)"
    };
}
/// Rows of the subject's own and shared ones, where another column finds them.
macro_rules! or_shared {
    () => {
        concat!("owner IN (", subject!(), ", '')")
    };
}
/// What stands before and after a whole statement about the rows of `tenant!` and `subject!`. The settings that the
/// policies read are set in the statement itself, by a part that is materialised before anything looks at a table,
/// since all else is a lateral join on its answer. It fails closed, in one round trip, and has to be the whole of its
/// transaction.
macro_rules! visible {
    () => {
        [
            concat!(
                "WITH ctx AS MATERIALIZED (SELECT set_config('rg.tenant', $1, true) AS tenant, ",
                "set_config('rg.subject', $2, true) AS subject) SELECT seen.* FROM ctx CROSS JOIN LATERAL ("
            ),
            " OFFSET 0) AS seen",
        ]
    };
}
/// The scopes of the context are asked of each table for itself.
macro_rules! scopes {
    () => {
        ""
    };
}
/// The memories of the context.
macro_rules! memories_in_context {
    ($and:expr) => {
        concat!(" FROM memories", in_context!($and))
    };
}
/// The revisions of its scopes.
macro_rules! revisions_in_context {
    () => {
        concat!(
            " FROM (SELECT owner AS its_owner, project AS its_project, task AS its_task, revision AS its_revision, ",
            "update_time AS its_update_time FROM revisions",
            in_context!(""),
            ") AS scopes"
        )
    };
}
