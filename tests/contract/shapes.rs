//! A view of every shape of request, beside what its promise says of each memory by itself.

use std::collections::BTreeSet;

use recall_gate::memory::{Context, Key, Level, Memory, MemoryId, Owner, State};
use recall_gate::store::{SearchRead, ViewRequest};

use crate::fixture::{World, at, key, next, own, owned, project, task, text, uuid, without_value};

/// What some values have in them.
const HOLDS: &str = "of k";

pub(crate) async fn a_view_of_every_shape_holds_what_its_parts_promise(world: World) {
    let here = project("p");
    let lying = [
        world.memory("k"),
        world.memory("other"),
        world.memory("third"),
        world.memory_at(Owner::SHARED, here.clone(), "k"),
        world.memory_at(Owner::SHARED, here.clone(), "third"),
        world.memory_at(own("ann"), project("q"), "other"),
        world.memory_at(own("ann"), task("p", "t"), "k"),
        world.memory_at(own("bob"), here.clone(), "k"),
        world.memory_at(Owner::SHARED, Level::General, "other"),
    ];
    for memory in &lying {
        world.put(memory).await;
    }
    // An address that another has taken.
    let first = world.memory_at(own("ann"), here.clone(), "third");
    world.put(&first).await;
    let gone = Memory { state: State::Deleted, ..next(&first, "the value of third") };
    world.put(&gone).await;
    let second = world.memory_at(own("ann"), here.clone(), "third");
    world.put(&second).await;
    let gone = Memory { tokens: None, ..gone };
    let lying = [&lying[..], &[second]].concat();

    let held = [world.candidate("k"), world.candidate("other"), world.candidate_at(own("bob"), here.clone(), "k")];
    for candidate in &held {
        world.hold(candidate).await;
    }

    let context = Context(here.clone());
    let mine = |memory: &&Memory| memory.address.owner != own("bob");
    let in_context: Vec<&Memory> = lying.iter().filter(mine).filter(|one| context.sees(&one.address.level)).collect();
    let nominated = [lying[5].id, lying[0].id, lying[7].id, gone.id, MemoryId(uuid())];
    let by_id: Vec<&Memory> = vec![&lying[5], &lying[0], &gone];

    let mut shapes = BTreeSet::new();
    for bits in 0..16 {
        let [with_ids, with_keys, all, whole] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
        let searches = [None, Some(SearchRead::Tokens), Some(SearchRead::Substring([text(HOLDS), text("-")]))];
        for search in searches {
            if whole && !all {
                continue;
            }
            let request = ViewRequest {
                ids: if with_ids { nominated.to_vec() } else { Vec::new() },
                keys: if with_keys { vec![key("k"), key("nothing here")] } else { Vec::new() },
                all,
                whole: whole.then_some(100),
                search: search.clone(),
                ..world.ask("ann", here.clone())
            };
            let what = format!("{with_ids} {with_keys} {all} {whole} {search:?}");
            shapes.insert(what.clone());

            let mut keys: BTreeSet<&str> = request.keys.iter().map(Key::as_str).collect();
            let mut full: Vec<Memory> = Vec::new();
            if with_ids {
                keys.extend(by_id.iter().map(|memory| memory.address.key.as_str()));
                full.extend(by_id.iter().map(|memory| (*memory).clone()));
            }
            let at_key = in_context.iter().filter(|memory| keys.contains(memory.address.key.as_str()));
            full.extend(at_key.map(|memory| (*memory).clone()));
            if all || search.is_some() {
                full.extend(in_context.iter().map(|memory| match (whole, &search) {
                    (true, _) => (*memory).clone(),
                    (false, Some(SearchRead::Tokens)) => Memory { value: None, ..(*memory).clone() },
                    (false, _) => without_value(memory),
                }));
            }
            let mut expected: Vec<Memory> = Vec::new();
            for memory in full {
                if expected.iter().all(|other| other.id != memory.id) {
                    expected.push(memory);
                }
            }
            expected.sort_by_key(|memory| memory.id);

            let view = world.store.view(&request).await.unwrap();
            let mut found = owned(view.memories);
            found.sort_by_key(|memory| memory.id);
            assert_eq!(found, expected, "{what}");

            let touched = held[..2].iter().filter(|one| all || request.keys.contains(&one.address.key));
            let candidates: BTreeSet<_> = touched.map(|one| one.id).collect();
            assert_eq!(view.candidates.iter().map(|one| one.id).collect::<BTreeSet<_>>(), candidates, "{what}");
            assert!(view.candidates.iter().all(|one| one.value.is_none()), "{what}");

            let holds = |memory: &&&Memory| memory.value.as_ref().is_some_and(|value| value.expose().contains(HOLDS));
            let holding: BTreeSet<MemoryId> = match search {
                Some(SearchRead::Substring(_)) => in_context.iter().filter(holds).map(|memory| memory.id).collect(),
                _ => BTreeSet::new(),
            };
            assert_eq!(view.holding, holding, "{what}");
            assert_eq!(view.revisions.len(), 4, "{what}");
            assert!(view.revisions.iter().all(|scope| scope.revision.0 > 0), "{what}");
            assert!(view.newest_update_time >= Some(at(0)), "{what}");
        }
    }
    assert_eq!(shapes.len(), 36);
}

pub(crate) async fn the_whole_of_a_context_is_as_many_memories_as_asked_for_and_one_more(world: World) {
    let levels = [Level::General, project("p"), task("p", "t")];
    for (many, level) in (1..).zip(&levels) {
        world.put(&world.memory_at(own("ann"), level.clone(), "k")).await;
        world.put(&world.memory_at(Owner::SHARED, level.clone(), "k")).await;
        for most in 0..=2 * many {
            let whole = ViewRequest { all: true, whole: Some(most), ..world.ask("ann", level.clone()) };
            let view = world.store.view(&whole).await.unwrap();
            let expected = usize::try_from(most + 1).unwrap().min(2 * usize::try_from(many).unwrap());
            assert_eq!((view.memories.len(), view.revisions.len()), (expected, 2 * many as usize), "{level:?} {most}");
        }
    }
}
