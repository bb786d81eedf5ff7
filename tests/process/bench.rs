//! `bench`: that it measures what it says. How fast anything was decides nothing here.

use std::path::Path;

use serde_json::Value;

use crate::program::{Ran, Running, Service, eventually, program, run};

/// A world that is loaded in a moment.
const SMALL: [&str; 6] = ["--tenants", "2", "--subjects", "3", "--memories", "12"];
const SHORT: [&str; 4] = ["--duration", "1", "--warm-up", "0"];

fn bench(folder: &Path, arguments: &[&str]) -> Ran {
    run(folder, &[&["bench"], &SMALL[..], arguments].concat())
}

fn report(ran: &Ran) -> Value {
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    serde_json::from_str(&ran.out).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Calls were made, all were answered well, and the numbers of a run add up.
fn assert_adds_up(run: &Value) {
    assert_eq!(run["errors"], serde_json::json!({}));
    assert_counts_add_up(run);
}

fn assert_counts_add_up(run: &Value) {
    let answered = number(&run["answered"]);
    assert!(answered > 0, "{run}");
    let failed: u64 = run["errors"].as_object().unwrap().values().map(number).sum();
    assert_eq!((number(&run["calls"]), number(&run["unsent"])), (answered + failed, 0), "{run}");
    let methods = run["by_method"].as_object().unwrap();
    assert_eq!(methods.values().map(|method| number(&method["answered"])).sum::<u64>(), answered, "{run}");
    let latency = &run["latency_micros"];
    let points = ["p50", "p90", "p99", "p99.9", "max"].map(|point| number(&latency[point]));
    assert!(points[0] > 0 && points.is_sorted(), "{latency}");
    assert!(["server", "shared_machine", "generator"].contains(&run["limit"].as_str().unwrap()));
}

fn assert_nothing_left(folder: &Path) {
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
}

#[test]
fn a_closed_loop_is_compared_with_an_echo_and_with_the_bare_statements() {
    let folder = tempfile::tempdir().unwrap();
    let compared =
        ["--in-flight", "8", "--baseline", "echo", "--baseline", "sql", "--baseline", "echo-insert", "--json"];
    let report = report(&bench(folder.path(), &[&SHORT[..], &compared].concat()));
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(
        runs.iter().map(|run| run["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["recall-gate", "echo", "echo-insert", "sql"]
    );
    runs.iter().for_each(assert_adds_up);
    assert_eq!(number(&report["loaded"]["memories"]), 72);
    for run in &runs[..3] {
        assert_eq!(run["in_flight"], 8);
        assert!(number(&run["server"]["resident_bytes"]) > 1 << 20, "{run}");
        assert!(run["server"]["processors"].as_f64().unwrap() > 0.0, "{run}");
    }
    let rate = |run: &Value| run["answered_per_second"].as_f64().unwrap();
    for (place, baseline) in [(1, "echo"), (2, "echo-insert"), (3, "sql")] {
        let expected = rate(&runs[0]) / rate(&runs[place]);
        let ratio = report["ratios"][baseline].as_f64().unwrap();
        assert!((ratio - expected).abs() < 1e-9 * expected, "{baseline}: {ratio} {expected}");
    }
    assert_nothing_left(folder.path());
}

#[test]
fn a_service_that_keeps_no_context_reads_for_each_recall_and_the_report_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let cold =
        bench(folder.path(), &[&SHORT[..], &["--in-flight", "4", "--json", "--", "--context-cache-mib", "0"]].concat());
    let cold = report(&cold);
    assert_eq!(cold["context_cache_mib"], 0);
    assert_adds_up(&cold["runs"][0]);
    let warm = bench(folder.path(), &[&SHORT[..], &["--in-flight", "4"]].concat());
    assert!(warm.out.contains("warm: contexts are kept in memory, in 48 MiB"), "{}", warm.out);
}

#[test]
fn an_open_loop_of_all_methods_sends_as_many_calls_as_it_was_told() {
    let folder = tempfile::tempdir().unwrap();
    let mixed = ["--rate", "50", "--mix", "recall=4,capture=3,correct=2,delete=1", "--json"];
    let report = report(&bench(folder.path(), &[&SHORT[..], &mixed].concat()));
    let run = &report["runs"][0];
    assert_counts_add_up(run);
    // Deletions and captures of one subject may overtake each other too often.
    assert!(run["errors"].as_object().unwrap().keys().all(|code| code == "ABORTED"), "{run}");
    assert_eq!((number(&run["calls"]), run["rate"].as_f64()), (50, Some(50.0)));
    let methods: Vec<&String> = run["by_method"].as_object().unwrap().keys().collect();
    assert_eq!(methods, ["capture", "correct", "delete", "recall"]);
    assert_nothing_left(folder.path());
}

#[test]
fn recalls_by_text_of_a_few_of_the_subjects_are_measured_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let few =
        ["--recall-by", "text", "--asked-subjects", "1", "--in-flight", "2", "--baseline", "echo-insert", "--json"];
    let report = report(&bench(folder.path(), &[&SHORT[..], &few].concat()));
    assert_eq!((report["recall_by"].as_str(), number(&report["world"]["asked_subjects"])), (Some("text"), 1));
    report["runs"].as_array().unwrap().iter().for_each(assert_adds_up);
}

#[test]
fn what_was_loaded_in_bulk_is_used_again_and_not_loaded_twice() {
    let folder = tempfile::tempdir().unwrap();
    let load = || bench(folder.path(), &["--database", "there.db", "--load-only", "--json"]);
    let loaded = report(&load());
    assert_eq!((number(&loaded["loaded"]["memories"]), loaded["runs"].as_array().unwrap().len()), (72, 0));
    let again = load();
    assert_eq!((again.code, again.out.as_str()), (Some(1), ""));
    assert!(again.err.contains("`--loaded`"), "{}", again.err);
    let use_it = ["--database", "there.db", "--loaded", "--json"];
    let used = report(&bench(folder.path(), &[&SHORT[..], &use_it].concat()));
    assert_eq!(used["loaded"], Value::Null);
    assert_adds_up(&used["runs"][0]);
    // With other numbers the memories that are asked for are not there.
    let other = [&["bench", "--subjects", "99"], &SHORT[..], &use_it].concat();
    let other = run(folder.path(), &other);
    assert_eq!(other.code, Some(1), "{}", other.out);
    assert!(other.err.contains("came back with"), "{}", other.err);
}

#[test]
fn a_service_that_runs_already_is_loaded_over_the_api_and_measured() {
    let folder = tempfile::tempdir().unwrap();
    let made = run(folder.path(), &["token", "--generate-key", "key.pem"]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    let identity = ["--issuer", "me", "--audience", "gate"];
    let service = Service::start_in(folder, &[&["--key", "k1=key.pem.pub"], &identity[..]].concat());
    let process = service.running.id().to_string();
    let target = ["--target", &service.address, "--key", "k1=key.pem", "--server-process", &process, "--json"];
    let report = report(&bench(service.path(), &[&SHORT[..], &identity, &target].concat()));
    assert_eq!(number(&report["loaded"]["memories"]), 72);
    assert_adds_up(&report["runs"][0]);
    assert!(number(&report["runs"][0]["server"]["peak_resident_bytes"]) > 1 << 20);
}

#[test]
fn what_does_not_go_together_is_refused_before_anything_is_started() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["--nominations", "13"][..],
        &["--baseline", "echo", "--rate", "10"],
        &["--baseline", "sql", "--mix", "recall=1,capture=1"],
        &["--baseline", "echo-insert", "--mix", "recall=1,capture=1"],
        &["--baseline", "sql", "--recall-by", "text"],
        &["--rate", "0"],
        &["--load-only"],
        &["--target", "127.0.0.1:1"],
        &["--mix", "forget=1"],
    ] {
        let ran = bench(folder.path(), arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}: {}", ran.err);
    }
    assert_nothing_left(folder.path());
}

