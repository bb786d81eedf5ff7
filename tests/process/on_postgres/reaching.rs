//! How a database is reached: through a pooler, by a socket, and never in the clear where TLS is asked for.

use sqlx::{Connection, PgConnection};
use tonic_health::pb::health_check_response::ServingStatus;

use super::contention::undo;
use super::place::{APP, Place};
use crate::callers::{Caller, fact, fact_of, recall_all, values};
use crate::load::{Callers, assert_unavailable};
use crate::pgbouncer;
use crate::postgres::SUPERUSER;
use crate::program::run;

fn pooled(place: &Place) -> String {
    format!("postgres://{APP}@127.0.0.1:{}/{}", pgbouncer::port(), place.name())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fails_leaves_nothing_in_the_sessions_that_a_pooler_shares() {
    let place = Place::new().await;
    for round in 0..3 {
        // A new one counts its prepared statements from the first again.
        let replica = place.serve_at(&pooled(&place), &["--transaction-pooler"]);
        replica.until_it_is(ServingStatus::Serving).await;
        let mut caller = Caller::nobody(&replica.address).await;
        undo(&place, "memory_versions", "40001", 3).await;
        caller.capture.capture(fact_of(&format!("project-{round}"), "response_style", "brief")).await.unwrap();
        let leaves = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                      AND usename LIKE 'recall_gate%' AND state LIKE 'idle in transaction%'";
        assert_eq!(place.number(leaves).await, 0);
        for _ in 0..20 {
            caller.recall.recall(recall_all()).await.unwrap();
        }
        let ran = replica.stop();
        assert!(!ran.err.contains("ERROR"), "{}", ran.err);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_services_behind_a_transaction_pooler_answer_every_call() {
    let place = Place::new().await;
    let url = pooled(&place);
    let replicas = [0, 1].map(|_| place.serve_at(&url, &["--transaction-pooler", "true", "--log-filter", "warn"]));
    for replica in &replicas {
        replica.until_it_is(ServingStatus::Serving).await;
    }
    for replica in replicas {
        let callers = Callers::start(&replica.address).await;
        callers.acknowledged(60).await;
        assert_eq!(callers.load.refused.load(std::sync::atomic::Ordering::SeqCst), 0, "a call was refused");
        callers.stop().await;
        place.assert_consistent().await;
        let ran = replica.stop();
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(!ran.err.contains("ERROR"), "{}", ran.err);
    }
}

#[tokio::test]
async fn a_database_is_reached_by_the_servers_socket() {
    let place = Place::new().await;
    let mut admin = PgConnection::connect(&place.url(SUPERUSER)).await.unwrap();
    let sql = "SELECT current_setting('unix_socket_directories'), current_setting('port')";
    let (folder, port): (String, String) = sqlx::query_as(sql).fetch_one(&mut admin).await.unwrap();
    let encoded = folder.replace('/', "%2F");
    for url in [
        format!("postgres:///{}?host={folder}&port={port}", place.name()),
        format!("postgres://{encoded}:{port}/{}", place.name()),
    ] {
        let replica = place.serve_at(&url, &[]);
        replica.until_it_is(ServingStatus::Serving).await;
        let mut caller = Caller::nobody(&replica.address).await;
        caller.capture.capture(fact("response_style", "brief")).await.unwrap();
        assert_eq!(values(&caller.recall.recall(recall_all()).await.unwrap().into_inner()), ["brief"]);
        let migrated = run(place.path(), &["migrate", "--database", &url]);
        assert_eq!(migrated.code, Some(0), "{}", migrated.err);
    }
}

#[tokio::test]
async fn a_server_without_tls_is_not_reached_in_the_clear_where_tls_is_asked_for() {
    let place = Place::new().await;
    for mode in ["require", "verify-ca", "verify-full"] {
        let url = format!("{}?sslmode={mode}", place.url(APP));
        let replica = place.serve_at(&url, &[]);
        replica.until_it_is(ServingStatus::NotServing).await;
        let status = Caller::nobody(&replica.address).await.recall.recall(recall_all()).await.unwrap_err();
        assert_unavailable(&status);
        let migrated = run(place.path(), &["migrate", "--database", &url]);
        assert_eq!(migrated.code, Some(1), "{}", migrated.err);
        let sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                        AND usename LIKE 'recall_gate%'";
        assert_eq!(place.number(sessions).await, 0, "{mode}");
    }
}
