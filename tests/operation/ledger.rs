//! The ledger as its keeper meets it: how large it is, and how old decisions go.

use sqlx::Row;
use tempfile::TempDir;

use crate::program::{Said, Service, program};

fn run(dir: &TempDir, arguments: &[&str]) -> Said {
    program(dir.path()).args(arguments).output().unwrap().into()
}

/// What `ledger stats` says of that.
fn stat(said: &Said, name: &str) -> String {
    let line = said.out.lines().find(|line| line.starts_with(name));
    line.unwrap_or_else(|| panic!("no {name}: {} {}", said.out, said.err)).split_whitespace().last().unwrap().to_owned()
}

/// A service that has made five decisions, three of them in 1970.
async fn with_old_decisions(arguments: &[&str]) -> Service {
    let service = Service::start(arguments);
    for value in ["one", "two", "three", "four", "five"] {
        service.capture("ui_theme", value).await;
    }
    let sql = "UPDATE decisions SET decide_time = 1500000 WHERE rowid <= 3";
    let done = sqlx::query(sql).execute(&mut service.backdoor().await).await.unwrap();
    assert_eq!(done.rows_affected(), 3);
    service
}

async fn memories(service: &Service) -> i64 {
    let row = sqlx::query("SELECT count(*) FROM memories").fetch_one(&mut service.backdoor().await).await.unwrap();
    row.get(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_size_of_the_ledger_is_told_beside_the_service_and_without_it() {
    let service = with_old_decisions(&[]).await;
    let running = service.run(&["ledger", "stats"]);
    let (_, dir) = service.stop();
    let stopped = run(&dir, &["ledger", "stats", "--database", "recall-gate.db"]);
    for said in [running, stopped] {
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert_eq!(stat(&said, "decisions"), "5");
        assert_eq!(stat(&said, "oldest"), "1970-01-01T00:00:01.500Z");
        assert!(stat(&said, "newest").as_str() > "2026");
        let [ledger, database, free] =
            ["ledger bytes", "database bytes", "disk free bytes"].map(|name| stat(&said, name).parse::<u64>().unwrap());
        assert!(4096 <= ledger && ledger < database && free > 0, "{}", said.out);
    }
    Service::start_in(dir, &[]).stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beside_the_service_pruning_is_refused_with_its_process_id_and_a_dry_run_counts() {
    let service = with_old_decisions(&[]).await;
    let refused = service.run(&["ledger", "prune", "--older-than", "1"]);
    assert_eq!(refused.code, Some(1), "{}", refused.out);
    assert!(refused.err.contains(&format!("the process {}", service.id())), "{}", refused.err);
    assert!(refused.err.contains("decision_retention_days"), "{}", refused.err);
    let dry = service.run(&["ledger", "prune", "--older-than", "1", "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{}", dry.err);
    assert!(dry.out.contains("would remove 3 decisions"), "{}", dry.out);
    assert_eq!(stat(&service.run(&["ledger", "stats"]), "decisions"), "5");
    service.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pruning_removes_what_is_older_and_nothing_else() {
    let service = with_old_decisions(&[]).await;
    let kept = memories(&service).await;
    let (_, dir) = service.stop();
    let pruned = run(&dir, &["ledger", "prune", "--older-than", "1"]);
    assert_eq!(pruned.code, Some(0), "{}", pruned.err);
    assert!(pruned.out.contains("removed 3 decisions"), "{}", pruned.out);
    let again = run(&dir, &["ledger", "prune", "--older-than", "1"]);
    assert!(again.out.contains("removed 0 decisions"), "{}", again.out);
    let service = Service::start_in(dir, &[]);
    assert_eq!(memories(&service).await, kept);
    let size = service.run(&["ledger", "stats"]);
    assert_eq!(stat(&size, "decisions"), "2");
    assert!(stat(&size, "oldest").as_str() > "2026");
    service.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_prunes_by_itself_where_a_retention_is_set_and_only_then() {
    let (_, dir) = with_old_decisions(&[]).await.stop();
    let service = Service::start_in(dir, &[]);
    service.capture("display_name", "zq7 Ann").await;
    assert_eq!(stat(&service.run(&["ledger", "stats"]), "decisions"), "6");
    let (log, dir) = service.stop();
    assert!(!log.contains("past their retention"), "{log}");

    let mut service = Service::start_in(dir, &["--decision-retention-days", "1"]);
    let log = service.hear("removed decisions past their retention");
    assert!(log.contains("rows=3"), "{log}");
    let size = service.run(&["ledger", "stats"]);
    assert_eq!(stat(&size, "decisions"), "3");
    service.stop();
}

#[test]
fn pruning_makes_no_database_and_wants_a_whole_number_of_days() {
    let dir = tempfile::tempdir().unwrap();
    let said = run(&dir, &["ledger", "prune", "--older-than", "1", "--database", "none.db"]);
    assert_eq!(said.code, Some(1), "{}", said.out);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    for days in ["0", "-1", "1.5", "36501", "x"] {
        let said = run(&dir, &["ledger", "prune", "--database", "none.db", &format!("--older-than={days}")]);
        assert_eq!(said.code, Some(2), "{days}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_with_less_room_than_is_wanted_is_an_error_in_the_log_and_the_service_goes_on() {
    let mut service = Service::start(&["--min-free-bytes", "18446744073709551615"]);
    let log = service.hear("the disk");
    assert!(log.lines().last().is_some_and(|line| line.contains("ERROR")), "{log}");
    service.capture("display_name", "zq7 Ann").await;
    let health = service.run(&["health", "--address", &service.address]);
    assert_eq!(health.out, "SERVING\n");
    service.stop();
}
