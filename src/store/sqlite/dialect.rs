//! What `queries` says of sets, texts and whose rows they are, as SQLite says it.

/// A bound JSON array as a set of texts.
macro_rules! texts {
    ($parameter:literal) => {
        concat!("(SELECT value FROM json_each(", $parameter, "))")
    };
}
/// A bound JSON array of hexadecimal as a table of ids.
macro_rules! uuids {
    ($parameter:literal) => {
        concat!("(SELECT unhex(value) AS id FROM json_each(", $parameter, "))")
    };
}
/// A bound JSON array of hexadecimal as a set of digests.
macro_rules! digests {
    ($parameter:literal) => {
        concat!("(SELECT unhex(value) FROM json_each(", $parameter, "))")
    };
}
/// The rows of a table that have one of these ids, up to where more is asked of them.
macro_rules! rows_of_ids {
    ($table:literal, $parameter:literal) => {
        concat!(uuids!($parameter), " AS wanted CROSS JOIN ", $table, " WHERE memory_id = wanted.id")
    };
}
/// The id of such a row; as it was asked for, so that what depends on it alone is looked at before the row.
macro_rules! wanted_id {
    ($table:literal) => {
        "wanted.id"
    };
}
/// Whether a column has one of the values of a query.
macro_rules! one_of {
    ($column:literal, $query:expr) => {
        concat!($column, " IN (", $query, ")")
    };
}
/// Whether a text has another in it, byte for byte.
macro_rules! contains {
    ($text:literal, $parameter:literal) => {
        concat!("instr(", $text, ", ", $parameter, ") > 0")
    };
}

/// The tenant and the subject of a statement, and the id of nothing.
macro_rules! tenant {
    () => {
        "$1"
    };
}
macro_rules! subject {
    () => {
        "$2"
    };
}
macro_rules! nil {
    () => {
        "zeroblob(16)"
    };
}
/// Rows of the subject's own and shared ones, where another column finds them: with the plus it is no look-up in an
/// index for each of the two, which costs more than it saves.
macro_rules! or_shared {
    () => {
        "+owner IN ($2, '')"
    };
}
/// What stands before and after a whole statement about the rows of `tenant!` and `subject!`.
macro_rules! visible {
    () => {
        ["", ""]
    };
}
/// The scopes of the context in which anything was ever written, with their revisions: whatever writes a memory writes
/// the revision of its scope. A key is looked up in those alone, and not in all six that a context may have. Each scope is
/// named by itself, for a set of owners, of projects or of tasks would be built up for each part of each statement.
macro_rules! scopes {
    () => {
        "scopes AS MATERIALIZED (SELECT owner AS its_owner, project AS its_project, task AS its_task, \
         revision AS its_revision, update_time AS its_update_time FROM (\
         SELECT $2 AS an_owner, $3 AS a_project, $4 AS a_task UNION ALL SELECT '', $3, $4 UNION ALL \
         SELECT $2, $3, '' WHERE $4 <> '' UNION ALL SELECT '', $3, '' WHERE $4 <> '' UNION ALL \
         SELECT $2, '', '' WHERE $3 <> '' UNION ALL SELECT '', '', '' WHERE $3 <> '') AS place \
         CROSS JOIN revisions WHERE tenant = $1 AND owner = an_owner AND project = a_project AND task = a_task)"
    };
}
/// The memories of these scopes.
macro_rules! memories_in_context {
    ($and:expr) => {
        concat!(
            " FROM scopes CROSS JOIN memories WHERE tenant = $1 AND owner = its_owner AND project = its_project",
            " AND task = its_task",
            $and
        )
    };
}
/// Their revisions, by the names that `scopes!` gives the columns.
macro_rules! revisions_in_context {
    () => {
        " FROM scopes"
    };
}
