//! B13: what is not in force is shown by no read, from the first instant at which it is there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use recall_gate::api::proto::{CaptureRequest, GetMemoryRequest, Nomination, Query};

use crate::harness::{Caller, Service};
use crate::reading::{
    activated, after, all, candidates_of, explaining, getting, held, listing, listing_all, pages, reasons_for,
    recalled, recalling_for, shows, unconfirmed,
};
use crate::requests::{at, correction, deletion, fact, general, in_general, keys, named, nomination, recalling};

const CANARY: &str = "zq7canary";

/// What is not in force: its key, its id, and what a recall that nominates it is told; a candidate is none to nominate.
struct Out {
    key: &'static str,
    memory_id: String,
    reason: Option<&'static str>,
}

async fn everything_that_is_not_in_force(service: &Service, caller: &mut Caller) -> Vec<Out> {
    let value = |state: &str| format!("{CANARY} {state}");
    held(caller, unconfirmed(fact("service_target", &value("waits")))).await;
    let superseded = activated(caller, fact("response_style", &value("superseded"))).await.memory_id;
    caller.correct.correct(correction(&superseded, 1, "zq7 brief")).await.unwrap();
    let over = CaptureRequest { expire_time: Some(after(100)), ..fact("display_name", &value("over")) };
    let over = activated(caller, over).await.memory_id;
    let to_come =
        CaptureRequest { valid_from_time: Some(after(10_000)), ..fact("response_language", &value("to come")) };
    let to_come = activated(caller, to_come).await.memory_id;
    let deleted = activated(caller, fact("database_engine", &value("deleted"))).await.memory_id;
    caller.delete.delete(deletion(&deleted, 1)).await.unwrap();
    service.pass(100);
    let out = |key, memory_id, reason| Out { key, memory_id, reason };
    vec![
        out("service_target", String::new(), None),
        out("response_style", superseded, Some("SUPERSEDED")),
        out("display_name", over, Some("EXPIRED")),
        out("response_language", to_come, Some("NOT_YET_VALID")),
        out("database_engine", deleted, Some("DELETED")),
    ]
}

#[tokio::test]
async fn b13_what_is_not_in_force_is_shown_by_no_read() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let states = everything_that_is_not_in_force(&service, &mut caller).await;
    for purpose in ["converse", "draft", "act", "index"] {
        for Out { key, memory_id, reason } in &states {
            let mut queries = vec![keys(&[key]), all()];
            if !memory_id.is_empty() {
                let nominated = Nomination { value_version: Some(1), ..nomination(memory_id) };
                queries.push(Query { nominations: vec![nominated], ..Query::default() });
            }
            for query in queries {
                let asked = recalling_for(purpose, in_general(), query.clone());
                let reply = recalled(&mut caller, asked.clone()).await;
                assert!(!shows(&reply, CANARY), "Recall of {key} for {purpose}");
                if let (Some(reason), false) = (reason, query.nominations.is_empty()) {
                    let told = reasons_for(&reply.rejected, memory_id).unwrap_or_default();
                    assert!(told.contains(reason), "{key} for {purpose}: {told:?}");
                }
                let reply = caller.recall.explain_recall(explaining(asked)).await.unwrap().into_inner();
                assert!(!shows(&reply, CANARY), "ExplainRecall of {key} for {purpose}");
            }
            let names = [Some(at(general(), key)), (!memory_id.is_empty()).then(|| named(memory_id))];
            for name in names.into_iter().flatten() {
                let asked = GetMemoryRequest { purpose: purpose.to_owned(), ..getting(name) };
                match caller.recall.get_memory(asked).await {
                    Ok(reply) => assert!(!shows(reply.get_ref(), CANARY), "GetMemory of {key} for {purpose}"),
                    Err(refused) => assert_eq!(refused.code(), tonic::Code::NotFound, "{key}"),
                }
            }
        }
        for range in [listing(purpose, general()), listing_all(purpose)] {
            let listed = pages(&mut caller, range).await;
            assert!(!listed.iter().any(|page| shows(page, CANARY)), "ListMemories for {purpose}");
        }
    }
    let waiting = caller.capture.list_candidates(candidates_of(general())).await.unwrap().into_inner();
    assert_eq!(waiting.candidates.len(), 1, "a candidate is shown as one, to whoever may decide on it");
    assert!(shows(&waiting, "zq7canary waits"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b13_what_is_held_is_held_from_the_first_instant() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let (over, reads) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let readers: Vec<_> = [keys(&["service_target"]), all()]
        .map(|query| {
            let (mut caller, over, reads) = (caller.clone(), Arc::clone(&over), Arc::clone(&reads));
            tokio::spawn(async move {
                while !over.load(Ordering::SeqCst) {
                    let reply = recalled(&mut caller, recalling(in_general(), query.clone())).await;
                    assert!(!shows(&reply, CANARY), "{reply:?}");
                    let listed = caller.recall.list_memories(listing("converse", general())).await.unwrap();
                    assert!(!shows(listed.get_ref(), CANARY));
                    reads.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .into_iter()
        .collect();
    for number in 0..200 {
        held(&mut caller, unconfirmed(fact("service_target", &format!("{CANARY} {number}")))).await;
    }
    over.store(true, Ordering::SeqCst);
    for reader in readers {
        reader.await.unwrap();
    }
    assert!(reads.load(Ordering::SeqCst) > 10, "others read meanwhile");
}
