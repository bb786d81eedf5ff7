//! Facts that are offered together: in order, each seeing those before it, all or none.

use recall_gate::api::proto::{
    BatchCaptureItem, BatchCaptureRequest, BatchCaptureResponse, BatchCaptureResult, CaptureRequest, Evidence, Outcome,
    Source,
};
use recall_gate::identity::Ticket;
use tokio::task::JoinSet;
use tonic::Code;

use crate::grants::decisions;
use crate::harness::{BEGIN_SECONDS, Caller, Service, all_but, ticket};
use crate::reading::{experience, listed_values, listing_all, pages, placed, shared, unconfirmed, without};
use crate::requests::{bad_fields, everything, fact, in_project, refusal, source, time, values, why};

const K: &str = "018f3c4e-7b2a-7c3d-9e4f-5a6b7c8d9e0f";
const STYLE: &str = "response_style";

fn item(request: CaptureRequest) -> BatchCaptureItem {
    BatchCaptureItem {
        scope: request.scope,
        kind: request.kind,
        key: request.key,
        value: request.value,
        source: request.source,
        evidence: request.evidence,
        confidence: request.confidence,
        sensitivity: request.sensitivity,
        consent: request.consent,
        purposes: request.purposes,
        observe_time: request.observe_time,
        valid_from_time: request.valid_from_time,
        expire_time: request.expire_time,
        expected_version: request.expected_version,
        accept_revoked: request.accept_revoked,
    }
}

pub(crate) fn batch(facts: impl IntoIterator<Item = CaptureRequest>) -> BatchCaptureRequest {
    BatchCaptureRequest { items: facts.into_iter().map(item).collect(), ..BatchCaptureRequest::default() }
}

async fn captured(caller: &mut Caller, request: BatchCaptureRequest) -> BatchCaptureResponse {
    caller.capture.batch_capture(request).await.unwrap().into_inner()
}

fn outcomes(reply: &BatchCaptureResponse) -> Vec<(Outcome, i64)> {
    reply.results.iter().map(|result| (result.outcome(), result.version)).collect()
}

async fn there(caller: &mut Caller) -> Vec<String> {
    let reply = caller.recall.recall(everything()).await.unwrap().into_inner();
    values(&reply).into_iter().map(str::to_owned).collect()
}

/// An inference that its kind allows.
fn inferred(value: &str) -> CaptureRequest {
    let source = Some(source("tool_result", "answer-1"));
    CaptureRequest { source, evidence: Evidence::None.into(), ..fact("ui_theme", value) }
}

/// The same, observed so many seconds after the beginning of the day before the tests.
fn inferred_at(seconds: i64, value: &str) -> CaptureRequest {
    CaptureRequest { observe_time: time(BEGIN_SECONDS - 86_400 + seconds), ..inferred(value) }
}

#[tokio::test]
async fn each_is_judged_in_order_on_what_those_before_it_left() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let facts = [
        inferred_at(1, "zq7 dark"),
        inferred_at(2, "zq7 dark"),
        inferred_at(3, "zq7 light"),
        fact("ui_theme", "zq7 light"),
        inferred("zq7 dark"),
    ];
    let reply = captured(&mut caller, batch(facts)).await;
    let told = [
        (Outcome::Activated, 1),
        (Outcome::Duplicate, 1),
        (Outcome::Activated, 2),
        (Outcome::Activated, 3),
        (Outcome::Held, 3),
    ];
    assert_eq!(outcomes(&reply), told);
    assert_eq!(there(&mut caller).await, ["zq7 light"]);
    let decisions: std::collections::BTreeSet<_> = reply.results.iter().map(|result| &result.decision_id).collect();
    assert_eq!((decisions.len(), reply.replayed), (5, false));
}

