//! Changes that are committed together.

use recall_gate::memory::{Level, Owner, Version};
use recall_gate::store::{Announcement, Change, CommitError, Expect, Write};
use tokio::task::JoinSet;

use crate::fixture::{World, at, contended, expect_at, next, own, subject, uuid};

fn writing(world: &World, owner: Owner, name: &str) -> Change {
    let mut change = world.change_of(owner.clone(), subject("ann"));
    change.writes = vec![Write::Memory(Box::new(world.memory_at(owner, Level::General, name)))];
    change.announce = Some(Announcement::Activated);
    change
}

pub(crate) async fn i05_changes_committed_together_are_all_there_or_none(world: World) {
    let before = world.rows().await;
    let fine = || vec![writing(&world, own("ann"), "one"), writing(&world, Owner::SHARED, "two")];
    let mut stale = writing(&world, own("ann"), "three");
    stale.expect = vec![Expect::BlockEpoch(own("ann"), 9)];
    for place in 0..3 {
        let mut changes = fine();
        let mut copy = writing(&world, own("ann"), "three");
        copy.expect.clone_from(&stale.expect);
        copy.replay = Some(world.replay(uuid()));
        changes.insert(place, copy);
        assert!(contended(&world.store.commit_all(changes).await), "{place}");
        assert_eq!(world.rows().await, before, "{place}");
    }
    // One that is not of one piece is a defect, and fails the others too.
    let mut foreign = writing(&world, own("ann"), "three");
    foreign.owner = own("bob");
    let mut changes = fine();
    changes.push(foreign);
    assert!(matches!(world.store.commit_all(changes).await, Err(CommitError::Store(_))));
    assert_eq!(world.rows().await, before);
    world.store.commit_all(fine()).await.unwrap();
    let memories = world.number("SELECT count(*) FROM memories WHERE tenant = $1").await;
    let feed = world.number("SELECT count(*) FROM feed WHERE tenant = $1").await;
    assert_eq!((memories, feed), (2, 2));
}

pub(crate) async fn a_change_sees_what_those_before_it_wrote(world: World) {
    let first = world.memory("k");
    let second = next(&first, "newer");
    let change = |memory: &recall_gate::memory::Memory, expect| {
        let mut change = world.change();
        change.expect = vec![expect];
        change.writes = vec![Write::Memory(Box::new(memory.clone()))];
        change
    };
    let nothing = Expect::Address(first.address.clone(), None);
    let blind = vec![change(&first, nothing.clone()), change(&second, nothing.clone())];
    assert!(contended(&world.store.commit_all(blind).await));
    let seeing = vec![change(&first, nothing), change(&second, expect_at(&first))];
    world.store.commit_all(seeing).await.unwrap();
    let found = world.store.memory(&world.reach("ann"), first.id).await.unwrap().unwrap();
    assert_eq!(found.version, Version(2));
    assert_eq!(world.number("SELECT counter FROM owners WHERE tenant = $1").await, 2);
}

pub(crate) async fn changes_committed_together_are_answered_in_their_order_after_one_flush(world: World) {
    let before = world.ledger_counts();
    let changes: Vec<Change> = (0..100).map(|i| writing(&world, own("ann"), &format!("k{i}"))).collect();
    let ids: Vec<_> = changes.iter().map(|change| change.judgement.decision_id).collect();
    let recorded = world.store.commit_all(changes).await.unwrap();
    assert_eq!(recorded.iter().map(|one| one.get().decision_id).collect::<Vec<_>>(), ids);
    if let (Some(before), Some(after)) = (before, world.ledger_counts()) {
        assert_eq!((after.groups - before.groups, after.changes - before.changes), (1, 100));
    }
    assert_eq!(world.number("SELECT count(*) FROM decisions WHERE tenant = $1").await, 100);
}

pub(crate) async fn the_outcomes_of_a_batch_are_kept_in_their_order(world: World) {
    let (key, mut record) = world.replay(uuid());
    let further = |version| recall_gate::memory::Receipt { version: Some(Version(version)), ..record.receipt.clone() };
    record.further = vec![further(7), further(5)];
    let mut change = writing(&world, own("ann"), "k");
    change.replay = Some((key.clone(), record.clone()));
    world.store.commit_all(vec![writing(&world, own("ann"), "j"), change]).await.unwrap();
    let kept = world.store.replay(&key, at(0)).await.unwrap().unwrap();
    let versions: Vec<_> = kept.further.iter().map(|one| (one.version, one.replayed)).collect();
    assert_eq!(versions, [(Some(Version(7)), true), (Some(Version(5)), true)]);
    assert_eq!(kept.payload_digest, record.payload_digest);
}

pub(crate) async fn a_refused_batch_does_not_harm_its_group(world: World) {
    let mut calls = JoinSet::new();
    for i in 0..40 {
        let mut changes: Vec<_> = (0..3).map(|j| writing(&world, own("ann"), &format!("k{i}-{j}"))).collect();
        if i % 2 == 0 {
            changes[2].expect = vec![Expect::BlockEpoch(own("ann"), 9)];
        }
        let store = world.store.clone();
        calls.spawn(async move { (i, store.commit_all(changes).await) });
    }
    for (i, result) in calls.join_all().await {
        assert_eq!(contended(&result), i % 2 == 0, "{i}: {result:?}");
    }
    assert_eq!(world.number("SELECT count(*) FROM memories WHERE tenant = $1").await, 60);
    assert_eq!(world.number("SELECT counter FROM owners WHERE tenant = $1").await, 60);
}
