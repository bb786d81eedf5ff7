//! What a change writes, and when it writes nothing.

use recall_gate::memory::{
    CandidateId, Level, MemoryId, Owner, Revision, ScopeRevision, State, TenantId, Text, Time, Version,
};
use recall_gate::store::{Announcement, Block, BlockCause, Change, CommitError, Error, Expect, PlaceRequest, Write};

use crate::fixture::{World, at, contended, expect_at, key, next, own, project, subject, task, text, uuid};

pub(crate) async fn i03_an_address_has_one_memory_and_a_memory_one_address(world: World) {
    let first = world.memory("k");
    world.put(&first).await;
    let mut rival = world.change();
    rival.expect = vec![Expect::Address(first.address.clone(), None)];
    rival.writes = vec![Write::Memory(Box::new(world.memory("k")))];
    assert!(contended(&world.commit(rival).await));

    let mut twin = world.memory("elsewhere");
    twin.id = first.id;
    let mut change = world.change();
    change.writes = vec![Write::Memory(Box::new(twin))];
    assert!(contended(&world.commit(change).await));

    let mut stolen = world.memory_at(own("bob"), Level::General, "k");
    stolen.id = first.id;
    let mut change = world.change_of(own("bob"), subject("bob"));
    change.writes = vec![Write::Memory(Box::new(stolen))];
    assert!(contended(&world.commit(change).await));

    world.put(&next(&first, "newer")).await;
    assert_eq!(world.number("SELECT count(*) FROM memories WHERE tenant = $1").await, 1);
    assert_eq!(world.number("SELECT version FROM memories WHERE tenant = $1").await, 2);
}

pub(crate) async fn i03_versions_form_one_chain_with_one_newest(world: World) {
    let one = world.memory("k");
    let two = next(&one, "two");
    let three = next(&two, "three");
    for memory in [&one, &two, &three] {
        world.put(memory).await;
    }
    let mut again = world.change();
    again.writes = vec![Write::Memory(Box::new(two))];
    assert!(contended(&world.commit(again).await));
    let links = "SELECT count(*) FROM memory_versions WHERE tenant = $1 AND superseded_by = version + 1";
    assert_eq!(world.number(links).await, 2);
    let newest = "SELECT sum(version) FROM memory_versions WHERE tenant = $1 AND superseded_by IS NULL";
    assert_eq!(world.number(newest).await, 3);
    let texts = "SELECT count(DISTINCT value) FROM memory_versions WHERE tenant = $1";
    assert_eq!(world.number(texts).await, 3);
}

/// What holds and what does not, of every kind.
fn expectations(world: &World, memory: &recall_gate::memory::Memory, candidate: CandidateId) -> [Vec<Expect>; 2] {
    let nowhere = world.address(own("ann"), Level::General, "nothing");
    let scope = |revision| ScopeRevision { owner: own("ann"), level: Level::General, revision: Revision(revision) };
    let empty = |revision| ScopeRevision { owner: Owner::SHARED, level: project("p"), revision: Revision(revision) };
    let holds = vec![
        expect_at(memory),
        Expect::Address(nowhere.clone(), None),
        Expect::Memory(memory.id, memory.version),
        Expect::BlockEpoch(own("ann"), 0),
        Expect::Revision(scope(2)),
        Expect::Revision(empty(0)),
        Expect::Candidate(candidate),
    ];
    let stale = vec![
        Expect::Address(memory.address.clone(), None),
        Expect::Address(memory.address.clone(), Some((memory.id, Version(1)))),
        Expect::Address(memory.address.clone(), Some((MemoryId(uuid()), memory.version))),
        Expect::Address(nowhere, Some((memory.id, memory.version))),
        Expect::Memory(memory.id, Version(1)),
        Expect::Memory(MemoryId(uuid()), Version(1)),
        Expect::BlockEpoch(own("ann"), 1),
        Expect::BlockEpoch(Owner::SHARED, 1),
        Expect::Revision(scope(1)),
        Expect::Revision(scope(3)),
        Expect::Revision(empty(1)),
        Expect::Candidate(CandidateId(uuid())),
    ];
    [holds, stale]
}

async fn prepared(world: &World) -> [Vec<Expect>; 2] {
    let first = world.memory("k");
    world.put(&first).await;
    let second = next(&first, "newer");
    world.put(&second).await;
    let candidate = world.candidate("k");
    world.hold(&candidate).await;
    expectations(world, &second, candidate.id)
}

/// A change that writes into every table.
fn broad(world: &World) -> Change {
    let mut change = world.change();
    let block = Block { owner: own("ann"), cause: BlockCause::Deleted, memory_id: None, since: at(0) };
    change.writes = vec![
        Write::Memory(Box::new(world.memory_at(own("ann"), project("fresh"), "fresh"))),
        Write::Candidate(Box::new(world.candidate("fresh"))),
        Write::Block { block, reference: text("fresh"), key: key("fresh") },
    ];
    change.announce = Some(Announcement::Activated);
    change.replay = Some(world.replay(uuid()));
    change
}

