//! Many at once, and calls that go away.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use recall_gate::memory::{Level, Version};
use recall_gate::store::{Expect, Range, Write};
use tokio::task::JoinSet;

use crate::fixture::{World, contended, expect_at, next};

pub(crate) async fn changes_that_wait_are_committed_together_and_each_is_answered(world: World) {
    let before = world.ledger_counts();
    let mut calls = JoinSet::new();
    for i in 0..64 {
        let mut change = world.change();
        change.writes = vec![Write::Memory(Box::new(world.memory(&format!("k{i}"))))];
        let store = world.store.clone();
        calls.spawn(async move { store.commit(change).await });
    }
    for result in calls.join_all().await {
        result.unwrap();
    }
    if let (Some(before), Some(after)) = (before, world.ledger_counts()) {
        assert_eq!(after.changes - before.changes, 64);
        assert!(after.groups - before.groups < 64, "{after:?}");
    }
    assert_eq!(world.number("SELECT count(*) FROM decisions WHERE tenant = $1").await, 64);
    assert_eq!(world.number("SELECT counter FROM owners WHERE tenant = $1").await, 64);
}

/// More of them than one statement takes, by themselves and behind a change.
pub(crate) async fn a_group_of_decisions_is_recorded_whole_however_large_it_is(world: World) {
    let reads = |count: u32| (0..count).map(|_| world.change()).collect::<Vec<_>>();
    let recorded = || world.number("SELECT count(DISTINCT decision_id) FROM decisions WHERE tenant = $1");
    let mut all = 0;
    for count in [1, 63, 64, 65, 128, 200] {
        assert_eq!(world.store.commit_all(reads(count)).await.unwrap().len(), usize::try_from(count).unwrap());
        all += i64::from(count);
        assert_eq!(recorded().await, all, "{count}");
        let mut change = world.change();
        change.writes = vec![Write::Memory(Box::new(world.memory(&format!("k{count}"))))];
        let (changed, decided) = tokio::join!(world.store.commit(change), world.store.commit_all(reads(count)));
        changed.unwrap();
        decided.unwrap();
        all += i64::from(count) + 1;
        assert_eq!(recorded().await, all, "{count} behind a change");
    }
}

pub(crate) async fn of_32_rivals_for_each_version_exactly_one_wins(world: World) {
    let mut current = world.memory("k");
    world.put(&current).await;
    for round in 0..4 {
        let mut rivals = JoinSet::new();
        for i in 0..32 {
            let newer = next(&current, &format!("rival {i} of round {round}"));
            let mut change = world.change();
            change.expect = vec![expect_at(&current)];
            change.writes = vec![Write::Memory(Box::new(newer.clone()))];
            let store = world.store.clone();
            rivals.spawn(async move { (newer, store.commit(change).await) });
        }
        let (won, lost): (Vec<_>, Vec<_>) = rivals.join_all().await.into_iter().partition(|(_, result)| result.is_ok());
        assert_eq!(won.len(), 1);
        assert!(lost.iter().all(|(_, result)| contended(result)));
        current = won.into_iter().next().unwrap().0;
        let found = world.store.memory(&world.reach("ann"), current.id).await.unwrap();
        assert_eq!(found.as_ref(), Some(&current));
    }
    assert_eq!(current.version, Version(5));
    assert_eq!(world.number("SELECT count(*) FROM decisions WHERE tenant = $1").await, 5);
}

pub(crate) async fn a_refused_change_does_not_harm_its_group(world: World) {
    let mut calls = JoinSet::new();
    for i in 0..60 {
        let mut change = world.change();
        change.writes = vec![Write::Memory(Box::new(world.memory(&format!("k{i}"))))];
        if i % 3 == 0 {
            change.writes.push(change.writes[0].clone());
        } else if i % 3 == 1 {
            change.expect = vec![Expect::BlockEpoch(change.owner.clone(), 9)];
        }
        let store = world.store.clone();
        calls.spawn(async move { (i, store.commit(change).await) });
    }
    for (i, result) in calls.join_all().await {
        assert_eq!(contended(&result), i % 3 != 2, "{i}: {result:?}");
    }
    let page = world.store.memories(&world.reach("ann"), &Range::All, None, 100).await.unwrap();
    assert_eq!(page.memories.len(), 20);
    assert_eq!(world.number("SELECT counter FROM owners WHERE tenant = $1").await, 20);
}

/// Polls a call so many times, then drops it. `Some` if it was ready by then.
async fn polled<T>(call: impl Future<Output = T>, times: usize) -> Option<T> {
    let mut call = pin!(call);
    for _ in 0..times {
        let ready = poll_fn(|context| match call.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => Poll::Ready(None),
        })
        .await;
        if ready.is_some() {
            return ready;
        }
        tokio::task::yield_now().await;
    }
    None
}

pub(crate) async fn calls_dropped_half_way_leave_every_change_whole(world: World) {
    for i in 0..60 {
        let mut change = world.change();
        change.writes = vec![
            Write::Memory(Box::new(world.memory(&format!("a{i}")))),
            Write::Memory(Box::new(world.memory(&format!("b{i}")))),
        ];
        change.replay = Some(world.replay(crate::fixture::uuid()));
        // Of four in a row one is never begun, and one is waited for.
        let times = if i % 4 == 3 { usize::MAX } else { i % 4 };
        drop(polled(world.store.commit(change), times).await);
    }
    world.put(&world.memory("last")).await;
    // In one statement: a change that was sent may still be on its way to being whole.
    let whole = "SELECT CASE WHEN memories = 2 * decisions - 1 AND versions = memories AND kept = decisions - 1 \
                 THEN decisions - 1 ELSE -1 END FROM (SELECT \
                 (SELECT count(*) FROM memories WHERE tenant = $1) AS memories, \
                 (SELECT count(*) FROM memory_versions WHERE tenant = $1) AS versions, \
                 (SELECT count(*) FROM idempotency WHERE tenant = $1) AS kept, \
                 (SELECT count(*) FROM decisions WHERE tenant = $1) AS decisions) AS counted";
    let sent = world.number(whole).await;
    assert!((15..=45).contains(&sent), "some were sent and some not, and each is whole: {sent}");
}

pub(crate) async fn reads_dropped_half_way_leave_no_transaction_behind(world: World) {
    world.put(&world.memory("k")).await;
    for i in 0..2000 {
        let request = world.ask("ann", Level::General);
        drop(polled(world.store.view(&request), i % 5).await);
    }
    world.store.check().await.unwrap();
    world.put(&world.memory("later")).await;
    let mut backdoor = world.backdoor().await;
    let mut open = 1;
    for _ in 0..200 {
        open = backdoor.open_readers().await;
        if open == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(open, 0, "a reader still holds an old snapshot");
    drop(backdoor);
    assert_eq!(world.view_all("ann", Level::General).await.memories.len(), 2);
}
