//! `bench` on PostgreSQL, and pgbench with the same two statements. How fast anything was decides nothing here.

use std::process::Command;

use serde_json::Value;

use super::place::{APP, Place};
use crate::postgres::SUPERUSER;
use crate::program::run;

const DECIDED: &str = "SELECT count(*) FROM decisions WHERE method = 'Recall'";

/// What `bench` says of a small world, loaded or there already.
fn bench(place: &Place, further: &[&str]) -> Value {
    let database = place.url(APP);
    let there = ["--database", &database, "--digest-key", "digest-key"];
    let world = ["--tenants", "1", "--subjects", "2", "--memories", "12"];
    let short = ["--duration", "1", "--warm-up", "0", "--in-flight", "2"];
    let ran = run(place.path(), &[&["bench", "--json"], &there[..], &world, &short, further].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    serde_json::from_str(&ran.out).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn with_no_memory_for_contexts_every_recall_reads_the_database_and_with_some_few_do() {
    const READS: &str = "SELECT sum(coalesce(seq_scan, 0) + coalesce(idx_scan, 0)) FROM pg_stat_user_tables \
                         WHERE relname = 'memories'";
    let place = Place::new().await;
    bench(&place, &["--load-only"]);
    for (mib, all) in [("0", true), ("1", false)] {
        let before = place.number(READS).await;
        let report = bench(&place, &["--loaded", "--", "--context-cache-mib", mib]);
        let answered = report["runs"][0]["answered"].as_i64().unwrap();
        let reads = place.number(READS).await - before;
        // Each of the ten memories is looked up by its id.
        assert_eq!(reads >= 10 * answered, all, "{mib} MiB: {reads} reads for {answered} recalls");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bare_statements_and_a_grouped_insert_append_as_many_decisions_as_they_answer() {
    let place = Place::new().await;
    let report = bench(&place, &["--baseline", "sql", "--baseline", "echo-insert"]);
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| &run["name"]).collect::<Vec<_>>(), ["recall-gate", "echo-insert", "sql"]);
    assert!(runs.iter().all(|run| run["errors"] == serde_json::json!({})), "{runs:?}");
    let answered: i64 = runs.iter().map(|run| run["answered"].as_i64().unwrap()).sum();
    // One recall before all, to see that the memories are there, and one to be answered again.
    assert_eq!(place.number(DECIDED).await, answered + 2);

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pgbench");
    let program = env!("CARGO_BIN_EXE_recall-gate");
    let ran = Command::new(script).args([program, &place.url(SUPERUSER), "1", "2"]).output().unwrap();
    let [said, why] = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!((ran.status.code(), why.as_str()), (Some(0), ""), "{said}");
    assert!(said.trim().parse::<f64>().unwrap() > 0.0, "{said}");
    assert!(place.number(DECIDED).await > answered + 2);
    assert_eq!(place.number("SELECT count(*) FROM pg_roles WHERE rolname = 'recall_gate_pgbench'").await, 0);
}
