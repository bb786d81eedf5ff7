//! Two services on one database: what one has answered holds at the other at once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use recall_gate::api::proto::Outcome;
use tokio::task::JoinSet;
use tonic::Code;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_types::StatusExt;

use super::place::{Place, Replica};
use crate::callers::{Caller, correction, deletion, fact_of, recall_in, user_message, values};
use crate::load::until;

const PROJECT: &str = "apollo";
const KEY: &str = "response_style";
const WRITERS: usize = 50;
/// Of case B17.
const ROUNDS: usize = 100;

/// Two replicas, and a caller at each.
async fn two(place: &Place) -> ([Replica; 2], [Caller; 2]) {
    let replicas = [place.serve(&["--log-filter", "warn"]), place.serve(&["--log-filter", "warn"])];
    for replica in &replicas {
        replica.until_it_is(ServingStatus::Serving).await;
    }
    let callers = [Caller::nobody(&replicas[0].address).await, Caller::nobody(&replicas[1].address).await];
    (replicas, callers)
}

/// Captures, and judged anew by the caller where too many wrote at once.
async fn capture(caller: &mut Caller, value: &str, reference: &str) -> (Outcome, String) {
    loop {
        let mut request = fact_of(PROJECT, KEY, value);
        request.source = Some(user_message(reference));
        match caller.capture.capture(request).await {
            Ok(reply) => {
                let reply = reply.into_inner();
                return (reply.outcome(), reply.memory_id);
            }
            Err(status) => assert_eq!(told(&status).0, "JUDGEMENT_CONTENDED", "{status:?}"),
        }
    }
}

/// The reason of an `ABORTED` call, and the version that it names as current.
fn told(status: &tonic::Status) -> (String, Option<i64>) {
    assert_eq!(status.code(), Code::Aborted, "{status:?}");
    let info = status.get_details_error_info().unwrap();
    let version = info.metadata.get("current_version").map(|version| version.parse().unwrap());
    (info.reason, version)
}

