//! Contexts that are kept in memory answer as the store does, and never in its place.

use std::sync::Arc;
use std::time::Duration;

use recall_gate::memory::{Level, Memory, MemoryId, Owner, State, Time};
use recall_gate::store::{Announcement, Cached, Change, Expect, SearchRead, Store, View, ViewRequest, Write};

use crate::fixture::{World, at, contended, key, next, own, project, task, text, uuid};

const LONG: Duration = Duration::from_hours(1);
const MUCH: u64 = 64 << 20;

fn keeping(world: &World) -> Cached {
    Cached::new(Arc::clone(&world.store), LONG, MUCH)
}

/// The decision of a read that was judged on this.
fn judged_on(world: &World, view: &View) -> Change {
    let mut change = world.change();
    change.expect = view.revisions.iter().cloned().map(Expect::Revision).collect();
    change
}

/// What is told apart: text that comes without need is no difference.
fn told(mut view: View, request: &ViewRequest) -> View {
    view.memories.sort_by_key(|memory| memory.id);
    for memory in view.memories.iter_mut().map(Arc::make_mut) {
        let wanted = request.ids.contains(&memory.id) || request.keys.contains(&memory.address.key);
        if !wanted && !view_of_nominated(request, memory) {
            (memory.value, memory.tokens) = (None, None);
        }
    }
    view
}

/// A memory whose key a nominated one may have comes with its value as well; here all of a name have one key.
fn view_of_nominated(request: &ViewRequest, memory: &Memory) -> bool {
    !request.ids.is_empty() && memory.address.key.as_str() == "k"
}

fn assert_same(kept: View, read: View, request: &ViewRequest) {
    let (kept, read) = (told(kept, request), told(read, request));
    assert_eq!(kept.memories, read.memories, "{request:?}");
    assert_eq!((kept.holding, kept.revisions), (read.holding, read.revisions), "{request:?}");
    assert_eq!((kept.candidates, kept.newest_update_time), (read.candidates, read.newest_update_time), "{request:?}");
}

pub(crate) async fn a_kept_context_answers_as_the_store_does(world: World) {
    let kept = keeping(&world);
    let places = [Level::General, project("p"), task("p", "t"), project("q")];
    let mut all = Vec::new();
    for level in &places {
        for owner in [own("ann"), Owner::SHARED, own("bob")] {
            for name in ["k", "other"] {
                let memory = world.memory_at(owner.clone(), level.clone(), name);
                world.put(&memory).await;
                all.push(memory);
            }
        }
    }
    world.hold(&world.candidate("k")).await;
    world.hold(&world.candidate_at(Owner::SHARED, project("p"), "other")).await;
    for level in places {
        let ask = world.ask("ann", level);
        let mut requests: Vec<ViewRequest> =
            all.iter().map(|memory| ViewRequest { ids: vec![memory.id], ..ask.clone() }).collect();
        requests.extend([
            ask.clone(),
            ViewRequest { ids: vec![MemoryId(uuid())], ..ask.clone() },
            ViewRequest { keys: vec![key("k"), key("nothing")], ..ask.clone() },
            ViewRequest { all: true, ..ask.clone() },
            ViewRequest { all: true, now: at(1_000), ..ask.clone() },
            ViewRequest { search: Some(SearchRead::Substring([text("of k"), text("OF K")])), ..ask.clone() },
        ]);
        for request in requests.iter().chain(&requests) {
            assert_same(kept.view(request).await.unwrap(), world.store.view(request).await.unwrap(), request);
        }
        let search = ViewRequest { search: Some(SearchRead::Tokens), ..ask };
        let tokens = |view: View| {
            let mut tokens: Vec<_> =
                view.memories.into_iter().map(|memory| (memory.id, memory.tokens.clone())).collect();
            tokens.sort_by_key(|(id, _)| *id);
            tokens
        };
        assert_eq!(tokens(kept.view(&search).await.unwrap()), tokens(world.store.view(&search).await.unwrap()));
    }
}

/// Asks until the context is kept.
async fn warm(store: &Cached, request: &ViewRequest) -> View {
    store.view(request).await.unwrap();
    store.view(request).await.unwrap();
    store.view(request).await.unwrap()
}

fn deletion(world: &World, memory: &Memory) -> Change {
    let mut change = world.change_of(memory.address.owner.clone(), crate::fixture::subject("ann"));
    let mut deleted = next(memory, "the same");
    deleted.state = State::Deleted;
    change.writes = vec![Write::Memory(Box::new(deleted))];
    change.announce = Some(Announcement::Deleted);
    change
}

pub(crate) async fn i12_a_decision_on_a_kept_context_is_recorded_only_where_it_still_stands(world: World) {
    // Two services on one database, each with its own memory.
    let (one, other) = (keeping(&world), keeping(&world));
    for owner in [own("ann"), Owner::SHARED] {
        let memory = world.memory_at(owner, Level::General, "k");
        world.put(&memory).await;
        let request = ViewRequest { ids: vec![memory.id], ..world.ask("ann", Level::General) };
        let before = warm(&one, &request).await;
        one.commit(judged_on(&world, &before)).await.unwrap();

        other.commit(deletion(&world, &memory)).await.unwrap();
        let stale = one.view(&request).await.unwrap();
        assert!(contended(&one.commit(judged_on(&world, &stale)).await), "what was kept is no longer so");
        let fresh = one.view(&request).await.unwrap();
        let states: Vec<State> =
            fresh.memories.iter().filter(|found| found.id == memory.id).map(|found| found.state).collect();
        assert_eq!(states, [State::Deleted]);
        one.commit(judged_on(&world, &fresh)).await.unwrap();
    }
}

pub(crate) async fn what_this_process_writes_is_seen_at_once(world: World) {
    let kept = keeping(&world);
    let memory = world.memory("k");
    world.put(&memory).await;
    let request = ViewRequest { keys: vec![key("k")], ..world.ask("ann", Level::General) };
    assert_eq!(warm(&kept, &request).await.candidates.len(), 0);
    let candidate = world.candidate("k");
    let mut holds = world.change();
    holds.writes = vec![Write::Candidate(Box::new(candidate.clone()))];
    kept.commit(holds).await.unwrap();
    assert_eq!(kept.view(&request).await.unwrap().candidates.len(), 1);
    assert_eq!(warm(&kept, &request).await.candidates.len(), 1);
    let mut erases = world.change();
    erases.writes = vec![Write::EraseCandidate(candidate.id)];
    kept.commit_all(vec![erases]).await.unwrap();
    assert_eq!(kept.view(&request).await.unwrap().candidates.len(), 0);

    warm(&kept, &request).await;
    kept.commit(deletion(&world, &memory)).await.unwrap();
    let seen = kept.view(&request).await.unwrap();
    assert_eq!(seen.memories.iter().map(|memory| memory.state).collect::<Vec<_>>(), [State::Deleted]);
    kept.commit(judged_on(&world, &seen)).await.unwrap();
}

pub(crate) async fn what_lapses_leaves_a_kept_context(world: World) {
    let kept = keeping(&world);
    let candidate = world.candidate("k");
    world.hold(&candidate).await;
    let request = |now: Time| ViewRequest { keys: vec![key("k")], now, ..world.ask("ann", Level::General) };
    assert_eq!(warm(&kept, &request(at(0))).await.candidates.len(), 1);
    assert_eq!(kept.view(&request(candidate.lapse_time)).await.unwrap().candidates.len(), 0);
}
