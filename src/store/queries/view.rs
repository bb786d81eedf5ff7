//! What a recall judges, in one statement, so that rows and revisions belong together.
//!
//! The parts of the answer have one shape, that of a memory; what has fewer columns leaves the others empty. On
//! PostgreSQL the statement tells the database whose rows it is about, by `visible!`.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use sqlx::query_as;

use super::{Connection, ids, scopes};
use crate::memory::{Candidate, Key, Memory, MemoryId, Owner};
use crate::store::fault::Fault;
use crate::store::rows::{CandidateRow, MemoryRow, list};
use crate::store::{SearchRead, View, ViewRequest};

/// A memory by its id, as it is now or was before another took its address; with its value.
const NOMINATED: i64 = 1;
/// Another memory at a key that was asked for, or that a nominated one has; with its value.
const AT_KEY: i64 = 2;
/// A memory of the context; without its value, unless the whole is wanted.
const IN_CONTEXT: i64 = 3;
/// A memory of the context whose value has the substring; nothing but its id.
const HOLDING: i64 = 4;
/// A held candidate, without its value. Its id stands for a memory's, and its lapse for the update.
const CANDIDATE: i64 = 5;
/// A revision of a scope, which stands for a version.
const REVISION: i64 = 6;

/// The rows of these owners in the context, of any table that has the four columns.
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

pub(in crate::store) const SQL: &str = visible!(concat!(
    "WITH nominated AS MATERIALIZED (SELECT CAST(1 AS bigint) AS part, ",
    memory_with!(value, tokens),
    " FROM ",
    uuids!("$5"),
    " AS wanted CROSS JOIN memories WHERE tenant = ",
    tenant!(),
    " AND owner IN (",
    subject!(),
    ", '') AND memory_id = wanted.id UNION ALL SELECT CAST(1 AS bigint), ",
    memory_with!(value),
    " FROM ",
    uuids!("$5"),
    " AS wanted CROSS JOIN memory_versions WHERE tenant = ",
    tenant!(),
    " AND owner IN (",
    subject!(),
    ", '') AND memory_id = wanted.id AND superseded_by IS NULL AND NOT EXISTS (SELECT 1 FROM memories AS taken ",
    "WHERE taken.tenant = ",
    tenant!(),
    " AND taken.memory_id = wanted.id))",
    " SELECT nominated.*, CAST(NULL AS text) AS reasons FROM nominated",
    " UNION ALL SELECT 2, ",
    memory_with!(value, tokens),
    ", NULL FROM memories",
    in_context!(concat!(
        " AND key IN (SELECT key FROM nominated UNION SELECT * FROM ",
        texts!("$6"),
        " AS asked) AND memory_id NOT IN (SELECT memory_id FROM nominated)"
    )),
    " UNION ALL SELECT * FROM (SELECT 3, ",
    memory_columns!("CASE WHEN $14 THEN value END AS value"),
    ", CASE WHEN $8 THEN tokens END, NULL FROM memories",
    in_context!(" AND $7"),
    " LIMIT $15) AS everything",
    " UNION ALL SELECT 4, ",
    no_fact!("'' AS owner", "'' AS project", "'' AS task"),
    no_memory!("memory_id", "0", "0"),
    ", NULL FROM memories",
    in_context!(concat!(" AND $9 AND (", contains!("value", "$10"), " OR ", contains!("value", "$11"), ")")),
    " UNION ALL SELECT * FROM (SELECT 5, ",
    fact_columns!(),
    no_memory!("candidate_id", "0", "lapse_time"),
    ", reasons FROM candidates",
    in_context!(concat!(" AND lapse_time > $12 AND ($13 OR key IN ", texts!("$6"), ")")),
    " ORDER BY create_time, candidate_id LIMIT 64) AS held",
    " UNION ALL SELECT 6, ",
    no_fact!("owner", "project", "task"),
    no_memory!(nil!(), "revision", "update_time"),
    ", NULL FROM revisions",
    in_context!("")
));

#[derive(sqlx::FromRow)]
struct Row {
    part: i64,
    #[sqlx(flatten)]
    memory: MemoryRow,
    reasons: Option<String>,
}

/// Everything a recall judges.
pub(in crate::store) async fn view(connection: &mut Connection, request: &ViewRequest) -> Result<View, Fault> {
    let level = &request.context.0;
    let keys = list(request.keys.iter().map(Key::as_str));
    let nothing = String::new();
    let substrings = match &request.search {
        Some(SearchRead::Substring([one, other])) => Some([one.expose(), other.expose()]),
        Some(SearchRead::Tokens) | None => None,
    };
    let [one, other] = substrings.unwrap_or([&nothing, &nothing]);
    let rows: Vec<Row> = query_as(SQL)
        .bind(request.reach.tenant.as_str())
        .bind(request.reach.subject.as_str())
        .bind(level.project())
        .bind(level.task())
        .bind(ids(request.ids.iter().map(|id| id.0)))
        .bind(keys)
        .bind(request.all || request.search.is_some())
        .bind(matches!(request.search, Some(SearchRead::Tokens)) || request.whole.is_some())
        .bind(substrings.is_some())
        .bind(one)
        .bind(other)
        .bind(request.now.micros())
        .bind(request.all)
        .bind(request.whole.is_some())
        .bind(request.whole.map_or(i64::MAX, |most| i64::from(most) + 1))
        .fetch_all(connection)
        .await?;
    assemble(request, rows)
}

fn assemble(request: &ViewRequest, rows: Vec<Row>) -> Result<View, Fault> {
    let [mut with_value, mut light] = [Vec::new(), Vec::new()];
    let (mut holding, mut candidates, mut revisions) = (BTreeSet::new(), Vec::new(), Vec::new());
    for row in rows {
        match row.part {
            NOMINATED | AT_KEY => with_value.push(row.memory.read()?),
            IN_CONTEXT => light.push(row.memory.read()?),
            HOLDING => {
                holding.insert(MemoryId(row.memory.memory_id));
            }
            CANDIDATE => candidates.push(candidate(row)?),
            REVISION => revisions.push((
                row.memory.fact.owner,
                row.memory.fact.project,
                row.memory.fact.task,
                row.memory.version,
                row.memory.update_time,
            )),
            _ => return Err(Fault::Stored("part")),
        }
    }
    candidates.sort_by_key(|one| (one.create_time, one.id));
    let owners = [Owner::personal(request.reach.subject.clone()), Owner::SHARED];
    let levels = request.context.levels();
    let in_context = levels.iter().flat_map(|level| owners.iter().map(move |owner| (owner, level)));
    let found = scopes::Revisions::of_rows(revisions)?;
    let revisions: Vec<_> = in_context.map(|(owner, level)| found.of(owner, level)).collect();
    Ok(View {
        memories: once([with_value, light]),
        holding,
        candidates,
        newest_update_time: found.newest_update_time(&revisions),
        revisions,
    })
}

fn candidate(row: Row) -> Result<Candidate, Fault> {
    CandidateRow {
        fact: row.memory.fact,
        candidate_id: row.memory.memory_id,
        reasons: row.reasons.unwrap_or_default(),
        lapse_time: row.memory.update_time,
    }
    .read()
}

/// Each memory once; what comes first, with its value, wins.
fn once(found: [Vec<Memory>; 2]) -> Vec<Arc<Memory>> {
    let mut seen: HashSet<MemoryId> = HashSet::new();
    found.into_iter().flatten().filter(|memory| seen.insert(memory.id)).map(Arc::new).collect()
}
