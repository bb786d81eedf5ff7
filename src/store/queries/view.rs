//! What a recall judges.

use std::collections::HashSet;

use super::{Connection, candidates, memories, scopes};
use crate::memory::{Key, Memory, MemoryId, Owner};
use crate::store::fault::Fault;
use crate::store::{View, ViewRequest};

/// Everything a recall judges. Wants a transaction, so that rows and revisions belong together.
pub(in crate::store) async fn view(connection: &mut Connection, request: &ViewRequest) -> Result<View, Fault> {
    let reach = &request.reach;
    let level = &request.context.0;

    let nominated = memories::by_ids(connection, reach, &request.ids).await?;
    let mut keys: Vec<&str> = request.keys.iter().map(Key::as_str).collect();
    keys.extend(nominated.iter().map(|memory| memory.address.key.as_str()));
    keys.sort_unstable();
    keys.dedup();
    let same_key = memories::by_keys(connection, reach, level, &keys).await?;
    let search = request.search.as_ref();
    let whole = request.all || search.is_some();
    let all = if whole { memories::all(connection, reach, level, search).await? } else { Vec::new() };
    let holding = memories::holding(connection, reach, level, search).await?;
    let candidates = candidates::touched(connection, request).await?;

    let owners = [Owner::personal(reach.subject.clone()), Owner::SHARED];
    let levels = request.context.levels();
    let in_context: Vec<_> = levels.iter().flat_map(|level| owners.iter().map(move |owner| (owner, level))).collect();
    let found =
        scopes::revisions(connection, reach.tenant.as_str(), reach.subject.as_str(), in_context.iter().copied())
            .await?;
    let revisions: Vec<_> = in_context.into_iter().map(|(owner, level)| found.of(owner, level)).collect();

    Ok(View {
        memories: once([nominated, same_key, all]),
        holding,
        candidates,
        newest_update_time: found.newest_update_time(&revisions),
        revisions,
    })
}

/// Each memory once; what comes first, with its value, wins.
fn once(found: [Vec<Memory>; 3]) -> Vec<Memory> {
    let mut seen: HashSet<MemoryId> = HashSet::new();
    found.into_iter().flatten().filter(|memory| seen.insert(memory.id)).collect()
}
