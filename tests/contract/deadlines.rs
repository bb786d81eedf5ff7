//! What is out of time is not begun.

use std::time::Duration;

use recall_gate::memory::Level;
use recall_gate::store::{CommitError, Deadline, Error, Range, Write};
use tokio::time::{Instant, sleep_until};

use crate::backdoor::Backdoor;
use crate::fixture::{World, at, uuid};

fn late<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::OutOfTime))
}

pub(crate) async fn what_is_out_of_time_does_not_begin(world: World) {
    let memory = world.memory("k");
    world.put(&memory).await;
    let before = world.rows().await;
    let store = &world.store;
    let change = || {
        let mut change = world.change();
        change.writes = vec![Write::Memory(Box::new(world.memory("late")))];
        change
    };
    let reach = world.reach("ann");
    let (view, key) = (world.ask("ann", Level::General), world.replay(uuid()).0);
    let calls = async {
        assert!(late(&store.view(&view).await));
        assert!(late(&store.values(&reach, &[(memory.id, memory.version)]).await));
        assert!(late(&store.memory(&reach, memory.id).await));
        assert!(late(&store.memories(&reach, &Range::All, None, 10).await));
        assert!(late(&store.candidates(&reach, &Range::All, None, 10, at(0)).await));
        assert!(late(&store.replay(&key, at(0)).await));
        for changes in [vec![change()], vec![change(), world.change()]] {
            assert!(matches!(store.commit_all(changes).await, Err(CommitError::Store(Error::OutOfTime))));
        }
        assert!(matches!(store.commit(change()).await, Err(CommitError::Store(Error::OutOfTime))));
    };
    Deadline::scope(Some(Deadline(Instant::now())), calls).await;
    store.check().await.unwrap();
    assert_eq!(world.rows().await, before);
    let ample = Some(Deadline(Instant::now() + Duration::from_hours(1)));
    assert_eq!(Deadline::scope(ample, store.memory(&reach, memory.id)).await.unwrap(), Some(memory));
    Deadline::scope(ample, store.commit(change())).await.unwrap();
}

/// Another process holds the lock. The first order waits for it alone, those after it for the first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_waits_for_a_lock_past_its_deadline_is_never_made() {
    let world = World::sqlite().await;
    let Backdoor::Sqlite(mut outside) = world.backdoor().await else { unreachable!("a file's lock") };
    sqlx::query("BEGIN IMMEDIATE").execute(&mut outside).await.unwrap();
    let end = Instant::now() + Duration::from_millis(200);
    let send = |name: &str, deadline| {
        let mut change = world.change();
        change.writes = vec![Write::Memory(Box::new(world.memory(name)))];
        let store = world.store.clone();
        tokio::spawn(Deadline::scope(deadline, async move { store.commit(change).await }))
    };
    let first = send("first", Some(Deadline(end)));
    let second = send("second", Some(Deadline(end)));
    let patient = send("patient", Some(Deadline(end + Duration::from_hours(1))));
    sleep_until(end + Duration::from_millis(50)).await;
    assert!(!patient.is_finished(), "the lock holds");
    sqlx::query("COMMIT").execute(&mut outside).await.unwrap();
    for late in [first, second] {
        assert!(matches!(late.await.unwrap(), Err(CommitError::Store(Error::OutOfTime))));
    }
    patient.await.unwrap().unwrap();
    let page = world.store.memories(&world.reach("ann"), &Range::All, None, 10).await.unwrap();
    let keys: Vec<_> = page.memories.iter().map(|memory| memory.address.key.as_str()).collect();
    assert_eq!(keys, ["patient"]);
    assert_eq!(world.number("SELECT count(*) FROM decisions WHERE tenant = $1").await, 1);
}
