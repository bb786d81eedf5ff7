//! The write gate's table, row by row, and what holds, rejects or is remarked on before it.

use recall_gate::api::proto::{
    Audience, CaptureRequest, CaptureResponse, Consent, ConsentState, Evidence, Outcome, Scope, Source, Trust,
};

use crate::harness::{Caller, Service};
use crate::requests::{correction, deletion, everything, fact, general, in_task, key, source, time, values, why};

const STYLE: &str = "response_style";
const THEME: &str = "ui_theme";

/// Its outcome and its reasons.
async fn offer(caller: &mut Caller, request: CaptureRequest) -> (Outcome, Vec<&'static str>) {
    let reply = caller.capture.capture(request).await.unwrap().into_inner();
    (reply.outcome(), why(&reply.reasons))
}

async fn made(caller: &mut Caller, request: CaptureRequest) -> CaptureResponse {
    let reply = caller.capture.capture(request).await.unwrap().into_inner();
    assert_eq!(reply.outcome(), Outcome::Activated, "{:?}", why(&reply.reasons));
    reply
}

/// Nobody vouches for it, and a tool found it.
fn unconfirmed(key: &str, value: &str) -> CaptureRequest {
    let source = Some(source("tool_result", "answer-1"));
    CaptureRequest { source, evidence: Evidence::None.into(), ..fact(key, value) }
}

const HELD: Outcome = Outcome::Held;
const REJECTED: Outcome = Outcome::Rejected;
const ACTIVATED: Outcome = Outcome::Activated;
const DUPLICATE: Outcome = Outcome::Duplicate;

#[tokio::test]
async fn at_an_empty_address_evidence_or_a_kind_that_may_be_guessed_puts_in_force() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    assert_eq!(offer(&mut caller, unconfirmed(STYLE, "zq7 brief")).await, (HELD, vec!["EVIDENCE_TOO_WEAK"]));
    let uncounted = CaptureRequest { evidence: Evidence::TaskVerified.into(), ..fact(STYLE, "zq7 brief") };
    assert_eq!(offer(&mut caller, uncounted).await, (HELD, vec!["EVIDENCE_TOO_WEAK"]));
    assert_eq!(offer(&mut caller, fact(STYLE, "zq7 brief")).await, (ACTIVATED, vec![]));
    assert_eq!(offer(&mut caller, unconfirmed(THEME, "zq7 dark")).await, (ACTIVATED, vec![]));
    let reply = caller.recall.recall(key(THEME)).await.unwrap().into_inner();
    assert!(reply.envelope.unwrap().facts[0].inferred);
}

#[tokio::test]
async fn a_source_that_puts_nothing_in_force_is_held_even_where_a_guess_would_do() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let from = |source: Source| CaptureRequest { source: Some(source), ..unconfirmed(THEME, "zq7 dark") };
    let summary = Source { parent_references: vec!["chat-1".to_owned()], ..source("summary", "summary-1") };
    for source in [source("retrieved_document", "page-1"), summary, Source::default()] {
        assert_eq!(offer(&mut caller, from(source)).await, (HELD, vec!["EVIDENCE_TOO_WEAK"]));
    }
    let guess = source("model_inference", "turn-1");
    assert_eq!(offer(&mut caller, from(guess.clone())).await, (HELD, vec!["LINEAGE_MISSING"]));
    let derived = Source { parent_references: vec!["zq7-message-1".to_owned()], ..guess };
    assert_eq!(offer(&mut caller, from(derived)).await, (ACTIVATED, vec![]));
}

#[tokio::test]
async fn what_has_expired_gives_way_to_the_next_version() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let expire_time = time(service.now_seconds() + 10);
    let style = made(&mut caller, CaptureRequest { expire_time, ..fact(STYLE, "zq7 brief") }).await;
    let theme = made(&mut caller, CaptureRequest { expire_time, ..fact(THEME, "zq7 dark") }).await;
    service.pass(10);
    assert_eq!(offer(&mut caller, unconfirmed(STYLE, "zq7 long")).await, (HELD, vec!["EVIDENCE_TOO_WEAK"]));
    let again = made(&mut caller, fact(STYLE, "zq7 long")).await;
    assert_eq!((again.memory_id, again.version, again.value_version), (style.memory_id, 2, 2));
    let again = made(&mut caller, unconfirmed(THEME, "zq7 light")).await;
    assert_eq!((again.memory_id, again.version), (theme.memory_id, 2));
}

