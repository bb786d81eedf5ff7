//! Starts that must fail, and say why; and several at once.

use std::path::Path;

use tempfile::TempDir;

use crate::callers::{Caller, fact, recall_all, values};
use crate::database::{self, Database};
use crate::program::{Running, Service, address, eventually, program, run};

/// Takes a database back to the first schema.
async fn make_old(path: &Path) {
    let first = include_str!("../../src/store/migrations/sqlite/0001_first.sql");
    let decisions = first.split_inclusive(';').filter(|sql| sql.contains(" decisions ")).collect::<String>().leak();
    for sql in [
        "ALTER TABLE decisions RENAME TO later",
        "DROP INDEX decisions_by_age",
        decisions,
        "INSERT INTO decisions SELECT * FROM later",
        "DROP TABLE later",
    ] {
        database::run(path, sql).await;
    }
    database::run(path, "DELETE FROM _sqlx_migrations WHERE version > 1").await;
}

/// The folder of a service that has captured a memory and stopped.
async fn with_a_memory() -> TempDir {
    let service = Service::start(&[]);
    Caller::nobody(&service.address).await.capture.capture(fact("response_style", "zq7 brief")).await.unwrap();
    service.stop().0
}

/// A service there, which still recalls that memory.
async fn recalls_it(folder: TempDir) -> Service {
    let service = Service::start_in(folder, &[]);
    let reply = Caller::nobody(&service.address).await.recall.recall(recall_all()).await.unwrap().into_inner();
    assert_eq!(values(&reply), ["zq7 brief"]);
    service
}

