//! Requests that are sent again: one effect, the first answer once more, and nothing for anybody else.

use recall_gate::api::proto::{CaptureRequest, CorrectRequest, DeleteRequest, Outcome, RejectCandidateRequest};
use recall_gate::identity::Ticket;
use tokio::task::JoinSet;
use tonic::Code;

use crate::harness::{Service, ticket};
use crate::requests::{
    bad_fields, correction, deletion, error_reason, fact, in_general, keys, recalling, source, values,
};

const K: &str = "018f3c4e-7b2a-7c3d-9e4f-5a6b7c8d9e0f";

fn capture(value: &str) -> CaptureRequest {
    CaptureRequest { request_id: K.to_owned(), ..fact("response_style", value) }
}

#[tokio::test]
async fn b26_the_same_request_gets_the_first_answer_and_has_no_second_effect() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let first = caller.capture.capture(capture("zq7 brief")).await.unwrap().into_inner();
    assert!(!first.replayed);
    service.pass(60);
    let mut again = caller.capture.capture(capture("zq7 brief")).await.unwrap().into_inner();
    assert!(again.replayed);
    again.replayed = false;
    assert_eq!(again, first);
    let service = service.restart().await;
    let mut caller = service.caller().await;
    assert!(caller.capture.capture(capture("zq7 brief")).await.unwrap().into_inner().replayed);
}

#[tokio::test]
async fn b26_another_payload_under_the_same_id_is_refused_and_writes_nothing() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    caller.capture.capture(capture("zq7 brief")).await.unwrap();
    let others = [
        capture("zq7 steps"),
        CaptureRequest { confidence: Some(0.5), ..capture("zq7 brief") },
        CaptureRequest { confidence: Some(0.0), ..capture("zq7 brief") },
        CaptureRequest { expected_version: Some(0), ..capture("zq7 brief") },
        CaptureRequest { accept_revoked: true, ..capture("zq7 brief") },
        CaptureRequest { source: Some(source("user_message", "zq7-message-9")), ..capture("zq7 brief") },
        CaptureRequest { purposes: vec!["converse".to_owned()], ..capture("zq7 brief") },
        CaptureRequest {
            valid_from_time: Some(prost_types::Timestamp { seconds: 5, nanos: 0 }),
            ..capture("zq7 brief")
        },
    ];
    for other in others {
        let status = caller.capture.capture(other).await.unwrap_err();
        assert_eq!((status.code(), error_reason(&status)), (Code::InvalidArgument, "REQUEST_ID_REUSED".to_owned()));
    }
    let reply = caller.recall.recall(recalling(in_general(), keys(&["response_style"]))).await.unwrap().into_inner();
    assert_eq!(values(&reply), ["zq7 brief"]);
}

#[tokio::test]
async fn b26_an_id_belongs_to_its_tenant_subject_principal_and_method() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let first = caller.capture.capture(capture("zq7 brief")).await.unwrap().into_inner();
    for other in [
        Ticket { tenant: "t2".to_owned(), ..ticket() },
        Ticket { subject: Some("s2".to_owned()), ..ticket() },
        Ticket { principal: "another-agent".to_owned(), ..ticket() },
    ] {
        let mut other = service.caller_of(&other).await;
        let reply = other.capture.capture(capture("zq7 brief")).await.unwrap().into_inner();
        assert!(!reply.replayed);
        assert_ne!(reply.decision_id, first.decision_id);
    }
    let correct = CorrectRequest { request_id: K.to_owned(), ..correction(&first.memory_id, 1, "zq7 steps") };
    assert!(!caller.correct.correct(correct).await.unwrap().into_inner().replayed);
    let delete = DeleteRequest { request_id: K.to_owned(), ..deletion(&first.memory_id, 2) };
    assert!(!caller.delete.delete(delete).await.unwrap().into_inner().replayed);
}