#[tokio::test]
async fn outcomes_of_every_sort_stand_beside_each_other_and_owners_mix() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let team = placed(shared(in_project("p1")), fact("duty_team", "zq7 green"));
    let secret = fact("display_name", "AKIAIOSFODNN7EXAMPLE");
    let unknown = CaptureRequest { kind: "nothing".to_owned(), ..fact("ui_theme", "zq7 dark") };
    let again = fact(STYLE, "zq7 brief");
    let facts = [fact(STYLE, "zq7 brief"), team, secret, unknown, unconfirmed(fact("display_name", "zq7 Lin")), again];
    let reply = captured(&mut caller, batch(facts)).await;
    let told = [
        (Outcome::Activated, 1),
        (Outcome::Activated, 1),
        (Outcome::Rejected, 0),
        (Outcome::Rejected, 0),
        (Outcome::Held, 0),
        (Outcome::Duplicate, 1),
    ];
    assert_eq!(outcomes(&reply), told);
    assert_eq!(why(&reply.results[2].reasons), ["SECRET_DETECTED"]);
    assert!(!reply.results[4].candidate_id.is_empty());
    assert_eq!(listed_values(&pages(&mut caller, listing_all("converse")).await).len(), 2);
}

#[tokio::test]
async fn a_later_item_derives_from_the_version_that_an_earlier_one_wrote() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let first = captured(&mut caller, batch([inferred_at(1, "zq7 dark")])).await.results.remove(0);
    let told = source("user_message", "zq7-message-3");
    let derived = Source { parent_memory_ids: vec![first.memory_id.clone()], ..told.clone() };
    let derived = CaptureRequest { source: Some(derived), ..fact(STYLE, "zq7 brief") };
    let reply = captured(&mut caller, batch([inferred_at(2, "zq7 light"), derived])).await;
    assert_eq!(outcomes(&reply), [(Outcome::Activated, 2), (Outcome::Activated, 1)]);
    // And the other way round it would be a circle, which shows in what the batch itself has done.
    let style = &reply.results[1].memory_id;
    let back = Source { parent_memory_ids: vec![style.clone()], ..told };
    let back = CaptureRequest { source: Some(back), ..fact("ui_theme", "zq7 blue") };
    let reply = captured(&mut caller, batch([back])).await;
    assert_eq!(why(&reply.results[0].reasons), ["LINEAGE_REJECTED"]);
}

#[tokio::test]
async fn a_circle_within_one_batch_is_rejected() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = captured(&mut caller, batch([inferred("zq7 dark"), unconfirmed(fact(STYLE, "zq7 brief"))])).await;
    let theme = made.results[0].memory_id.clone();
    let style = captured(&mut caller, batch([fact("response_language", "Deutsch")])).await.results.remove(0).memory_id;
    let from = |parent: &str, fact: CaptureRequest| {
        let told = source("user_message", "zq7-message-4");
        let source = Source { parent_memory_ids: vec![parent.to_owned()], ..told };
        CaptureRequest { source: Some(source), ..fact }
    };
    let theme_from_language = from(&style, fact("ui_theme", "zq7 light"));
    let language_from_theme = from(&theme, fact("response_language", "English"));
    let reply = captured(&mut caller, batch([theme_from_language, language_from_theme])).await;
    assert_eq!(reply.results[0].outcome(), Outcome::Activated);
    assert_eq!(why(&reply.results[1].reasons), ["LINEAGE_REJECTED"]);
}

#[tokio::test]
async fn b38_one_bad_item_within_ten_fails_the_call_and_writes_nothing() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let mut request = batch((0..10).map(|number| experience(&format!("fact {number}"))));
    request.items[3].value = "a\0b".to_owned();
    request.items[7].kind.clear();
    let status = caller.capture.batch_capture(request.clone()).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert_eq!(bad_fields(&status), ["items[3].value", "items[7].kind"]);
    // What only clock and policy can tell is named the same way.
    request.items[3] = BatchCaptureItem { key: String::new(), ..item(fact(STYLE, "zq7 brief")) };
    request.items[7] = BatchCaptureItem { observe_time: time(service.now_seconds() + 60), ..item(experience("x")) };
    let status = caller.capture.batch_capture(request).await.unwrap_err();
    assert_eq!(bad_fields(&status), ["items[3].key", "items[7].observe_time"]);
    assert!(there(&mut caller).await.is_empty());
}

