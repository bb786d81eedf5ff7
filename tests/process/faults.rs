//! The disk fills up, the file goes away, another process locks it: what was acknowledged is there, callers are told to
//! come again, health says so, and the service goes on by itself when the fault is over.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};
use tokio::task::JoinHandle;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_health::pb::health_check_response::ServingStatus;

use crate::callers::{Caller, channel, error_reason, fact_of, recall_in, values};
use crate::database::Database;
use crate::mounts::SmallDisk;
use crate::program::{PATIENCE, POLL, Running, Service, address, eventually, program};
use crate::serving::{health, services};

pub(crate) const KEY: &str = "response_style";
const CALLERS: usize = 4;

/// What the callers of a service have seen.
#[derive(Default)]
pub(crate) struct Load {
    stop: AtomicBool,
    pub(crate) acknowledged: AtomicUsize,
    pub(crate) refused: AtomicUsize,
}

/// What one of them was told is written: the project, and the value there.
pub(crate) type Written = BTreeMap<String, String>;

/// A call is refused in one way alone while the store cannot record: to come again, and why, and nothing else.
pub(crate) fn assert_unavailable(status: &Status) {
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
    let reason = error_reason(status);
    assert!(["STORE_UNAVAILABLE", "LEDGER_UNAVAILABLE"].contains(&reason.as_str()), "{status:?}");
    let said = format!("{status:?}").to_lowercase();
    for never in ["secret value", "sqlite", "disk", "locked", "recall-gate.db", "postgres", "connection", "5432"] {
        assert!(!said.contains(never), "`{never}`: {status:?}");
    }
}

/// Captures and recalls until it is told to stop.
async fn call(mut caller: Caller, number: usize, load: Arc<Load>) -> Written {
    let mut written = Written::new();
    for turn in 0.. {
        if load.stop.load(Ordering::SeqCst) {
            break;
        }
        let (project, value) = (format!("p-{number}-{turn}"), format!("secret value {number} {turn}"));
        let refused = match caller.capture.capture(fact_of(&project, KEY, &value)).await {
            Ok(_) => {
                written.insert(project.clone(), value.clone());
                match caller.recall.recall(recall_in(&project, KEY)).await {
                    Ok(reply) => {
                        assert_eq!(values(&reply.into_inner()), [value]);
                        None
                    }
                    Err(status) => Some(status),
                }
            }
            Err(status) => Some(status),
        };
        if let Some(status) = refused {
            assert_unavailable(&status);
            load.refused.fetch_add(1, Ordering::SeqCst);
        } else {
            load.acknowledged.fetch_add(1, Ordering::SeqCst);
        }
    }
    written
}

/// Callers at work.
pub(crate) struct Callers {
    pub(crate) load: Arc<Load>,
    tasks: Vec<JoinHandle<Written>>,
}

impl Callers {
    pub(crate) async fn start(address: &str) -> Self {
        let load = Arc::new(Load::default());
        let mut tasks = Vec::new();
        for number in 0..CALLERS {
            tasks.push(tokio::spawn(call(Caller::nobody(address).await, number, Arc::clone(&load))));
        }
        Self { load, tasks }
    }

    /// Waits for more answers of a sort. A caller that has failed its test ends the wait.
    async fn more(&self, what: &str, count: impl Fn(&Load) -> &AtomicUsize, more: usize) {
        let enough = count(&self.load).load(Ordering::SeqCst) + more;
        until(what, async || {
            assert!(!self.tasks.iter().any(JoinHandle::is_finished), "a caller has ended");
            count(&self.load).load(Ordering::SeqCst) >= enough
        })
        .await;
    }

    pub(crate) async fn acknowledged(&self, more: usize) {
        self.more("calls are answered", |load| &load.acknowledged, more).await;
    }

    pub(crate) async fn refused(&self, more: usize) {
        self.more("calls are refused", |load| &load.refused, more).await;
    }

    /// All that they were told is written.
    pub(crate) async fn stop(self) -> Written {
        self.load.stop.store(true, Ordering::SeqCst);
        let mut written = Written::new();
        for task in self.tasks {
            written.append(&mut task.await.unwrap());
        }
        written
    }
}

pub(crate) async fn until(what: &str, mut met: impl AsyncFnMut() -> bool) {
    let begin = Instant::now();
    while !met().await {
        assert!(begin.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(POLL).await;
    }
}

/// Waits until readiness and the five services say that; liveness never says anything but that it serves.
pub(crate) async fn until_health_says(channel: &Channel, expected: ServingStatus) {
    let names = services();
    assert_eq!(names.len(), 5, "{names:?}");
    until(&format!("health says {expected:?}"), async || {
        assert_eq!(health(channel.clone(), "liveness").await, Ok(ServingStatus::Serving));
        let mut all = health(channel.clone(), "").await == Ok(expected);
        for name in &names {
            all &= health(channel.clone(), name).await == Ok(expected);
        }
        all
    })
    .await;
}

/// Everything that was acknowledged is in that database, and nothing in it by half.
async fn assert_holds(path: &Path, written: &Written) {
    let database = Database::open(path).await;
    assert!(!written.is_empty());
    for (project, value) in written {
        let there = database.at(project, KEY).await.map(|(.., value)| value);
        assert_eq!(there.as_ref(), Some(value), "{project} was acknowledged");
    }
    database.assert_consistent().await;
}

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
    assert!(!told.contains("secret value") && !told.contains("panicked"), "{told}");
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