#[tokio::test]
async fn b26_many_at_once_under_one_id_have_one_effect_and_one_answer() {
    let service = Service::start().await;
    let caller = service.caller().await;
    let mut senders = JoinSet::new();
    for sender in 0..50 {
        let mut caller = caller.clone();
        // One in five sends something else under the same id.
        let value = if sender % 5 == 4 { format!("other {sender}") } else { "zq7 brief".to_owned() };
        senders.spawn(async move { (value.clone(), caller.capture.capture(capture(&value)).await) });
    }
    let (mut decisions, mut fresh) = (std::collections::BTreeMap::<String, String>::new(), 0);
    while let Some(sent) = senders.join_next().await {
        match sent.unwrap() {
            (value, Ok(reply)) => {
                let reply = reply.into_inner();
                fresh += i32::from(!reply.replayed);
                decisions.insert(reply.decision_id, value);
            }
            (_, Err(status)) => assert_eq!(error_reason(&status), "REQUEST_ID_REUSED"),
        }
    }
    assert_eq!((decisions.len(), fresh), (1, 1));
}

#[tokio::test]
async fn b26_i12_a_replay_after_a_deletion_hands_back_no_text_and_creates_nothing() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let first = caller.capture.capture(capture("zq7 brief")).await.unwrap().into_inner();
    let delete = DeleteRequest { request_id: K.to_owned(), ..deletion(&first.memory_id, 1) };
    let deleted = caller.delete.delete(delete.clone()).await.unwrap().into_inner();
    let again = caller.capture.capture(capture("zq7 brief")).await.unwrap().into_inner();
    assert!(again.replayed);
    assert_eq!((again.outcome(), again.version), (Outcome::Activated, 1));
    let reply = caller.recall.recall(recalling(in_general(), keys(&["response_style"]))).await.unwrap().into_inner();
    assert_eq!(values(&reply), [""; 0]);
    let twice = caller.delete.delete(delete).await.unwrap().into_inner();
    assert_eq!((twice.replayed, twice.version), (true, deleted.version));
}

#[tokio::test]
async fn b26_an_answer_is_kept_for_a_day() {
    let service = Service::start().await;
    let mut caller = service.caller_of(&Ticket { lifetime_seconds: 86_400, ..ticket() }).await;
    caller.capture.capture(capture("zq7 brief")).await.unwrap();
    service.pass(86_399);
    assert!(caller.capture.capture(capture("zq7 brief")).await.unwrap().into_inner().replayed);
    service.pass(1);
    let mut caller = service.caller().await;
    let anew = caller.capture.capture(capture("zq7 brief")).await.unwrap().into_inner();
    assert_eq!((anew.replayed, anew.outcome()), (false, Outcome::Duplicate));
}

#[tokio::test]
async fn a_request_that_only_asks_keeps_no_id_and_a_refused_one_neither() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let asked = CaptureRequest { validate_only: true, ..capture("zq7 brief") };
    let asked = caller.capture.capture(asked).await.unwrap().into_inner();
    assert_eq!((asked.outcome(), asked.replayed), (Outcome::Activated, false));
    let refused = CaptureRequest { expected_version: Some(3), ..capture("zq7 steps") };
    assert_eq!(error_reason(&caller.capture.capture(refused).await.unwrap_err()), "VERSION_CONFLICT");
    let written = caller.capture.capture(capture("other")).await.unwrap().into_inner();
    assert_eq!((written.outcome(), written.replayed), (Outcome::Activated, false));
}

#[tokio::test]
async fn b26_what_is_no_uuid_is_no_request_id() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    for id in ["x", "018F3C4E-7B2A-7C3D-9E4F-5A6B7C8D9E0F", "018f3c4e7b2a7c3d9e4f5a6b7c8d9e0f", &"a".repeat(10_240)] {
        let status = caller
            .capture
            .capture(CaptureRequest { request_id: id.to_owned(), ..fact("response_style", "zq7 brief") })
            .await
            .unwrap_err();
        assert_eq!((status.code(), bad_fields(&status)), (Code::InvalidArgument, vec!["request_id".to_owned()]));
        let reject = RejectCandidateRequest { request_id: id.to_owned(), ..RejectCandidateRequest::default() };
        assert!(
            bad_fields(&caller.capture.reject_candidate(reject).await.unwrap_err()).contains(&"request_id".to_owned())
        );
    }
    // Empty is none.
    caller.capture.capture(fact("response_style", "zq7 brief")).await.unwrap();
}