#[tokio::test]
async fn the_same_value_is_a_duplicate_unless_the_evidence_is_stronger() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let weaker = CaptureRequest { evidence: Evidence::OperatorVerified.into(), ..fact(STYLE, "zq7 brief") };
    let first = made(&mut caller, weaker.clone()).await;
    service.pass(1);
    assert_eq!(offer(&mut caller, weaker.clone()).await, (DUPLICATE, vec![]));
    assert_eq!(offer(&mut caller, unconfirmed(STYLE, "zq7 brief")).await, (DUPLICATE, vec![]));
    let stronger = made(&mut caller, fact(STYLE, "zq7 brief")).await;
    assert_eq!((stronger.memory_id, stronger.version, stronger.value_version), (first.memory_id, 2, 1));
    assert_eq!(offer(&mut caller, weaker).await, (DUPLICATE, vec![]));
    let reply = caller.capture.capture(fact(STYLE, "zq7 brief")).await.unwrap().into_inner();
    assert_eq!((reply.outcome(), reply.version, reply.value_version), (DUPLICATE, 2, 1));
}

#[tokio::test]
async fn another_value_supersedes_an_inferred_one_if_confirmed_or_newer_and_no_less_confident() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let guess = |value: &str, confidence| CaptureRequest { confidence, ..unconfirmed(THEME, value) };
    made(&mut caller, guess("zq7 dark", Some(0.8))).await;
    let conflict = (HELD, vec!["CONFLICTS_WITH_CURRENT"]);
    assert_eq!(offer(&mut caller, guess("zq7 light", Some(0.9))).await, conflict, "observed at the same time");
    service.pass(1);
    assert_eq!(offer(&mut caller, guess("zq7 light", Some(0.79))).await, conflict, "less confident");
    let newer = made(&mut caller, guess("zq7 light", Some(0.8))).await;
    assert_eq!((newer.version, newer.value_version), (2, 2));
    let confirmed = made(&mut caller, CaptureRequest { confidence: Some(0.5), ..fact(THEME, "zq7 blue") }).await;
    assert_eq!((confirmed.version, confirmed.value_version), (3, 3));
}

#[tokio::test]
async fn i11_no_unconfirmed_write_replaces_a_confirmed_value() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let first = made(&mut caller, fact(THEME, "zq7 dark")).await;
    service.pass(1);
    let conflict = (HELD, vec!["CONFLICTS_WITH_CURRENT"]);
    assert_eq!(offer(&mut caller, unconfirmed(THEME, "zq7 light")).await, conflict);
    assert_eq!(
        offer(&mut caller, CaptureRequest { expected_version: Some(1), ..unconfirmed(THEME, "zq7 light") }).await,
        conflict
    );
    assert_eq!(offer(&mut caller, fact(THEME, "zq7 light")).await, conflict, "a confirmed one has to be a correction");
    let mut correction = correction(&first.memory_id, 1, "zq7 light");
    correction.evidence = Evidence::None.into();
    let reply = caller.correct.correct(correction.clone()).await.unwrap().into_inner();
    assert_eq!((reply.outcome(), why(&reply.reasons)), conflict);
    assert_eq!((reply.version, reply.candidate_id.is_empty()), (1, false));
    correction.evidence = Evidence::TaskVerified.into();
    let reply = caller.correct.correct(correction).await.unwrap().into_inner();
    assert_eq!((reply.outcome(), why(&reply.reasons)), conflict, "this kind does not count a task's evidence");
    let reply = caller.recall.recall(key(THEME)).await.unwrap().into_inner();
    assert_eq!(values(&reply), ["zq7 dark"]);
}

