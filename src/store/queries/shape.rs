//! The statements of a view: a text for each shape of request, which has the parts that such a request needs and no
//! others. A part that could give nothing would still be planned, prepared and begun each time.
//!
//! The rows of all parts have one shape, that of a memory with the part and a candidate's reasons; what has fewer columns
//! leaves the others empty. On PostgreSQL the statement tells the database whose rows it is about, by `visible!`.

use std::sync::OnceLock;

use crate::store::{SearchRead, ViewRequest};

/// A memory by its id, as it is now or was before another took its address; with its value.
pub(super) const NOMINATED: i64 = 1;
/// Another memory at a key that was asked for, or that a nominated one has; with its value.
pub(super) const AT_KEY: i64 = 2;
/// A memory of the context; without its value, unless the whole is wanted.
pub(super) const IN_CONTEXT: i64 = 3;
/// A memory of the context whose value has the substring; nothing but its id.
pub(super) const HOLDING: i64 = 4;
/// A held candidate, without its value. Its id stands for a memory's, and its lapse for the update.
pub(super) const CANDIDATE: i64 = 5;
/// A revision of a scope, which stands for a version.
pub(super) const REVISION: i64 = 6;

/// The rows of these owners in the context, of any table that has the four columns. Those of memories and revisions are
/// found by `memories_in_context!` and `revisions_in_context!`.
macro_rules! in_context {
    ($and:expr) => {
        concat!(
            " WHERE tenant = ",
            tenant!(),
            " AND owner IN (",
            subject!(),
            ", '') AND project IN ($3, '') AND task IN ($4, '')",
            $and
        )
    };
}

/// The columns that only memories have, for what is none.
macro_rules! no_memory {
    ($id:expr, $version:expr, $update_time:expr) => {
        concat!(
            ", CAST(NULL AS text) AS value, ",
            $id,
            " AS memory_id, ",
            $version,
            " AS version, 0 AS value_version, 0 AS state, 0 AS value_chars, ",
            $update_time,
            " AS update_time, CAST(NULL AS bigint) AS confirm_time, CAST(NULL AS bytea) AS tokens"
        )
    };
}

/// The columns that facts have, for what is none but lies in a scope.
macro_rules! no_fact {
    ($owner:literal, $project:literal, $task:literal) => {
        concat!(
            "'' AS tenant, ",
            $owner,
            ", ",
            $project,
            ", ",
            $task,
            ", '' AS key, '' AS kind, CAST(NULL AS text) AS source_kind, '' AS source_reference, '' AS parents, ",
            "'' AS parent_references, 0 AS lineage_trust, 0 AS evidence, CAST(NULL AS bigint) AS confidence, ",
            "0 AS sensitivity, 0 AS consent, '' AS consent_purposes, '' AS purposes, 0 AS observe_time, ",
            "CAST(NULL AS bigint) AS valid_from_time, CAST(NULL AS bigint) AS expire_time, 0 AS create_time, ",
            "'' AS author, '' AS change_reason"
        )
    };
}

/// The part, and no reasons.
macro_rules! part {
    ($part:literal) => {
        concat!(", CAST(", $part, " AS bigint) AS part, CAST(NULL AS text) AS reasons")
    };
}

/// The nominated memories, which other parts ask for keys.
const NOMINATED_ROWS: &str = concat!(
    "nominated AS MATERIALIZED (SELECT ",
    memory_with!(value, tokens),
    part!("1"),
    " FROM ",
    rows_of_ids!("memories", "$5"),
    " AND tenant = ",
    tenant!(),
    " AND ",
    or_shared!(),
    " UNION ALL SELECT ",
    memory_with!(value),
    part!("1"),
    " FROM ",
    rows_of_ids!("memory_versions", "$5"),
    " AND tenant = ",
    tenant!(),
    " AND ",
    or_shared!(),
    " AND superseded_by IS NULL AND NOT EXISTS (SELECT 1 FROM memories AS taken WHERE taken.tenant = ",
    tenant!(),
    " AND taken.memory_id = ",
    wanted_id!("memory_versions"),
    "))"
);

/// What other parts ask for, where the engine asks for it once.
const SCOPES: &str = scopes!();

const THE_NOMINATED: &str = "SELECT * FROM nominated";

macro_rules! at_keys {
    ($keys:expr, $and:expr) => {
        concat!(
            "SELECT ",
            memory_with!(value, tokens),
            part!("2"),
            memories_in_context!(concat!(" AND ", one_of!("key", $keys), $and))
        )
    };
}
macro_rules! others {
    () => {
        " AND memory_id NOT IN (SELECT memory_id FROM nominated)"
    };
}
const AT_THEIR_KEYS: &str = at_keys!("SELECT key FROM nominated", others!());
const AT_THE_KEYS: &str = at_keys!(concat!("SELECT * FROM ", texts!("$6"), " AS asked"), "");
const AT_ALL_THESE_KEYS: &str =
    at_keys!(concat!("SELECT key FROM nominated UNION SELECT * FROM ", texts!("$6"), " AS asked"), others!());

const EVERYTHING: &str = concat!("SELECT ", memory_with!(), part!("3"), memories_in_context!(""));
const EVERYTHING_WITH_TOKENS: &str = concat!("SELECT ", memory_with!(tokens), part!("3"), memories_in_context!(""));
const THE_WHOLE: &str = concat!(
    "SELECT * FROM (SELECT ",
    memory_with!(value, tokens),
    part!("3"),
    memories_in_context!(at_most!("$10")),
    ") AS everything"
);