#[tokio::test]
async fn a_hundred_are_taken_and_one_more_is_refused() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let facts = |count| batch((0..count).map(|number| experience(&format!("fact {number}"))));
    for count in [0, 101] {
        let status = caller.capture.batch_capture(facts(count)).await.unwrap_err();
        assert_eq!((status.code(), bad_fields(&status)), (Code::InvalidArgument, vec!["items".to_owned()]));
    }
    let reply = captured(&mut caller, facts(100)).await;
    assert_eq!(outcomes(&reply), vec![(Outcome::Activated, 1); 100]);
    assert_eq!(listed_values(&pages(&mut caller, listing_all("converse")).await).len(), 100);
}

#[tokio::test]
async fn i10_a_grant_that_one_item_lacks_fails_the_whole_call_and_is_recorded_once() {
    let service = Service::start().await;
    let rows = [
        ("attest:user_confirmed", fact(STYLE, "zq7 long"), "EVIDENCE_NOT_HELD"),
        ("source", fact(STYLE, "zq7 long"), "SOURCE_KIND_NOT_HELD"),
        ("shared:write", placed(shared(in_project("p1")), fact("duty_team", "zq7 green")), "GRANT_MISSING"),
        ("nothing", CaptureRequest { scope: Some(in_project("p9")), ..inferred("zq7 dark") }, "SCOPE_NOT_HELD"),
        ("recall", CaptureRequest { expected_version: Some(0), ..inferred("zq7 dark") }, "GRANT_MISSING"),
        ("capture", inferred("zq7 light"), "GRANT_MISSING"),
    ];
    for (grant, item, reason) in rows {
        let mut ticket = without(&[grant]);
        ticket.grants.push("source:tool_result".to_owned());
        let mut caller = service.caller_of(&ticket).await;
        let before = decisions(&service).await;
        let status = caller.capture.batch_capture(batch([inferred("zq7 dark"), item])).await.unwrap_err();
        assert_eq!(refusal(&status), (Code::PermissionDenied, reason.to_owned()), "{grant}");
        assert_eq!(decisions(&service).await, before + 1, "{grant}");
    }
    assert!(there(&mut service.caller().await).await.is_empty());
}

#[tokio::test]
async fn i04_a_version_that_moved_on_fails_the_whole_call_and_one_that_the_batch_wrote_holds() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let seen = |version, value: &str| CaptureRequest { expected_version: Some(version), ..inferred_at(version, value) };
    let stale = batch([fact(STYLE, "zq7 brief"), seen(0, "zq7 dark"), seen(2, "zq7 light")]);
    let status = caller.capture.batch_capture(stale).await.unwrap_err();
    assert_eq!(refusal(&status), (Code::Aborted, "VERSION_CONFLICT".to_owned()));
    assert!(there(&mut caller).await.is_empty());
    let reply = captured(&mut caller, batch([seen(0, "zq7 dark"), seen(1, "zq7 light")])).await;
    assert_eq!(outcomes(&reply), [(Outcome::Activated, 1), (Outcome::Activated, 2)]);
}

#[tokio::test]
async fn an_import_takes_a_grant_of_its_own_and_keeps_the_time_of_observation() {
    let service = Service::start().await;
    let began = service.now_seconds() - 86_400;
    let old = CaptureRequest { observe_time: time(began), ..fact(STYLE, "zq7 brief") };
    let import = BatchCaptureRequest { import: true, ..batch([old.clone()]) };
    let mut caller = service.caller_of(&without(&["import"])).await;
    let status = caller.capture.batch_capture(import.clone()).await.unwrap_err();
    assert_eq!(refusal(&status), (Code::PermissionDenied, "GRANT_MISSING".to_owned()));
    assert!(there(&mut caller).await.is_empty());
    captured(&mut service.caller().await, import).await;
    let reply = caller.recall.recall(everything()).await.unwrap().into_inner();
    assert_eq!(reply.envelope.unwrap().facts[0].observe_time, time(began));
    assert_eq!(outcomes(&captured(&mut caller, batch([old])).await), [(Outcome::Duplicate, 1)]);
}

