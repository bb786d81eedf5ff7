//! Two replicas on one database: one of them numbers the feed, and what it has lost the right to number it does not.

use std::sync::Arc;

use recall_gate::memory::{Level, TenantId};
use recall_gate::store::{Announcement, Change, PostgresOptions, Store, Write};
use tokio::task::JoinSet;

use crate::fixture::{own, subject, uuid};
use crate::ground::{Ground, of_tenant, open};
use crate::wire::Wire;

/// Announces a new memory.
fn announced(ground: &Ground, tenant: &TenantId, who: &str) -> Change {
    let mut change = ground.world.change_of(own(who), subject(who));
    let memory = ground.world.memory_at(own(who), Level::General, &format!("k{}", uuid()));
    change.writes = vec![Write::Memory(Box::new(memory))];
    change.announce = Some(Announcement::Activated);
    of_tenant(tenant, change)
}

/// Of each tenant, the positions given so far begin with 1 and have no gap.
const GAPS: &str = "SELECT count(*) FROM (SELECT tenant FROM feed GROUP BY tenant HAVING count(position) <> \
                    coalesce(max(position), 0) OR count(DISTINCT position) <> count(position)) AS tenants";
/// An owner's change that came later has an earlier position.
const OUT_OF_ORDER: &str = "SELECT count(*) FROM feed AS one JOIN feed AS other USING (tenant, owner) \
                            WHERE one.counter < other.counter AND one.position >= other.position";
/// What waits while something later of its owner does not.
const OVERTAKEN: &str = "SELECT count(*) FROM feed AS one JOIN feed AS other USING (tenant, owner) \
                         WHERE one.counter < other.counter AND one.position IS NULL AND other.position IS NOT NULL";
const WAITING: &str = "SELECT count(*) FROM feed WHERE position IS NULL";
const HOLDERS: &str = "SELECT count(DISTINCT holder) FROM leases WHERE name = 'feed sequencer'";

/// Two stores of one database; the world's own is closed.
async fn replicas() -> (Ground, [Arc<dyn Store>; 2]) {
    let ground = Ground::new().await;
    ground.world.store.close().await;
    let stores: [Arc<dyn Store>; 2] = [open(ground.options(4)).await, open(ground.options(4)).await];
    (ground, stores)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_feed_is_gapless_and_in_each_owners_order_whoever_writes() {
    let (ground, stores) = replicas().await;
    let ground = Arc::new(ground);
    let tenants = ["one", "two"].map(|name| TenantId::new(name).unwrap());
    let mut writers = JoinSet::new();
    for number in 0..12 {
        let (ground, store, tenant) = (ground.clone(), stores[number % 2].clone(), tenants[number / 2 % 2].clone());
        writers.spawn(async move {
            for round in 0..12 {
                let change = announced(&ground, &tenant, ["ann", "bob"][(number + round) % 2]);
                store.commit(change).await.unwrap();
            }
        });
    }
    let mut looks = 0;
    while !writers.is_empty() {
        for fault in [GAPS, OUT_OF_ORDER, OVERTAKEN] {
            assert_eq!(ground.number(fault).await, 0, "{fault}");
        }
        looks += 1;
        while let Some(done) = writers.try_join_next() {
            done.unwrap();
        }
    }
    assert!(looks > 1);
    ground.until(WAITING, 0).await;
    assert_eq!(ground.number("SELECT count(*) FROM feed").await, 144);
    for fault in [GAPS, OUT_OF_ORDER] {
        assert_eq!(ground.number(fault).await, 0, "{fault}");
    }
    let last = "SELECT sum(feed_position) FROM tenants";
    assert_eq!(ground.number(last).await, 144);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_replica_that_numbers_ends_another_goes_on() {
    let (ground, [first, second]) = replicas().await;
    let tenant = TenantId::new("one").unwrap();
    first.commit(announced(&ground, &tenant, "ann")).await.unwrap();
    ground.until(WAITING, 0).await;
    // Whichever of the two it is: it ends well.
    let closed = ground.number(HOLDERS).await;
    assert_eq!(closed, 1);
    first.close().await;
    second.commit(announced(&ground, &tenant, "ann")).await.unwrap();
    ground.until(WAITING, 0).await;

    // And badly: it is gone, and its lease is over.
    let third = open(ground.options(2)).await;
    drop(second);
    ground.administer("UPDATE leases SET expire_time = 0").await;
    third.commit(announced(&ground, &tenant, "ann")).await.unwrap();
    ground.until(WAITING, 0).await;
    assert_eq!(ground.number("SELECT max(position) FROM feed").await, 3);
    assert_eq!(ground.number(GAPS).await, 0);
    assert!(ground.number("SELECT token FROM leases WHERE name = 'feed sequencer'").await > 1);
}

/// It took the lease, was away for longer than that lasts, and comes back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_has_lost_the_lease_numbers_nothing() {
    let ground = Ground::new().await;
    ground.world.store.close().await;
    ground.administer("DELETE FROM leases").await;
    let wire = Wire::plain().await;
    wire.hold("FROM leases WHERE name = $1 AND token = $2");
    let feeder = ground.at("recall_gate_feeder", wire.port);
    let store = open(PostgresOptions { feeder, ..ground.options(2) }).await;
    wire.arrived().await;
    store.commit(announced(&ground, &TenantId::new("one").unwrap(), "ann")).await.unwrap();
    let lose = "UPDATE leases SET token = token + 1, holder = '00000000-0000-0000-0000-000000000001', \
                expire_time = 9000000000000000000 WHERE name = 'feed sequencer'";
    ground.administer(lose).await;
    let ended = || wire.seen().iter().filter(|sql| *sql == "COMMIT").count();
    let before = ended();
    wire.let_go();
    let begin = std::time::Instant::now();
    // What it had begun, and its next turn.
    while ended() < before + 2 {
        assert!(begin.elapsed() < std::time::Duration::from_mins(1), "{:?}", wire.seen());
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(ground.number(WAITING).await, 1);
    assert_eq!(ground.number("SELECT count(*) FROM tenants").await, 0);
    ground.administer("UPDATE leases SET expire_time = 0").await;
    ground.until(WAITING, 0).await;
}
