//! What a recall judges, in one statement, so that rows and revisions belong together.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use sqlx::{Row as _, query};

use super::scopes::{Revisions, Scope};
use super::shape::{AT_KEY, CANDIDATE, HOLDING, IN_CONTEXT, NOMINATED, REVISION, Shape};
use super::{Connection, Row, columns, ids};
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
        // Read as they come: the rows of a whole context are much larger than what is made of them.
        .map(|row: Row| read(&row))
        .fetch_all(connection)
        .await?;
    assemble(request, rows)
}

/// What one row says.
enum Found {
    WithValue(Arc<Memory>),
    Light(Arc<Memory>),
    Holding(MemoryId),
    Candidate(Box<Candidate>),
    Revision(Scope),
}

fn read(row: &Row) -> Result<Found, Fault> {
    Ok(match row.try_get(PART)? {
        NOMINATED | AT_KEY => Found::WithValue(Arc::new(columns::memory(row)?)),
        IN_CONTEXT => Found::Light(Arc::new(columns::memory(row)?)),
        HOLDING => Found::Holding(MemoryId(row.try_get("memory_id")?)),
        CANDIDATE => Found::Candidate(Box::new(candidate(row)?)),
        REVISION => Found::Revision(Scope::of(
            row.try_get("owner")?,
            row.try_get("project")?,
            row.try_get("task")?,
            row.try_get("version")?,
            row.try_get("update_time")?,
        )?),
        _ => return Err(Fault::Stored("part")),
    })
}

fn assemble(request: &ViewRequest, rows: Vec<Result<Found, Fault>>) -> Result<View, Fault> {
    let [mut with_value, mut light] = [Vec::with_capacity(rows.len()), Vec::new()];
    let (mut holding, mut candidates, mut revisions) = (BTreeSet::new(), Vec::new(), Vec::new());
    for row in rows {
        match row? {
            Found::WithValue(memory) => with_value.push(memory),
            Found::Light(memory) => light.push(memory),
            Found::Holding(id) => {
                holding.insert(id);
            }
            Found::Candidate(candidate) => candidates.push(*candidate),
            Found::Revision(scope) => revisions.push(scope),
        }
    }
    candidates.sort_by_key(|one| (one.create_time, one.id));
    let owners = [Owner::personal(request.reach.subject.clone()), Owner::SHARED];
    let levels = request.context.levels();
    let in_context = levels.iter().flat_map(|level| owners.iter().map(move |owner| (owner, level)));
    let found = Revisions::of(revisions);
    let revisions: Vec<_> = in_context.map(|(owner, level)| found.of_scope(owner, level)).collect();
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
fn once(found: [Vec<Arc<Memory>>; 2]) -> Vec<Arc<Memory>> {
    let mut seen: HashSet<MemoryId> = HashSet::with_capacity(found.iter().map(Vec::len).sum());
    found.into_iter().flatten().filter(|memory| seen.insert(memory.id)).collect()
}
