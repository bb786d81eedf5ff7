//! What a caller may not see shows in no answer: not as a count, a reason, a version, nor by way of what is derived.

use recall_gate::api::proto::{CaptureRequest, ConfirmCandidateRequest, Evidence, Outcome, Scope, Source};
use recall_gate::identity::Ticket;

use crate::harness::{Service, all_but, project, ticket};
use crate::reading::{activated, experience, held, listing_all, pages, shared, unconfirmed, up_to_internal};
use crate::requests::{correction, deletion, error_reason, fact, general, in_project, source};

const NOBODY: &str = "018f3c4e-7b2a-7c3d-9e4f-5a6b7c8d9e0f";

fn team(scope: Scope, key: &str, value: &str) -> CaptureRequest {
    CaptureRequest {
        scope: Some(shared(scope)),
        source: Some(source("operator_entry", "directory")),
        evidence: Evidence::OperatorVerified.into(),
        ..fact(key, value)
    }
}

fn derived_from(parent: &str, fact: CaptureRequest) -> CaptureRequest {
    let source = Source { parent_memory_ids: vec![parent.to_owned()], ..fact.source.clone().unwrap() };
    CaptureRequest { source: Some(source), ..fact }
}

/// A service in which somebody of project `q` has left shared memories that the usual caller may not see.
async fn with_strangers() -> (Service, crate::harness::Caller) {
    let service = Service::start().await;
    let stranger = service.caller_of(&Ticket { projects: vec![project("q")], ..ticket() }).await;
    (service, stranger)
}

#[tokio::test]
async fn i02_pages_are_full_of_what_is_visible_whatever_lies_between() {
    let (service, mut stranger) = with_strangers().await;
    for key in ["database_engine", "duty_team", "service_target"] {
        activated(&mut stranger, team(in_project("q"), key, "zq7 theirs")).await;
    }
    let mut caller = service.caller().await;
    activated(&mut caller, fact("response_style", "zq7 mine")).await;
    activated(&mut caller, fact("response_language", "zq7 mine")).await;
    let mut request = listing_all("converse");
    request.page_size = 1;
    let listed = pages(&mut caller, request).await;
    assert_eq!(listed.iter().map(|page| page.entries.len()).collect::<Vec<_>>(), [1, 1]);
}

#[tokio::test]
async fn i02_a_deleted_parent_of_another_project_is_as_if_it_never_was() {
    let (service, mut stranger) = with_strangers().await;
    let theirs = activated(&mut stranger, team(in_project("q"), "duty_team", "zq7 theirs")).await;
    let mut delete = deletion(&theirs.memory_id, 1);
    delete.evidence = Evidence::OperatorVerified.into();
    stranger.delete.delete(delete).await.unwrap();
    let mut caller = service.caller().await;
    let mut told = Vec::new();
    for parent in [theirs.memory_id.as_str(), NOBODY] {
        let reply = caller.capture.capture(derived_from(parent, fact("response_style", "zq7 brief"))).await;
        let reply = reply.unwrap().into_inner();
        told.push((reply.outcome(), reply.reasons, reply.memory_id, reply.candidate_id));
    }
    assert_eq!(told[0], told[1]);
}

#[tokio::test]
async fn i02_what_lies_above_the_ceiling_answers_no_expectation() {
    let service = Service::start().await;
    let mut owner = service.caller().await;
    activated(&mut owner, fact("display_name", "zq7 Lin")).await;
    let mut caller = service.caller_of(&up_to_internal()).await;
    let expecting =
        |version| CaptureRequest { expected_version: Some(version), validate_only: true, ..fact("display_name", "Bo") };
    caller.capture.capture(expecting(0)).await.unwrap();
    let status = caller.capture.capture(expecting(7)).await.unwrap_err();
    assert_eq!(status.message(), "the memory has moved on to version 0");
}

#[tokio::test]
async fn i02_who_may_not_recall_learns_no_version_by_confirming_either() {
    let service = Service::start().await;
    let mut owner = service.caller().await;
    activated(&mut owner, fact("response_style", "zq7 brief")).await;
    let waiting = held(&mut owner, unconfirmed(fact("response_style", "zq7 steps"))).await;
    let mut writer = service.caller_of(&Ticket { grants: all_but(&["recall"]), ..ticket() }).await;
    let confirm = ConfirmCandidateRequest {
        candidate_id: waiting.candidate_id,
        evidence: Evidence::UserConfirmed.into(),
        expected_version: Some(9),
        ..ConfirmCandidateRequest::default()
    };
    assert_eq!(error_reason(&writer.capture.confirm_candidate(confirm).await.unwrap_err()), "GRANT_MISSING");
}