/// Corrects from the version that is current, as often as it takes; the version that it wrote.
async fn correct(mut caller: Caller, id: String, mut seen: i64, value: String) -> i64 {
    loop {
        let mut request = correction(&id, seen, &value);
        // Of its own: what a deletion blocks is every message that the value ever came from.
        request.source = Some(user_message(&format!("message of {value}")));
        match caller.correct.correct(request).await {
            Ok(reply) => {
                let reply = reply.into_inner();
                assert_eq!(reply.outcome(), Outcome::Activated, "{reply:?}");
                assert_eq!(reply.version, seen + 1, "it replaced what its caller had seen");
                return reply.version;
            }
            Err(status) => match told(&status) {
                (reason, Some(current)) if reason == "VERSION_CONFLICT" => {
                    assert!(current > seen, "{status:?}");
                    seen = current;
                }
                (reason, _) => assert_eq!(reason, "JUDGEMENT_CONTENDED", "{status:?}"),
            },
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i03_i04_fifty_writers_at_two_replicas_leave_one_current_version_and_lose_no_update() {
    let place = Place::new().await;
    let (_replicas, mut callers) = two(&place).await;

    let mut captures = JoinSet::new();
    for writer in 0..WRITERS {
        let mut caller = callers[writer % 2].clone();
        captures
            .spawn(async move { capture(&mut caller, &format!("first {writer}"), &format!("message {writer}")).await });
    }
    let outcomes = captures.join_all().await;
    let made: Vec<&String> =
        outcomes.iter().filter(|(outcome, _)| *outcome == Outcome::Activated).map(|(_, id)| id).collect();
    assert_eq!(made.len(), 1, "{outcomes:?}");
    assert!(outcomes.iter().all(|(outcome, _)| [Outcome::Activated, Outcome::Held].contains(outcome)), "{outcomes:?}");
    let id = made[0].clone();
    assert_eq!(place.number("SELECT count(*) FROM memories").await, 1);
    assert_eq!(place.number("SELECT count(*) FROM candidates").await, i64::try_from(WRITERS).unwrap() - 1);

    let mut corrections = JoinSet::new();
    for writer in 0..WRITERS {
        let (caller, id) = (callers[writer % 2].clone(), id.clone());
        corrections.spawn(async move { (correct(caller, id, 1, format!("value {writer}")).await, writer) });
    }
    let mut written = corrections.join_all().await;
    written.sort_unstable();
    let versions: BTreeSet<i64> = written.iter().map(|(version, _)| *version).collect();
    assert_eq!(versions.len(), WRITERS, "two were told the same version: {written:?}");
    let last = i64::try_from(WRITERS).unwrap() + 1;
    assert_eq!((versions.first(), versions.last()), (Some(&2), Some(&last)));
    for (version, writer) in &written {
        let there = format!(
            "SELECT count(*) FROM memory_versions WHERE memory_id = '{id}' AND version = {version} \
             AND value = 'value {writer}'"
        );
        assert_eq!(place.number(&there).await, 1, "version {version} of writer {writer} is lost");
    }
    let current = format!("value {}", written[WRITERS - 1].1);
    for caller in &mut callers {
        assert_eq!(recalled(caller).await, [current.clone()]);
    }
    assert_eq!(place.number("SELECT count(*) FROM memory_versions WHERE superseded_by IS NULL").await, 1);
    place.assert_consistent().await;
}

async fn recalled(caller: &mut Caller) -> Vec<String> {
    loop {
        match caller.recall.recall(recall_in(PROJECT, KEY)).await {
            Ok(reply) => return values(&reply.into_inner()).into_iter().map(str::to_owned).collect(),
            Err(status) => assert_eq!(told(&status).0, "JUDGEMENT_CONTENDED", "{status:?}"),
        }
    }
}

/// Recalls at one replica until it is told to stop. No recall that began after a round was over may have its value.
async fn watch(mut caller: Caller, over: Arc<AtomicUsize>, stop: Arc<AtomicBool>) -> usize {
    let mut seen = 0;
    while !stop.load(Ordering::SeqCst) {
        let gone = over.load(Ordering::SeqCst);
        for value in recalled(&mut caller).await {
            let round: usize = value.split(' ').next_back().unwrap().parse().unwrap();
            assert!(round >= gone, "{gone} deletions were answered, and a later recall has `{value}`");
            seen += 1;
        }
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i12_b17_what_one_replica_has_changed_or_deleted_is_so_at_the_other() {
    let place = Place::new().await;
    let (_replicas, callers) = two(&place).await;
    let (over, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let mut watchers = JoinSet::new();
    for caller in &callers {
        watchers.spawn(watch(caller.clone(), Arc::clone(&over), Arc::clone(&stop)));
    }
    for round in 0..ROUNDS {
        let [mut here, mut there] = callers.clone();
        if round % 2 == 1 {
            std::mem::swap(&mut here, &mut there);
        }
        let (outcome, id) = capture(&mut here, &format!("first {round}"), &format!("message {round}")).await;
        assert_eq!(outcome, Outcome::Activated);
        // Twice, so that whatever keeps answers has this one.
        for _ in 0..2 {
            assert_eq!(recalled(&mut there).await, [format!("first {round}")], "its own write, at the other replica");
        }
        correct(here.clone(), id.clone(), 1, format!("second {round}")).await;
        for _ in 0..2 {
            assert_eq!(recalled(&mut there).await, [format!("second {round}")]);
        }
        loop {
            match here.delete.delete(deletion(&id, 2)).await {
                Ok(_) => break,
                Err(status) => assert_eq!(told(&status).0, "JUDGEMENT_CONTENDED", "{status:?}"),
            }
        }
        over.store(round + 1, Ordering::SeqCst);
        assert_eq!(recalled(&mut there).await, Vec::<String>::new(), "round {round}");
        assert_eq!(recalled(&mut here).await, Vec::<String>::new(), "round {round}");
    }
    stop.store(true, Ordering::SeqCst);
    let seen: usize = watchers.join_all().await.into_iter().sum();
    assert!(seen > 0, "the watchers have seen nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_one_replica_is_killed_the_other_goes_on_and_numbers_the_feed() {
    let place = Place::new().await;
    let ([mut first, _second], [mut at_first, mut at_second]) = two(&place).await;
    capture(&mut at_first, "first 0", "message 0").await;
    until("the feed is numbered", async || {
        place.number("SELECT count(*) FROM feed WHERE position IS NOT NULL").await == 1
    })
    .await;
    first.running.kill();
    assert_eq!(recalled(&mut at_second).await, ["first 0"]);
    let (outcome, _) = capture(&mut at_second, "another 1", "message 1").await;
    assert_eq!(outcome, Outcome::Held);
    let mut request = fact_of("another", KEY, "value");
    request.source = Some(user_message("message 2"));
    at_second.capture.capture(request).await.unwrap();
    place.assert_consistent().await;
}
