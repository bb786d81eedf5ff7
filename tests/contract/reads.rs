//! What reads answer.

use recall_gate::memory::{Level, Memory, MemoryId, Owner, Revision, ScopeRevision, State, Text, Time, Version};
use recall_gate::store::{PlaceRequest, Position, Range, ViewRequest, Write};

use crate::fixture::{World, at, key, next, own, owned, project, task, text, uuid, without_value};

pub(crate) async fn a_memory_comes_back_as_it_was_written_by_every_way(world: World) {
    let mut plain = world.memory("plain");
    plain.source.kind = None;
    plain.source.reference = Text::default();
    plain.source.parent_references.clear();
    plain.purposes.clear();
    (plain.valid_from_time, plain.expire_time, plain.confirm_time) = (None, None, None);
    plain.consent = recall_gate::memory::Consent::Unset;
    plain.change_reason = Text::default();
    let mut derived = world.memory("derived");
    derived.source.parents = vec![plain.id, MemoryId(uuid())];
    let mut awkward = world.memory("\"quoted\", \\ and /'d");
    let controls: String = ('\u{1}'..' ').collect();
    let awkwardly =
        |name: &str| text(&format!("{name} \"\\\"\\u0000 [null], {controls}\u{7f}\u{85}\u{2028}\u{fffd}\u{10ffff} é"));
    awkward.value = Some(awkwardly("value"));
    awkward.source.reference = awkwardly("reference");
    awkward.source.parent_references = vec![awkwardly("one"), Text::default(), awkwardly("two")];
    awkward.change_reason = awkwardly("reason");
    (awkward.observe_time, awkward.expire_time) = (Time::from_micros(i64::MIN), Some(Time::from_micros(i64::MAX)));
    let narrow = world.memory_at(own("ann"), task("p", "t"), "narrow");
    for memory in [world.memory("full"), plain, derived, awkward, narrow] {
        world.put(&memory).await;
        let reach = world.reach("ann");
        assert_eq!(world.store.memory(&reach, memory.id).await.unwrap().as_ref(), Some(&memory));
        let level = memory.address.level.clone();
        let mut request = world.ask("ann", level.clone());
        request.keys = vec![memory.address.key.clone()];
        assert_eq!(owned(world.store.view(&request).await.unwrap().memories), std::slice::from_ref(&memory));
        let mut request = world.ask("ann", Level::General);
        request.ids = vec![memory.id];
        assert_eq!(owned(world.store.view(&request).await.unwrap().memories), std::slice::from_ref(&memory));
        let all = owned(world.view_all("ann", level.clone()).await.memories);
        assert!(all.contains(&without_value(&memory)));
        let page = world.store.memories(&reach, &Range::One(own("ann"), level), None, 10).await.unwrap();
        assert!(page.memories.contains(&memory));
    }
}

pub(crate) async fn a_candidate_comes_back_as_it_was_written_by_every_way(world: World) {
    let candidate = world.candidate("held");
    world.hold(&candidate).await;
    let reach = world.reach("ann");
    assert_eq!(world.store.candidate(&reach, candidate.id, at(0)).await.unwrap().as_ref(), Some(&candidate));
    let page = world.store.candidates(&reach, &Range::All, None, 10, at(0)).await.unwrap();
    assert_eq!((page.candidates, page.more), (vec![candidate.clone()], false));
    let mut shown = candidate;
    shown.value = None;
    assert_eq!(world.view_all("ann", Level::General).await.candidates, [shown]);
}