const WHO_HOLDS: &str = concat!(
    "SELECT ",
    no_fact!("'' AS owner", "'' AS project", "'' AS task"),
    no_memory!("memory_id", "0", "0"),
    part!("4"),
    memories_in_context!(concat!(" AND (", contains!("value", "$8"), " OR ", contains!("value", "$9"), ")"))
);

macro_rules! held {
    ($and:expr) => {
        concat!(
            "SELECT * FROM (SELECT ",
            fact_columns!(),
            no_memory!("candidate_id", "0", "lapse_time"),
            ", CAST(5 AS bigint) AS part, reasons FROM candidates",
            in_context!(concat!(" AND lapse_time > $7", $and)),
            " ORDER BY create_time, candidate_id LIMIT 64) AS held"
        )
    };
}
const HELD: &str = held!("");
const HELD_AT_THE_KEYS: &str =
    held!(concat!(" AND ", one_of!("key", concat!("SELECT * FROM ", texts!("$6"), " AS asked"))));

const REVISIONS: &str = concat!(
    "SELECT ",
    no_fact!("its_owner AS owner", "its_project AS project", "its_task AS task"),
    no_memory!(nil!(), "its_revision", "its_update_time"),
    part!("6"),
    revisions_in_context!()
);

/// What a request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Nothing,
    Ids,
    Keys,
    Both,
}

/// What a request wants of everything in its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Everything {
    Nothing,
    Light,
    Tokens,
    Whole,
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) struct Shape {
    named: Named,
    everything: Everything,
    all: bool,
    substring: bool,
}

/// How many there are.
const SHAPES: usize = 64;
static TEXTS: [OnceLock<String>; SHAPES] = [const { OnceLock::new() }; SHAPES];

impl Shape {
    /// Memories by their ids, and nothing else.
    pub(in crate::store) const BY_IDS: Self =
        Self { named: Named::Ids, everything: Everything::Nothing, all: false, substring: false };

    pub(super) fn of(request: &ViewRequest) -> Self {
        let everything = match &request.search {
            _ if request.whole.is_some() => Everything::Whole,
            Some(SearchRead::Tokens) => Everything::Tokens,
            Some(SearchRead::Substring(_)) => Everything::Light,
            None if request.all => Everything::Light,
            None => Everything::Nothing,
        };
        let named = match (request.ids.is_empty(), request.keys.is_empty()) {
            (true, true) => Named::Nothing,
            (false, true) => Named::Ids,
            (true, false) => Named::Keys,
            (false, false) => Named::Both,
        };
        let substring = matches!(request.search, Some(SearchRead::Substring(_)));
        Self { named, everything, all: request.all, substring }
    }

    /// The statement. All have the same parameters.
    pub(in crate::store) fn text(self) -> Option<&'static str> {
        let of_four = [self.named as usize, self.everything as usize];
        let of_two = [usize::from(self.all), usize::from(self.substring)];
        let place = of_four.into_iter().fold(0, |place, which| 4 * place + which);
        let place = of_two.into_iter().fold(place, |place, which| 2 * place + which);
        TEXTS.get(place).map(|text| text.get_or_init(|| self.compose()).as_str())
    }

    fn compose(self) -> String {
        let by_ids = matches!(self.named, Named::Ids | Named::Both);
        let by_keys = matches!(self.named, Named::Keys | Named::Both);
        let parts = [
            by_ids.then_some(THE_NOMINATED),
            match self.named {
                Named::Nothing => None,
                Named::Ids => Some(AT_THEIR_KEYS),
                Named::Keys => Some(AT_THE_KEYS),
                Named::Both => Some(AT_ALL_THESE_KEYS),
            },
            match self.everything {
                Everything::Nothing => None,
                Everything::Light => Some(EVERYTHING),
                Everything::Tokens => Some(EVERYTHING_WITH_TOKENS),
                Everything::Whole => Some(THE_WHOLE),
            },
            self.substring.then_some(WHO_HOLDS),
            match (self.all, by_keys) {
                (true, _) => Some(HELD),
                (false, true) => Some(HELD_AT_THE_KEYS),
                (false, false) => None,
            },
            Some(REVISIONS),
        ];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        let tables = [SCOPES, if by_ids { NOMINATED_ROWS } else { "" }];
        let tables: Vec<&str> = tables.into_iter().filter(|table| !table.is_empty()).collect();
        let with = if tables.is_empty() { String::new() } else { format!("WITH {} ", tables.join(", ")) };
        let [before, after] = AROUND;
        [before, &with, &parts.join(" UNION ALL "), after].concat()
    }
}

/// What stands around a statement about the rows of `tenant!` and `subject!`.
const AROUND: [&str; 2] = visible!();

/// The statements of all shapes.
#[cfg(test)]
pub(in crate::store) fn all() -> impl Iterator<Item = (Shape, String)> {
    let named = [Named::Nothing, Named::Ids, Named::Keys, Named::Both];
    let everything = [Everything::Nothing, Everything::Light, Everything::Tokens, Everything::Whole];
    named.into_iter().flat_map(move |named| {
        everything.into_iter().flat_map(move |everything| {
            (0..4).map(move |bits| {
                let shape = Shape { named, everything, all: bits & 1 != 0, substring: bits & 2 != 0 };
                (shape, shape.compose())
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_bound_to_a_limit_for_which_it_would_be_planned_anew() {
        for (shape, text) in all() {
            assert!(!text.contains("LIMIT $"), "{shape:?}");
        }
    }

    #[test]
    fn each_shape_has_a_text_of_its_own() {
        let mut texts = std::collections::BTreeSet::new();
        for (shape, text) in all() {
            assert_eq!(shape.text(), Some(text.as_str()), "{shape:?}");
            texts.insert(text);
        }
        assert_eq!(texts.len(), SHAPES);
    }
}