/// Starts `serve` there, which must fail with 1, and what it said.
fn refused(folder: &Path) -> String {
    let ran = run(folder, &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{}", ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    ran.err
}

#[test]
fn a_second_service_on_the_same_database_says_who_holds_it() {
    let service = Service::start(&[]);
    let told = refused(service.path());
    let holder = format!("held by the process {}", service.running.id());
    assert!(told.contains(&holder) && told.contains("recall-gate.db"), "{told}");
    assert_eq!(service.run(&["health", "--address", &service.address]).code, Some(0), "the first one serves on");
    // Whoever comes once it is gone gets in.
    let (folder, _) = service.stop();
    Service::start_in(folder, &[]);
}

#[tokio::test]
async fn of_five_that_start_at_once_one_serves_and_the_others_say_that_it_is_held() {
    let empty = tempfile::tempdir().unwrap();
    std::fs::write(empty.path().join("recall-gate.db"), "").unwrap();
    let (old, _) = Service::start(&[]).stop();
    make_old(&old.path().join("recall-gate.db")).await;
    for folder in [tempfile::tempdir().unwrap(), empty, old] {
        let start = || Running::spawn(program(folder.path()).args(["serve", "--listen", "127.0.0.1:0"]));
        let mut all: Vec<Running> = (0..5).map(|_| start()).collect();
        eventually("four of five have ended", || {
            let ended = all.iter_mut().filter_map(Running::ended).count();
            (ended == 4).then_some(())
        });
        let (mut over, mut serving): (Vec<_>, Vec<_>) =
            all.into_iter().map(|mut one| (one.ended(), one)).partition(|(ended, _)| ended.is_some());
        address(&mut serving[0].1);
        for (ended, running) in &mut over {
            let told = running.err();
            assert_eq!(ended.unwrap().code(), Some(1), "{told}");
            assert!(told.contains("held by"), "{told}");
        }
    }
}

#[tokio::test]
async fn without_the_digest_key_of_a_database_it_does_not_start() {
    let folder = with_a_memory().await;
    let key = folder.path().join("recall-gate.db.digest-key");
    let kept = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    let told = refused(folder.path());
    assert!(told.contains("digest key is missing") && told.contains("recall-gate.db.digest-key"), "{told}");
    assert!(!key.exists(), "no new key is made in its place");

    std::fs::write(&key, [7; 32]).unwrap();
    let told = refused(folder.path());
    assert!(told.contains("not the one that this database was made with"), "{told}");
    std::fs::write(&key, &kept[..31]).unwrap();
    let told = refused(folder.path());
    assert!(told.contains("not 32 bytes long"), "{told}");

    std::fs::write(&key, kept).unwrap();
    recalls_it(folder).await;
}

#[tokio::test]
async fn a_database_with_the_next_schema_is_served() {
    let (folder, _) = Service::start(&[]).stop();
    database::run(
        &folder.path().join("recall-gate.db"),
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         SELECT max(version) + 1, 'of the next version', 1, x'00', 0 FROM _sqlx_migrations",
    )
    .await;
    let (_folder, ran) = Service::start_in(folder, &[]).stop();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[tokio::test]
async fn a_database_with_an_older_schema_is_migrated_and_keeps_what_it_has() {
    let folder = with_a_memory().await;
    let path = folder.path().join("recall-gate.db");
    make_old(&path).await;
    let decisions = "SELECT sum(length(body)) + 1000000 * count(*) FROM decisions WHERE method <> 'Recall'";
    let before = Database::open(&path).await.number(decisions).await;
    assert!(before > 1_000_000);
    let told = run(folder.path(), &["ledger", "stats", "--database", "recall-gate.db"]);
    assert!(told.code == Some(1) && told.err.contains("schema 1"), "{}", told.err);

    let (_folder, _) = recalls_it(folder).await.stop();
    let database = Database::open(&path).await;
    assert!(database.number("SELECT max(version) FROM _sqlx_migrations WHERE success").await > 1);
    let indexes = "SELECT count(*) FROM pragma_index_list('decisions') AS of_it, pragma_index_info(of_it.name) AS has \
                   WHERE has.name IN ('tenant', 'owner')";
    assert_eq!(database.number(indexes).await, 0);
    assert_eq!(database.number(decisions).await, before);
}

#[tokio::test]
async fn a_database_with_a_newer_schema_is_refused_and_left_as_it_is() {
    let (folder, _) = Service::start(&[]).stop();
    let path = folder.path().join("recall-gate.db");
    database::run(
        &path,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (9999, 'of the future', 1, x'00', 0)",
    )
    .await;
    let told = refused(folder.path());
    assert!(told.contains("schema 9999") && told.contains("start a newer one"), "{told}");
    let database = Database::open(&path).await;
    assert_eq!(database.number("SELECT count(*) FROM _sqlx_migrations WHERE version = 9999").await, 1);
}

#[test]
fn a_start_that_is_killed_while_it_makes_the_database_can_be_made_again() {
    for file in ["recall-gate.db", "recall-gate.db-wal", "recall-gate.db.digest-key"] {
        let folder = tempfile::tempdir().unwrap();
        let mut running = Running::spawn(program(folder.path()).args(["serve", "--listen", "127.0.0.1:0"]));
        let path = folder.path().join(file);
        eventually(file, || path.exists().then_some(()));
        running.kill();
        Service::start_in(folder, &[]);
    }
}

#[test]
fn what_is_no_database_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall-gate.db");
    let content = "this is a letter to somebody, and no database at all\n".repeat(100);
    std::fs::write(&path, &content).unwrap();
    let told = refused(folder.path());
    assert!(told.contains("recall-gate.db"), "{told}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
}

#[test]
fn a_database_in_a_folder_that_is_not_there_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ran = run(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--database", "nowhere/recall-gate.db"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("nowhere/recall-gate.db"), "{}", ran.err);
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let ran = run(folder.path(), &["serve", "--listen", &address]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains(&address), "{}", ran.err);
}

#[test]
fn a_bad_policy_stops_the_start_and_every_fault_of_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.toml"), crate::commands::bad_policy()).unwrap();
    let ran = run(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--policy", "policy.toml"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    crate::commands::assert_every_fault_is_told(&ran.err);
    assert!(!folder.path().join("recall-gate.db").exists(), "it has not opened the database");
}
