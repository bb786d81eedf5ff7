//! The decision ledger in its weekly partitions: made ahead, dropped when they are over, and never wanted by a call.

use std::sync::atomic::Ordering;

use sqlx::{AssertSqlSafe, Executor};
use tonic_health::pb::health_check_response::ServingStatus;

use super::place::Place;
use crate::callers::{Caller, fact, recall_all};
use crate::load::{Callers, until};
use crate::program::{Ran, eventually};

const DAY_MICROS: i64 = 86_400 * 1_000_000;
const WEEK_MICROS: i64 = 7 * DAY_MICROS;

async fn this_week(place: &Place) -> i64 {
    place.number("SELECT floor(extract(epoch FROM now()))").await * 1_000_000 / WEEK_MICROS
}

/// Makes the partition of a week that is over, with so many decisions in it, one each minute from its first instant.
async fn week(place: &Place, week: i64, decisions: i64) {
    let (from, to) = (week * WEEK_MICROS, (week + 1) * WEEK_MICROS);
    place
        .sql(&format!(
            "CREATE TABLE decisions_week_{week} PARTITION OF decisions FOR VALUES FROM ({from}) TO ({to}); \
             ALTER TABLE decisions_week_{week} OWNER TO recall_gate_migrator"
        ))
        .await;
    old_decisions(place, from, decisions).await;
}

async fn old_decisions(place: &Place, from: i64, decisions: i64) {
    place
        .sql(&format!(
            "INSERT INTO decisions (tenant, owner, decide_time, decision_id, method, outcome, key_id, body) \
             SELECT 'dev', 'dev', {from} + minute * 60000000, gen_random_uuid(), 'Recall', 'DONE', 'key', '' \
             FROM generate_series(0, {decisions} - 1) AS minute"
        ))
        .await;
}