pub(crate) async fn i04_a_stale_expectation_of_any_kind_writes_nothing(world: World) {
    let [holds, stale] = prepared(&world).await;
    let before = world.rows().await;
    for expect in stale {
        let mut change = broad(&world);
        change.expect = holds.clone();
        change.expect.push(expect.clone());
        assert!(contended(&world.commit(change).await), "{expect:?}");
        assert_eq!(world.rows().await, before, "{expect:?}");
    }
}

pub(crate) async fn i04_an_expectation_that_holds_lets_the_change_through(world: World) {
    let [holds, _] = prepared(&world).await;
    let mut change = broad(&world);
    change.expect = holds;
    world.commit(change).await.unwrap();
}

pub(crate) async fn i05_a_change_that_fails_late_leaves_nothing_behind(world: World) {
    let mut first = broad(&world);
    let taken = first.judgement.decision_id;
    let outcome = world.replay(uuid());
    first.replay = Some(outcome.clone());
    world.commit(first).await.unwrap();
    let before = world.rows().await;
    let counters = "SELECT counter * 1000 + block_epoch FROM owners WHERE tenant = $1";
    let counter = world.number(counters).await;
    let fresh = |mut change: Change, name: &str| {
        change.writes.truncate(1);
        change.writes[0] = Write::Memory(Box::new(world.memory(name)));
        change.writes.push(Write::Candidate(Box::new(world.candidate(name))));
        change
    };

    let mut kept_twice = fresh(broad(&world), "one");
    kept_twice.replay = Some(outcome);
    assert!(contended(&world.commit(kept_twice).await));
    assert_eq!(world.rows().await, before);

    let mut decided_twice = fresh(broad(&world), "two");
    decided_twice.judgement.decision_id = taken;
    assert!(contended(&world.commit(decided_twice).await));
    assert_eq!(world.rows().await, before);
    assert_eq!(world.number(counters).await, counter);

    world.commit(fresh(broad(&world), "three")).await.unwrap();
    let after = world.rows().await;
    assert_eq!(after[0] - before[0], 1);
    assert_eq!(after[9] - before[9], 1);
}

pub(crate) async fn a_change_raises_counter_and_revision_once_however_much_it_writes(world: World) {
    let mut change = world.change();
    let levels = [Level::General, Level::General, project("p"), task("p", "t")];
    for (i, level) in levels.into_iter().enumerate() {
        let memory = world.memory_at(own("ann"), level, &format!("k{i}"));
        change.writes.push(Write::Memory(Box::new(memory)));
    }
    world.commit(change).await.unwrap();
    let view = world.view_all("ann", task("p", "t")).await;
    let own_scopes: Vec<_> = view.revisions.iter().filter(|scope| scope.owner == own("ann")).collect();
    assert!(own_scopes.iter().all(|scope| scope.revision == Revision(1)), "{own_scopes:?}");
    world.put(&world.memory_at(own("ann"), project("p"), "more")).await;
    let view = world.view_all("ann", task("p", "t")).await;
    let revisions: Vec<_> =
        view.revisions.iter().filter(|scope| scope.owner == own("ann")).map(|scope| scope.revision.0).collect();
    assert_eq!(revisions, [1, 2, 1]);
}

pub(crate) async fn a_change_that_only_records_raises_nothing(world: World) {
    world.put(&world.memory("k")).await;
    let before = world.rows().await;
    let revision = world.view_all("ann", Level::General).await.revisions;
    for _ in 0..3 {
        world.commit(world.change()).await.unwrap();
    }
    let mut nobody = world.change();
    nobody.subject = None;
    nobody.judgement.subject = None;
    world.commit(nobody).await.unwrap();
    world.hold(&world.candidate("k")).await;
    let mut after = world.rows().await;
    assert_eq!(after[9], before[9] + 5);
    assert_eq!(after[2], before[2] + 1);
    (after[9], after[2]) = (before[9], before[2]);
    assert_eq!(after, before);
    assert_eq!(world.view_all("ann", Level::General).await.revisions, revision);
    assert_eq!(world.number("SELECT sum(counter + block_epoch) FROM owners WHERE tenant = $1").await, 1);
}

