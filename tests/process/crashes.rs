//! The process is killed in the middle of writes, again and again: what was answered is there, and nothing by half.
//!
//! A kill shows what is written, not what is synced; `system_calls` shows that.
//!
//! Decision: each round checks what was answered in it and what was written in it, and only each tenth and the last
//! read the whole database. Nothing repairs or removes what an earlier round left behind, so that the next whole check
//! finds it. Cost: such a fault is told up to nine rounds late.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use recall_gate::api::proto::Outcome;
use tempfile::TempDir;
use tokio::sync::Notify;
use tonic::Status;
use tonic_types::StatusExt;
use uuid::Uuid;

use crate::callers::{Caller, correction, deletion, fact_of, recall_in, request_id, restoration, user_message, values};
use crate::database::Database;
use crate::program::Service;

/// Of the fast suite.
const ROUNDS: usize = 100;
/// Of the long one.
const MANY_ROUNDS: usize = 1000;
/// How many rounds there are to one check of everything.
const WHOLE: usize = 10;

const WRITERS: usize = 5;
const READERS: usize = 3;
const KEY: &str = "response_style";

const DELETED: i64 = 2;

fn project(writer: usize) -> String {
    format!("project-{writer}")
}

/// What a writer knows of its one memory.
#[derive(Clone, Default)]
struct Known {
    /// The last version that was acknowledged.
    memory: Option<(Uuid, i64, bool)>,
    /// Every version that was acknowledged, with its value.
    versions: Vec<(Uuid, i64, String)>,
    /// The value that was sent and not acknowledged.
    sent: Option<String>,
}

/// What came back before the kill.
#[derive(Default)]
struct Seen {
    decisions: BTreeSet<String>,
    texts: BTreeSet<String>,
}

/// Counts what was acknowledged, and says when it is enough.
struct Tally {
    count: AtomicUsize,
    enough: usize,
    reached: Notify,
}

impl Tally {
    fn one_more(&self) {
        if self.count.fetch_add(1, Ordering::SeqCst) + 1 == self.enough {
            self.reached.notify_one();
        }
    }
}

/// Captures, corrects, deletes and restores, until the service is gone.
async fn write(mut caller: Caller, writer: usize, round: usize, mut known: Known, tally: Arc<Tally>) -> (Known, Seen) {
    let mut seen = Seen::default();
    // Of its own: what one deletes is blocked by reference and key in every project.
    let reference = format!("zq7 message of writer {writer}");
    for turn in 0.. {
        let value = format!("zq7 value {writer} of round {round}, turn {turn}");
        let id_of_request = if turn % 2 == 0 { request_id() } else { String::new() };
        known.sent = Some(value.clone());
        let answer: Result<(String, i64, String, bool), Status> = match known.memory {
            None => {
                let mut request = fact_of(&project(writer), KEY, &value);
                request.source = Some(user_message(&reference));
                request.request_id = id_of_request;
                caller.capture.capture(request).await.map(|reply| {
                    let reply = reply.into_inner();
                    assert_eq!(reply.outcome(), Outcome::Activated, "{reply:?}");
                    (reply.memory_id, reply.version, reply.decision_id, false)
                })
            }
            Some((id, version, true)) => {
                known.sent = None;
                let mut request = restoration(&id.to_string(), version);
                request.request_id = id_of_request;
                caller.delete.restore(request).await.map(|reply| {
                    let reply = reply.into_inner();
                    (reply.memory_id, reply.version, reply.decision_id, false)
                })
            }
            Some((id, version, false)) if turn % 5 == 4 => {
                known.sent = None;
                let mut request = deletion(&id.to_string(), version);
                request.request_id = id_of_request;
                caller.delete.delete(request).await.map(|reply| {
                    let reply = reply.into_inner();
                    (reply.memory_id, reply.version, reply.decision_id, true)
                })
            }
            Some((id, version, false)) => {
                let mut request = correction(&id.to_string(), version, &value);
                request.source = Some(user_message(&reference));
                request.request_id = id_of_request;
                caller.correct.correct(request).await.map(|reply| {
                    let reply = reply.into_inner();
                    assert_eq!(reply.outcome(), Outcome::Activated, "{reply:?}");
                    (reply.memory_id, reply.version, reply.decision_id, false)
                })
            }
        };
        let (id, version, decision_id, deleted) = match answer {
            Ok(answer) => answer,
            Err(status) if is_contended(&status) => continue,
            Err(status) => {
                assert_gone(&status);
                break;
            }
        };
        let id = Uuid::parse_str(&id).unwrap();
        let value = known.sent.take().unwrap_or_else(|| known.versions.last().unwrap().2.clone());
        known.versions.push((id, version, value));
        known.memory = Some((id, version, deleted));
        seen.decisions.insert(decision_id);
        tally.one_more();
    }
    (known, seen)
}

