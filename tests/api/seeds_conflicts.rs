//! What the first review of conflicts promised, as far as candidates keep it: the current fact stays until somebody
//! decides, and whoever decides has seen what is there.

use recall_gate::api::proto::{
    CaptureRequest, ConfirmCandidateRequest, ConfirmCandidateResponse, Evidence, GetCandidateRequest, Memory, Outcome,
    RejectCandidateRequest,
};
use recall_gate::identity::Ticket;
use tonic::{Code, Status};

use crate::harness::{Caller, Service, all_but, ticket};
use crate::requests::{at, bad_fields, correction, deletion, fact, general, key, refusal, source, time, values, why};

const STYLE: &str = "response_style";
const REQUEST: &str = "6f1e0c54-0f57-4b52-9f43-0d5b6a0b9d10";

/// A style that has been corrected once, and a candidate that contradicts it.
struct Conflict {
    service: Service,
    caller: Caller,
    memory_id: String,
    candidate_id: String,
    /// When the candidate was observed.
    observed: i64,
}

impl Conflict {
    async fn new() -> Self {
        Self::with(|request| request).await
    }

    async fn with(vary: impl FnOnce(CaptureRequest) -> CaptureRequest) -> Self {
        let service = Service::start().await;
        let mut caller = service.caller().await;
        let memory_id = caller.capture.capture(fact(STYLE, "zq7 brief")).await.unwrap().into_inner().memory_id;
        service.pass(1);
        caller.correct.correct(correction(&memory_id, 1, "zq7 steps")).await.unwrap();
        service.pass(1);
        let observed = service.now_seconds();
        let source = Some(source("user_message", "zq7-message-3"));
        let candidate = vary(CaptureRequest { source, ..fact(STYLE, "reason then steps") });
        let held = caller.capture.capture(candidate).await.unwrap().into_inner();
        assert_eq!((held.outcome(), why(&held.reasons)), (Outcome::Held, vec!["CONFLICTS_WITH_CURRENT"]));
        assert_eq!((held.memory_id, held.version), (memory_id.clone(), 2));
        service.pass(1);
        Self { service, caller, memory_id, candidate_id: held.candidate_id, observed }
    }

    fn confirming(&self, seen: i64) -> ConfirmCandidateRequest {
        ConfirmCandidateRequest {
            candidate_id: self.candidate_id.clone(),
            evidence: Evidence::UserConfirmed.into(),
            expected_version: Some(seen),
            ..ConfirmCandidateRequest::default()
        }
    }

    async fn confirm(&mut self, request: ConfirmCandidateRequest) -> Result<ConfirmCandidateResponse, Status> {
        self.caller.capture.confirm_candidate(request).await.map(tonic::Response::into_inner)
    }

    async fn reject(&mut self) -> Result<(), Status> {
        let candidate_id = self.candidate_id.clone();
        let request = RejectCandidateRequest { candidate_id, ..RejectCandidateRequest::default() };
        self.caller.capture.reject_candidate(request).await.map(drop)
    }

    async fn waits(&mut self) -> bool {
        let candidate_id = self.candidate_id.clone();
        let request = GetCandidateRequest { candidate_id, ..GetCandidateRequest::default() };
        match self.caller.capture.get_candidate(request).await {
            Ok(_) => true,
            Err(status) => {
                assert_eq!(status.code(), Code::NotFound);
                false
            }
        }
    }

    async fn current(&mut self) -> Memory {
        let reply = self.caller.recall.recall(key(STYLE)).await.unwrap().into_inner();
        assert_eq!(values(&reply).len(), 1);
        reply.envelope.unwrap().facts.remove(0)
    }

    /// Another writer's correction.
    async fn third_write(&mut self, seen: i64) {
        self.caller.correct.correct(correction(&self.memory_id, seen, "zq7 newest")).await.unwrap();
    }
}

#[tokio::test]
async fn a_conflict_changes_nothing_that_is_in_force() {
    let mut conflict = Conflict::new().await;
    let current = conflict.current().await;
    assert_eq!((current.value(), current.version, current.value_version), ("zq7 steps", 2, 2));
    assert_eq!(current.update_time, time(conflict.observed - 1));
    assert!(conflict.waits().await);
}