#[test]
fn a_signal_ends_it_and_what_it_has_started_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [&["bench"], &SMALL[..], &["--duration", "600", "--warm-up", "0"]].concat();
    let mut running = Running::spawn(program(folder.path()).args(arguments));
    // Once its child listens, the database is there and calls are made.
    let log = eventually("the service is started", || {
        let log = std::fs::read_dir(folder.path()).unwrap().next()?.unwrap().path().join("serve.log");
        std::fs::read_to_string(log).ok().filter(|said| said.contains("listening"))
    });
    assert!(!log.contains("DEVELOPMENT MODE"), "credentials are verified: {log}");
    running.signal("TERM");
    assert_eq!(running.wait().code(), Some(1));
    assert!(running.err().contains("SIGTERM"));
    assert_nothing_left(folder.path());
    let address = log.split("address=").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap();
    assert!(std::net::TcpStream::connect(address).is_err(), "the service has ended: {log}");
}

#[test]
fn what_it_has_started_ends_even_when_it_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [&["bench"], &SMALL[..], &["--duration", "600", "--warm-up", "0"]].concat();
    let mut running = Running::spawn(program(folder.path()).args(arguments));
    let log = || std::fs::read_dir(folder.path()).unwrap().next()?.ok().map(|run| run.path().join("serve.log"));
    let said = || std::fs::read_to_string(log()?).ok();
    eventually("the service is started", || said().filter(|said| said.contains("listening")));
    running.signal("KILL");
    running.wait();
    // It is told to stop, as by a signal, and says so at its end.
    eventually("the service has stopped", || said().filter(|said| said.contains("stopped")));
}

#[test]
fn the_table_says_the_same_for_people() {
    let folder = tempfile::tempdir().unwrap();
    let ran = bench(folder.path(), &[&SHORT[..], &["--in-flight", "2", "--baseline", "echo"]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    for said in
        ["loaded 72 memories", "p99.9", "recall-gate", "2 at once", "errors: none", "the limit was", "of `echo`"]
    {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
}
