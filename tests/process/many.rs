//! Many at once, for a while: each decision is there in full, no lock is met, and what is held stays so.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use prost::Message;
use recall_gate::api::proto::{CaptureRequest, CorrectRequest, Evidence, Nomination, Outcome, Query, RecallRequest};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::callers::{Caller, correction, deletion, fact, fact_of, recall_all, request_id, user_message, values};
use crate::database::Database;
use crate::program::{PATIENCE, Service};
use crate::unpacked::unpacked;

/// What is needed of the stored decision.
#[derive(Clone, PartialEq, Message)]
struct Decision {
    #[prost(string, tag = "1")]
    method: String,
    #[prost(string, tag = "2")]
    subject: String,
    #[prost(string, tag = "3")]
    principal: String,
    #[prost(string, tag = "5")]
    purpose: String,
    #[prost(string, tag = "6")]
    context_level: String,
    #[prost(bytes = "vec", tag = "9")]
    policy_version: Vec<u8>,
    #[prost(int64, tag = "10")]
    decide_time: i64,
    #[prost(message, repeated, tag = "13")]
    verdicts: Vec<Verdict>,
}

#[derive(Clone, PartialEq, Message)]
struct Verdict {
    #[prost(bytes = "vec", tag = "1")]
    memory_id: Vec<u8>,
    #[prost(string, repeated, tag = "3")]
    reasons: Vec<String>,
}

