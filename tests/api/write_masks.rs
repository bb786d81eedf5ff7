//! What a caller learns who may write at a place and not read there: nothing about what lies there.

use recall_gate::api::proto::{CaptureRequest, CaptureResponse, Evidence, Outcome, Source};
use recall_gate::identity::Ticket;

use crate::harness::{Caller, Service, all_but, ticket};
use crate::requests::{correction, deletion, fact, key, source, time, values, why};

const STYLE: &str = "response_style";
const THEME: &str = "ui_theme";

/// May capture, and not recall.
async fn blind(service: &Service, subject: &str) -> Caller {
    let grants = all_but(&["recall"]);
    service.caller_of(&Ticket { grants, subject: Some(subject.to_owned()), ..ticket() }).await
}

fn unconfirmed(key: &str, value: &str) -> CaptureRequest {
    let source = Some(source("tool_result", "answer-1"));
    CaptureRequest { source, evidence: Evidence::None.into(), ..fact(key, value) }
}

/// The reply but for the decision it names.
async fn told(caller: &mut Caller, request: CaptureRequest) -> CaptureResponse {
    let reply = caller.capture.capture(request).await.unwrap().into_inner();
    assert!(!reply.decision_id.is_empty());
    CaptureResponse { decision_id: String::new(), ..reply }
}

fn names_nothing(reply: &CaptureResponse) -> bool {
    reply.memory_id.is_empty()
        && reply.candidate_id.is_empty()
        && (reply.version, reply.value_version, reply.expire_time) == (0, 0, None)
}

#[tokio::test]
async fn a_duplicate_reads_as_an_empty_address_would_have_answered() {
    let service = Service::start().await;
    let mut owner = service.caller().await;
    owner.capture.capture(fact(STYLE, "zq7 brief")).await.unwrap();
    owner.capture.capture(unconfirmed(THEME, "zq7 dark")).await.unwrap();
    let capped = CaptureRequest { confidence: Some(0.95), ..unconfirmed(THEME, "zq7 dark") };
    let rows = [
        (fact(STYLE, "zq7 brief"), Outcome::Activated, vec![]),
        (unconfirmed(STYLE, "zq7 brief"), Outcome::Held, vec!["EVIDENCE_TOO_WEAK"]),
        (unconfirmed(THEME, "zq7 dark"), Outcome::Activated, vec![]),
        (capped, Outcome::Activated, vec!["CONFIDENCE_CAPPED"]),
    ];
    for (request, outcome, reasons) in rows {
        // Only asking, so that the empty address stays empty; and for real, where it is a duplicate.
        for validate_only in [true, false] {
            let asked = CaptureRequest { validate_only: true, ..request.clone() };
            let there = CaptureRequest { validate_only, ..request.clone() };
            let nothing = told(&mut blind(&service, "s9").await, asked).await;
            let something = told(&mut blind(&service, "s1").await, there).await;
            assert_eq!(something, nothing);
            assert_eq!((something.outcome(), why(&something.reasons)), (outcome, reasons.clone()));
            assert!(names_nothing(&something));
        }
    }
    let reply = owner.recall.recall(key(STYLE)).await.unwrap().into_inner();
    assert_eq!((values(&reply), reply.accepted[0].version), (vec!["zq7 brief"], 1));
}

#[tokio::test]
async fn conflict_deletion_and_age_read_as_held_without_a_reason_or_an_id() {
    let service = Service::start().await;
    let mut owner = service.caller().await;
    let began = service.now_seconds();
    let style = owner.capture.capture(fact(STYLE, "zq7 brief")).await.unwrap().into_inner().memory_id;
    let name = owner.capture.capture(fact("display_name", "zq7 Lin")).await.unwrap().into_inner().memory_id;
    owner.delete.delete(deletion(&name, 1)).await.unwrap();
    let derived = Source { parent_memory_ids: vec![name], ..source("user_message", "zq7-message-3") };
    let rows = [
        fact(STYLE, "zq7 long"),
        CaptureRequest { observe_time: time(began - 60), ..fact(STYLE, "zq7 long") },
        CaptureRequest { source: Some(source("user_message", "zq7-message-2")), ..fact("display_name", "Bo") },
        CaptureRequest { source: Some(derived), ..fact("response_language", "zq7 Chinese") },
    ];
    let mut scout = blind(&service, "s1").await;
    for request in rows {
        let reply = told(&mut scout, request).await;
        assert_eq!((reply.outcome(), why(&reply.reasons)), (Outcome::Held, vec![]));
        assert!(names_nothing(&reply));
    }
    // The same callers' words, to somebody who may read.
    let mut sees = service.caller().await;
    let reply = sees.capture.capture(fact(STYLE, "zq7 long")).await.unwrap().into_inner();
    assert_eq!((why(&reply.reasons), reply.memory_id, reply.version), (vec!["CONFLICTS_WITH_CURRENT"], style, 1));
}