pub(crate) async fn the_feed_has_a_gapless_position_per_tenant(world: World) {
    for name in ["ann", "bob", "ann", "carl"] {
        let key = format!("k{}", uuid());
        world.put(&world.memory_at(own(name), Level::General, &key)).await;
        let mut refused = world.change();
        refused.expect = vec![Expect::BlockEpoch(own("ann"), 7)];
        refused.writes = vec![Write::Memory(Box::new(world.memory("refused")))];
        refused.announce = Some(Announcement::Activated);
        assert!(contended(&world.commit(refused).await));
    }
    assert_eq!(world.number("SELECT count(*) FROM feed WHERE tenant = $1").await, 4);
    world.until_numbered().await;
    assert_eq!(world.number("SELECT count(DISTINCT position) FROM feed WHERE tenant = $1").await, 4);
    assert_eq!(world.number("SELECT max(position) FROM feed WHERE tenant = $1").await, 4);
    assert_eq!(world.number("SELECT max(counter) FROM feed WHERE tenant = $1").await, 2);
    let mut silent = world.change();
    silent.writes = vec![Write::Memory(Box::new(world.memory("silent")))];
    world.commit(silent).await.unwrap();
    assert_eq!(world.number("SELECT count(*) FROM feed WHERE tenant = $1").await, 4);
    world.tamper("DELETE FROM feed WHERE tenant = $1").await;
    world.put(&world.memory("later")).await;
    world.until_numbered().await;
    assert_eq!(world.number("SELECT position FROM feed WHERE tenant = $1").await, 5);
}

pub(crate) async fn lineage_names_source_parents_and_references_of_each_version(world: World) {
    let parent = world.memory("parent");
    world.put(&parent).await;
    let before = world.number("SELECT count(*) FROM lineage WHERE tenant = $1").await;
    let mut child = world.memory("child");
    child.source.parents = vec![parent.id];
    world.put(&child).await;
    world.put(&next(&child, "newer")).await;
    assert_eq!(world.number("SELECT count(*) FROM lineage WHERE tenant = $1").await, before + 8);
    let parents = "SELECT count(DISTINCT version) FROM lineage WHERE tenant = $1 AND relation = 2 AND parent_id IN \
                   (SELECT memory_id FROM memories WHERE tenant = $1 AND key = 'parent')";
    assert_eq!(world.number(parents).await, 2);
    let readable = "SELECT count(*) FROM lineage WHERE tenant = $1 AND length(reference_digest) NOT IN (0, 32)";
    assert_eq!(world.number(readable).await, 0);
}

pub(crate) async fn i14_a_block_is_met_at_every_scope_by_reference_and_key_or_by_parent(world: World) {
    let memory = world.memory("k");
    world.put(&memory).await;
    let block = Block { owner: own("ann"), cause: BlockCause::Deleted, memory_id: Some(memory.id), since: at(3) };
    let mut change = world.change();
    change.writes = vec![Write::Block { block: block.clone(), reference: text("message 17"), key: key("k") }];
    world.commit(change).await.unwrap();

    let ask = async |owner: Owner, level: Level, name: &str, references: &[&str], parents: &[MemoryId]| {
        let request = PlaceRequest {
            address: world.address(owner, level, name),
            blocked_as: key(name),
            reach: world.reach("ann"),
            references: references.iter().map(|reference| text(reference)).collect(),
            parents: parents.to_vec(),
        };
        world.store.place(&request).await.unwrap()
    };
    for level in [Level::General, project("p"), task("p", "t")] {
        let place = ask(own("ann"), level.clone(), "k", &["other", "message 17"], &[]).await;
        assert_eq!((place.blocks, place.block_epoch), (vec![block.clone()], 1));
        let place = ask(own("ann"), level, "anything", &[], &[MemoryId(uuid()), memory.id]).await;
        assert_eq!(place.blocks, std::slice::from_ref(&block));
    }
    let both = ask(own("ann"), Level::General, "k", &["message 17"], &[memory.id]).await;
    assert_eq!(both.blocks, std::slice::from_ref(&block));
    assert_eq!(ask(own("ann"), Level::General, "other", &["message 17"], &[]).await.blocks, []);
    assert_eq!(ask(own("ann"), Level::General, "k", &["message 18", ""], &[]).await.blocks, []);
    assert_eq!(ask(Owner::SHARED, Level::General, "k", &["message 17"], &[]).await.blocks, []);
    assert_eq!(ask(Owner::SHARED, Level::General, "x", &[], &[memory.id]).await.blocks, [block]);

    let mut unreferenced = world.change();
    let bare = Block { owner: own("ann"), cause: BlockCause::Deleted, memory_id: None, since: at(3) };
    unreferenced.writes = vec![Write::Block { block: bare, reference: Text::default(), key: key("bare") }];
    world.commit(unreferenced).await.unwrap();
    let place = ask(own("ann"), Level::General, "bare", &[""], &[]).await;
    assert_eq!((place.blocks, place.block_epoch), (Vec::new(), 2));
}