pub(crate) async fn a_view_holds_what_was_asked_by_key_by_id_and_by_all_and_nothing_else(world: World) {
    let general = world.memory("k");
    let shared = world.memory_at(Owner::SHARED, Level::General, "k");
    let in_project = world.memory_at(own("ann"), project("p"), "k");
    let in_task = world.memory_at(Owner::SHARED, task("p", "t"), "k");
    let other_key = world.memory("other");
    let elsewhere = world.memory_at(own("ann"), project("q"), "k");
    let elsewhere_task = world.memory_at(own("ann"), task("p", "u"), "k");
    for memory in [&general, &shared, &in_project, &in_task, &other_key, &elsewhere, &elsewhere_task] {
        world.put(memory).await;
    }
    let ids = |memories: &[Memory]| {
        let mut ids: Vec<_> = memories.iter().map(|memory| (memory.id, memory.value.is_some())).collect();
        ids.sort_unstable();
        ids
    };
    let expect = |full: &[&Memory], bare: &[&Memory]| {
        let full = full.iter().map(|memory| (memory.id, true));
        let mut ids: Vec<_> = full.chain(bare.iter().map(|memory| (memory.id, false))).collect();
        ids.sort_unstable();
        ids
    };
    let ask = world.ask("ann", task("p", "t"));
    let view = async |request: ViewRequest| ids(&owned(world.store.view(&request).await.unwrap().memories));

    let by_key = view(ViewRequest { keys: vec![key("k")], ..ask.clone() }).await;
    assert_eq!(by_key, expect(&[&general, &shared, &in_project, &in_task], &[]));
    let by_id = view(ViewRequest { ids: vec![elsewhere.id, MemoryId(uuid())], ..ask.clone() }).await;
    assert_eq!(by_id, expect(&[&elsewhere, &general, &shared, &in_project, &in_task], &[]));
    let by_all = view(ViewRequest { all: true, ..ask.clone() }).await;
    assert_eq!(by_all, expect(&[], &[&general, &shared, &in_project, &in_task, &other_key]));
    let both = view(ViewRequest { all: true, keys: vec![key("other")], ..ask.clone() }).await;
    assert_eq!(both, expect(&[&other_key], &[&general, &shared, &in_project, &in_task]));
    assert_eq!(view(ask).await, []);
    let wide = view(ViewRequest { keys: vec![key("k")], ..world.ask("ann", Level::General) }).await;
    assert_eq!(wide, expect(&[&general, &shared], &[]));
    let middle = view(ViewRequest { all: true, ..world.ask("ann", project("p")) }).await;
    assert_eq!(middle, expect(&[], &[&general, &shared, &in_project, &other_key]));
}

pub(crate) async fn a_view_names_the_revision_of_every_scope_in_order_of_precedence(world: World) {
    world.put(&world.memory("a")).await;
    world.put(&world.memory_at(own("ann"), project("p"), "a")).await;
    let mut late = world.memory_at(Owner::SHARED, Level::General, "a");
    late.update_time = at(50);
    world.put(&late).await;
    world.put(&world.memory_at(own("ann"), project("q"), "a")).await;
    let view = world.view_all("ann", task("p", "t")).await;
    let scope = |owner, level, revision| ScopeRevision { owner, level, revision: Revision(revision) };
    let expected = [
        scope(own("ann"), task("p", "t"), 0),
        scope(Owner::SHARED, task("p", "t"), 0),
        scope(own("ann"), project("p"), 2),
        scope(Owner::SHARED, project("p"), 0),
        scope(own("ann"), Level::General, 1),
        scope(Owner::SHARED, Level::General, 1),
    ];
    assert_eq!(view.revisions, expected);
    assert_eq!(view.newest_update_time, Some(at(50)));
    let empty = world.view_all("bob", project("nowhere")).await;
    assert_eq!(empty.revisions.len(), 4);
    assert_eq!(world.view_all("ann", project("q")).await.revisions[0].revision, Revision(3));
    let mut early = next(&late, "older clock");
    early.update_time = at(10);
    world.put(&early).await;
    assert_eq!(world.view_all("ann", Level::General).await.newest_update_time, Some(at(50)));
}

pub(crate) async fn a_view_shows_at_most_64_candidates_oldest_first_that_the_keys_touch(world: World) {
    let mut change = world.change();
    for i in 0..70 {
        let mut candidate = world.candidate(if i % 2 == 0 { "even" } else { "odd" });
        candidate.create_time = at(100 - i);
        change.writes.push(Write::Candidate(Box::new(candidate)));
    }
    world.commit(change).await.unwrap();
    world.hold(&world.candidate_at(own("ann"), project("elsewhere"), "odd")).await;
    let all = world.view_all("ann", Level::General).await.candidates;
    assert_eq!(all.len(), 64);
    assert_eq!(all[0].create_time, at(31));
    assert!(all.is_sorted_by_key(|candidate| candidate.create_time));
    assert!(all.iter().all(|candidate| candidate.value.is_none()));
    let mut request = world.ask("ann", Level::General);
    request.keys = vec![key("odd")];
    let odd = world.store.view(&request).await.unwrap().candidates;
    assert_eq!(odd.len(), 35);
    assert!(odd.iter().all(|candidate| candidate.address.key == key("odd")));
    request.keys.clear();
    assert_eq!(world.store.view(&request).await.unwrap().candidates, []);
}

