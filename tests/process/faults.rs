//! The disk fills up, the file goes away, another process locks it: what was acknowledged is there, callers are told to
//! come again, health says so, and the service goes on by itself when the fault is over.

use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};
use tonic_health::pb::health_check_response::ServingStatus;

use crate::callers::{Caller, channel, recall_all, values};
use crate::load::{Callers, assert_holds, assert_unavailable, until_health_says};
use crate::mounts::SmallDisk;
use crate::program::{PATIENCE, Running, Service, address, eventually, program};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s02_i06_a_full_disk_refuses_calls_turns_readiness_and_is_over_when_there_is_room() {
    let disk = SmallDisk::mount();
    let mut command = program(disk.path());
    let mut running = Running::spawn(command.args(["serve", "--listen", "127.0.0.1:0"]));
    let address = address(&mut running);
    let channel = channel(&address).await;
    let callers = Callers::start(&address).await;
    callers.acknowledged(10).await;

    for _ in 0..2 {
        let filler = disk.fill();
        callers.refused(10).await;
        until_health_says(&channel, ServingStatus::NotServing).await;
        callers.refused(10).await;

        std::fs::remove_file(filler).unwrap();
        until_health_says(&channel, ServingStatus::Serving).await;
        callers.acknowledged(10).await;
    }
    let written = callers.stop().await;
    assert!(running.ended().is_none(), "it never restarted");
    running.kill();
    let told = running.err();
    assert!(told.contains("not ready") && told.contains("ready again"), "{told}");
    assert!(!told.contains("zq7 secret value") && !told.contains("panicked"), "{told}");
    assert_holds(&disk.path().join("recall-gate.db"), &written).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b36_a_lock_that_another_process_holds_is_waited_for_or_answered_unavailable() {
    let service = Service::start(&[]);
    let callers = Callers::start(&service.address).await;
    callers.acknowledged(5).await;
    let channel = channel(&service.address).await;
    let options = SqliteConnectOptions::new().filename(service.database()).busy_timeout(PATIENCE);
    let mut other = options.connect().await.unwrap();

    other.execute("BEGIN IMMEDIATE").await.unwrap();
    // How long the fault lasts; nothing is expected to have happened by its end.
    tokio::time::sleep(Duration::from_secs(2)).await;
    other.execute("ROLLBACK").await.unwrap();
    callers.acknowledged(5).await;
    assert_eq!(callers.load.refused.load(Ordering::SeqCst), 0, "a short lock is waited for");

    other.execute("BEGIN IMMEDIATE").await.unwrap();
    callers.refused(1).await;
    until_health_says(&channel, ServingStatus::NotServing).await;
    other.execute("ROLLBACK").await.unwrap();
    other.close().await.unwrap();
    callers.acknowledged(5).await;
    until_health_says(&channel, ServingStatus::Serving).await;
    let written = callers.stop().await;
    let database = service.database();
    let (_folder, ran) = service.stop();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_holds(&database, &written).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_becomes_read_only_under_the_service_is_still_written() {
    let service = Service::start(&[]);
    let callers = Callers::start(&service.address).await;
    callers.acknowledged(5).await;
    for file in ["recall-gate.db", "recall-gate.db-wal", "recall-gate.db-shm"] {
        std::fs::set_permissions(service.path().join(file), std::fs::Permissions::from_mode(0o400)).unwrap();
    }
    callers.acknowledged(20).await;
    until_health_says(&channel(&service.address).await, ServingStatus::Serving).await;
    let written = callers.stop().await;
    let database = service.database();
    let (_folder, _) = service.stop();
    assert_holds(&database, &written).await;
}

/// The file goes away and comes back; what lies in its place meanwhile, if anything, is not taken for it.
async fn away_and_back(file: &str, replacement: Option<&[u8]>) {
    let service = Service::start(&[]);
    let channel = channel(&service.address).await;
    let callers = Callers::start(&service.address).await;
    callers.acknowledged(5).await;
    let (path, away) = (service.path().join(file), service.path().join("away"));
    std::fs::rename(&path, &away).unwrap();
    if let Some(replacement) = replacement {
        std::fs::write(&path, replacement).unwrap();
    }
    callers.refused(10).await;
    until_health_says(&channel, ServingStatus::NotServing).await;
    let before = callers.load.acknowledged.load(Ordering::SeqCst);
    callers.refused(10).await;
    assert_eq!(callers.load.acknowledged.load(Ordering::SeqCst), before, "{file}: it acknowledges what would be lost");

    std::fs::rename(&away, &path).unwrap();
    until_health_says(&channel, ServingStatus::Serving).await;
    callers.acknowledged(5).await;
    let written = callers.stop().await;
    let database = service.database();
    let (_folder, ran) = service.stop();
    assert!(ran.err.contains("removed or replaced"), "{}", ran.err);
    assert_holds(&database, &written).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_acknowledged_while_a_file_of_the_database_is_gone_or_another() {
    for file in ["recall-gate.db", "recall-gate.db-wal"] {
        away_and_back(file, None).await;
        away_and_back(file, Some(b"")).await;
    }
}

#[test]
fn a_stop_while_the_store_is_ill_is_a_stop() {
    let service = Service::start(&[]);
    std::fs::rename(service.database(), service.path().join("away")).unwrap();
    let ill = || service.running.err_so_far().contains("not ready").then_some(());
    eventually("the store is ill", ill);
    let (_folder, ran) = service.stop();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!ran.err.contains("ready again") && !ran.err.contains("panicked"), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_reader_is_opened_on_what_lies_in_the_place_of_the_database() {
    let service = Service::start(&[]);
    let caller = Caller::nobody(&service.address).await;
    let away = service.path().join("away");
    // More at once than have been, so that a connection for each is not there yet.
    let many = async || {
        let recalls: Vec<_> = (0..32).map(|_| (caller.clone(), recall_all())).collect();
        let recalls =
            recalls.into_iter().map(|(mut caller, ask)| tokio::spawn(async move { caller.recall.recall(ask).await }));
        let mut answers = Vec::new();
        for recall in recalls.collect::<Vec<_>>() {
            answers.push(recall.await.unwrap());
        }
        answers
    };
    std::fs::rename(service.database(), &away).unwrap();
    std::fs::write(service.database(), b"").unwrap();
    for refused in many().await {
        assert_unavailable(&refused.unwrap_err());
    }
    std::fs::rename(&away, service.database()).unwrap();
    for answer in many().await {
        assert_eq!(values(&answer.unwrap().into_inner()), [""; 0]);
    }
}