#[tokio::test]
async fn a_confirmed_candidate_keeps_its_own_time_of_observation_and_reference() {
    let mut conflict = Conflict::new().await;
    let made = conflict.confirm(conflict.confirming(2)).await.unwrap();
    assert_eq!((made.outcome(), made.version, &made.memory_id), (Outcome::Activated, 3, &conflict.memory_id));
    let current = conflict.current().await;
    assert_eq!(current.value(), "reason then steps");
    assert_eq!(current.observe_time, time(conflict.observed));
    assert_eq!(current.update_time, time(conflict.service.now_seconds()));
    assert_eq!(current.evidence(), Evidence::UserConfirmed);
    assert_eq!(current.source.unwrap().reference, "zq7-message-3");
    assert!(!conflict.waits().await);
}

#[tokio::test]
async fn to_reject_is_to_keep_the_current_fact_as_it_is() {
    let mut conflict = Conflict::new().await;
    let before = conflict.current().await;
    conflict.reject().await.unwrap();
    assert_eq!(conflict.current().await, before);
    assert!(!conflict.waits().await);
    assert!(conflict.confirm(conflict.confirming(2)).await.is_err());
    assert_eq!(conflict.current().await, before);
}

#[tokio::test]
async fn i10_a_confirmation_wants_evidence_and_its_refusal_does_not_end_the_wait() {
    let mut conflict = Conflict::new().await;
    for evidence in [Evidence::Unspecified, Evidence::None] {
        let request = ConfirmCandidateRequest { evidence: evidence.into(), ..conflict.confirming(2) };
        let refused = conflict.confirm(request).await.unwrap_err();
        assert_eq!((refused.code(), bad_fields(&refused)), (Code::InvalidArgument, vec!["evidence".to_owned()]));
    }
    for (without, reason) in [("attest:", "EVIDENCE_NOT_HELD"), ("confirm", "GRANT_MISSING")] {
        let mut agent = conflict.service.caller_of(&Ticket { grants: all_but(&[without]), ..ticket() }).await;
        let refused = agent.capture.confirm_candidate(conflict.confirming(2)).await.unwrap_err();
        assert_eq!(refusal(&refused), (Code::PermissionDenied, reason.to_owned()));
    }
    assert_eq!(conflict.current().await.version, 2);
    assert_eq!(conflict.confirm(conflict.confirming(2)).await.unwrap().version, 3);
}

#[tokio::test]
async fn i04_a_newer_writer_overtakes_a_confirmation_and_a_fresh_look_can_follow() {
    let mut conflict = Conflict::new().await;
    let observed = conflict.observed;
    let mut third = correction(&conflict.memory_id, 2, "zq7 newest");
    third.observe_time = time(observed);
    conflict.caller.correct.correct(third).await.unwrap();
    let refused = conflict.confirm(conflict.confirming(2)).await.unwrap_err();
    assert_eq!(refusal(&refused), (Code::Aborted, "VERSION_CONFLICT".to_owned()));
    assert_eq!(conflict.current().await.value(), "zq7 newest");
    let made = conflict.confirm(conflict.confirming(3)).await.unwrap();
    assert_eq!((made.outcome(), made.version), (Outcome::Activated, 4));
}

#[tokio::test]
async fn a_confirmation_does_not_make_an_older_observation_newer() {
    let mut conflict = Conflict::new().await;
    conflict.third_write(2).await;
    conflict.service.pass(1);
    let reply = conflict.confirm(conflict.confirming(3)).await.unwrap();
    assert_eq!((reply.outcome(), why(&reply.reasons)), (Outcome::Rejected, vec!["OBSERVATION_OLDER"]));
    let current = conflict.current().await;
    assert_eq!((current.value(), current.version), ("zq7 newest", 3));
}

#[tokio::test]
async fn a_repeated_confirmation_gets_its_first_answer_and_writes_nothing() {
    let mut conflict = Conflict::new().await;
    let request = ConfirmCandidateRequest { request_id: REQUEST.to_owned(), ..conflict.confirming(2) };
    let first = conflict.confirm(request.clone()).await.unwrap();
    conflict.third_write(3).await;
    let again = conflict.confirm(request.clone()).await.unwrap();
    assert_eq!(again, ConfirmCandidateResponse { replayed: true, ..first.clone() });
    assert_eq!(first.version, 3);
    let other = ConfirmCandidateRequest { expected_version: Some(4), ..request };
    let refused = conflict.confirm(other).await.unwrap_err();
    assert_eq!(refusal(&refused), (Code::InvalidArgument, "REQUEST_ID_REUSED".to_owned()));
    let current = conflict.current().await;
    assert_eq!((current.value(), current.version), ("zq7 newest", 4));
}

