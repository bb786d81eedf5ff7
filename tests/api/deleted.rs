//! I12: a call that starts after a deletion was answered never shows or accepts the memory, by any path.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use recall_gate::api::proto::{
    CaptureRequest, CorrectRequest, GetMemoryRequest, Nomination, Outcome, Query, Reason, RecallRequest,
};
use tonic::Code;

use crate::harness::{Caller, Service};
use crate::reading::{
    activated, all, candidates_of, explaining, getting, key, listing, listing_all, pages, placed, reasons_for,
    recalled, recalling_for, shared, shows, unconfirmed,
};
use crate::requests::{
    at, correction, deletion, error_reason, fact, general, in_general, named, nominating, nomination, reasons,
    recalling, restoration, source, values,
};

const CANARY: &str = "zq7canary";

fn canary() -> CaptureRequest {
    CaptureRequest { source: Some(source("user_message", "zq7canary-message")), ..fact("response_style", CANARY) }
}

/// By the first version of the value, which `act` asks an index to name.
fn nominated(memory_id: &str) -> Query {
    let nominated = Nomination { value_version: Some(1), ..nomination(memory_id) };
    Query { nominations: vec![nominated], ..Query::default() }
}

/// Reads by every path and gives those that show the text, and those that accept the memory.
pub(crate) async fn leaks(caller: &mut Caller, memory_id: &str) -> Vec<String> {
    let mut leaks = Vec::new();
    let mut note = |path: String, leaked: bool| {
        if leaked {
            leaks.push(path);
        }
    };
    for purpose in ["converse", "draft", "act", "index"] {
        for (how, query) in [("key", key("response_style")), ("all", all()), ("id", nominated(memory_id))] {
            let asked = recalling_for(purpose, in_general(), query);
            let reply = recalled(caller, asked.clone()).await;
            let accepted = reply.accepted.iter().any(|verdict| verdict.memory_id == memory_id);
            note(format!("Recall by {how} for {purpose}"), accepted || shows(&reply, CANARY));
            let reply = caller.recall.explain_recall(explaining(asked)).await.unwrap().into_inner();
            let accepted = reply.accepted.iter().any(|verdict| verdict.memory_id == memory_id);
            note(format!("ExplainRecall by {how} for {purpose}"), accepted || shows(&reply, CANARY));
        }
    }
    for purpose in ["converse", "draft", "act", "index", "subject_access"] {
        for (how, name) in [("id", named(memory_id)), ("address", at(general(), "response_style"))] {
            let asked = GetMemoryRequest { purpose: purpose.to_owned(), ..getting(name) };
            let reply = caller.recall.get_memory(asked).await.unwrap().into_inner();
            let accepted = reply.verdict.as_ref().unwrap().accepted;
            note(format!("GetMemory by {how} for {purpose}"), accepted || shows(&reply, CANARY));
        }
        for range in [listing(purpose, general()), listing_all(purpose)] {
            let listed = pages(caller, range).await;
            let accepted = listed.iter().flat_map(|page| &page.entries).filter_map(|entry| entry.verdict.as_ref());
            let accepted = accepted.into_iter().any(|verdict| verdict.accepted && verdict.memory_id == memory_id);
            note(format!("ListMemories for {purpose}"), accepted || listed.iter().any(|page| shows(page, CANARY)));
        }
    }
    let candidates = caller.capture.list_candidates(candidates_of(general())).await.unwrap().into_inner();
    note("ListCandidates".to_owned(), shows(&candidates, CANARY));
    leaks
}

#[tokio::test]
async fn i12_no_path_shows_or_accepts_what_was_deleted() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let mut elsewhere = service.caller().await;
    let made = activated(&mut caller, canary()).await;
    assert_eq!(leaks(&mut caller, &made.memory_id).await.len(), 24 + 10 + 10, "every path shows it before");
    assert!(!leaks(&mut elsewhere, &made.memory_id).await.is_empty());
    caller.delete.delete(deletion(&made.memory_id, 1)).await.unwrap();
    assert_eq!(leaks(&mut elsewhere, &made.memory_id).await, [""; 0], "on another connection");
    assert_eq!(leaks(&mut caller, &made.memory_id).await, [""; 0], "on the same one");
    let got = caller.recall.get_memory(getting(named(&made.memory_id))).await.unwrap().into_inner();
    assert_eq!(reasons(got.verdict.as_ref().unwrap()), ["DELETED"]);
    let service = service.restart().await;
    let mut caller = service.caller().await;
    assert_eq!(leaks(&mut caller, &made.memory_id).await, [""; 0], "after a restart");
}

