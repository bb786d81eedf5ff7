//! Callers that hang up at any moment, in every method.

#![expect(clippy::indexing_slicing, reason = "what was not laid down panics")]

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use recall_gate::api::proto::{
    BatchCaptureRequest, CaptureRequest, ConfirmCandidateRequest, Evidence, GetCallerRequest, GetCandidateRequest,
    GetPolicyRequest, RejectCandidateRequest,
};
use recall_gate::server::Drained;
use tokio::task::JoinSet;
use tonic::{Code, Status};

use crate::backdoor::Backdoor;
use crate::batch::batch;
use crate::harness::{Caller, Service};
use crate::methods::every_method;
use crate::reading::{candidates_of, experience, explaining, getting, listing_all, of, recalling_for, unconfirmed};
use crate::requests::{correction, deletion, everything, fact, general, in_general, named, restoration, source, words};

/// Callers, each with a subject and a connection of its own.
const AT_ONCE: usize = 8;
/// Calls of each caller in each method.
const CALLS: usize = 25;
/// Whole calls take less, and some take more.
const PATIENCE_MICROS: usize = 10_000;
const LONG: Duration = Duration::from_secs(30);

/// One thing for each call of a method that changes what there is.
struct Laid {
    memories: Vec<String>,
    deleted: Vec<String>,
    candidates: Vec<String>,
}

type Call = Pin<Box<dyn Future<Output = Result<(), Status>> + Send>>;
/// Makes the call of that number.
type Make = fn(Caller, &Laid, usize) -> Call;

macro_rules! make {
    ($client:ident . $method:ident, |$laid:ident, $number:ident| $request:expr) => {
        |mut caller, $laid, $number| {
            let request = $request;
            Box::pin(async move { caller.$client.$method(request).await.map(drop) })
        }
    };
}

/// Request ids, each its own.
fn request_id(number: usize) -> String {
    format!("0190a000-0000-7000-8000-{number:012x}")
}

fn confirmation(candidate: &str) -> ConfirmCandidateRequest {
    ConfirmCandidateRequest {
        candidate_id: candidate.to_owned(),
        evidence: Evidence::UserConfirmed.into(),
        ..ConfirmCandidateRequest::default()
    }
}

fn three(number: usize) -> BatchCaptureRequest {
    let facts = (0..3).map(|part| told(&format!("batch {number} part {part}")));
    BatchCaptureRequest { request_id: request_id(number), ..batch(facts) }
}

fn calls() -> Vec<(&'static str, Make)> {
    vec![
        (
            "CaptureService/Capture",
            make!(capture.capture, |_laid, number| CaptureRequest {
                request_id: request_id(1_000_000 + number),
                ..fact("response_style", &format!("style {}", number % 7))
            }),
        ),
        ("CaptureService/BatchCapture", make!(capture.batch_capture, |_laid, number| three(number))),
        (
            "CaptureService/GetCandidate",
            make!(capture.get_candidate, |laid, number| GetCandidateRequest {
                candidate_id: laid.candidates[number].clone(),
                ..GetCandidateRequest::default()
            }),
        ),
        (
            "CaptureService/ConfirmCandidate",
            make!(capture.confirm_candidate, |laid, number| confirmation(&laid.candidates[2 * number])),
        ),
        (
            "CaptureService/RejectCandidate",
            make!(capture.reject_candidate, |laid, number| RejectCandidateRequest {
                candidate_id: laid.candidates[2 * number + 1].clone(),
                ..RejectCandidateRequest::default()
            }),
        ),
        ("CaptureService/ListCandidates", make!(capture.list_candidates, |_laid, _number| candidates_of(general()))),
        (
            "CorrectService/Correct",
            make!(correct.correct, |laid, number| correction(
                &laid.memories[number],
                1,
                &format!("corrected {number}")
            )),
        ),
        (
            "RecallService/Recall",
            make!(recall.recall, |_laid, number| recalling_for(
                "converse",
                in_general(),
                words(&format!("part {number}"))
            )),
        ),
        ("RecallService/ExplainRecall", make!(recall.explain_recall, |_laid, _number| explaining(everything()))),
        ("RecallService/GetMemory", make!(recall.get_memory, |laid, number| getting(named(&laid.memories[number])))),
        ("RecallService/ListMemories", make!(recall.list_memories, |_laid, _number| listing_all("subject_access"))),
        ("DeleteService/Delete", make!(delete.delete, |laid, number| deletion(&laid.memories[number], 2))),
        ("DeleteService/Restore", make!(delete.restore, |laid, number| restoration(&laid.deleted[number], 2))),
        ("DiscoveryService/GetCaller", make!(discovery.get_caller, |_laid, _number| GetCallerRequest {})),
        ("DiscoveryService/GetPolicy", make!(discovery.get_policy, |_laid, _number| GetPolicyRequest {})),
    ]
}