pub(crate) async fn a_memory_whose_address_was_taken_is_still_found_by_its_id(world: World) {
    let first = world.memory("k");
    world.put(&first).await;
    let deleted = Memory { state: State::Deleted, ..next(&first, "the value of k") };
    world.put(&deleted).await;
    let second = world.memory("k");
    world.put(&second).await;
    let reach = world.reach("ann");
    let deleted = Memory { tokens: None, ..deleted };
    assert_eq!(world.store.memory(&reach, first.id).await.unwrap().as_ref(), Some(&deleted));
    let mut request = world.ask("ann", Level::General);
    request.ids = vec![first.id];
    assert_eq!(owned(world.store.view(&request).await.unwrap().memories), [deleted, second.clone()]);
    let page = world.store.memories(&reach, &Range::All, None, 10).await.unwrap();
    assert_eq!(page.memories, [second]);
}

pub(crate) async fn a_value_is_given_at_that_version_alone(world: World) {
    let (one, two) = (world.memory("one"), world.memory("two"));
    world.put(&one).await;
    world.put(&two).await;
    let newer = next(&two, "another");
    world.put(&newer).await;
    let wanted = [(one.id, Version(1)), (two.id, Version(1)), (MemoryId(uuid()), Version(1))];
    let values = world.store.values(&world.reach("ann"), &wanted).await.unwrap();
    assert_eq!(values, [(one.id, text("the value of one"))]);
    let values = world.store.values(&world.reach("ann"), &[(two.id, Version(2))]).await.unwrap();
    assert_eq!(values, [(two.id, text("another"))]);
    assert_eq!(world.store.values(&world.reach("ann"), &[]).await.unwrap(), []);
}

pub(crate) async fn a_place_holds_what_a_write_judges(world: World) {
    let current = world.memory_at(own("ann"), project("p"), "k");
    let parent = world.memory("parent");
    let shared_parent = world.memory_at(Owner::SHARED, Level::General, "parent");
    for memory in [&parent, &current, &shared_parent] {
        world.put(memory).await;
    }
    let mut request = PlaceRequest {
        address: current.address.clone(),
        blocked_as: current.address.key.clone(),
        reach: world.reach("ann"),
        references: vec![text("message 17"), Text::default()],
        parents: vec![parent.id, shared_parent.id, MemoryId(uuid())],
    };
    let place = world.store.place(&request).await.unwrap();
    assert_eq!(place.current, Some(current));
    assert_eq!(place.revision.revision, Revision(2));
    assert_eq!((place.revision.owner, place.revision.level), (own("ann"), project("p")));
    assert_eq!(place.newest_update_time, Some(at(0)));
    let mut parents = place.parents;
    parents.sort_by_key(|parent| parent.id);
    assert_eq!(parents, [without_value(&parent), without_value(&shared_parent)]);
    assert_eq!((place.blocks, place.block_epoch), (Vec::new(), 0));

    request.address = world.address(own("ann"), project("p"), "nothing");
    assert_eq!(world.store.place(&request).await.unwrap().current, None);
}

