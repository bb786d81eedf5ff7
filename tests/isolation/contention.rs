//! Many who write what others rely on, a database that undoes transactions, and locks that are held for too long.

use std::sync::Arc;
use std::time::Duration;

use recall_gate::memory::{Disposition, Level, Memory, Owner};
use recall_gate::store::{Change, CommitError, Deadline, Error, Expect, Store, Write};
use sqlx::raw_sql;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::fixture::{contended, own, subject, uuid};
use crate::ground::{Ground, open};

/// A new memory of this owner's, relying on those parents.
fn relying(ground: &Ground, owner: Owner, acting: &str, parents: &[&Memory]) -> Change {
    let mut change = ground.world.change_of(owner.clone(), subject(acting));
    change.expect = parents.iter().map(|parent| Expect::Memory(parent.id, parent.version)).collect();
    let memory = ground.world.memory_at(owner, Level::General, &format!("k{}", uuid()));
    change.writes = vec![Write::Memory(Box::new(memory))];
    change
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_that_rely_on_each_others_owners_never_wait_in_a_circle() {
    let ground = Arc::new(Ground::new().await);
    let store = open(ground.options(16)).await;
    let parents: Vec<Memory> = [own("ann"), own("bob"), Owner::SHARED]
        .into_iter()
        .map(|owner| ground.world.memory_at(owner, Level::General, "parent"))
        .collect();
    for parent in &parents {
        ground.world.put(parent).await;
    }
    let parents = Arc::new(parents);
    let mut tasks = JoinSet::new();
    for number in 0..32 {
        let (ground, store, parents) = (ground.clone(), store.clone(), parents.clone());
        tasks.spawn(async move {
            let (who, mine) = if number % 2 == 0 { ("ann", &parents[0]) } else { ("bob", &parents[1]) };
            let of_own = || relying(&ground, own(who), who, &[&parents[2], mine]);
            let of_all = || relying(&ground, Owner::SHARED, who, &[mine, &parents[2]]);
            for _ in 0..4 {
                match number % 8 / 2 {
                    0 => drop(store.commit(of_own()).await.unwrap()),
                    1 => drop(store.commit(of_all()).await.unwrap()),
                    2 => drop(store.commit_all(vec![of_own(), of_all()]).await.unwrap()),
                    _ => drop(store.commit_all(vec![of_all(), of_own()]).await.unwrap()),
                }
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_eq!(ground.number("SELECT count(*) FROM memories").await, 3 + 16 * 4 + 16 * 4 * 2);
    let circles = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(ground.number(circles).await, 0);
}

/// Has the database undo so many transactions that write to a table, with that state.
async fn undo(ground: &Ground, table: &str, state: &str, times: i64) {
    ground
        .administer(&format!(
            "DROP SEQUENCE IF EXISTS tries CASCADE; CREATE SEQUENCE tries; \
             CREATE OR REPLACE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN \
             IF nextval('public.tries') <= {times} THEN RAISE EXCEPTION 'undone' USING ERRCODE = '{state}'; END IF; \
             RETURN NEW; END $$; \
             DROP TRIGGER IF EXISTS undo ON {table}; \
             CREATE TRIGGER undo BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION undo()"
        ))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s03_a_transaction_that_the_database_undoes_is_tried_again_and_has_one_effect() {
    let ground = Ground::new().await;
    for state in ["40001", "40P01"] {
        let before = ground.world.rows().await;
        undo(&ground, "memory_versions", state, 3).await;
        let mut change = relying(&ground, own("ann"), "ann", &[]);
        change.replay = Some(ground.world.replay(uuid()));
        let sent = change.judgement.decision_id;
        assert_eq!(ground.world.commit(change).await.unwrap().get().decision_id, sent);
        assert_eq!(ground.number("SELECT last_value FROM tries").await, 4, "three were undone");
        let after = ground.world.rows().await;
        // Memories, their versions, outcomes and decisions.
        for table in [0, 1, 8, 9] {
            assert_eq!(after[table], before[table] + 1, "{state}: {table}");
        }
        ground.administer("DROP TRIGGER undo ON memory_versions").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s03_a_transaction_that_is_undone_again_and_again_is_given_up_and_has_no_effect() {
    let ground = Ground::new().await;
    for state in ["40001", "40P01"] {
        undo(&ground, "memory_versions", state, 1_000).await;
        let before = ground.world.rows().await;
        let change = relying(&ground, own("ann"), "ann", &[]);
        assert!(contended(&ground.world.commit(change).await), "the caller is told to judge again");
        let tries = ground.number("SELECT last_value FROM tries").await;
        assert!((2..=8).contains(&tries), "it was tried {tries} times");
        assert_eq!(ground.world.rows().await, before);
        ground.administer("DROP TRIGGER undo ON memory_versions").await;
    }
}

/// The decisions of reads, which are written in groups.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s03_a_group_of_decisions_that_the_database_undoes_is_tried_again() {
    let ground = Ground::new().await;
    let read = || {
        let mut change = ground.world.change();
        change.judgement.disposition = Disposition::Answered;
        change
    };
    for state in ["40001", "40P01"] {
        let before = ground.number("SELECT count(*) FROM decisions").await;
        undo(&ground, "decisions", state, 3).await;
        ground.world.commit(read()).await.unwrap();
        assert_eq!(ground.number("SELECT count(*) FROM decisions").await, before + 1);
        undo(&ground, "decisions", state, 1_000).await;
        assert!(contended(&ground.world.commit(read()).await), "the caller is told to judge again");
        let tries = ground.number("SELECT last_value FROM tries").await;
        assert!((2..=8).contains(&tries), "it was tried {tries} times");
        assert_eq!(ground.number("SELECT count(*) FROM decisions").await, before + 1);
        ground.administer("DROP TRIGGER undo ON decisions").await;
    }
}

/// Somebody else holds the owner's row: the call's deadline ends the wait, and nothing of it is written later.
async fn waits_for_a_lock(options: fn(&Ground) -> recall_gate::store::PostgresOptions) {
    let ground = Ground::new().await;
    let store = open(options(&ground)).await;
    ground.world.put(&ground.world.memory("first")).await;
    let before = ground.world.rows().await;
    let mut outside = ground.admin().await;
    raw_sql("BEGIN; SELECT 1 FROM owners FOR UPDATE").execute(&mut outside).await.unwrap();
    let end = Instant::now() + Duration::from_millis(200);
    let send = |deadline| {
        let (store, change) = (store.clone(), relying(&ground, own("ann"), "ann", &[]));
        tokio::spawn(Deadline::scope(Some(Deadline(deadline)), async move { store.commit(change).await }))
    };
    let late = [send(end), send(end)];
    let patient = send(end + Duration::from_hours(1));
    for late in late {
        let done = late.await.unwrap();
        assert!(matches!(done, Err(CommitError::Store(Error::OutOfTime))), "{done:?}");
    }
    sleep_until(end + Duration::from_millis(50)).await;
    assert!(!patient.is_finished(), "the lock holds");
    assert_eq!(ground.world.rows().await, before);
    raw_sql("COMMIT").execute(&mut outside).await.unwrap();
    patient.await.unwrap().unwrap();
    ground.until_quiet().await;
    let after = ground.world.rows().await;
    assert_eq!((after[0], after[9]), (before[0] + 1, before[9] + 1), "the patient one alone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_waits_for_an_owner_past_its_deadline_is_never_made() {
    waits_for_a_lock(|ground| ground.options(4)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_waits_for_an_owner_past_its_deadline_is_never_made_through_a_pooler() {
    waits_for_a_lock(|ground| ground.pooled_options(4)).await;
}
