//! Bringing the schema up to date: before the service, beside it, many at once, and killed half way.

use recall_gate::api::proto::GetPolicyRequest;
use sqlx::{AssertSqlSafe, Connection, Executor};
use tonic::Code;
use tonic_health::pb::health_check_response::ServingStatus;

use super::place::{APP, Place};
use crate::callers::{Caller, error_reason, fact, recall_all, values};
use crate::load::until;
use crate::postgres::MIGRATOR;
use crate::program::{Running, program};

/// The week of now and those made ahead.
const PARTITIONS: i64 = 13;

const COUNT_PARTITIONS: &str = "SELECT count(*) FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid \
                                WHERE inhparent = 'decisions'::regclass AND relname LIKE 'decisions_week%'";

const WEEK_SECONDS: i64 = 7 * 86_400;

fn start_migrating(place: &Place) -> Running {
    Running::spawn(program(place.path()).args(["migrate", "--database", &place.url(MIGRATOR)]))
}

#[tokio::test]
async fn a_service_on_an_empty_database_waits_until_somebody_has_migrated_it() {
    let place = Place::bare().await;
    let replica = place.serve(&[]);
    replica.until_it_is(ServingStatus::NotServing).await;
    let mut caller = Caller::nobody(&replica.address).await;
    for status in [
        caller.capture.capture(fact("response_style", "brief")).await.unwrap_err(),
        caller.recall.recall(recall_all()).await.unwrap_err(),
    ] {
        assert_eq!((status.code(), error_reason(&status).as_str()), (Code::Unavailable, "STORE_UNAVAILABLE"));
    }
    assert!(replica.running.err_so_far().contains("recall-gate migrate"), "{}", replica.running.err_so_far());

    let migrated = place.migrate();
    assert_eq!((migrated.code, migrated.err.as_str()), (Some(0), ""));
    assert_eq!(
        migrated.out,
        "migrated the schema from 0 to 1\nmade 13 weekly partitions of the decision ledger ahead\n"
    );
    replica.until_it_is(ServingStatus::Serving).await;
    caller.capture.capture(fact("response_style", "brief")).await.unwrap();
    assert_eq!(values(&caller.recall.recall(recall_all()).await.unwrap().into_inner()), ["brief"]);
    let policy = caller.discovery.get_policy(GetPolicyRequest::default()).await.unwrap().into_inner();
    let kept = format!(
        "SELECT count(*) FROM policies WHERE encode(policy_version, 'hex') = '{}' AND document <> ''",
        policy.policy_version
    );
    assert_eq!(place.number(&kept).await, 1);
    assert_eq!(replica.stop().code, Some(0));

    let again = place.migrate();
    assert_eq!(
        (again.code, again.out.as_str()),
        (Some(0), "the schema is 1 already\nmade 0 weekly partitions of the decision ledger ahead\n")
    );
}

#[tokio::test]
async fn of_five_who_migrate_at_once_all_end_well_and_it_is_done_once() {
    let place = Place::bare().await;
    let mut all: Vec<Running> = (0..5).map(|_| start_migrating(&place)).collect();
    let mut made = 0;
    for running in &mut all {
        assert_eq!(running.wait().code(), Some(0), "{}", running.err());
        let said = running.out();
        let line = said.lines().find_map(|line| line.strip_prefix("made ")).unwrap();
        made += line.split(' ').next().unwrap().parse::<i64>().unwrap();
    }
    assert_eq!(made, PARTITIONS, "each partition is made by one of them");
    assert_eq!(place.number(COUNT_PARTITIONS).await, PARTITIONS);
    assert_eq!(place.number("SELECT count(*) FROM _sqlx_migrations").await, 1);
    place.serve(&[]).until_it_is(ServingStatus::Serving).await;
}

#[tokio::test]
async fn the_next_schema_is_served_and_the_one_after_it_is_refused() {
    let place = Place::new().await;
    let add = |version: i64| {
        format!(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
             VALUES ({version}, 'of the future', true, '', 0)"
        )
    };
    place.sql(&add(2)).await;
    let replica = place.serve(&[]);
    replica.until_it_is(ServingStatus::Serving).await;
    Caller::nobody(&replica.address).await.capture.capture(fact("response_style", "brief")).await.unwrap();
    place.sql(&add(3)).await;
    let said = place.refused_as(APP, &[]);
    assert!(said.contains("schema 3") && said.contains("start a newer one"), "{said}");
    let migrated = place.migrate();
    assert_eq!(migrated.code, Some(0), "{}", migrated.err);
    assert!(migrated.out.starts_with("the schema is 3 already\n"), "{}", migrated.out);
    assert_eq!(place.number("SELECT count(*) FROM _sqlx_migrations WHERE version > 1").await, 2);
}

/// Starts a migration, and kills it while it waits to make that table.
async fn kill_at(place: &Place, table: &str) {
    let mut other = place.admin().await;
    // Whoever makes a table of that name then has to wait for what becomes of this one.
    other.execute(AssertSqlSafe(format!("BEGIN; CREATE TABLE public.{table} ()"))).await.unwrap();
    let mut migration = start_migrating(place);
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                   AND usename = 'recall_gate_migrator' AND wait_event_type = 'Lock' AND wait_event <> 'advisory'";
    until(&format!("the migration is at {table}"), async || {
        assert!(migration.ended().is_none(), "{table}: it has ended: {}", migration.err());
        place.number(waiting).await == 1
    })
    .await;
    migration.kill();
    other.execute("ROLLBACK").await.unwrap();
    other.close().await.unwrap();
    // The server goes on with the statement that it has, and finds then that nobody is there.
    let left = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                AND usename = 'recall_gate_migrator'";
    until("the migration's session is gone", async || place.number(left).await == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b36_a_migration_that_is_killed_half_way_is_made_again_while_two_replicas_wait() {
    let place = Place::bare().await;
    let replicas = [place.serve(&[]), place.serve(&[])];
    for table in ["_sqlx_migrations", "policies", "feed", "idempotency"] {
        kill_at(&place, table).await;
        for replica in &replicas {
            replica.until_it_is(ServingStatus::NotServing).await;
        }
        assert_eq!(place.number("SELECT CAST(to_regclass('public.policies') IS NULL AS int)").await, 1, "{table}");
    }
    let this_week = place.number("SELECT floor(extract(epoch FROM now()))").await / WEEK_SECONDS;
    kill_at(&place, &format!("decisions_week_{}", this_week + 5)).await;

    let migrated = place.migrate();
    assert_eq!(migrated.code, Some(0), "{}", migrated.err);
    assert!(migrated.out.starts_with("the schema is 1 already\nmade 8 weekly partitions"), "{}", migrated.out);
    assert_eq!(place.number(COUNT_PARTITIONS).await, PARTITIONS);
    for (number, replica) in replicas.iter().enumerate() {
        replica.until_it_is(ServingStatus::Serving).await;
        let mut caller = Caller::nobody(&replica.address).await;
        caller.capture.capture(fact("response_style", &format!("value {number}"))).await.unwrap();
    }
    place.assert_consistent().await;
}