#[tokio::test]
async fn a_candidate_whose_own_validity_ends_while_it_waits_is_rejected() {
    let mut conflict = Conflict::with(|request| {
        // Two seconds after everything began plus one: when it is confirmed its time is over.
        let expire_time = time(crate::harness::BEGIN_SECONDS + 3);
        CaptureRequest { expire_time, ..request }
    })
    .await;
    let reply = conflict.confirm(conflict.confirming(2)).await.unwrap();
    assert_eq!((reply.outcome(), why(&reply.reasons)), (Outcome::Rejected, vec!["ALREADY_EXPIRED"]));
    assert_eq!(conflict.current().await.version, 2);
}

#[tokio::test]
async fn i14_a_deletion_while_a_candidate_waits_is_overcome_by_the_subject_alone() {
    let mut conflict = Conflict::new().await;
    conflict.caller.delete.delete(deletion(&conflict.memory_id, 2)).await.unwrap();
    conflict.service.pass(1);
    let stale = conflict.confirm(conflict.confirming(2)).await.unwrap_err();
    assert_eq!(refusal(&stale), (Code::Aborted, "VERSION_CONFLICT".to_owned()));
    for expected_version in [Some(3), None] {
        let evidence = Evidence::OperatorVerified.into();
        let request = ConfirmCandidateRequest { expected_version, evidence, ..conflict.confirming(3) };
        let reply = conflict.confirm(request).await.unwrap();
        assert_eq!((reply.outcome(), why(&reply.reasons)), (Outcome::Held, vec!["ADDRESS_DELETED"]));
    }
    let reply = conflict.caller.recall.recall(key(STYLE)).await.unwrap().into_inner();
    assert_eq!(values(&reply), [""; 0]);
    // The subject, and nobody else, may confirm it after the deletion: as a new memory.
    let made = conflict.confirm(conflict.confirming(3)).await.unwrap();
    assert_eq!((made.outcome(), made.version), (Outcome::Activated, 1));
    assert_ne!(made.memory_id, conflict.memory_id);
}

#[tokio::test]
async fn an_unknown_candidate_is_not_found_and_a_known_one_outlasts_a_restart() {
    let mut conflict = Conflict::new().await;
    let unknown = "01900000-0000-7000-8000-000000000001".to_owned();
    let request = ConfirmCandidateRequest { candidate_id: unknown, ..conflict.confirming(2) };
    assert_eq!(conflict.confirm(request).await.unwrap_err().code(), Code::NotFound);
    let request = ConfirmCandidateRequest { candidate_id: "unknown".to_owned(), ..conflict.confirming(2) };
    let refused = conflict.confirm(request).await.unwrap_err();
    assert_eq!(bad_fields(&refused), ["candidate_id"]);
    let Conflict { service, caller, memory_id, candidate_id, observed } = conflict;
    drop(caller);
    let service = service.restart().await;
    let caller = service.caller().await;
    let mut conflict = Conflict { service, caller, memory_id, candidate_id, observed };
    assert!(conflict.waits().await);
    assert_eq!(conflict.confirm(conflict.confirming(2)).await.unwrap().version, 3);
}

#[tokio::test]
async fn to_correct_what_is_not_there_creates_nothing() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let mut request = correction("", 1, "zq7 Lin");
    request.memory = Some(at(general(), "display_name"));
    let refused = caller.correct.correct(request).await.unwrap_err();
    assert_eq!(refusal(&refused), (Code::NotFound, "NOT_FOUND".to_owned()));
    let reply = caller.recall.recall(key("display_name")).await.unwrap().into_inner();
    assert_eq!((values(&reply), reply.rejected_count), (vec![], 0));
}

#[tokio::test]
async fn i04_of_two_who_decide_at_once_one_decides() {
    for _ in 0..3 {
        let mut conflict = Conflict::new().await;
        let (mut one, mut other) = (conflict.service.caller().await, conflict.service.caller().await);
        let candidate_id = conflict.candidate_id.clone();
        let reject = RejectCandidateRequest { candidate_id, ..RejectCandidateRequest::default() };
        let (confirmed, rejected) = tokio::join!(
            one.capture.confirm_candidate(conflict.confirming(2)),
            other.capture.reject_candidate(reject),
        );
        assert_ne!(confirmed.is_ok(), rejected.is_ok());
        let expected = if confirmed.is_ok() { ("reason then steps", 3) } else { ("zq7 steps", 2) };
        let current = conflict.current().await;
        assert_eq!((current.value(), current.version), expected);
        assert!(!conflict.waits().await);
    }
}