pub(crate) async fn i14_unblocking_lifts_a_deletion_and_nothing_else(world: World) {
    let id = MemoryId(uuid());
    let block = |cause| Block { owner: own("ann"), cause, memory_id: Some(id), since: at(0) };
    let mut change = world.change();
    for cause in [BlockCause::Deleted, BlockCause::Forgotten, BlockCause::Revoked] {
        change.writes.push(Write::Block { block: block(cause), reference: text("r"), key: key("k") });
    }
    world.commit(change).await.unwrap();
    let mut change = world.change();
    change.writes = vec![Write::Unblock(own("ann"), MemoryId(uuid())), Write::Unblock(own("ann"), id)];
    world.commit(change).await.unwrap();
    let request = PlaceRequest {
        address: world.address(own("ann"), Level::General, "k"),
        blocked_as: key("k"),
        reach: world.reach("ann"),
        references: vec![text("r")],
        parents: Vec::new(),
    };
    let place = world.store.place(&request).await.unwrap();
    let mut causes: Vec<_> = place.blocks.iter().map(|block| block.cause).collect();
    causes.sort_unstable();
    assert_eq!(causes, [BlockCause::Forgotten, BlockCause::Revoked]);
    assert_eq!(place.block_epoch, 2);
    assert_eq!(world.number("SELECT counter FROM owners WHERE tenant = $1").await, 0);
}

pub(crate) async fn an_erased_candidate_is_gone_and_is_erased_once(world: World) {
    let candidate = world.candidate("k");
    world.hold(&candidate).await;
    let erase = || {
        let mut change = world.change();
        change.expect = vec![Expect::Candidate(candidate.id)];
        change.writes = vec![Write::EraseCandidate(candidate.id)];
        change
    };
    world.commit(erase()).await.unwrap();
    assert_eq!(world.store.candidate(&world.reach("ann"), candidate.id, at(0)).await.unwrap(), None);
    assert_eq!(world.view_all("ann", Level::General).await.candidates, []);
    assert!(contended(&world.commit(erase()).await));
    let mut unexpected = erase();
    unexpected.expect.clear();
    assert!(contended(&world.commit(unexpected).await));
}

pub(crate) async fn a_change_that_is_not_of_one_piece_is_refused_as_a_defect(world: World) {
    let before = world.rows().await;
    let elsewhere = TenantId::new("elsewhere").unwrap();
    let wrong: [fn(&World, &TenantId, &mut Change); 9] = [
        |world, _, change| {
            let memory = world.memory("k");
            change.writes = vec![Write::Memory(Box::new(crate::fixture::without_value(&memory)))];
        },
        |world, elsewhere, change| {
            let mut memory = world.memory("k");
            memory.address.tenant = elsewhere.clone();
            change.writes = vec![Write::Memory(Box::new(memory))];
        },
        |world, _, change| {
            let memory = world.memory_at(Owner::SHARED, Level::General, "k");
            change.writes = vec![Write::Memory(Box::new(memory))];
        },
        |world, _, change| {
            let mut candidate = world.candidate("k");
            candidate.value = None;
            change.writes = vec![Write::Candidate(Box::new(candidate))];
        },
        |world, _, change| {
            change.subject = None;
            change.writes = vec![Write::Memory(Box::new(world.memory("k")))];
        },
        |_, elsewhere, change| change.judgement.tenant = elsewhere.clone(),
        |world, elsewhere, change| {
            let mut replay = world.replay(uuid());
            replay.0.tenant = elsewhere.clone();
            change.replay = Some(replay);
        },
        |_, _, change| change.writes = vec![Write::Unblock(own("bob"), MemoryId(uuid()))],
        |_, _, change| change.expect = vec![Expect::BlockEpoch(own("bob"), 0)],
    ];
    for (i, break_it) in wrong.into_iter().enumerate() {
        let mut change = world.change();
        break_it(&world, &elsewhere, &mut change);
        let refused = world.commit(change).await.unwrap_err();
        assert!(matches!(refused, CommitError::Store(Error::Corrupt(_))), "{i}: {refused:?}");
    }
    assert_eq!(world.rows().await, before);

    let mut forgotten = world.memory("forgotten");
    (forgotten.state, forgotten.value) = (State::Forgotten, None);
    world.put(&forgotten).await;
}

pub(crate) async fn what_is_over_is_erased_and_nothing_else(world: World) {
    let candidate = world.candidate("k");
    world.hold(&candidate).await;
    let lapse = candidate.lapse_time.micros();
    let before = world.rows().await;
    assert_eq!(world.store.tidy(Time::from_micros(lapse - 1), 100).await.unwrap(), 0);
    assert_eq!(world.rows().await, before);
    assert_eq!(world.store.tidy(candidate.lapse_time, 0).await.unwrap(), 0);
    assert_eq!(world.store.tidy(candidate.lapse_time, 100).await.unwrap(), 1);
    assert_eq!(world.number("SELECT count(*) FROM candidates WHERE tenant = $1").await, 0);
    assert_eq!(world.number("SELECT count(*) FROM decisions WHERE tenant = $1").await, before[9]);
}