pub(crate) async fn lists_run_by_owner_project_task_and_key_bytewise_and_know_their_revisions(world: World) {
    let mut order = Vec::new();
    for owner in [Owner::SHARED, own("ann")] {
        for level in [Level::General, project("P"), project("p"), task("p", "t"), project("é")] {
            for name in ["B", "_", "a", "ab", "b", "日本"] {
                order.push(world.memory_at(owner.clone(), level.clone(), name));
            }
        }
    }
    for memory in order.iter().rev() {
        world.put(memory).await;
    }
    let reach = world.reach("ann");
    let page = world.store.memories(&reach, &Range::All, None, 200).await.unwrap();
    assert!(page.memories == order && !page.more);
    assert_eq!(page.revisions.len(), 10);
    assert_eq!(page.revisions[0].owner, Owner::SHARED);
    assert_eq!(page.revisions[0].revision, Revision(30));
    assert_eq!(page.newest_update_time, Some(at(0)));

    for size in [1, 7, 59, 60] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = world.store.memories(&reach, &Range::All, after.as_ref(), size).await.unwrap();
            seen.extend(page.memories);
            after = seen.last().map(position);
            if !page.more {
                break;
            }
        }
        assert!(seen == order, "pages of {size}");
    }
}

fn position(memory: &Memory) -> Position {
    let address = memory.address.clone();
    Position { owner: address.owner, level: address.level, key: address.key }
}

pub(crate) async fn every_range_shows_what_it_says_and_pages_from_any_position(world: World) {
    let mine = world.memory_at(own("ann"), project("p"), "k");
    let narrow = world.memory_at(own("ann"), task("p", "t"), "k");
    let wide = world.memory("k");
    let shared = world.memory_at(Owner::SHARED, project("p"), "k");
    for memory in [&mine, &narrow, &wide, &shared] {
        world.put(memory).await;
    }
    let everything = [shared.clone(), wide.clone(), mine.clone(), narrow.clone()];
    let reach = world.reach("ann");
    let ranges = [
        (Range::All, everything.to_vec()),
        (Range::Owner(own("ann")), vec![wide.clone(), mine.clone(), narrow.clone()]),
        (Range::Owner(Owner::SHARED), vec![shared.clone()]),
        (Range::One(own("ann"), project("p")), vec![mine.clone()]),
        (Range::One(own("ann"), Level::General), vec![wide.clone()]),
        (Range::One(Owner::SHARED, project("p")), vec![shared.clone()]),
        (Range::One(Owner::SHARED, Level::General), vec![]),
    ];
    for (range, expected) in &ranges {
        let page = world.store.memories(&reach, range, None, 10).await.unwrap();
        assert_eq!(&page.memories, expected, "{range:?}");
        for after in &everything {
            let page = world.store.memories(&reach, range, Some(&position(after)), 10).await.unwrap();
            let passed = everything.iter().position(|memory| memory == after).unwrap();
            let rest: Vec<_> = everything[passed + 1..].iter().filter(|memory| expected.contains(memory)).collect();
            assert_eq!(page.memories.iter().collect::<Vec<_>>(), rest, "{range:?} after {:?}", after.address);
        }
    }
    for memory in &everything {
        let address = &memory.address;
        world.hold(&world.candidate_at(address.owner.clone(), address.level.clone(), "k")).await;
    }
    for (range, expected) in &ranges {
        let page = world.store.candidates(&reach, range, None, 10, at(0)).await.unwrap();
        let mut addresses: Vec<_> = page.candidates.iter().map(|candidate| candidate.address.clone()).collect();
        addresses.sort_by_key(|address| (address.owner.as_str().to_owned(), address.level.clone()));
        let expected: Vec<_> = expected.iter().map(|memory| memory.address.clone()).collect();
        assert_eq!(addresses, expected, "{range:?}");
    }
}

pub(crate) async fn b09_rows_of_one_instant_page_without_loss(world: World) {
    let mut change = world.change();
    for i in 0..25 {
        change.writes.push(Write::Candidate(Box::new(world.candidate(&format!("c{i}")))));
        change.writes.push(Write::Memory(Box::new(world.memory(&format!("m{i}")))));
    }
    world.commit(change).await.unwrap();
    let reach = world.reach("ann");
    for size in [1, 7, 24, 25, 26] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = world.store.candidates(&reach, &Range::All, after, size, at(0)).await.unwrap();
            assert!(page.candidates.len() <= size as usize);
            seen.extend(page.candidates.iter().map(|candidate| candidate.id));
            after = page.candidates.last().map(|candidate| (candidate.create_time, candidate.id));
            if !page.more {
                break;
            }
        }
        assert_eq!(seen.len(), 25, "pages of {size}");
        assert!(seen.is_sorted());
        let (mut keys, mut after) = (Vec::new(), None);
        loop {
            let page = world.store.memories(&reach, &Range::All, after.as_ref(), size).await.unwrap();
            keys.extend(page.memories.iter().map(|memory| memory.address.key.clone()));
            after = page.memories.last().map(position);
            if !page.more {
                break;
            }
        }
        keys.dedup();
        assert_eq!(keys.len(), 25, "pages of {size}");
    }
}

