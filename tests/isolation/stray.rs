//! Sessions that somebody has left inside a transaction, and wires that are slow in the middle of one.

use std::time::Duration;

use recall_gate::memory::{Level, TenantId};
use recall_gate::store::{CommitError, Deadline, Error, PostgresOptions, Range, Reach, Store, ViewRequest, Write};
use tokio::time::{Instant, timeout};

use crate::caller::Dice;
use crate::fixture::{subject, uuid};
use crate::ground::{APP, Ground, of_tenant, open};
use crate::wire::Wire;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b34_a_session_left_inside_a_transaction_serves_nobody() {
    let ground = Ground::new().await;
    let (world, wire) = (&ground.world, Wire::plain().await);
    let store = open(PostgresOptions { app: ground.at(APP, wire.port), ..ground.options(1) }).await;
    let memory = world.memory("k");
    world.put(&memory).await;
    let reach = world.reach("ann");
    for stray in [
        "BEGIN; SELECT 1",
        "BEGIN; SELECT 1/0",
        "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY; SELECT count(*) FROM memories",
        "BEGIN; SELECT set_config('rg.tenant', 'another', true), set_config('rg.subject', 'bob', true)",
    ] {
        assert_eq!(wire.add(stray).await, 1);
        assert_eq!(store.memory(&reach, memory.id).await.unwrap().as_ref(), Some(&memory), "{stray}");
        assert_eq!(wire.add(stray).await, 1);
        let mut change = world.change();
        change.writes = vec![Write::Memory(Box::new(world.memory(&format!("k{}", uuid()))))];
        store.commit(change).await.unwrap();
        ground.until_quiet().await;
    }
    assert_eq!(ground.number("SELECT count(*) FROM memories").await, 5);
    assert_eq!(ground.number("SELECT count(*) FROM decisions").await, 5);
}

/// One connection for everybody, which one tenant's calls leave half way, again and again, and another uses next.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b34_a_call_that_goes_away_leaves_nothing_for_the_next_caller() {
    let ground = Ground::new().await;
    let (world, wire) = (&ground.world, Wire::slow().await);
    let store = open(PostgresOptions { app: ground.at(APP, wire.port), ..ground.options(1) }).await;
    let other = TenantId::new("the next caller").unwrap();
    let mut theirs = world.memory("k");
    theirs.address.tenant = other.clone();
    let mut change = of_tenant(&other, world.change());
    change.writes = vec![Write::Memory(Box::new(theirs.clone()))];
    store.commit(change).await.unwrap();
    let reach = Reach { tenant: other, subject: subject("ann") };

    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for round in 0..300 {
        let moment = Duration::from_micros(dice.roll(60_000));
        let end = Deadline(Instant::now() + moment);
        let call = async {
            if round % 3 == 0 {
                let request = ViewRequest { all: true, ..world.ask("ann", Level::General) };
                return store.view(&request).await.map(drop);
            }
            if round % 3 == 1 {
                return store.memories(&world.reach("ann"), &Range::All, None, 9).await.map(drop);
            }
            let mut change = world.change();
            change.writes = vec![Write::Memory(Box::new(world.memory(&format!("k{}", round % 7))))];
            change.replay = Some(world.replay(uuid()));
            match store.commit(change).await {
                Ok(_) | Err(CommitError::Contended) => Ok(()),
                Err(CommitError::Store(error)) => Err(error),
            }
        };
        if dice.roll(2) == 0 {
            timeout(moment, call).await.unwrap_or(Ok(())).unwrap();
        } else {
            let done = Deadline::scope(Some(end), call).await;
            assert!(matches!(done, Ok(()) | Err(Error::OutOfTime)), "{done:?}");
        }
        let page = store.memories(&reach, &Range::All, None, 9).await.unwrap();
        assert_eq!(page.memories, std::slice::from_ref(&theirs), "{round}");
        if round % 10 == 0 {
            let request = ViewRequest { reach: reach.clone(), all: true, ..world.ask("ann", Level::General) };
            assert_eq!(store.view(&request).await.unwrap().memories.len(), 1, "{round}");
        }
    }
    ground.until_quiet().await;
    assert_eq!(ground.number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").await, 0);
    let decided = ground.number("SELECT count(*) FROM decisions").await;
    assert!(decided > 5, "{decided}");
    assert_eq!(ground.number("SELECT count(*) FROM memory_versions").await, decided);
    assert_eq!(ground.number("SELECT count(*) FROM idempotency").await, decided - 1);
}
