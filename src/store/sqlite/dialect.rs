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