#[tokio::test]
async fn what_the_offer_itself_forbids_is_rejected_with_every_reason() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let shared = Scope { audience: Audience::Shared.into(), ..general() };
    let now = service.now_seconds();
    let text = |kind: &str, key: &str, value: &str| CaptureRequest { kind: kind.to_owned(), ..fact(key, value) };
    let rows = [
        (text("invented", STYLE, "zq7 brief"), vec!["KIND_UNKNOWN"]),
        (text(STYLE, "tone", "zq7 brief"), vec!["KEY_NOT_ALLOWED"]),
        (CaptureRequest { scope: Some(in_task("p1", "one")), ..fact(STYLE, "zq7 brief") }, vec!["SCOPE_NOT_ALLOWED"]),
        (
            CaptureRequest {
                scope: Some(shared),
                evidence: Evidence::OperatorVerified.into(),
                ..fact("display_name", "zq7 Lin")
            },
            vec!["AUDIENCE_NOT_ALLOWED"],
        ),
        (CaptureRequest { purposes: vec!["act".to_owned()], ..fact(THEME, "zq7 dark") }, vec!["PURPOSE_NOT_ALLOWED"]),
        (fact(STYLE, &"字".repeat(301)), vec!["VALUE_NOT_ALLOWED"]),
        (fact(STYLE, "password = hunter22"), vec!["SECRET_DETECTED"]),
        (CaptureRequest { expire_time: time(now), ..fact(STYLE, "zq7 brief") }, vec!["ALREADY_EXPIRED"]),
        (
            CaptureRequest {
                scope: Some(in_task("p1", "one")),
                purposes: vec!["act".to_owned()],
                ..text(THEME, "tone", "password = hunter22")
            },
            vec!["PURPOSE_NOT_ALLOWED", "KEY_NOT_ALLOWED", "SCOPE_NOT_ALLOWED", "SECRET_DETECTED"],
        ),
    ];
    for (request, expected) in rows {
        let reply = caller.capture.capture(request).await.unwrap().into_inner();
        assert_eq!((reply.outcome(), why(&reply.reasons)), (REJECTED, expected));
        assert_eq!((reply.memory_id, reply.candidate_id, reply.version), (String::new(), String::new(), 0));
        assert!(!reply.decision_id.is_empty());
    }
    let fits = CaptureRequest { expire_time: time(now + 1), ..fact(STYLE, &"字".repeat(300)) };
    assert_eq!(offer(&mut caller, fits).await, (ACTIVATED, vec![]));
}

#[tokio::test]
async fn a_parent_that_is_unknown_foreign_or_deleted_rejects_the_offer() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let mut other = crate::harness::ticket();
    other.subject = Some("s2".to_owned());
    let mut other = service.caller_of(&other).await;
    let foreign = made(&mut other, fact(STYLE, "zq7 brief")).await.memory_id;
    let from = |parent: &str| CaptureRequest {
        source: Some(Source { parent_memory_ids: vec![parent.to_owned()], ..source("user_message", "zq7-message-2") }),
        ..fact("display_name", "zq7 Lin")
    };
    for parent in [foreign.as_str(), "01900000-0000-7000-8000-000000000001"] {
        assert_eq!(offer(&mut caller, from(parent)).await, (REJECTED, vec!["LINEAGE_REJECTED"]));
    }
    let own = made(&mut caller, fact(STYLE, "zq7 brief")).await.memory_id;
    caller.delete.delete(deletion(&own, 1)).await.unwrap();
    assert_eq!(offer(&mut caller, from(&own)).await, (REJECTED, vec!["SOURCE_REVOKED"]));
}

#[tokio::test]
async fn b24_a_memory_is_never_its_own_ancestor() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let first = made(&mut caller, fact(STYLE, "zq7 brief")).await.memory_id;
    let from =
        |parent: &str| Source { parent_memory_ids: vec![parent.to_owned()], ..source("user_message", "zq7-message-2") };
    let child = CaptureRequest { source: Some(from(&first)), ..fact("display_name", "zq7 Lin") };
    let child = made(&mut caller, child).await.memory_id;
    for parent in [&first, &child] {
        let mut request = correction(&first, 1, "zq7 long");
        request.source = Some(from(parent));
        let reply = caller.correct.correct(request).await.unwrap().into_inner();
        assert_eq!((reply.outcome(), why(&reply.reasons)), (REJECTED, vec!["LINEAGE_REJECTED"]));
    }
    let reply = caller.recall.recall(everything()).await.unwrap().into_inner();
    assert_eq!(values(&reply).len(), 2, "nothing else was retired");
}