pub(crate) async fn a_candidate_lapses_at_its_instant(world: World) {
    let candidate = world.candidate("k");
    world.hold(&candidate).await;
    let reach = world.reach("ann");
    let lapse = candidate.lapse_time.micros();
    for (now, shown) in [(lapse - 1, true), (lapse, false), (lapse + 1, false)] {
        let now = Time::from_micros(now);
        assert_eq!(world.store.candidate(&reach, candidate.id, now).await.unwrap().is_some(), shown);
        let page = world.store.candidates(&reach, &Range::All, None, 10, now).await.unwrap();
        assert_eq!(page.candidates.len(), usize::from(shown));
        let request = ViewRequest { all: true, now, ..world.ask("ann", Level::General) };
        assert_eq!(world.store.view(&request).await.unwrap().candidates.len(), usize::from(shown));
    }
}

pub(crate) async fn a_row_without_confidence_reads_as_none(world: World) {
    let memory = world.memory("k");
    world.put(&memory).await;
    world.tamper("UPDATE memories SET confidence = NULL WHERE tenant = $1").await;
    let read = world.store.memory(&world.reach("ann"), memory.id).await.unwrap().unwrap();
    assert_eq!(read, Memory { confidence: None, ..memory });
    assert_eq!(world.view_all("ann", Level::General).await.memories[0].confidence, None);
}

pub(crate) async fn i08_a_code_or_list_that_no_version_writes_reads_as_not_intact(world: World) {
    use recall_gate::memory::{Consent, Evidence, Sensitivity, Trust};

    for name in ["state", "trust", "evidence", "sensitivity", "consent", "list", "kind"] {
        world.put(&world.memory(name)).await;
    }
    for sql in [
        "UPDATE memories SET state = 99 WHERE tenant = $1 AND key = 'state'",
        "UPDATE memories SET lineage_trust = 99 WHERE tenant = $1 AND key = 'trust'",
        "UPDATE memories SET evidence = 99 WHERE tenant = $1 AND key = 'evidence'",
        "UPDATE memories SET sensitivity = 99 WHERE tenant = $1 AND key = 'sensitivity'",
        "UPDATE memories SET consent = 99 WHERE tenant = $1 AND key = 'consent'",
        "UPDATE memories SET purposes = 'converse' WHERE tenant = $1 AND key = 'list'",
        "UPDATE memories SET kind = '\u{7}' WHERE tenant = $1 AND key = 'kind'",
    ] {
        world.tamper(sql).await;
    }
    let page = world.store.memories(&world.reach("ann"), &Range::All, None, 10).await.unwrap();
    assert_eq!(page.memories.len(), 7);
    for memory in page.memories {
        assert!(!memory.intact, "{}", memory.address.key);
        match memory.address.key.as_str() {
            "state" => assert_ne!(memory.state, State::Active),
            "trust" => assert_eq!(memory.lineage_trust, Trust::Untrusted),
            "evidence" => assert_eq!(memory.evidence, Evidence::None),
            "sensitivity" => assert_eq!(memory.sensitivity, Sensitivity::Restricted),
            "consent" => assert_eq!(memory.consent, Consent::Withdrawn),
            "list" => assert!(!memory.purposes.is_empty(), "an empty list would allow every purpose"),
            _ => {}
        }
    }
    let candidate = world.candidate("k");
    world.hold(&candidate).await;
    world.tamper("UPDATE candidates SET sensitivity = 99 WHERE tenant = $1").await;
    let read = world.store.candidate(&world.reach("ann"), candidate.id, at(0)).await.unwrap().unwrap();
    assert_eq!((read.sensitivity, read.lineage_trust), (Sensitivity::Restricted, Trust::Untrusted));
}
