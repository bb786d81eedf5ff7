//! Whose rows a call can touch.

use recall_gate::memory::{CandidateId, Level, MemoryId, Owner, Revision, TenantId, Version};
use recall_gate::store::{
    Block, BlockCause, Error, Expect, PlaceRequest, Range, Reach, SearchRead, ViewRequest, Write,
};

use crate::fixture::{World, at, contended, key, own, owned, project, subject, task, text, uuid};

pub(crate) async fn i02_no_read_shows_another_tenant_or_subject(world: World) {
    let memory = world.memory_at(own("ann"), project("p"), "k");
    let candidate = world.candidate_at(own("ann"), project("p"), "k");
    world.put(&memory).await;
    world.hold(&candidate).await;
    let mut change = world.change();
    let block = Block { owner: own("ann"), cause: BlockCause::Deleted, memory_id: Some(memory.id), since: at(0) };
    change.writes = vec![Write::Block { block, reference: text("message 17"), key: key("k") }];
    let (replay_key, record) = world.replay(uuid());
    change.replay = Some((replay_key.clone(), record));
    world.commit(change).await.unwrap();

    let elsewhere = TenantId::new(format!("other-{}", uuid())).unwrap();
    let strangers = [
        Reach { tenant: world.tenant.clone(), subject: subject("bob") },
        Reach { tenant: elsewhere, subject: subject("ann") },
    ];
    let store = &world.store;
    for reach in strangers {
        let stranger = reach.subject.clone();
        let request = ViewRequest {
            reach: reach.clone(),
            keys: vec![key("k")],
            ids: vec![memory.id],
            all: true,
            search: Some(SearchRead::Substring([text("value"), text("value")])),
            ..world.ask("ann", project("p"))
        };
        let view = store.view(&request).await.unwrap();
        assert_eq!((view.memories, view.candidates, view.holding.len()), (Vec::new(), Vec::new(), 0));
        assert!(view.revisions.iter().all(|scope| scope.revision == Revision(0)));
        assert_eq!(view.newest_update_time, None);
        assert_eq!(store.values(&reach, &[(memory.id, Version(1))]).await.unwrap(), []);
        assert_eq!(store.memory(&reach, memory.id).await.unwrap(), None);
        assert_eq!(store.candidate(&reach, candidate.id, at(0)).await.unwrap(), None);
        for range in [Range::All, Range::Owner(own("ann")), Range::One(own("ann"), project("p"))] {
            if reach.tenant == world.tenant || range == Range::All {
                assert_eq!(store.memories(&reach, &range, None, 10).await.unwrap().memories, []);
                assert_eq!(store.candidates(&reach, &range, None, 10, at(0)).await.unwrap().candidates, []);
            }
        }
        let request = PlaceRequest {
            address: memory.address.clone(),
            blocked_as: memory.address.key.clone(),
            reach: reach.clone(),
            references: vec![text("message 17")],
            parents: vec![memory.id],
        };
        let place = store.place(&request).await.unwrap();
        assert_eq!((place.current, place.parents, place.blocks), (None, Vec::new(), Vec::new()));
        assert_eq!((place.revision.revision, place.block_epoch), (Revision(0), 0));
        let mut stolen = replay_key.clone();
        (stolen.tenant, stolen.subject) = (reach.tenant.clone(), stranger);
        assert_eq!(store.replay(&stolen, at(0)).await.unwrap(), None);
    }
}

