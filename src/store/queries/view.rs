//! What a recall judges, in one statement, so that rows and revisions belong together.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use sqlx::{Row as _, query};

use super::shape::{AT_KEY, CANDIDATE, HOLDING, IN_CONTEXT, NOMINATED, REVISION, Shape};
use super::{Connection, Row, columns, ids, scopes};
use crate::memory::{Candidate, Key, Memory, MemoryId, Owner};
use crate::store::fault::Fault;
use crate::store::rows::{CandidateRow, list};
use crate::store::{SearchRead, View, ViewRequest};

/// Where the part stands in a row, and a candidate's reasons.
const PART: usize = columns::OF_MEMORY;
const REASONS: usize = PART + 1;

/// Everything a recall judges.
pub(in crate::store) async fn view(connection: &mut Connection, request: &ViewRequest) -> Result<View, Fault> {
    let level = &request.context.0;
    let nothing = String::new();
    let [one, other] = match &request.search {
        Some(SearchRead::Substring([one, other])) => [one.expose(), other.expose()],
        Some(SearchRead::Tokens) | None => [nothing.as_str(); 2],
    };
    let sql = Shape::of(request).text().ok_or(Fault::Stored("shape"))?;
    let rows = query(sql)
        .bind(request.reach.tenant.as_str())
        .bind(request.reach.subject.as_str())
        .bind(level.project())
        .bind(level.task())
        .bind(ids(request.ids.iter().map(|id| id.0)))
        .bind(list(request.keys.iter().map(Key::as_str)))
        .bind(request.now.micros())
        .bind(one)
        .bind(other)
        .bind(request.whole.map_or(i64::MAX, |most| i64::from(most) + 1))
        .fetch_all(connection)
        .await?;
    assemble(request, &rows)
}

fn assemble(request: &ViewRequest, rows: &[Row]) -> Result<View, Fault> {
    let [mut with_value, mut light] = [Vec::with_capacity(rows.len()), Vec::new()];
    let (mut holding, mut candidates, mut revisions) = (BTreeSet::new(), Vec::new(), Vec::new());
    for row in rows {
        match row.try_get::<i64, _>(PART)? {
            NOMINATED | AT_KEY => with_value.push(columns::memory(row)?),
            IN_CONTEXT => light.push(columns::memory(row)?),
            HOLDING => {
                holding.insert(MemoryId(row.try_get("memory_id")?));
            }
            CANDIDATE => candidates.push(candidate(row)?),
            REVISION => revisions.push((
                row.try_get("owner")?,
                row.try_get("project")?,
                row.try_get("task")?,
                row.try_get("version")?,
                row.try_get("update_time")?,
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

fn candidate(row: &Row) -> Result<Candidate, Fault> {
    let memory = columns::memory_row(row)?;
    CandidateRow {
        fact: memory.fact,
        candidate_id: memory.memory_id,
        reasons: row.try_get::<&str, _>(REASONS)?.into(),
        lapse_time: memory.update_time,
    }
    .read()
}

/// Each memory once; what comes first, with its value, wins.
fn once(found: [Vec<Memory>; 2]) -> Vec<Arc<Memory>> {
    let mut seen: HashSet<MemoryId> = HashSet::with_capacity(found.iter().map(Vec::len).sum());
    found.into_iter().flatten().filter(|memory| seen.insert(memory.id)).map(Arc::new).collect()
}