/// What `ledger stats` says of that.
fn stat(place: &Place, name: &str) -> String {
    let ran = place.owner(&["ledger", "stats"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let line = ran.out.lines().find_map(|line| line.strip_prefix(name).map(str::trim).map(str::to_owned));
    line.unwrap_or_else(|| panic!("no {name}: {}", ran.out))
}

fn prune(place: &Place, arguments: &[&str]) -> Ran {
    let ran = place.owner(&[&["ledger", "prune"], arguments].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    ran
}

#[tokio::test]
async fn weeks_that_are_over_are_dropped_beside_a_running_service_and_can_be_counted_first() {
    let place = Place::new().await;
    let replica = place.serve(&[]);
    let mut caller = Caller::nobody(&replica.address).await;
    caller.capture.capture(fact("response_style", "brief")).await.unwrap();
    let now = this_week(&place).await;
    week(&place, now - 10, 7).await;
    week(&place, now - 5, 5).await;
    week(&place, now - 1, 3).await;
    // Of a week that nobody made a partition for.
    old_decisions(&place, (now - 20) * WEEK_MICROS, 4).await;
    assert_eq!(stat(&place, "decisions"), "20");
    assert_eq!((stat(&place, "partitions"), stat(&place, "in no partition")), ("16".to_owned(), "4".to_owned()));
    assert_ne!(stat(&place, "ledger bytes"), "0");

    // Four weeks ago: the fifth week before this one is over by then, wherever in this one we are.
    for (arguments, said) in [
        (&["--older-than", "28", "--dry-run"][..], "would remove 16 decisions, of the weeks that were over at "),
        (&["--older-than", "28", "--dry-run"], "would remove 16 decisions"),
        (&["--older-than", "28"], "removed 16 decisions, of the weeks that were over at "),
        (&["--older-than", "28"], "removed 0 decisions"),
    ] {
        let ran = prune(&place, arguments);
        assert!(ran.out.starts_with(said), "{arguments:?}: {}", ran.out);
        caller.recall.recall(recall_all()).await.unwrap();
    }
    // Three of last week, the capture, and four recalls.
    assert_eq!(stat(&place, "decisions"), "8");
    assert_eq!((stat(&place, "partitions"), stat(&place, "in no partition")), ("14".to_owned(), "0".to_owned()));
    assert_eq!(place.number(&format!("SELECT count(*) FROM decisions_week_{}", now - 1)).await, 3);
}

#[tokio::test]
async fn a_call_lands_in_the_default_partition_where_nobody_made_one_and_moves_when_it_is_made() {
    let place = Place::new().await;
    let now = this_week(&place).await;
    place.sql(&format!("DROP TABLE decisions_week_{now}, decisions_week_{}", now + 1)).await;
    let replica = place.serve(&[]);
    replica.until_it_is(ServingStatus::Serving).await;
    let mut caller = Caller::nobody(&replica.address).await;
    let captured = caller.capture.capture(fact("response_style", "brief")).await.unwrap().into_inner();
    let recalled = caller.recall.recall(recall_all()).await.unwrap().into_inner();
    assert_eq!((stat(&place, "decisions"), stat(&place, "in no partition")), ("2".to_owned(), "2".to_owned()));
    eventually("the log says that partitions are missing", || {
        replica.running.err_so_far().contains("few partitions ahead").then_some(())
    });
    replica.until_it_is(ServingStatus::Serving).await;

    let migrated = place.migrate();
    assert_eq!(migrated.code, Some(0), "{}", migrated.err);
    assert!(migrated.out.ends_with("made 2 weekly partitions of the decision ledger ahead\n"), "{}", migrated.out);
    assert_eq!((stat(&place, "decisions"), stat(&place, "in no partition")), ("2".to_owned(), "0".to_owned()));
    assert_eq!(place.number(&format!("SELECT count(*) FROM decisions_week_{now}")).await, 2);
    for id in [captured.decision_id, recalled.decision_id] {
        assert!(place.has_decision(&id).await, "{id}");
    }
    // A statement that does not say which week sees one tenant's decisions, in the new partition too.
    let app = place.number("SELECT CAST(has_table_privilege('recall_gate_app', 'decisions', 'SELECT') AS int)").await;
    assert_eq!(app, 1);
    let partition =
        format!("SELECT CAST(has_table_privilege('recall_gate_app', 'decisions_week_{now}', 'SELECT') AS int)");
    assert_eq!(place.number(&partition).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_meet_a_partition_in_the_making_are_answered() {
    let place = Place::new().await;
    let now = this_week(&place).await;
    place.sql(&format!("DROP TABLE decisions_week_{now}")).await;
    let replica = place.serve(&[]);
    replica.until_it_is(ServingStatus::Serving).await;
    let caller = Caller::nobody(&replica.address).await;
    // What `migrate` does, half way: the decisions of now still belong into the default partition, which it holds.
    let mut other = place.admin().await;
    let (from, to) = (now * WEEK_MICROS, (now + 1) * WEEK_MICROS);
    let make = format!(
        "BEGIN; LOCK TABLE decisions_default; CREATE TABLE decisions_week_{now} (LIKE decisions INCLUDING ALL); \
         ALTER TABLE decisions_week_{now} OWNER TO recall_gate_migrator; \
         ALTER TABLE decisions ATTACH PARTITION decisions_week_{now} FOR VALUES FROM ({from}) TO ({to})"
    );
    other.execute(AssertSqlSafe(make)).await.unwrap();
    let (mut reader, mut writer) = (caller.clone(), caller);
    let recall = tokio::spawn(async move { reader.recall.recall(recall_all()).await });
    let capture = tokio::spawn(async move { writer.capture.capture(fact("response_style", "brief")).await });
    until("both wait", async || {
        place
            .number(
                "SELECT count(DISTINCT usename) FROM pg_stat_activity WHERE datname = current_database() \
                 AND usename IN ('recall_gate_app', 'recall_gate_ledger') AND wait_event_type = 'Lock'",
            )
            .await
            == 2
    })
    .await;
    other.execute("COMMIT").await.unwrap();
    let recalled = recall.await.unwrap().unwrap().into_inner();
    let captured = capture.await.unwrap().unwrap().into_inner();
    for id in [recalled.decision_id, captured.decision_id] {
        assert!(place.has_decision(&id).await, "{id}");
    }
    assert_eq!(stat(&place, "in no partition"), "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partitions_that_come_and_go_under_load_fail_no_call() {
    let place = Place::new().await;
    let replica = place.serve(&["--log-filter", "warn"]);
    let callers = Callers::start(&replica.address).await;
    let now = this_week(&place).await;
    for _ in 0..5 {
        callers.acknowledged(5).await;
        // Of the partition of now, what is in it goes into the default one, as if nobody had made it.
        place
            .sql(&format!(
                "BEGIN; LOCK TABLE decisions; ALTER TABLE decisions DETACH PARTITION decisions_week_{now}; \
                 INSERT INTO decisions SELECT * FROM decisions_week_{now}; DROP TABLE decisions_week_{now}; COMMIT"
            ))
            .await;
        callers.acknowledged(5).await;
        let migrated = place.migrate();
        assert_eq!(migrated.code, Some(0), "{}", migrated.err);
        assert!(migrated.out.ends_with("made 1 weekly partitions of the decision ledger ahead\n"), "{}", migrated.out);
        week(&place, now - 10, 3).await;
        assert!(prune(&place, &["--older-than", "28"]).out.starts_with("removed 3 decisions"));
    }
    assert_eq!(callers.load.refused.load(Ordering::SeqCst), 0, "a call was refused");
    let calls = callers.load.acknowledged.load(Ordering::SeqCst);
    let written = callers.stop().await;
    assert!(written.len() >= calls, "{calls}");
    assert_eq!(stat(&place, "in no partition"), "0");
    place.assert_consistent().await;
}