/// Of a message of its own, so that the deletion of another does not block it.
fn told(value: &str) -> CaptureRequest {
    CaptureRequest { source: Some(source("user_message", value)), ..experience(value) }
}

async fn lay(caller: &mut Caller) -> Laid {
    let confirmed = batch((0..2 * CALLS).map(|number| told(&format!("laid {number}"))));
    let made = caller.capture.batch_capture(confirmed).await.unwrap().into_inner();
    let mut memories: Vec<String> = made.results.into_iter().map(|result| result.memory_id).collect();
    let deleted = memories.split_off(CALLS);
    for id in &deleted {
        caller.delete.delete(deletion(id, 1)).await.unwrap();
    }
    let waiting = batch((0..2 * CALLS).map(|number| unconfirmed(told(&format!("waiting {number}")))));
    let held = caller.capture.batch_capture(waiting).await.unwrap().into_inner();
    Laid { memories, deleted, candidates: held.results.into_iter().map(|result| result.candidate_id).collect() }
}

/// Numbers without a pattern, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// One caller's calls of one method: all but the first are given up after a while.
async fn hang_up(method: &'static str, make: Make, caller: Caller, laid: &Laid, mut dice: Dice) {
    for number in 1..CALLS {
        let patience = Duration::from_micros(u64::try_from(dice.below(PATIENCE_MICROS)).unwrap());
        // Whether there was an answer does not matter here.
        let _ = tokio::time::timeout(patience, make(caller.clone(), laid, number)).await;
    }
    let patient = async {
        // What was given up goes on, and may overtake it.
        while let Err(status) = make(caller.clone(), laid, 0).await {
            assert_eq!(status.code(), Code::Aborted, "{method}: {status:?}");
        }
    };
    tokio::time::timeout(LONG, patient).await.unwrap_or_else(|_| panic!("{method} is not answered any more"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b34_callers_that_hang_up_in_any_method_leave_changes_whole_and_every_connection_of_the_store_free() {
    let methods: BTreeSet<String> = calls().into_iter().map(|(method, _)| method.to_owned()).collect();
    assert_eq!(methods, every_method());
    let service = Service::start().await;
    let mut callers = Vec::new();
    for number in 0..AT_ONCE {
        let mut caller = service.caller_of(&of("t1", &format!("s{number}"))).await;
        let laid = Arc::new(lay(&mut caller).await);
        callers.push((caller, laid));
    }
    for (method, make) in calls() {
        let mut hanging_up = JoinSet::new();
        for (seed, (caller, laid)) in (0..).zip(&callers) {
            let (caller, laid) = (caller.clone(), Arc::clone(laid));
            hanging_up.spawn(async move { hang_up(method, make, caller, &laid, Dice(seed)).await });
        }
        hanging_up.join_all().await;
    }
    let mut backdoor = service.home.backdoor().await;
    no_snapshot_is_held(&mut backdoor).await;
    let _home = service.home;
    assert_eq!(service.embedded.stop().await, Some(Drained::Whole));
    everything_is_whole(&mut backdoor).await;
}

/// No connection is left inside a transaction.
async fn no_snapshot_is_held(backdoor: &mut Backdoor) {
    let over = async {
        while backdoor.open_readers().await > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, over).await.unwrap();
}

/// Each row was written with its decision, and each decision with its rows.
async fn everything_is_whole(backdoor: &mut Backdoor) {
    let mut count = async |sql| backdoor.number(sql, "").await;
    let activated = count("SELECT count(*) FROM decisions WHERE outcome = 'ACTIVATED'").await;
    let turned =
        count("SELECT count(*) FROM decisions WHERE method IN ('Delete', 'Restore') AND outcome = 'DONE'").await;
    let held = count("SELECT count(*) FROM decisions WHERE outcome = 'HELD'").await;
    let settled = count(
        "SELECT count(*) FROM decisions WHERE method = 'RejectCandidate' AND outcome = 'DONE' \
         OR method = 'ConfirmCandidate' AND outcome IN ('ACTIVATED', 'REJECTED', 'DUPLICATE')",
    )
    .await;
    let versions = count("SELECT count(*) FROM memory_versions").await;
    assert_eq!(versions, activated + turned);
    assert_eq!(count("SELECT count(*) FROM feed").await, versions);
    assert_eq!(count("SELECT sum(version) FROM memories").await, versions, "one chain each");
    assert_eq!(count("SELECT count(*) FROM candidates").await, held - settled);
    let of_batches = "SELECT count(*) FROM memories WHERE value LIKE 'batch %'";
    let kept = "SELECT count(*) FROM idempotency WHERE method = 'BatchCapture'";
    assert_eq!(count(of_batches).await, 3 * count(kept).await);
    if let Backdoor::Sqlite(_) = backdoor {
        let faults = "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'";
        assert_eq!(backdoor.number(faults, "").await, 0);
    }
}