#[tokio::test]
async fn b26_the_same_batch_again_gets_the_first_outcomes_and_writes_nothing() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let send = |facts: Vec<CaptureRequest>| BatchCaptureRequest { request_id: K.to_owned(), ..batch(facts) };
    let facts = vec![fact(STYLE, "zq7 brief"), unconfirmed(fact("display_name", "zq7 Lin")), experience("one")];
    let first = captured(&mut caller, send(facts.clone())).await;
    let again = captured(&mut caller, send(facts.clone())).await;
    assert!(again.replayed && !first.replayed);
    assert_eq!(BatchCaptureResponse { replayed: false, ..again }, first);
    let mut swapped = facts.clone();
    swapped.swap(0, 2);
    for other in [swapped, facts[..2].to_vec()] {
        let status = caller.capture.batch_capture(send(other)).await.unwrap_err();
        assert_eq!(refusal(&status), (Code::InvalidArgument, "REQUEST_ID_REUSED".to_owned()));
    }
    assert_eq!(there(&mut caller).await.len(), 2);
    // Who may recall no longer is told less.
    let mut blind = service.caller_of(&without(&["recall"])).await;
    let told = captured(&mut blind, send(facts)).await;
    assert!(told.results.iter().all(|result| result.memory_id.is_empty() && result.version == 0));
}

#[tokio::test]
async fn who_may_not_recall_is_told_of_each_item_what_an_empty_place_would_have_answered() {
    let service = Service::start().await;
    captured(&mut service.caller().await, batch([fact(STYLE, "zq7 brief")])).await;
    let grants = all_but(&["recall"]);
    let mut blind = service.caller_of(&Ticket { grants, ..ticket() }).await;
    let reply =
        captured(&mut blind, batch([fact(STYLE, "zq7 brief"), fact(STYLE, "zq7 brief"), fact(STYLE, "zq7 long")]))
            .await;
    assert_eq!(outcomes(&reply), [(Outcome::Activated, 0), (Outcome::Activated, 0), (Outcome::Held, 0)]);
    assert!(reply.results.iter().all(|result| result.memory_id.is_empty() && result.reasons.is_empty()));
}

#[tokio::test]
async fn a_batch_that_only_asks_is_judged_as_if_it_were_written_and_writes_nothing() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let asked = || BatchCaptureRequest {
        validate_only: true,
        request_id: K.to_owned(),
        ..batch([inferred("zq7 dark"), inferred("zq7 dark"), unconfirmed(fact("display_name", "zq7 Lin"))])
    };
    for _ in 0..2 {
        let reply = captured(&mut caller, asked()).await;
        assert_eq!(outcomes(&reply), [(Outcome::Activated, 0), (Outcome::Duplicate, 0), (Outcome::Held, 0)]);
        assert!(reply.results.iter().all(|one| one.memory_id.is_empty() && one.candidate_id.is_empty()));
        assert!(!reply.replayed);
    }
    assert!(there(&mut caller).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rival_batches_on_the_same_keys_are_whole_or_not_at_all() {
    let service = Service::start().await;
    let mut rivals = JoinSet::new();
    for rival in 0..12 {
        let mut caller = service.caller().await;
        rivals.spawn(async move {
            let facts = [fact(STYLE, &format!("style {rival}")), fact("response_language", &format!("tongue {rival}"))];
            caller.capture.batch_capture(batch(facts)).await
        });
    }
    let mut won = 0;
    while let Some(answer) = rivals.join_next().await {
        match answer.unwrap() {
            Ok(reply) => {
                let told: Vec<_> = reply.get_ref().results.iter().map(BatchCaptureResult::outcome).collect();
                assert!(told == [Outcome::Activated; 2] || told == [Outcome::Held; 2], "{told:?}");
                won += i32::from(told[0] == Outcome::Activated);
            }
            Err(status) => assert_eq!(refusal(&status), (Code::Aborted, "JUDGEMENT_CONTENDED".to_owned())),
        }
    }
    let mut found = there(&mut service.caller().await).await;
    found.sort();
    let number = |value: &str| value.rsplit(' ').next().unwrap().to_owned();
    assert_eq!((won, found.len()), (1, 2));
    assert_eq!(number(&found[0]), number(&found[1]));
}