#[tokio::test]
async fn what_lies_above_the_callers_ceiling_is_not_told_either() {
    let service = Service::start().await;
    let mut owner = service.caller().await;
    owner.capture.capture(fact(STYLE, "zq7 brief")).await.unwrap();
    let grants = [all_but(&["max_sensitivity"]), vec!["max_sensitivity:public".to_owned()]].concat();
    let mut low = service.caller_of(&Ticket { grants: grants.clone(), ..ticket() }).await;
    let mut empty = service.caller_of(&Ticket { grants, subject: Some("s9".to_owned()), ..ticket() }).await;
    let asked = CaptureRequest { validate_only: true, ..fact(STYLE, "zq7 brief") };
    let (there, nowhere) = (told(&mut low, asked.clone()).await, told(&mut empty, asked).await);
    assert_eq!((there.outcome(), &there.reasons), (nowhere.outcome(), &nowhere.reasons));
    assert!(names_nothing(&there));
    let reply = told(&mut low, fact(STYLE, "zq7 long")).await;
    assert_eq!((reply.outcome(), why(&reply.reasons)), (Outcome::Held, vec![]));
    assert!(names_nothing(&reply));
}

#[tokio::test]
async fn a_replay_tells_no_more_than_the_first_answer_did() {
    let service = Service::start().await;
    let mut owner = service.caller().await;
    owner.capture.capture(fact(STYLE, "zq7 brief")).await.unwrap();
    let mut scout = blind(&service, "s1").await;
    for (value, number) in [("zq7 brief", 1), ("zq7 long", 2)] {
        let request_id = format!("6f1e0c54-0f57-4b52-9f43-0d5b6a0b9d1{number}");
        let request = CaptureRequest { request_id, ..fact(STYLE, value) };
        let first = told(&mut scout, request.clone()).await;
        let again = told(&mut scout, request).await;
        assert!(again.replayed);
        assert_eq!(CaptureResponse { replayed: false, ..again }, first);
        assert!(names_nothing(&first));
    }
}

#[tokio::test]
async fn what_cannot_be_read_can_still_be_corrected_with_the_version_in_hand_and_names_nothing() {
    let service = Service::start().await;
    let mut owner = service.caller().await;
    let id = owner.capture.capture(fact(STYLE, "zq7 brief")).await.unwrap().into_inner().memory_id;
    let mut scout = blind(&service, "s1").await;
    let reply = scout.correct.correct(correction(&id, 1, "zq7 long")).await.unwrap().into_inner();
    assert_eq!((reply.outcome(), reply.memory_id.as_str(), reply.version), (Outcome::Activated, "", 0));
    let reply = owner.recall.recall(key(STYLE)).await.unwrap().into_inner();
    assert_eq!((values(&reply), reply.accepted[0].version), (vec!["zq7 long"], 2));
}

#[tokio::test]
async fn a_stated_version_is_no_way_to_learn_what_lies_there() {
    let service = Service::start().await;
    let mut owner = service.caller().await;
    owner.capture.capture(fact(STYLE, "zq7 brief")).await.unwrap();
    let asked =
        |version| CaptureRequest { expected_version: Some(version), validate_only: true, ..fact(STYLE, "zq7 long") };
    let (mut there, mut nowhere) = (blind(&service, "s1").await, blind(&service, "s9").await);
    for version in [0, 1, 7] {
        let answers = (there.capture.capture(asked(version)).await, nowhere.capture.capture(asked(version)).await);
        let text = |status: &tonic::Status| (status.code(), status.message().to_owned(), status.details().to_vec());
        assert_eq!(answers.0.as_ref().err().map(text), answers.1.as_ref().err().map(text), "version {version}");
    }
}