/// Recalls until the service is gone.
async fn read(mut caller: Caller, reader: usize, tally: Arc<Tally>) -> Seen {
    let mut seen = Seen::default();
    for turn in reader.. {
        let answer = caller.recall.recall(recall_in(&project(turn % WRITERS), KEY)).await;
        let reply = match answer {
            Ok(reply) => reply.into_inner(),
            Err(status) if is_contended(&status) => continue,
            Err(status) => {
                assert_gone(&status);
                break;
            }
        };
        seen.texts.extend(values(&reply).into_iter().map(str::to_owned));
        seen.decisions.insert(reply.decision_id);
        tally.one_more();
    }
    seen
}

/// Whether the service asks to try again, and nothing was written.
fn is_contended(status: &Status) -> bool {
    status.get_details_error_info().is_some_and(|info| info.reason == "JUDGEMENT_CONTENDED")
}

/// A call fails otherwise only where nobody is there to refuse it.
fn assert_gone(status: &Status) {
    assert!(status.get_details_error_info().is_none(), "the service refused a call of its own accord: {status:?}");
}

/// After a kill the database decides what became of the write that nobody answered: it is there whole, or not at all.
async fn settle(database: &Database, writer: usize, known: &mut Known) {
    let there = database.at(&project(writer), KEY).await;
    let acknowledged = known.memory.map_or(0, |(_, version, _)| version);
    let version = there.as_ref().map_or(0, |(_, version, ..)| *version);
    assert!(
        version == acknowledged || version == acknowledged + 1,
        "writer {writer}: version {acknowledged} was acknowledged, and {version} is there"
    );
    if let Some((id, version, state, value)) = there {
        if let Some((known_id, _, deleted)) = known.memory.filter(|_| version == acknowledged) {
            assert_eq!(
                (id, state == DELETED),
                (known_id, deleted),
                "writer {writer}: another state than was acknowledged"
            );
        }
        if version > acknowledged {
            let last = known.versions.last().map(|(_, _, value)| value.clone());
            assert_eq!(
                Some(value.clone()),
                known.sent.clone().or(last),
                "writer {writer}: another value than was sent"
            );
            known.versions.push((id, version, value));
        }
        known.memory = Some((id, version, state == DELETED));
    }
    known.sent = None;
}

/// Where a round begins: what lies before it was checked by an earlier one.
#[derive(Default)]
struct Begins {
    /// The last row of the ledger.
    row: i64,
    /// The last version of each memory.
    versions: BTreeMap<Uuid, i64>,
}

impl Begins {
    async fn of(database: &Database, known: &[Known]) -> Self {
        let versions = known.iter().filter_map(|known| known.memory).map(|(id, version, _)| (id, version)).collect();
        Self { row: database.end_of_ledger().await, versions }
    }
}