#[tokio::test]
async fn who_may_only_write_cannot_guess_a_value() {
    let service = Service::start().await;
    let mut owner = service.caller().await;
    activated(&mut owner, fact("response_style", "zq7 brief")).await;
    let mut writer = service.caller_of(&Ticket { grants: all_but(&["recall"]), ..ticket() }).await;
    let mut told = Vec::new();
    for (key, guess) in [("response_style", "zq7 brief"), ("response_style", "zq7 steps"), ("response_language", "de")]
    {
        let ask = CaptureRequest { validate_only: true, ..unconfirmed(fact(key, guess)) };
        let reply = writer.capture.capture(ask).await.unwrap().into_inner();
        told.push((reply.outcome(), reply.reasons, reply.version, reply.memory_id, reply.candidate_id));
    }
    assert_eq!((&told[0], &told[1]), (&told[2], &told[2]));
}

#[tokio::test]
async fn i11_what_members_of_a_project_share_is_not_derived_into_a_wider_place() {
    let service = Service::start().await;
    let mut caller = service.caller_of(&Ticket { projects: vec![project("p1"), project("p2")], ..ticket() }).await;
    let parent = activated(&mut caller, team(in_project("p1"), "duty_team", "zq7 blue")).await;
    for (scope, allowed) in [(general(), false), (in_project("p2"), false), (in_project("p1"), true)] {
        let copy = derived_from(&parent.memory_id, team(scope, "database_engine", "as the duty team says"));
        let reply = caller.capture.capture(copy).await.unwrap().into_inner();
        assert_eq!(reply.outcome() == Outcome::Activated, allowed);
    }
}

#[tokio::test]
async fn i14_what_was_deleted_does_not_come_back_from_any_source_it_ever_had() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let again = async |caller: &mut crate::harness::Caller, request: CaptureRequest| {
        caller.capture.capture(request).await.unwrap().into_inner().outcome()
    };
    // An earlier version's source, at another place.
    let first = activated(&mut caller, fact("response_style", "zq7 brief")).await;
    caller.correct.correct(correction(&first.memory_id, 1, "zq7 steps")).await.unwrap();
    caller.delete.delete(deletion(&first.memory_id, 2)).await.unwrap();
    let elsewhere = CaptureRequest { scope: Some(in_project("p1")), ..fact("response_style", "zq7 brief") };
    assert_eq!(again(&mut caller, elsewhere).await, Outcome::Rejected);
    // A source that is redacted before it is stored.
    let card = || CaptureRequest {
        source: Some(source("user_message", "statement of 4111 1111 1111 1111")),
        ..fact("response_language", "de")
    };
    let second = activated(&mut caller, card()).await;
    caller.delete.delete(deletion(&second.memory_id, 1)).await.unwrap();
    let elsewhere = CaptureRequest { scope: Some(in_project("p1")), ..card() };
    assert_eq!(again(&mut caller, elsewhere).await, Outcome::Rejected);
    // A kind whose facts have ids of their own.
    let third = activated(&mut caller, experience("the migration took a day")).await;
    caller.delete.delete(deletion(&third.memory_id, 1)).await.unwrap();
    assert_eq!(again(&mut caller, experience("the migration took a day")).await, Outcome::Rejected);
}

#[tokio::test]
async fn a_held_fact_under_its_own_id_becomes_the_memory_of_that_id() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let waiting = held(&mut caller, unconfirmed(experience("the migration took a day"))).await;
    let confirm = ConfirmCandidateRequest {
        candidate_id: waiting.candidate_id.clone(),
        evidence: Evidence::UserConfirmed.into(),
        ..ConfirmCandidateRequest::default()
    };
    let made = caller.capture.confirm_candidate(confirm).await.unwrap().into_inner();
    assert_eq!((made.outcome(), made.memory_id), (Outcome::Activated, waiting.candidate_id));
}
