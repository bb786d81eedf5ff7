//! What the database undoes is tried again, a bounded number of times; and few connections are shared without a stall.

use recall_gate::api::proto::{CaptureRequest, CorrectRequest, Outcome};
use sqlx::{Connection, Executor};
use tokio::task::JoinSet;
use tonic::Code;
use tonic_health::pb::health_check_response::ServingStatus;

use super::place::Place;
use crate::callers::{Caller, correction, deletion, error_reason, fact_of, recall_in, user_message, values};
use crate::load::{assert_unavailable, until};

const KEY: &str = "response_style";

/// Makes the database undo the next so many transactions that insert there, with that state.
pub(crate) async fn undo(place: &Place, table: &str, state: &str, times: u32) {
    place
        .sql(&format!(
            "CREATE SEQUENCE IF NOT EXISTS tries; ALTER SEQUENCE tries RESTART; \
             CREATE OR REPLACE FUNCTION undone() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN \
             IF nextval('tries') <= {times} THEN RAISE EXCEPTION 'undone' USING ERRCODE = '{state}'; END IF; \
             RETURN NEW; END $$; \
             CREATE OR REPLACE TRIGGER undone BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION undone()"
        ))
        .await;
}

async fn tries(place: &Place) -> i64 {
    place.number("SELECT last_value FROM tries").await
}

#[tokio::test]
async fn s03_a_write_that_the_database_undoes_is_tried_again_and_given_up_in_the_end() {
    let place = Place::new().await;
    let replica = place.serve(&[]);
    replica.until_it_is(ServingStatus::Serving).await;
    let mut caller = Caller::nobody(&replica.address).await;
    for (number, state) in ["40001", "40P01"].into_iter().enumerate() {
        let project = format!("project-{number}");
        undo(&place, "memory_versions", state, 2).await;
        let mut request = fact_of(&project, KEY, "first");
        request.source = Some(user_message(&project));
        let made = caller.capture.capture(request).await.unwrap().into_inner();
        assert_eq!((made.outcome(), made.version), (Outcome::Activated, 1), "{state}");
        undo(&place, "memory_versions", state, 2).await;
        let corrected = caller.correct.correct(correction(&made.memory_id, 1, "second")).await.unwrap().into_inner();
        assert_eq!(corrected.version, 2, "{state}");

        undo(&place, "memory_versions", state, 1_000).await;
        let versions = place.number("SELECT count(*) FROM memory_versions").await;
        for status in [
            caller.capture.capture(fact_of(&format!("another-{number}"), KEY, "value")).await.unwrap_err(),
            caller.correct.correct(correction(&made.memory_id, 2, "third")).await.unwrap_err(),
        ] {
            assert_eq!(status.code(), Code::Aborted, "{status:?}");
            assert_eq!(error_reason(&status), "JUDGEMENT_CONTENDED");
        }
        let tries = tries(&place).await;
        assert!((2..100).contains(&tries), "{tries} tries");
        assert_eq!(place.number("SELECT count(*) FROM memory_versions").await, versions, "nothing was done");
        let reply = caller.recall.recall(recall_in(&project, KEY)).await.unwrap().into_inner();
        assert_eq!(values(&reply), ["second"]);
        place.sql("DROP TRIGGER undone ON memory_versions").await;
    }
    place.assert_consistent().await;
}

#[tokio::test]
async fn s03_a_decision_that_the_database_undoes_is_tried_again_and_given_up_in_the_end() {
    let place = Place::new().await;
    let replica = place.serve(&[]);
    replica.until_it_is(ServingStatus::Serving).await;
    let mut caller = Caller::nobody(&replica.address).await;
    caller.capture.capture(fact_of("apollo", KEY, "first")).await.unwrap();
    undo(&place, "decisions", "40001", 2).await;
    let reply = caller.recall.recall(recall_in("apollo", KEY)).await.unwrap().into_inner();
    assert_eq!(values(&reply), ["first"]);
    assert!(place.has_decision(&reply.decision_id).await);

    undo(&place, "decisions", "40001", 1_000).await;
    let status = caller.recall.recall(recall_in("apollo", KEY)).await.unwrap_err();
    assert!([Code::Unavailable, Code::Aborted].contains(&status.code()), "no record, no text: {status:?}");
    let tries = tries(&place).await;
    assert!((2..100).contains(&tries), "{tries} tries");
}

/// Calls until it is not overtaken by the others.
macro_rules! again {
    ($call:expr) => {
        loop {
            match $call.await {
                Ok(reply) => break reply.into_inner(),
                Err(status) => assert_eq!(error_reason(&status), "JUDGEMENT_CONTENDED", "{status:?}"),
            }
        }
    };
}

/// Writes, reads, corrects, reads and deletes in a project of its own.
async fn live(caller: Caller, number: usize) {
    let project = format!("project-{number}");
    let source = Some(user_message(&project));
    let Caller { mut capture, mut correct, mut recall, mut delete, .. } = caller;
    let first = CaptureRequest { source: source.clone(), ..fact_of(&project, KEY, "first") };
    let id = again!(capture.capture(first.clone())).memory_id;
    again!(recall.recall(recall_in(&project, KEY)));
    let second = CorrectRequest { source, ..correction(&id, 1, "second") };
    again!(correct.correct(second.clone()));
    let reply = again!(recall.recall(recall_in(&project, KEY)));
    assert_eq!(values(&reply), ["second"]);
    again!(delete.delete(deletion(&id, 2)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s04_many_calls_at_once_share_few_connections_without_a_stall() {
    let place = Place::new().await;
    for connections in ["1", "2"] {
        let replica = place.serve(&["--database-connections", connections]);
        replica.until_it_is(ServingStatus::Serving).await;
        let caller = Caller::nobody(&replica.address).await;
        let mut lives = JoinSet::new();
        for number in 0..10 {
            lives.spawn(live(caller.clone(), number));
        }
        lives.join_all().await;
        place.sql("DELETE FROM blocks; TRUNCATE memories, memory_versions, lineage, feed, revisions, tombstones").await;
        drop(replica);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s04_who_gets_no_connection_in_time_is_told_to_come_again() {
    let place = Place::new().await;
    let replica = place.serve(&["--database-connections", "1"]);
    replica.until_it_is(ServingStatus::Serving).await;
    let mut caller = Caller::nobody(&replica.address).await;
    caller.capture.capture(fact_of("apollo", KEY, "first")).await.unwrap();
    let mut other = place.admin().await;
    other.execute("BEGIN; LOCK TABLE owners").await.unwrap();
    let mut writer = caller.clone();
    let write = tokio::spawn(async move { writer.capture.capture(fact_of("gemini", KEY, "first")).await });
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                   AND usename = 'recall_gate_app' AND wait_event_type = 'Lock'";
    until("the one connection waits", async || place.number(waiting).await == 1).await;
    assert_unavailable(&caller.capture.capture(fact_of("mercury", KEY, "first")).await.unwrap_err());
    other.execute("ROLLBACK").await.unwrap();
    other.close().await.unwrap();
    write.await.unwrap().unwrap();
    let reply = caller.recall.recall(recall_in("apollo", KEY)).await.unwrap().into_inner();
    assert_eq!(values(&reply), ["first"]);
}