/// What a round wrote is what the writers know, and each version of it has one decision and each decision its version.
async fn assert_written(database: &Database, round: usize, known: &[Known], begins: &Begins, texts: &BTreeSet<String>) {
    let begin = |id: &Uuid| begins.versions.get(id).copied().unwrap_or(0);
    // The last version of the round before may have been recalled in this one.
    let mut there = BTreeMap::new();
    for (id, ..) in known.iter().filter_map(|known| known.memory) {
        there.extend(database.versions_from(id, begin(&id)).await);
    }
    for text in texts {
        assert!(there.values().any(|value| value == text), "round {round}: `{text}` was recalled and is gone");
    }
    there.retain(|(id, version), _| *version > begin(id));
    let expected = known.iter().flat_map(|known| &known.versions).filter(|(id, version, _)| *version > begin(id));
    let expected: BTreeMap<_, _> = expected.map(|(id, version, value)| ((*id, *version), value.clone())).collect();
    assert_eq!(there, expected, "round {round}: in the database on the left, known on the right");
    let decided = database.decided_after(begins.row).await;
    let once: BTreeMap<_, _> = there.into_keys().map(|version| (version, 1)).collect();
    assert_eq!(decided, once, "round {round}: decisions on the left, versions on the right");
}

async fn kill_in_the_middle_of_writes(rounds: usize) {
    let start_in = |folder: TempDir| Service::start_in(folder, &["--log-filter", "warn"]);
    let mut service = start_in(tempfile::tempdir().unwrap());
    let mut known = vec![Known::default(); WRITERS];
    let mut begins = Begins::default();
    for round in 0..rounds {
        // Another moment in each round.
        let enough = 10 + round * 7 % 23;
        let tally = Arc::new(Tally { count: AtomicUsize::new(0), enough, reached: Notify::new() });
        let mut writers = Vec::new();
        let mut readers = Vec::new();
        for (writer, known) in known.iter().enumerate() {
            let caller = Caller::nobody(&service.address).await;
            writers.push(tokio::spawn(write(caller, writer, round, known.clone(), Arc::clone(&tally))));
        }
        for reader in 0..READERS {
            let caller = Caller::nobody(&service.address).await;
            readers.push(tokio::spawn(read(caller, reader, Arc::clone(&tally))));
        }
        tokio::time::timeout(crate::program::PATIENCE, tally.reached.notified()).await.expect("writes go on");
        service.running.kill();
        let amiss = beside_development(&service.running.err());
        assert!(amiss.is_empty(), "round {round}: {amiss:#?}");

        let mut seen = Seen::default();
        known.clear();
        for writer in writers {
            let (left, saw) = writer.await.unwrap();
            known.push(left);
            seen.decisions.extend(saw.decisions);
        }
        for reader in readers {
            let saw = reader.await.unwrap();
            seen.decisions.extend(saw.decisions);
            seen.texts.extend(saw.texts);
        }
        // The one that recovers the file is the next to be killed.
        service = start_in(service.folder);
        let database = Database::open(&service.database()).await;
        assert!(seen.decisions.len() >= enough, "round {round}");
        for id in &seen.decisions {
            assert!(
                database.has_decision(id).await,
                "round {round}: decision {id} was answered and is not in the ledger"
            );
        }
        for (writer, known) in known.iter_mut().enumerate() {
            settle(&database, writer, known).await;
        }
        assert_written(&database, round, &known, &begins, &seen.texts).await;
        begins = Begins::of(&database, &known).await;
        if round % WHOLE == WHOLE - 1 || round + 1 == rounds {
            let versions = database.versions().await;
            for (id, version, value) in known.iter().flat_map(|known| &known.versions) {
                assert_eq!(versions.get(&(*id, *version)), Some(value), "round {round}: version {version} of {id}");
            }
            database.assert_consistent().await;
        }
    }
    let written: usize = known.iter().map(|known| known.versions.len()).sum();
    assert!(written >= rounds * 5, "only {written} writes in {rounds} rounds");
}

/// The lines of a log that say something else than that the service is in development mode.
fn beside_development(log: &str) -> Vec<String> {
    let telling = ["DEVELOPMENT MODE", "every process on this host", "tokens of the key", "for anything else set"];
    log.lines().filter(|line| !telling.iter().any(|part| line.contains(part))).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i05_i06_a_kill_in_the_middle_of_writes_loses_nothing_that_was_answered() {
    kill_in_the_middle_of_writes(ROUNDS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; `tests/long kills` runs it"]
async fn i05_i06_a_thousand_kills_in_the_middle_of_writes_lose_nothing_that_was_answered() {
    kill_in_the_middle_of_writes(MANY_ROUNDS).await;
}