fn nominating(ids: Vec<String>) -> RecallRequest {
    let nomination = |memory_id| Nomination { memory_id, ..Nomination::default() };
    let query = Query { nominations: ids.into_iter().map(nomination).collect(), ..Query::default() };
    RecallRequest { query: Some(query), ..recall_all() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b16_a_thousand_recalls_leave_a_thousand_decisions_and_each_verdict_its_reasons() {
    let service = Service::start(&["--log-filter", "warn"]);
    let mut caller = Caller::nobody(&service.address).await;
    let mut ids = Vec::new();
    for (key, gone) in [
        ("response_style", false),
        ("ui_theme", false),
        ("response_language", false),
        ("duty_team", true),
        ("service_target", true),
    ] {
        let made = caller.capture.capture(fact(key, "zq7 value")).await.unwrap().into_inner();
        if gone {
            caller.delete.delete(deletion(&made.memory_id, 1)).await.unwrap();
        }
        ids.push(made.memory_id);
    }
    ids.extend((0..3).map(|_| request_id()));
    let recalls: Vec<_> = (0..20)
        .map(|_| {
            let (mut caller, ids) = (caller.clone(), ids.clone());
            tokio::spawn(async move {
                for _ in 0..50 {
                    let reply = caller.recall.recall(nominating(ids.clone())).await.unwrap().into_inner();
                    assert_eq!((values(&reply).len(), reply.rejected_count), (3, 5));
                }
            })
        })
        .collect();
    for recall in recalls {
        recall.await.unwrap();
    }
    // As many at a time as may be nominated, and one more.
    let most: Vec<String> = (0..256).map(|_| request_id()).collect();
    assert_eq!(caller.recall.recall(nominating(most.clone())).await.unwrap().into_inner().rejected_count, 256);
    let more = [most, vec![request_id()]].concat();
    assert_eq!(caller.recall.recall(nominating(more)).await.unwrap_err().code(), Code::InvalidArgument);

    let database = Database::open(&service.database()).await;
    let bodies = database.blobs("SELECT body FROM decisions WHERE method = 'Recall'").await;
    let mut verdicts = BTreeMap::new();
    for body in bodies {
        let decision = Decision::decode(unpacked(&body).as_slice()).unwrap();
        assert_eq!((decision.subject.as_str(), decision.principal.as_str()), ("dev", "dev"));
        assert_eq!((decision.purpose.as_str(), decision.policy_version.len()), ("converse", 32), "{decision:?}");
        assert!(decision.decide_time > 0 && !decision.context_level.is_empty(), "{decision:?}");
        assert!(decision.verdicts.iter().all(|verdict| verdict.memory_id.len() == 16), "{decision:?}");
        let rejected = decision.verdicts.iter().filter(|verdict| !verdict.reasons.is_empty()).count();
        *verdicts.entry((decision.verdicts.len(), rejected)).or_insert(0) += 1;
    }
    assert_eq!(verdicts, BTreeMap::from([((8, 5), 1000), ((256, 256), 1)]));
}

/// The answer; none where the call is to come again. Nothing but contention may send it back, and never a lock.
fn answered<T>(answer: Result<tonic::Response<T>, Status>) -> Option<T> {
    let refused = match answer {
        Ok(reply) => return Some(reply.into_inner()),
        Err(status) => status,
    };
    let reason = refused.get_details_error_info().map(|info| info.reason);
    assert_eq!(reason.as_deref(), Some("JUDGEMENT_CONTENDED"), "{refused:?}");
    None
}

/// Sends it until it is answered.
macro_rules! again {
    ($call:expr) => {
        loop {
            if let Some(reply) = answered($call.await) {
                break reply;
            }
        }
    };
}

/// Each writes its own rows again and again until it has done enough or time is up; whoever is told to come again does.
async fn work(mut caller: Caller, worker: usize, enough: Arc<dyn Fn(usize) -> bool + Send + Sync>) -> usize {
    let mut writes = 0;
    for turn in 0.. {
        if enough(turn) {
            break;
        }
        let project = format!("worker-{worker}-{turn}");
        // Of its own: what a deletion blocks by reference and key is blocked in every project.
        let source = Some(user_message(&format!("zq7 message of {project}")));
        let told = CaptureRequest { source: source.clone(), ..fact_of(&project, "response_style", "zq7 value") };
        let made = again!(caller.capture.capture(told.clone()));
        let change = CorrectRequest { source, ..correction(&made.memory_id, 1, "zq7 other") };
        let changed = again!(caller.correct.correct(change.clone()));
        assert_eq!((made.outcome(), changed.outcome()), (Outcome::Activated, Outcome::Activated));
        again!(caller.delete.delete(deletion(&made.memory_id, 2)));
        writes += 3;
    }
    writes
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

async fn fifty_workers(enough: Arc<dyn Fn(usize) -> bool + Send + Sync>) {
    let service = Service::start(&["--log-filter", "warn"]);
    // Reads for as long as they work, as a copy of the database does.
    let mut reader = SqliteConnectOptions::new().filename(service.database()).read_only(true).connect().await.unwrap();
    reader.execute("BEGIN; SELECT count(*) FROM decisions").await.unwrap();
    let mut workers = Vec::new();
    for worker in 0..50 {
        workers.push(tokio::spawn(work(Caller::nobody(&service.address).await, worker, Arc::clone(&enough))));
    }
    let mut writes = 0;
    for worker in workers {
        writes += worker.await.unwrap();
    }
    let log = service.path().join("recall-gate.db-wal");
    assert!(length(&log) > 4 << 20, "the reader kept the log from beginning anew: {}", length(&log));
    reader.execute("ROLLBACK").await.unwrap();
    reader.close().await.unwrap();
    work(Caller::nobody(&service.address).await, 50, Arc::new(|turn| turn >= 2)).await;
    let before = length(&log);
    work(Caller::nobody(&service.address).await, 51, Arc::new(|turn| turn >= 20)).await;
    assert!(length(&log) <= before, "without the reader the log begins anew: {} after {before}", length(&log));
    let database = Database::open(&service.database()).await;
    let versions = database.number("SELECT count(*) FROM memory_versions").await;
    assert_eq!(usize::try_from(versions).unwrap(), writes + 22 * 3, "no write is lost and none is there twice");
    database.assert_consistent().await;
    let (_folder, ran) = service.stop();
    assert!(!ran.err.contains("ERROR"), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b36_fifty_workers_beside_a_long_reader_meet_no_lock_and_lose_no_write() {
    fifty_workers(Arc::new(|turn| turn >= 8)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes a minute; `tests/long workers` runs it"]
async fn b36_fifty_workers_for_a_minute_meet_no_lock_and_lose_no_write() {
    let begin = Instant::now();
    fifty_workers(Arc::new(move |_| begin.elapsed() >= Duration::from_mins(1))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b13_what_is_held_is_still_held_after_a_kill() {
    let mut folder = tempfile::tempdir().unwrap();
    let mut acknowledged = 0;
    for round in 0..10 {
        let mut service = Service::start_in(folder, &["--log-filter", "warn"]);
        let count = Arc::new(AtomicUsize::new(0));
        let mut callers = Vec::new();
        for number in 0..4 {
            let (mut caller, count) = (Caller::nobody(&service.address).await, Arc::clone(&count));
            callers.push(tokio::spawn(async move {
                for turn in 0.. {
                    let told = fact_of(&format!("p-{round}-{number}-{turn}"), "service_target", "zq7 held");
                    let held = CaptureRequest { evidence: Evidence::None.into(), ..told };
                    let Ok(reply) = caller.capture.capture(held).await else { break };
                    assert_eq!(reply.get_ref().outcome(), Outcome::Held);
                    count.fetch_add(1, Ordering::SeqCst);
                }
            }));
        }
        let begin = Instant::now();
        while count.load(Ordering::SeqCst) < 5 + round * 3 {
            assert!(begin.elapsed() < PATIENCE);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        service.running.kill();
        for caller in callers {
            caller.await.unwrap();
        }
        acknowledged += count.load(Ordering::SeqCst);
        let database = Database::open(&service.database()).await;
        assert_eq!(database.number("SELECT count(*) FROM memories").await, 0, "round {round}");
        let waiting = usize::try_from(database.number("SELECT count(*) FROM candidates").await).unwrap();
        assert!(waiting >= acknowledged && waiting <= acknowledged + 4 * (round + 1), "{waiting}, {acknowledged}");
        folder = service.folder;
    }
    let service = Service::start_in(folder, &[]);
    let reply = Caller::nobody(&service.address).await.recall.recall(recall_all()).await.unwrap().into_inner();
    assert_eq!(values(&reply), [""; 0]);
}

/// The memory that a process has now, in MiB.
fn resident_mib(process_id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process_id}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes five minutes; `tests/long exporter` runs it"]
async fn b40_a_collector_that_is_gone_for_five_minutes_costs_no_call_and_no_memory() {
    let endpoint = format!("http://{}", std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let service = Service::start(&["--otlp-endpoint", &endpoint, "--log-filter", "warn"]);
    let over = Arc::new(AtomicBool::new(false));
    let mut callers = Vec::new();
    for _ in 0..4 {
        let (mut caller, over) = (Caller::nobody(&service.address).await, Arc::clone(&over));
        callers.push(tokio::spawn(async move {
            let mut recalls = 0;
            while !over.load(Ordering::SeqCst) {
                caller.recall.recall(recall_all()).await.unwrap();
                recalls += 1;
            }
            recalls
        }));
    }
    // More spans than may wait have come by then.
    tokio::time::sleep(Duration::from_secs(30)).await;
    let before = resident_mib(service.running.id());
    tokio::time::sleep(Duration::from_secs(270)).await;
    let after = resident_mib(service.running.id());
    over.store(true, Ordering::SeqCst);
    let mut recalls = 0;
    for caller in callers {
        recalls += caller.await.unwrap();
    }
    assert!(recalls > 10_000, "{recalls}");
    assert!(after < before + 32, "{before} MiB after half a minute, {after} MiB after five");
    let (_folder, ran) = service.stop();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told = ran.err.lines().filter(|line| line.contains("spans cannot be exported")).count();
    assert!((1..=6).contains(&told), "once a minute: {}", ran.err);
}
