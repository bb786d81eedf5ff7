//! The disk is slow, hangs, refuses a write or a sync, or takes half of one: injected into the system calls of a running
//! service, and taken away again. What was acknowledged is there, and the service goes on without a restart.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};
use tonic_health::pb::health_check_response::ServingStatus;

use crate::callers::channel;
use crate::load::{Callers, assert_holds, until_health_says};
use crate::program::{Running, Service, eventually};

/// A fault in the system calls of a process, for as long as this lives.
struct Fault(Running);

impl Fault {
    /// `fault` is in the words of `strace`: which calls, and what becomes of them.
    fn begin(process_id: u32, fault: &str) -> Self {
        let calls = fault.split(':').next().unwrap();
        let mut command = Command::new("strace");
        command.args(["-f", "-o", "/dev/null", "-e", &format!("trace={calls}"), "-e", &format!("inject={fault}")]);
        command.args(["-p", &process_id.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut running = Running::spawn(&mut command);
        eventually("strace attaches", || {
            let told = running.err_so_far();
            assert!(running.ended().is_none(), "strace cannot attach to a process of ours: {told}");
            told.contains(" attached").then_some(())
        });
        Self(running)
    }

    fn end(mut self) {
        self.0.signal("INT");
        self.0.wait();
    }
}

/// Kills the service, and looks at what it left and what it said.
async fn assert_nothing_lost(mut service: Service, callers: Callers) -> String {
    let written = callers.stop().await;
    assert!(service.running.ended().is_none(), "it never restarted");
    service.running.kill();
    let told = service.running.err();
    assert!(!told.contains("zq7") && !told.contains("panicked"), "{told}");
    assert_holds(&service.database(), &written).await;
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i06_a_slow_disk_makes_calls_slow_and_refuses_none() {
    let service = Service::start(&[]);
    let channel = channel(&service.address).await;
    let callers = Callers::start(&service.address).await;
    callers.acknowledged(5).await;
    let fault = Fault::begin(service.running.id(), "fdatasync,fsync:delay_enter=300000");
    callers.acknowledged(20).await;
    until_health_says(&channel, ServingStatus::Serving).await;
    fault.end();
    callers.acknowledged(20).await;
    assert_eq!(callers.load.refused.load(Ordering::SeqCst), 0);
    assert_nothing_lost(service, callers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i06_a_disk_that_hangs_costs_a_call_its_time_and_no_more() {
    let service = Service::start(&["--max-call-seconds", "1"]);
    let channel = channel(&service.address).await;
    let callers = Callers::start_slow(&service.address).await;
    callers.acknowledged(5).await;
    let fault = Fault::begin(service.running.id(), "fdatasync,fsync:delay_enter=3000000");
    callers.refused(8).await;
    fault.end();
    callers.acknowledged(20).await;
    until_health_says(&channel, ServingStatus::Serving).await;
    assert!(callers.load.late.load(Ordering::SeqCst) > 0, "some call ran out of its time");
    assert_nothing_lost(service, callers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i06_a_write_or_a_sync_that_fails_refuses_calls_until_it_works_again() {
    let service = Service::start(&[]);
    let channel = channel(&service.address).await;
    let callers = Callers::start(&service.address).await;
    callers.acknowledged(5).await;
    for fault in ["pwrite64:error=EIO", "pwrite64:error=ENOSPC", "fdatasync,fsync:error=EIO"] {
        let fault = Fault::begin(service.running.id(), fault);
        callers.refused(10).await;
        until_health_says(&channel, ServingStatus::NotServing).await;
        let before = callers.load.acknowledged.load(Ordering::SeqCst);
        callers.refused(10).await;
        assert_eq!(callers.load.acknowledged.load(Ordering::SeqCst), before, "it acknowledges what is not on disk");
        fault.end();
        until_health_says(&channel, ServingStatus::Serving).await;
        callers.acknowledged(10).await;
    }
    let told = assert_nothing_lost(service, callers).await;
    assert_eq!(told.matches("ready again").count(), 3, "{told}");
}

/// The longest that a file of that process may be from now on.
fn limit_files(process_id: u32, bytes: &str) {
    let mut command = Command::new("prlimit");
    let set = command.args(["--pid", &process_id.to_string(), &format!("--fsize={bytes}:")]).output().unwrap();
    assert!(set.status.success(), "{}", String::from_utf8_lossy(&set.stderr));
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i06_a_write_that_is_cut_short_is_not_acknowledged_and_does_not_end_the_service() {
    let service = Service::start(&[]);
    let channel = channel(&service.address).await;
    let callers = Callers::start(&service.address).await;
    callers.acknowledged(5).await;
    // As long as it reads, the log does not begin anew, so that it grows.
    let mut reader = SqliteConnectOptions::new().filename(service.database()).read_only(true).connect().await.unwrap();
    reader.execute("BEGIN; SELECT count(*) FROM decisions").await.unwrap();
    let log = service.path().join("recall-gate.db-wal");
    for part in [1, 1000] {
        // Further away than what is written meanwhile.
        let limit = length(&log) + 256 * 1024 + part;
        limit_files(service.running.id(), &limit.to_string());
        callers.refused(10).await;
        until_health_says(&channel, ServingStatus::NotServing).await;
        assert_eq!(length(&log), limit, "the last write went as far as it could");
        limit_files(service.running.id(), "unlimited");
        until_health_says(&channel, ServingStatus::Serving).await;
        callers.acknowledged(10).await;
    }
    reader.close().await.unwrap();
    assert_nothing_lost(service, callers).await;
}
