//! What a fact is worth follows from where it came from, and rises by no rewriting.

use recall_gate::api::proto::{
    Audience, CaptureRequest, ConfirmCandidateRequest, Evidence, GetMemoryRequest, Memory, Outcome, Scope, Sensitivity,
    Source, Trust,
};
use recall_gate::identity::Ticket;
use tonic::Code;

use crate::harness::{Caller, Service, all_but, ticket};
use crate::requests::{correction, fact, general, key, named, reasons, refusal, source, values, why};

async fn made(caller: &mut Caller, request: CaptureRequest) -> String {
    let reply = caller.capture.capture(request).await.unwrap().into_inner();
    assert_eq!(reply.outcome(), Outcome::Activated, "{:?}", why(&reply.reasons));
    reply.memory_id
}

/// The memory, and why it is not admitted.
async fn judged(caller: &mut Caller, memory_id: &str, purpose: &str) -> (Memory, Vec<&'static str>) {
    let memory = Some(named(memory_id));
    let request = GetMemoryRequest { memory, purpose: purpose.to_owned(), ..GetMemoryRequest::default() };
    let reply = caller.recall.get_memory(request).await.unwrap().into_inner();
    (reply.memory.unwrap(), reasons(&reply.verdict.unwrap()))
}

fn derived(kind: &str, parents: &[&str]) -> Source {
    let parent_memory_ids = parents.iter().map(|&id| id.to_owned()).collect();
    Source { parent_memory_ids, ..source(kind, "derivation-1") }
}

fn from_page(key: &str, value: &str) -> CaptureRequest {
    CaptureRequest { source: Some(source("retrieved_document", "page-1")), ..fact(key, value) }
}

#[tokio::test]
async fn i10_b15_a_source_kind_is_granted_and_an_unstated_one_is_worth_least() {
    let service = Service::start().await;
    let grants = [all_but(&["source:", "attest:"]), vec!["source:tool_result".to_owned()]].concat();
    let mut tool = service.caller_of(&Ticket { grants, ..ticket() }).await;
    let bare = |source: Option<Source>| CaptureRequest { source, evidence: 0, ..fact("ui_theme", "zq7 dark") };
    for kind in ["user_message", "user_confirmation", "operator_entry", "task_check", "model_inference"] {
        let refused = tool.capture.capture(bare(Some(source(kind, "zq7-message-1")))).await.unwrap_err();
        assert_eq!(refusal(&refused), (Code::PermissionDenied, "SOURCE_KIND_NOT_HELD".to_owned()), "{kind}");
    }
    let held = tool.capture.capture(bare(None)).await.unwrap().into_inner();
    assert_eq!((held.outcome(), why(&held.reasons)), (Outcome::Held, vec!["EVIDENCE_TOO_WEAK"]));
    let mut caller = service.caller().await;
    let unstated = made(&mut caller, CaptureRequest { source: None, ..fact("response_style", "zq7 brief") }).await;
    let (memory, reasons) = judged(&mut caller, &unstated, "converse").await;
    assert_eq!((memory.trust(), memory.value, reasons), (Trust::Untrusted, None, vec!["UNTRUSTED_SOURCE"]));
    assert!((memory.confidence - 0.5).abs() < 1e-9);
}

#[tokio::test]
async fn i08_a_source_kind_that_policy_does_not_know_is_rejected_with_its_reason() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let request = CaptureRequest { source: Some(source("oracle", "dream-1")), ..fact("response_style", "zq7 brief") };
    match caller.capture.capture(request).await {
        Ok(reply) => {
            let reply = reply.into_inner();
            assert_eq!((reply.outcome(), why(&reply.reasons)), (Outcome::Rejected, vec!["SOURCE_KIND_UNKNOWN"]));
        }
        // Nobody can hold the grant to state it.
        Err(refused) => assert_eq!(refusal(&refused).1, "SOURCE_KIND_NOT_HELD"),
    }
}

#[tokio::test]
async fn i11_b15_a_derived_fact_is_worth_its_weakest_ancestor_however_long_the_line() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let own = made(&mut caller, fact("response_style", "zq7 brief")).await;
    let page = made(&mut caller, from_page("ui_theme", "zq7 dark")).await;
    assert_eq!(judged(&mut caller, &page, "converse").await.1, ["UNTRUSTED_SOURCE"]);
    let child = CaptureRequest {
        source: Some(derived("operator_entry", &[&own, &page])),
        ..fact("response_language", "zq7 Chinese")
    };
    let child = made(&mut caller, child).await;
    let grandchild =
        CaptureRequest { source: Some(derived("operator_entry", &[&child])), ..fact("display_name", "zq7 Lin") };
    let grandchild = made(&mut caller, grandchild).await;
    for id in [&child, &grandchild] {
        for purpose in ["converse", "draft", "act"] {
            let (memory, reasons) = judged(&mut caller, id, purpose).await;
            assert_eq!((memory.trust(), memory.value), (Trust::Untrusted, None));
            assert_eq!(reasons, ["UNTRUSTED_SOURCE"], "{purpose}");
        }
    }
    // The same sentence again, as if it were nobody's child.
    let source = Some(source("operator_entry", "entry-2"));
    let again = CaptureRequest { source, ..fact("display_name", "zq7 Lin") };
    let reply = caller.capture.capture(again).await.unwrap().into_inner();
    assert_eq!(reply.outcome(), Outcome::Duplicate);
    let (memory, reasons) = judged(&mut caller, &grandchild, "converse").await;
    assert_eq!((memory.trust(), memory.version, reasons), (Trust::Untrusted, 1, vec!["UNTRUSTED_SOURCE"]));
}

