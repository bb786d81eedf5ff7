//! B07: a foreign id and a missing one get the same answer, byte for byte, from every method that takes an id.

use recall_gate::api::proto::{
    ConfirmCandidateRequest, Evidence, GetCandidateRequest, GetMemoryRequest, RejectCandidateRequest,
};
use recall_gate::identity::Ticket;
use tonic::{Code, Status};

use crate::harness::{Caller, Service, ticket};
use crate::reading::{
    activated, bytes_of, getting, held, listing_all, of, pages, placed, recalled, unconfirmed, without,
};
use crate::requests::{
    correction, deletion, error_reason, fact, general, in_general, in_project, named, nominating, reasons, recalling,
    restoration, values,
};

const NOBODY: &str = "01890000-0000-7000-8000-000000000001";

/// What every method that takes an id says of a memory and a candidate.
async fn asked(caller: &mut Caller, memory_id: &str, candidate_id: &str) -> Vec<(&'static str, Status)> {
    let candidate_id = candidate_id.to_owned();
    let subject_access = GetMemoryRequest { purpose: "subject_access".to_owned(), ..getting(named(memory_id)) };
    let confirm = ConfirmCandidateRequest {
        candidate_id: candidate_id.clone(),
        evidence: Evidence::UserConfirmed.into(),
        ..ConfirmCandidateRequest::default()
    };
    let reject = RejectCandidateRequest { candidate_id: candidate_id.clone(), ..RejectCandidateRequest::default() };
    let show = GetCandidateRequest { candidate_id, ..GetCandidateRequest::default() };
    vec![
        ("GetMemory", caller.recall.get_memory(getting(named(memory_id))).await.unwrap_err()),
        ("GetMemory for access", caller.recall.get_memory(subject_access).await.unwrap_err()),
        ("Correct", caller.correct.correct(correction(memory_id, 1, "x")).await.unwrap_err()),
        ("Correct, stale", caller.correct.correct(correction(memory_id, 9, "x")).await.unwrap_err()),
        ("Delete", caller.delete.delete(deletion(memory_id, 1)).await.unwrap_err()),
        ("Delete, stale", caller.delete.delete(deletion(memory_id, 9)).await.unwrap_err()),
        ("Restore", caller.delete.restore(restoration(memory_id, 1)).await.unwrap_err()),
        ("GetCandidate", caller.capture.get_candidate(show).await.unwrap_err()),
        ("ConfirmCandidate", caller.capture.confirm_candidate(confirm).await.unwrap_err()),
        ("RejectCandidate", caller.capture.reject_candidate(reject).await.unwrap_err()),
    ]
}

#[tokio::test]
async fn i02_b07_foreign_and_missing_ids_get_the_same_bytes_and_nothing_changes() {
    let service = Service::start().await;
    let mut owner = service.caller_of(&of("t1", "s1")).await;
    let made = activated(&mut owner, placed(in_project("p2"), fact("response_style", "zq7 lantern"))).await;
    let waiting =
        held(&mut owner, placed(in_project("p2"), unconfirmed(fact("response_language", "zq7 lantern")))).await;
    let before = format!("{:?}", entries(&mut owner).await);
    let strangers = [
        ("another tenant", of("t2", "s1")),
        ("another subject", Ticket { subject: Some("s2".to_owned()), ..of("t1", "s2") }),
        ("another subject who may act for nobody", Ticket { subject: Some("s2".to_owned()), ..without(&["act_for"]) }),
        ("one who does not hold the project", ticket()),
    ];
    for (who, stranger) in strangers {
        let mut caller = service.caller_of(&stranger).await;
        let foreign = asked(&mut caller, &made.memory_id, &waiting.candidate_id).await;
        let missing = asked(&mut caller, NOBODY, NOBODY).await;
        for ((method, foreign), (_, missing)) in foreign.iter().zip(&missing) {
            assert_eq!(foreign.code(), Code::NotFound, "{method} by {who}");
            assert_eq!(error_reason(foreign), "NOT_FOUND", "{method} by {who}");
            assert_eq!(bytes_of(foreign), bytes_of(missing), "{method} by {who}");
        }
        let query = nominating(&[&made.memory_id, NOBODY]);
        let reply = recalled(&mut caller, recalling(in_general(), query)).await;
        assert_eq!(values(&reply).len(), 0);
        let mut verdicts = reply.rejected.clone();
        for verdict in &mut verdicts {
            verdict.memory_id.clear();
        }
        assert_eq!(reasons(&verdicts[0]), ["UNKNOWN_NOMINATION"]);
        assert_eq!(verdicts[0], verdicts[1], "{who}");
    }
    assert_eq!(format!("{:?}", entries(&mut owner).await), before);
}

async fn entries(caller: &mut Caller) -> Vec<recall_gate::api::proto::MemoryEntry> {
    pages(caller, listing_all("subject_access")).await.into_iter().flat_map(|page| page.entries).collect()
}

#[tokio::test]
async fn i02_a_used_and_an_unused_address_of_another_look_alike() {
    let service = Service::start().await;
    let mut owner = service.caller_of(&of("t1", "s1")).await;
    activated(&mut owner, fact("response_style", "zq7 lantern")).await;
    let mut other = service.caller_of(&of("t1", "s2")).await;
    let used = getting(crate::requests::at(general(), "response_style"));
    let unused = getting(crate::requests::at(general(), "response_language"));
    let used = other.recall.get_memory(used).await.unwrap_err();
    let unused = other.recall.get_memory(unused).await.unwrap_err();
    assert_eq!(bytes_of(&used), bytes_of(&unused));
    let made = activated(&mut other, fact("response_style", "zq7 their own")).await;
    assert_eq!((made.version, made.value_version), (1, 1), "their address is their own");
}

#[tokio::test]
async fn i10_a_missing_grant_is_named_and_nothing_is_read() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = activated(&mut caller, fact("response_style", "zq7 lantern")).await;
    for (missing, named_grant) in [("recall", "recall"), ("purpose:", "purpose:converse")] {
        let mut lesser = service.caller_of(&without(&[missing])).await;
        for id in [made.memory_id.as_str(), NOBODY] {
            let refused = lesser.recall.get_memory(getting(named(id))).await.unwrap_err();
            assert_eq!((refused.code(), error_reason(&refused)), (Code::PermissionDenied, "GRANT_MISSING".to_owned()));
            let info = tonic_types::StatusExt::get_details_error_info(&refused).unwrap();
            assert_eq!(info.metadata.get("grant").map(String::as_str), Some(named_grant));
        }
        let refused = lesser.recall.recall(recalling(in_general(), nominating(&[NOBODY]))).await.unwrap_err();
        assert_eq!(error_reason(&refused), "GRANT_MISSING");
    }
}