pub(crate) async fn i02_no_change_reaches_another_tenant_or_subject(world: World) {
    let memory = world.memory("k");
    let candidate = world.candidate("k");
    world.put(&memory).await;
    world.hold(&candidate).await;

    let mut erase = world.change_of(own("bob"), subject("bob"));
    erase.writes = vec![Write::EraseCandidate(candidate.id)];
    assert!(contended(&world.commit(erase).await));
    let mut expect = world.change_of(own("bob"), subject("bob"));
    expect.expect = vec![Expect::Memory(memory.id, Version(1))];
    assert!(contended(&world.commit(expect).await));
    let mut expect = world.change_of(own("bob"), subject("bob"));
    expect.expect = vec![Expect::Candidate(candidate.id)];
    assert!(contended(&world.commit(expect).await));

    let mut theft = world.change_of(own("ann"), subject("bob"));
    theft.writes = vec![Write::Memory(Box::new(world.memory("stolen")))];
    let refused = world.commit(theft).await.unwrap_err();
    assert!(matches!(refused, recall_gate::store::CommitError::Store(Error::Corrupt(_))));
    assert!(world.store.candidate(&world.reach("ann"), candidate.id, at(0)).await.unwrap().is_some());
    assert_eq!(world.store.memories(&world.reach("ann"), &Range::All, None, 9).await.unwrap().memories, [memory]);
}

pub(crate) async fn i02_shared_rows_are_seen_by_every_subject_of_the_tenant_alone(world: World) {
    let memory = world.memory_at(Owner::SHARED, Level::General, "k");
    let candidate = world.candidate_at(Owner::SHARED, Level::General, "k");
    world.put(&memory).await;
    world.hold(&candidate).await;
    for name in ["ann", "bob"] {
        let reach = world.reach(name);
        assert_eq!(world.store.memory(&reach, memory.id).await.unwrap().as_ref(), Some(&memory));
        assert!(world.store.candidate(&reach, candidate.id, at(0)).await.unwrap().is_some());
        assert_eq!(world.view_all(name, project("p")).await.memories.len(), 1);
        let values = world.store.values(&reach, &[(memory.id, Version(1))]).await.unwrap();
        assert_eq!(values, [(memory.id, text("the value of k"))]);
    }
    let foreign = Reach { tenant: TenantId::new("somebody else").unwrap(), subject: subject("ann") };
    assert_eq!(world.store.memory(&foreign, memory.id).await.unwrap(), None);
    assert_eq!(world.store.candidate(&foreign, CandidateId(uuid()), at(0)).await.unwrap(), None);
    assert_eq!(world.store.memory(&foreign, MemoryId(uuid())).await.unwrap(), None);
}

pub(crate) async fn b02_project_and_task_ids_match_whole_or_not_at_all(world: World) {
    let mine = world.memory_at(own("ann"), project("alpha"), "k");
    world.put(&mine).await;
    world.put(&world.memory_at(own("ann"), task("alpha", "one"), "k")).await;
    for other in ["alpha2", "alpha-labs", "alphabet", "alpha/one", "xalpha", "Alpha", "alph", "alpha "] {
        world.put(&world.memory_at(own("ann"), project(other), "k")).await;
        world.put(&world.memory_at(own("ann"), task("alpha", &format!("{other}x")), "k")).await;
    }
    let mut request = world.ask("ann", project("alpha"));
    request.keys = vec![key("k")];
    assert_eq!(owned(world.store.view(&request).await.unwrap().memories), std::slice::from_ref(&mine));
    let range = Range::One(own("ann"), project("alpha"));
    let page = world.store.memories(&world.reach("ann"), &range, None, 100).await.unwrap();
    assert_eq!(page.memories, [mine]);
    let narrow = owned(world.view_all("ann", task("alpha", "one")).await.memories);
    assert_eq!(narrow.len(), 2);
}

pub(crate) async fn b05_percent_underscore_quotes_and_case_are_literal(world: World) {
    let names = [
        "50%", "50x", "a_b", "axb", "o'brien", "o''brien", "q\"q", "A", "a", "a;b", "$1", "\\", "[\"a\"]", " a ", "1",
        "1.0", "null",
    ];
    for name in names {
        world.put(&world.memory_at(own(name), project(name), name)).await;
    }
    for name in names {
        let mut request = world.ask(name, project(name));
        request.keys = vec![key(name)];
        let found = owned(world.store.view(&request).await.unwrap().memories);
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(found[0].address, world.address(own(name), project(name), name));
        let page = world.store.memories(&world.reach(name), &Range::All, None, 100).await.unwrap();
        assert_eq!(page.memories, found);
    }
}