#[tokio::test]
async fn i11_b15_a_middling_ancestor_caps_a_derived_fact_at_its_own_worth() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let guess = CaptureRequest {
        source: Some(source("tool_result", "answer-1")),
        evidence: Evidence::None.into(),
        ..fact("ui_theme", "zq7 dark")
    };
    let guess = made(&mut caller, guess).await;
    let child =
        CaptureRequest { source: Some(derived("operator_entry", &[&guess])), ..fact("response_style", "zq7 brief") };
    let child = made(&mut caller, child).await;
    let (memory, reasons) = judged(&mut caller, &child, "converse").await;
    assert_eq!((memory.trust(), reasons), (Trust::Unverified, vec![]));
    assert_eq!(judged(&mut caller, &child, "draft").await.1, ["UNTRUSTED_SOURCE"]);
}

#[tokio::test]
async fn i11_b15_a_low_source_replaces_nothing_that_the_user_confirmed() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let own = made(&mut caller, fact("response_style", "zq7 brief")).await;
    let grants = [all_but(&["source:", "attest:"]), vec!["source:retrieved_document".to_owned()]].concat();
    let mut tool = service.caller_of(&Ticket { grants, ..ticket() }).await;
    service.pass(1);
    let page = CaptureRequest { evidence: 0, ..from_page("response_style", "zq7 long") };
    let held = tool.capture.capture(page).await.unwrap().into_inner();
    assert_eq!((held.outcome(), why(&held.reasons)), (Outcome::Held, vec!["CONFLICTS_WITH_CURRENT"]));
    let mut correct = correction(&own, 1, "zq7 long");
    correct.source = Some(source("retrieved_document", "page-1"));
    correct.evidence = 0;
    let reply = tool.correct.correct(correct).await.unwrap().into_inner();
    assert_eq!((reply.outcome(), why(&reply.reasons)), (Outcome::Held, vec!["CONFLICTS_WITH_CURRENT"]));
    let in_its_favour = ConfirmCandidateRequest {
        candidate_id: held.candidate_id,
        evidence: Evidence::UserConfirmed.into(),
        expected_version: Some(1),
        ..ConfirmCandidateRequest::default()
    };
    let refused = tool.capture.confirm_candidate(in_its_favour).await.unwrap_err();
    assert_eq!(refusal(&refused), (Code::PermissionDenied, "EVIDENCE_NOT_HELD".to_owned()));
    let reply = caller.recall.recall(key("response_style")).await.unwrap().into_inner();
    assert_eq!(values(&reply), ["zq7 brief"]);
}

#[tokio::test]
async fn i11_confirming_is_the_one_way_up() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let page = CaptureRequest { evidence: Evidence::None.into(), ..from_page("response_style", "zq7 brief") };
    let held = caller.capture.capture(page).await.unwrap().into_inner();
    let confirm = ConfirmCandidateRequest {
        candidate_id: held.candidate_id,
        evidence: Evidence::UserConfirmed.into(),
        ..ConfirmCandidateRequest::default()
    };
    let made = caller.capture.confirm_candidate(confirm).await.unwrap().into_inner();
    let (memory, reasons) = judged(&mut caller, &made.memory_id, "act").await;
    assert_eq!((memory.trust(), memory.value.as_deref(), reasons), (Trust::Attributed, Some("zq7 brief"), vec![]));
    let kept = memory.source.unwrap();
    assert_eq!(kept.kind, "user_confirmation");
    let references = [vec![kept.reference], kept.parent_references].concat();
    assert!(references.contains(&"page-1".to_owned()), "the old source is kept: {references:?}");
}

#[tokio::test]
async fn i11_audience_and_sensitivity_never_widen_by_derivation_or_rewriting() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let restricted =
        CaptureRequest { sensitivity: Sensitivity::Restricted.into(), ..fact("response_style", "zq7 brief") };
    let own = made(&mut caller, restricted).await;
    let shared = CaptureRequest {
        scope: Some(Scope { audience: Audience::Shared.into(), ..general() }),
        source: Some(derived("operator_entry", &[&own])),
        evidence: Evidence::OperatorVerified.into(),
        ..fact("response_language", "zq7 Chinese")
    };
    let refused = caller.capture.capture(shared).await.unwrap().into_inner();
    assert_eq!((refused.outcome(), why(&refused.reasons)), (Outcome::Rejected, vec!["AUDIENCE_NOT_ALLOWED"]));
    let child = CaptureRequest {
        source: Some(derived("user_message", &[&own])),
        sensitivity: Sensitivity::Public.into(),
        ..fact("response_language", "zq7 Chinese")
    };
    let child = made(&mut caller, child).await;
    assert_eq!(judged(&mut caller, &child, "converse").await.0.sensitivity(), Sensitivity::Restricted);
    let mut correct = correction(&own, 1, "zq7 long");
    correct.sensitivity = Sensitivity::Public.into();
    caller.correct.correct(correct).await.unwrap();
    let (memory, reasons) = judged(&mut caller, &own, "converse").await;
    assert_eq!((memory.sensitivity(), memory.version), (Sensitivity::Restricted, 2));
    assert_eq!(reasons, ["SENSITIVITY_TOO_HIGH"]);
}
