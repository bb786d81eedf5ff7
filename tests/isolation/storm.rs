//! Many tenants at random at once on few connections, with calls that go away: nobody ever sees a row of another.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use recall_gate::memory::{SubjectId, TenantId};
use recall_gate::store::{Deadline, Error, Range, Reach, Store};
use sqlx::{Connection, Executor, PgConnection, Row, raw_sql};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::caller::{Caller, Dice, Known, SUBJECTS};
use crate::fixture::subject;
use crate::ground::{APP, Ground, open};

const TENANTS: u64 = 32;
const TASKS: u64 = 24;

/// Begins a call and lets it go half way; whether it came to an end before.
async fn dropped<T>(dice: &mut Dice, call: impl Future<Output = T>) -> Option<T> {
    let mut call = pin!(call);
    if dice.one_in(2) {
        let moment = Duration::from_micros(dice.roll(6_000));
        return tokio::time::timeout(moment, call).await.ok();
    }
    for _ in 0..dice.roll(12) {
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

/// Whether a call was told that every connection is taken, as it may be on a machine that has too much to do.
fn is_busy(error: &Error) -> bool {
    let Error::Unavailable(fault) = error else { return false };
    let cause = fault.source().and_then(|source| source.downcast_ref::<sqlx::Error>());
    matches!(cause, Some(sqlx::Error::PoolTimedOut))
}

/// One in ten is let go, or has little time or none. Whether it was answered.
async fn one_call(caller: &Caller<'_>, dice: &mut Dice) -> bool {
    let mut its = Dice(dice.roll(u64::MAX >> 11) + 1);
    let call = caller.call(&mut its);
    let done = if !dice.one_in(10) {
        call.await
    } else if dice.one_in(2) {
        let Some(done) = dropped(dice, call).await else { return false };
        done
    } else {
        let end = Instant::now() + Duration::from_micros(dice.roll(8_000));
        match Deadline::scope(Some(Deadline(end)), call).await {
            Err(Error::OutOfTime) => return false,
            done => done,
        }
    };
    match done {
        Ok(()) => true,
        Err(error) if is_busy(&error) => false,
        Err(error) => panic!("{error:?}"),
    }
}

async fn storm(ground: Arc<Ground>, store: Arc<dyn Store>, calls: u64) {
    let tenants: Arc<Vec<TenantId>> =
        Arc::new((0..TENANTS).map(|number| TenantId::new(format!("tenant {number}")).unwrap()).collect());
    let known = Arc::new(Mutex::new(Known::default()));
    let mut tasks = JoinSet::new();
    for number in 0..TASKS {
        let (ground, store, tenants, known) = (ground.clone(), store.clone(), tenants.clone(), known.clone());
        tasks.spawn(async move {
            let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (number + 1));
            let mut answered = 0;
            for _ in 0..calls.div_ceil(TASKS) {
                let (tenant, who) = (dice.roll(TENANTS), dice.roll(SUBJECTS));
                let mut sign = [0; 32];
                (sign[0], sign[1]) = (u8::try_from(tenant).unwrap(), u8::try_from(who).unwrap());
                let reach = Reach {
                    tenant: tenants[usize::try_from(tenant).unwrap()].clone(),
                    subject: SubjectId::new(format!("subject {who}")).unwrap(),
                };
                let caller = Caller { world: &ground.world, store: &*store, known: &known, reach, sign };
                answered += u64::from(one_call(&caller, &mut dice).await);
            }
            answered
        });
    }
    let mut answered = 0;
    while let Some(done) = tasks.join_next().await {
        answered += done.unwrap();
    }
    assert!(answered > calls / 2, "{answered} of {calls} were answered");
    ground.until_quiet().await;
    // Each of its connections answers, more than it has at once.
    let mut answers = JoinSet::new();
    for tenant in tenants.iter() {
        let (store, reach) = (store.clone(), Reach { tenant: tenant.clone(), subject: subject("subject 0") });
        answers.spawn(async move { store.memories(&reach, &Range::All, None, 100).await.unwrap().memories.len() });
    }
    let seen: usize = answers.join_all().await.into_iter().sum();
    assert!(seen > 20, "a storm that leaves nothing shows nothing: {seen}");
    store.check().await.unwrap();
    assert_whole(&ground).await;
}

/// Each change is whole or absent: its rows, its decision and its outcome.
async fn assert_whole(ground: &Ground) {
    let decided = ground.number("SELECT count(*) FROM decisions WHERE method = 'Capture'").await;
    assert!(decided > 0);
    for table in ["memory_versions", "idempotency", "feed"] {
        assert_eq!(ground.number(&format!("SELECT count(*) FROM {table}")).await, decided, "{table}");
    }
    let torn = "SELECT count(*) FROM memories LEFT JOIN memory_versions USING (tenant, owner, memory_id, version) \
                WHERE memory_versions.value IS DISTINCT FROM memories.value \
                OR NOT starts_with(memories.value, '[' || tenant || '/' || owner || ']')";
    assert_eq!(ground.number(torn).await, 0);
    assert_eq!(ground.number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").await, 0);
}

async fn directly(calls: u64) {
    let ground = Arc::new(Ground::new().await);
    let store = open(ground.options(4)).await;
    storm(ground, store, calls).await;
}

async fn through_the_pooler(calls: u64) {
    let ground = Arc::new(Ground::new().await);
    let store = open(ground.pooled_options(4)).await;
    storm(ground.clone(), store, calls).await;
    // The very sessions that were shared, as whoever comes next has them.
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let mut session = PgConnection::connect(&ground.pooled(APP)).await.unwrap();
        session.execute(raw_sql("BEGIN")).await.unwrap();
        sessions.push(session);
    }
    for mut session in sessions {
        let row = session.fetch_one(raw_sql(LEFT_BEHIND)).await.unwrap();
        let left: (String, String, String, i64, i64) = (row.get(0), row.get(1), row.get(2), row.get(3), row.get(4));
        assert_eq!(left, (String::new(), "30s".to_owned(), "off".to_owned(), 0, 0));
    }
}

const LEFT_BEHIND: &str = "\
    SELECT coalesce(current_setting('rg.tenant', true), '') || coalesce(current_setting('rg.subject', true), ''),
        current_setting('statement_timeout'), current_setting('transaction_read_only'),
        (SELECT count(*) FROM memories), (SELECT count(*) FROM pg_prepared_statements)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i02_b34_no_call_sees_a_foreign_row_whoever_goes_away() {
    directly(5_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i02_b34_b35_no_call_sees_a_foreign_row_through_a_pooler_whoever_goes_away() {
    through_the_pooler(5_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: tests/long isolation"]
async fn i02_b34_no_call_of_many_sees_a_foreign_row_whoever_goes_away() {
    directly(50_000).await;
    through_the_pooler(50_000).await;
}
