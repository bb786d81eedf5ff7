//! Callers at work while something fails under the service, and what must hold of every answer they get.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use tokio::task::JoinHandle;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_health::pb::health_check_response::ServingStatus;

use crate::callers::{Caller, error_reason, fact_of, recall_in, values};
use crate::database::Database;
use crate::program::{PATIENCE, POLL};
use crate::serving::{health, services};

pub(crate) const KEY: &str = "response_style";
const CALLERS: usize = 4;

/// What the callers of a service have seen.
#[derive(Default)]
pub(crate) struct Load {
    stop: AtomicBool,
    pub(crate) acknowledged: AtomicUsize,
    pub(crate) refused: AtomicUsize,
    /// Refused because their time was over; only where the disk is slow.
    pub(crate) late: AtomicUsize,
    slow: bool,
}

/// What one of them was told is written: the project, and the value there.
pub(crate) type Written = BTreeMap<String, String>;

/// A call is refused in one way alone while the store cannot record: to come again, and why, and nothing else.
pub(crate) fn assert_unavailable(status: &Status) {
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
    let reason = error_reason(status);
    assert!(["STORE_UNAVAILABLE", "LEDGER_UNAVAILABLE"].contains(&reason.as_str()), "{status:?}");
    assert_untold(status);
}

/// It says nothing of the text, the store or its files.
fn assert_untold(status: &Status) {
    let said = format!("{status:?}").to_lowercase();
    for never in ["zq7 secret value", "sqlite", "disk", "locked", "recall-gate.db", "postgres", "connection"] {
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
        let (project, value) = (format!("p-{number}-{turn}"), format!("zq7 secret value {number} {turn}"));
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
            if load.slow && status.code() == Code::DeadlineExceeded {
                assert_untold(&status);
                load.late.fetch_add(1, Ordering::SeqCst);
            } else {
                assert_unavailable(&status);
            }
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
        Self::start_with(address, Load::default()).await
    }

    /// Where the disk is slow, a call may end because its time is over.
    pub(crate) async fn start_slow(address: &str) -> Self {
        Self::start_with(address, Load { slow: true, ..Load::default() }).await
    }

    async fn start_with(address: &str, load: Load) -> Self {
        let load = Arc::new(load);
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
pub(crate) async fn assert_holds(path: &Path, written: &Written) {
    let database = Database::open(path).await;
    assert!(!written.is_empty());
    for (project, value) in written {
        let there = database.at(project, KEY).await.map(|(.., value)| value);
        assert_eq!(there.as_ref(), Some(value), "{project} was acknowledged");
    }
    database.assert_consistent().await;
}