#[tokio::test]
async fn i12_a_replayed_write_shows_nothing_of_what_was_deleted_since() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let request_id = "6f0c9a52-8a2e-4a5c-9d1a-0d6f0c9a5201".to_owned();
    let capture = CaptureRequest { request_id, ..canary() };
    let made = activated(&mut caller, capture.clone()).await;
    let corrected = correction(&made.memory_id, 1, "zq7canary corrected");
    let correct = CorrectRequest { request_id: "6f0c9a52-8a2e-4a5c-9d1a-0d6f0c9a5202".to_owned(), ..corrected };
    caller.correct.correct(correct.clone()).await.unwrap();
    caller.delete.delete(deletion(&made.memory_id, 2)).await.unwrap();
    let replayed = caller.capture.capture(capture).await.unwrap().into_inner();
    assert!(replayed.replayed && !shows(&replayed, CANARY));
    assert_eq!((replayed.outcome(), &replayed.decision_id), (Outcome::Activated, &made.decision_id));
    let replayed = caller.correct.correct(correct).await.unwrap().into_inner();
    assert!(replayed.replayed && !shows(&replayed, CANARY));
    assert_eq!(leaks(&mut caller, &made.memory_id).await, [""; 0], "and a replay puts nothing back");
}

#[tokio::test]
async fn i12_i14_no_write_but_restore_brings_the_deleted_memory_back() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = activated(&mut caller, canary()).await;
    caller.delete.delete(deletion(&made.memory_id, 1)).await.unwrap();
    let again = caller.capture.capture(canary()).await.unwrap().into_inner();
    assert_eq!((again.outcome(), again.reasons().collect()), (Outcome::Rejected, vec![Reason::SourceRevoked]));
    let other = CaptureRequest { source: Some(source("user_message", "zq7-message-9")), ..unconfirmed(canary()) };
    let again = caller.capture.capture(other).await.unwrap().into_inner();
    assert_eq!(again.outcome(), Outcome::Held);
    assert!(again.reasons().any(|reason| reason == Reason::AddressDeleted));
    assert!(leaks_but_candidates(&mut caller, &made.memory_id).await.is_empty());
    let refused = caller.correct.correct(correction(&made.memory_id, 2, CANARY)).await;
    let refused = refused.map(|reply| reply.into_inner().outcome());
    assert!(!matches!(refused, Ok(Outcome::Activated)), "{refused:?}");
    assert!(leaks_but_candidates(&mut caller, &made.memory_id).await.is_empty());
    let twice = caller.delete.delete(deletion(&made.memory_id, 2)).await.unwrap_err();
    assert_eq!((twice.code(), error_reason(&twice)), (Code::FailedPrecondition, "MEMORY_DELETED".to_owned()));
    caller.delete.restore(restoration(&made.memory_id, 2)).await.unwrap();
    let reply = recalled(&mut caller, recalling(in_general(), key("response_style"))).await;
    assert_eq!(values(&reply), [CANARY]);
}

async fn leaks_but_candidates(caller: &mut Caller, memory_id: &str) -> Vec<String> {
    let mut leaks = leaks(caller, memory_id).await;
    leaks.retain(|path| path != "ListCandidates");
    leaks
}

#[tokio::test]
async fn a_deleted_memory_no_longer_shadows_the_wider_one() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = activated(&mut caller, canary()).await;
    activated(&mut caller, placed(shared(general()), fact("response_style", "zq7 brief"))).await;
    caller.delete.delete(deletion(&made.memory_id, 1)).await.unwrap();
    let reply = recalled(&mut caller, recalling(in_general(), key("response_style"))).await;
    assert_eq!(values(&reply), ["zq7 brief"]);
    assert_eq!(reasons_for(&reply.rejected, &made.memory_id), Some(vec!["DELETED"]));
}

/// Recalls until told to stop; each recall is judged by what had been answered when it started.
async fn recalls(mut caller: Caller, asked: RecallRequest, deleted: Arc<AtomicBool>) -> (usize, usize, usize) {
    let (mut before, mut after, mut wrong) = (0, 0, 0);
    while after < 20 {
        let gone = deleted.load(Ordering::SeqCst);
        let reply = recalled(&mut caller, asked.clone()).await;
        let shown = shows(&reply, CANARY);
        before += usize::from(shown);
        after += usize::from(gone);
        wrong += usize::from(gone && shown);
    }
    (before, after, wrong)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i12_b17_no_recall_that_starts_after_a_deletion_was_answered_has_it() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = activated(&mut caller, canary()).await;
    let deleted = Arc::new(AtomicBool::new(false));
    let mut readers = Vec::new();
    for number in 0..8 {
        let caller = if number % 2 == 0 { caller.clone() } else { service.caller().await };
        let query = match number % 3 {
            0 => key("response_style"),
            1 => all(),
            _ => nominating(&[&made.memory_id]),
        };
        readers.push(tokio::spawn(recalls(caller, recalling(in_general(), query), deleted.clone())));
    }
    while recalled(&mut caller, recalling(in_general(), all())).await.accepted.is_empty() {}
    caller.delete.delete(deletion(&made.memory_id, 1)).await.unwrap();
    deleted.store(true, Ordering::SeqCst);
    for reader in readers {
        let (_, after, wrong) = reader.await.unwrap();
        assert_eq!((after, wrong), (20, 0));
    }
}
