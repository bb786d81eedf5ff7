//! The server goes away in the middle of calls, by an operator or by a crash: callers are told to come again, health
//! says so, nothing that was acknowledged is lost, and the service goes on by itself when the server is there again.

use std::collections::BTreeMap;

use sqlx::{Connection, PgConnection};
use tonic::Code;
use tonic_health::pb::health_check_response::ServingStatus;

use super::place::{Place, Replica};
use super::server::Server;
use crate::callers::{Caller, fact, recall_all, values};
use crate::load::{Callers, KEY};
use crate::postgres::SUPERUSER;
use crate::program::eventually;

/// Of the fast suite.
const CRASHES: usize = 3;
/// Of the long one.
const MANY_CRASHES: usize = 20;

/// Everything that was acknowledged is there, and nothing by half.
async fn assert_holds(place: &Place, written: &BTreeMap<String, String>) {
    assert!(!written.is_empty());
    let mut admin = PgConnection::connect(&place.url(SUPERUSER)).await.unwrap();
    let rows: Vec<(String, String)> = sqlx::query_as("SELECT project, value FROM memories WHERE key = $1")
        .bind(KEY)
        .fetch_all(&mut admin)
        .await
        .unwrap();
    let there: BTreeMap<String, String> = rows.into_iter().collect();
    for (project, value) in written {
        assert_eq!(there.get(project), Some(value), "{project} was acknowledged");
    }
    admin.close().await.unwrap();
    place.assert_consistent().await;
}

fn assert_log(replica: Replica) {
    let ran = replica.stop();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("not ready") && ran.err.contains("ready again"), "{}", ran.err);
    assert!(!ran.err.contains("secret value") && !ran.err.contains("panicked"), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s02_i06_a_server_that_is_stopped_under_load_refuses_calls_and_is_taken_up_again() {
    let mut server = Server::new();
    let place = Place::on(&server).await;
    let replica = place.serve(&[]);
    let brief = place.serve(&["--max-call-seconds", "1"]);
    let callers = Callers::start(&replica.address).await;
    callers.acknowledged(10).await;

    server.stop();
    callers.refused(8).await;
    replica.until_it_is(ServingStatus::NotServing).await;
    callers.refused(4).await;
    // A call that has less time than a connection is waited for ends when its time does.
    let mut caller = Caller::nobody(&brief.address).await;
    for _ in 0..3 {
        let status = caller.recall.recall(recall_all()).await.unwrap_err();
        assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
    }

    server.start();
    replica.until_it_is(ServingStatus::Serving).await;
    callers.acknowledged(10).await;
    let written = callers.stop().await;
    assert_holds(&place, &written).await;
    assert_log(replica);
}

/// Crashes the server under load, again and again.
async fn crash(times: usize) {
    let mut server = Server::new();
    let place = Place::on(&server).await;
    let replica = place.serve(&[]);
    let callers = Callers::start(&replica.address).await;
    for round in 0..times {
        // Another moment in each round.
        callers.acknowledged(5 + round * 7 % 23).await;
        server.crash();
        callers.refused(1).await;
        replica.until_it_is(ServingStatus::NotServing).await;
        server.start();
        replica.until_it_is(ServingStatus::Serving).await;
    }
    callers.acknowledged(10).await;
    let written = callers.stop().await;
    assert_holds(&place, &written).await;
    assert_log(replica);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i06_a_server_that_crashes_under_load_has_all_that_was_acknowledged() {
    crash(CRASHES).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; `tests/long pg-crashes` runs it"]
async fn i06_a_server_that_crashes_twenty_times_under_load_has_all_that_was_acknowledged() {
    crash(MANY_CRASHES).await;
}

#[tokio::test]
async fn a_service_that_starts_before_its_server_waits_for_it_and_can_be_stopped_without() {
    let mut server = Server::new();
    let place = Place::on(&server).await;
    server.stop();
    let [waits, leaves] = [place.serve(&[]), place.serve(&[])];
    waits.until_it_is(ServingStatus::NotServing).await;
    let ran = leaves.stop();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);

    server.start();
    waits.until_it_is(ServingStatus::Serving).await;
    let mut caller = Caller::nobody(&waits.address).await;
    caller.capture.capture(fact("response_style", "brief")).await.unwrap();
    assert_eq!(values(&caller.recall.recall(recall_all()).await.unwrap().into_inner()), ["brief"]);

    server.crash();
    eventually("the store is ill", || waits.running.err_so_far().contains("not ready: the store").then_some(()));
    let ran = waits.stop();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}