#[tokio::test]
async fn remarks_stand_beside_the_outcome() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let now = service.now_seconds();
    let reply = made(&mut caller, fact(STYLE, "write to lin@example.org")).await;
    assert_eq!(why(&reply.reasons), ["PERSONAL_DATA_MARKED"]);
    let reply = made(&mut caller, fact("display_name", "4111 1111 1111 1111")).await;
    assert_eq!(why(&reply.reasons), ["PERSONAL_DATA_REDACTED"]);
    let year = 31_536_000;
    let reply =
        made(&mut caller, CaptureRequest { expire_time: time(now + year + 1), ..fact(THEME, "zq7 dark") }).await;
    assert_eq!((why(&reply.reasons), reply.expire_time), (vec!["LIFE_SHORTENED"], time(now + year)));
    let capped = CaptureRequest {
        kind: "inferred_role".to_owned(),
        confidence: Some(0.95),
        ..unconfirmed("platform_role", "builder")
    };
    assert_eq!(why(&made(&mut caller, capped).await.reasons), ["CONFIDENCE_CAPPED"]);
    let reply = caller.recall.recall(everything()).await.unwrap().into_inner();
    let facts = reply.envelope.unwrap().facts;
    let shown = |key: &str| facts.iter().find(|fact| fact.key == key).unwrap();
    assert_eq!(shown("display_name").value(), "[payment_card]");
    assert!((shown("platform_role").confidence - 0.9).abs() < 1e-9);
    assert_eq!(shown(STYLE).sensitivity().as_str_name(), "SENSITIVITY_PERSONAL");
}

#[tokio::test]
async fn validate_only_decides_and_writes_nothing() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let ask = |request| CaptureRequest { validate_only: true, ..request };
    let request_id = "6f1e0c54-0f57-4b52-9f43-0d5b6a0b9d10".to_owned();
    let asked = ask(CaptureRequest { request_id, ..fact(STYLE, "zq7 brief") });
    let mut decisions = Vec::new();
    for _ in 0..2 {
        let reply = caller.capture.capture(asked.clone()).await.unwrap().into_inner();
        assert_eq!((reply.outcome(), reply.replayed), (ACTIVATED, false));
        decisions.push(reply.decision_id);
    }
    assert!(!decisions[0].is_empty() && decisions[0] != decisions[1], "each is a decision of its own");
    let held = caller.capture.capture(ask(unconfirmed(STYLE, "zq7 brief"))).await.unwrap().into_inner();
    assert_eq!((held.outcome(), held.candidate_id), (HELD, String::new()));
    let reply = caller.recall.recall(everything()).await.unwrap().into_inner();
    assert_eq!((values(&reply), reply.rejected_count), (vec![], 0));
    let real = caller.capture.capture(CaptureRequest { validate_only: false, ..asked }).await.unwrap().into_inner();
    assert_eq!((real.outcome(), real.version, real.replayed), (ACTIVATED, 1, false));
    let mut request = correction(&real.memory_id, 1, "zq7 long");
    request.validate_only = true;
    let reply = caller.correct.correct(request).await.unwrap().into_inner();
    assert_eq!(reply.outcome(), ACTIVATED);
    let reply = caller.recall.recall(key(STYLE)).await.unwrap().into_inner();
    assert_eq!((values(&reply), reply.accepted[0].version), (vec!["zq7 brief"], 1));
}

#[tokio::test]
async fn consent_is_kept_for_a_kind_that_needs_it_and_refused_where_nobody_could_give_it() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let consent = Consent { state: ConsentState::Granted.into(), purposes: vec!["converse".to_owned()] };
    let learnt = CaptureRequest {
        kind: "experience".to_owned(),
        key: String::new(),
        consent: Some(consent.clone()),
        ..fact("experience", "tea helps")
    };
    let reply = made(&mut caller, learnt.clone()).await;
    assert!(!reply.memory_id.is_empty());
    let reply = caller.recall.recall(everything()).await.unwrap().into_inner();
    let shown = &reply.envelope.unwrap().facts[0];
    assert_eq!((&shown.key, shown.consent.clone()), (&shown.memory_id, Some(consent)));
    assert_eq!(shown.trust(), Trust::Attributed);
    let shared = Scope { audience: Audience::Shared.into(), ..general() };
    let shared = CaptureRequest { scope: Some(shared), evidence: Evidence::OperatorVerified.into(), ..learnt };
    let refused = caller.capture.capture(shared).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::InvalidArgument);
}
