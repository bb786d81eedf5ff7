//! What a recall says of itself: at which revisions and under which policy it was judged, until when it stands, and
//! that what it hands out is data.

use recall_gate::api::proto::{
    Audience, CaptureRequest, Evidence, GetMemoryRequest, GetPolicyRequest, RecallRequest, RecallResponse, Scope,
    ScopeRevision, Sensitivity,
};
use recall_gate::memory::{Span, Time};
use tonic::Code;

use crate::harness::{BEGIN_SECONDS, Service};
use crate::reading::{
    activated, after, all, counted, experience, explaining, getting, held, key, listing, of, placed, recalled,
    recalling_for, rejections, service_with_notes, shared, shows, unconfirmed,
};
use crate::requests::{
    bad_fields, correction, deletion, error_reason, fact, general, in_general, in_project, in_task, named, nominating,
    of_project, of_task, recalling, restoration, source, values,
};

fn of_scope(revisions: &[ScopeRevision], scope: &Scope) -> i64 {
    let stated = |revision: &&ScopeRevision| {
        let read = revision.scope.as_ref().unwrap();
        (read.level, &read.project_id, &read.task_id) == (scope.level, &scope.project_id, &scope.task_id)
            && (read.audience() == Audience::Shared) == (scope.audience() == Audience::Shared)
    };
    let mut found = revisions.iter().filter(stated);
    let revision = found.next().unwrap().revision;
    assert!(found.next().is_none(), "one revision a scope");
    revision
}

#[tokio::test]
async fn the_revisions_of_all_scopes_read_are_told_and_move_only_where_something_was_written() {
    let service = service_with_notes().await;
    let mut caller = service.caller_of(&of("t1", "s1")).await;
    let places = [
        general(),
        shared(general()),
        in_project("p1"),
        shared(in_project("p1")),
        in_task("p1", "k1"),
        shared(in_task("p1", "k1")),
    ];
    let asked = recalling(of_task("p1", "k1"), key("note"));
    let mut before = recalled(&mut caller, asked.clone()).await.revisions;
    assert_eq!(before.len(), 6);
    assert!(before.iter().all(|revision| revision.revision == 0), "{before:?}");
    for written in &places {
        activated(&mut caller, placed(written.clone(), fact("note", "x"))).await;
        let now = recalled(&mut caller, asked.clone()).await.revisions;
        for place in &places {
            let (was, is) = (of_scope(&before, place), of_scope(&now, place));
            assert_eq!(is > was, place == written, "{place:?} after a write to {written:?}: {was} to {is}");
        }
        before = now;
    }
    for elsewhere in [in_project("p2"), in_task("p1", "k2"), shared(in_task("p2", "k1"))] {
        activated(&mut caller, placed(elsewhere, fact("note", "x"))).await;
    }
    held(&mut caller, placed(in_project("p1"), unconfirmed(fact("response_style", "claimed")))).await;
    let dry = CaptureRequest { validate_only: true, ..fact("response_language", "en") };
    activated(&mut caller, dry).await;
    assert_eq!(recalled(&mut caller, asked.clone()).await.revisions, before, "nothing of theirs was written");
    let reply = recalled(&mut caller, recalling(in_general(), key("note"))).await;
    assert_eq!(reply.revisions.len(), 2);
}

#[tokio::test]
async fn every_change_of_a_memory_moves_its_scope_and_no_read_does() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = activated(&mut caller, fact("response_style", "zq7 brief")).await;
    let asked = recalling(in_general(), key("response_style"));
    let mut seen = vec![of_scope(&recalled(&mut caller, asked.clone()).await.revisions, &general())];
    caller.correct.correct(correction(&made.memory_id, 1, "zq7 thorough")).await.unwrap();
    seen.push(of_scope(&recalled(&mut caller, asked.clone()).await.revisions, &general()));
    caller.delete.delete(deletion(&made.memory_id, 2)).await.unwrap();
    seen.push(of_scope(&recalled(&mut caller, asked.clone()).await.revisions, &general()));
    caller.delete.restore(restoration(&made.memory_id, 3)).await.unwrap();
    seen.push(of_scope(&recalled(&mut caller, asked.clone()).await.revisions, &general()));
    assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
    caller.recall.get_memory(getting(named(&made.memory_id))).await.unwrap();
    caller.recall.list_memories(listing("converse", general())).await.unwrap();
    caller.recall.explain_recall(explaining(asked.clone())).await.unwrap();
    assert_eq!(of_scope(&recalled(&mut caller, asked).await.revisions, &general()), seen[3]);
}

fn outcome(reply: &RecallResponse) -> (Vec<&str>, Vec<Vec<&'static str>>) {
    (values(reply), rejections(&reply.rejected))
}

/// The outcome stands up to the last microsecond before `stale_time`, and changes with it.
async fn stands_until(service: &Service, asked: RecallRequest, seconds_later: i64) -> RecallResponse {
    let mut caller = service.caller().await;
    let first = recalled(&mut caller, asked.clone()).await;
    assert_eq!(first.stale_time, Some(after(seconds_later)));
    let edge = Time::from_parts(BEGIN_SECONDS + seconds_later, 0).unwrap();
    service.clock.set(Time::from_parts(BEGIN_SECONDS + seconds_later - 1, 999_999_000).unwrap());
    let mut caller = service.caller().await;
    let last = recalled(&mut caller, asked.clone()).await;
    assert_eq!(outcome(&last), outcome(&first));
    assert_eq!(last.stale_time, first.stale_time);
    service.clock.set(edge);
    let then = recalled(&mut caller, asked).await;
    assert_ne!(outcome(&then), outcome(&first));
    then
}

#[tokio::test]
async fn i16_b19_validity_is_half_open_and_stale_time_is_exact() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let asked = recalling(in_general(), key("response_style"));
    let bounded = CaptureRequest {
        valid_from_time: Some(after(60)),
        expire_time: Some(after(120)),
        ..fact("response_style", "zq7 brief")
    };
    activated(&mut caller, bounded).await;
    let reply = stands_until(&service, asked.clone(), 60).await;
    assert_eq!(values(&reply), ["zq7 brief"], "it holds from its first instant");
    assert_eq!(reply.stale_time, Some(after(120)));
    let reply = stands_until(&service, asked, 120).await;
    assert_eq!(rejections(&reply.rejected), [["EXPIRED"]], "and no longer at its end");
    assert_eq!(reply.stale_time, None);
}

#[tokio::test]
async fn the_age_of_a_confirmation_ends_an_outcome_too() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    activated(&mut caller, fact("display_name", "zq7 Ada")).await;
    let day = 86_400;
    service.pass(day / 2);
    let reply = recalled(&mut caller, recalling(in_general(), key("display_name"))).await;
    assert_eq!(reply.stale_time, None, "what never ends");
    let asked = recalling_for("act", in_general(), key("display_name"));
    let first = recalled(&mut caller, asked.clone()).await;
    assert_eq!((values(&first), first.stale_time), (vec!["zq7 Ada"], Some(after(90 * day))), "90 days for an action");
    service.clock.set(Time::from_parts(BEGIN_SECONDS + 90 * day - 1, 999_999_000).unwrap());
    let mut caller = service.caller().await;
    assert_eq!(values(&recalled(&mut caller, asked.clone()).await), ["zq7 Ada"]);
    service.clock.advance(Span::from_seconds(1));
    let reply = recalled(&mut caller, asked).await;
    assert_eq!(rejections(&reply.rejected), [["CONFIRMATION_TOO_OLD"]]);
}

#[tokio::test]
async fn the_earliest_of_several_ends_counts_also_of_what_is_rejected() {
    let service = service_with_notes().await;
    let mut caller = service.caller().await;
    activated(&mut caller, CaptureRequest { expire_time: Some(after(500)), ..fact("note", "zq7 wide") }).await;
    let narrow = CaptureRequest { valid_from_time: Some(after(300)), ..fact("note", "zq7 narrow") };
    activated(&mut caller, placed(in_project("p1"), narrow)).await;
    let reply = stands_until(&service, recalling(of_project("p1"), key("note")), 300).await;
    assert_eq!((values(&reply), rejections(&reply.rejected)), (vec!["zq7 narrow"], vec![vec!["SHADOWED"]]));
}

#[tokio::test]
async fn b19_wrong_ways_round_and_long_over_are_refused() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    for end in [60, 59] {
        let backwards = CaptureRequest {
            valid_from_time: Some(after(60)),
            expire_time: Some(after(end)),
            ..fact("response_style", "zq7 brief")
        };
        let refused = caller.capture.capture(backwards).await.unwrap_err();
        assert_eq!((refused.code(), bad_fields(&refused)), (Code::InvalidArgument, vec!["expire_time".to_owned()]));
    }
    for end in [0, -1] {
        let over = CaptureRequest { expire_time: Some(after(end)), ..fact("response_style", "zq7 brief") };
        let reply = caller.capture.capture(over).await.unwrap().into_inner();
        assert_eq!(reply.reasons().map(|reason| reason.as_str_name()).collect::<Vec<_>>(), ["REASON_ALREADY_EXPIRED"]);
    }
    let reply = recalled(&mut caller, recalling(in_general(), all())).await;
    assert_eq!((reply.accepted.len(), reply.rejected_count), (0, 0));
}

#[tokio::test]
async fn a_recall_is_dated_by_the_clock_and_never_before_what_it_read() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    service.pass(100);
    activated(&mut caller, fact("response_style", "zq7 brief")).await;
    let asked = recalling(in_general(), key("response_style"));
    assert_eq!(recalled(&mut caller, asked.clone()).await.decide_time, Some(after(100)));
    service.clock.set(Time::from_parts(BEGIN_SECONDS + 40, 0).unwrap());
    let reply = recalled(&mut caller, asked.clone()).await;
    assert_eq!((values(&reply), reply.decide_time), (vec!["zq7 brief"], Some(after(100))));
    assert_eq!(service.now_seconds(), BEGIN_SECONDS + 40);
    service.clock.set(Time::from_parts(BEGIN_SECONDS + 101, 5_000).unwrap());
    let decided = recalled(&mut caller, asked).await.decide_time.unwrap();
    assert_eq!((decided.seconds, decided.nanos), (BEGIN_SECONDS + 101, 5_000));
}

#[tokio::test]
async fn one_policy_version_is_named_by_every_reply() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let policy = caller.discovery.get_policy(GetPolicyRequest {}).await.unwrap().into_inner().policy_version;
    assert_eq!(policy.len(), 64);
    assert!(policy.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "{policy}");
    let made = activated(&mut caller, fact("response_style", "zq7 brief")).await;
    let asked = recalling(in_general(), key("response_style"));
    let named_by = [
        made.policy_version.clone(),
        recalled(&mut caller, asked.clone()).await.policy_version,
        caller.recall.explain_recall(explaining(asked)).await.unwrap().into_inner().policy_version,
        caller.recall.get_memory(getting(named(&made.memory_id))).await.unwrap().into_inner().policy_version,
        caller.recall.list_memories(listing("converse", general())).await.unwrap().into_inner().policy_version,
        caller.correct.correct(correction(&made.memory_id, 1, "zq7 long")).await.unwrap().into_inner().policy_version,
        caller.delete.delete(deletion(&made.memory_id, 2)).await.unwrap().into_inner().policy_version,
        caller.delete.restore(restoration(&made.memory_id, 3)).await.unwrap().into_inner().policy_version,
    ];
    assert!(named_by.iter().all(|named| *named == policy), "{named_by:?}");
}

#[tokio::test]
async fn every_call_has_a_decision_of_its_own() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = activated(&mut caller, fact("response_style", "zq7 brief")).await;
    let asked = recalling(in_general(), key("response_style"));
    let mut decisions = vec![
        made.decision_id.clone(),
        recalled(&mut caller, asked.clone()).await.decision_id,
        recalled(&mut caller, asked.clone()).await.decision_id,
        caller.recall.explain_recall(explaining(asked)).await.unwrap().into_inner().decision_id,
        caller.recall.get_memory(getting(named(&made.memory_id))).await.unwrap().into_inner().decision_id,
        caller.recall.list_memories(listing("converse", general())).await.unwrap().into_inner().decision_id,
    ];
    assert!(decisions.iter().all(|id| uuid::Uuid::parse_str(id).is_ok()), "{decisions:?}");
    decisions.sort();
    decisions.dedup();
    assert_eq!(decisions.len(), 6);
}

#[tokio::test]
async fn i09_facts_travel_as_untrusted_data_without_authority() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = activated(&mut caller, fact("response_style", "zq7 brief")).await;
    for purpose in ["converse", "draft", "act", "index"] {
        let envelope =
            recalled(&mut caller, recalling_for(purpose, in_general(), key("response_style"))).await.envelope.unwrap();
        assert_eq!(envelope.facts.len(), 1);
        let got = GetMemoryRequest { purpose: purpose.to_owned(), ..getting(named(&made.memory_id)) };
        let got = caller.recall.get_memory(got).await.unwrap().into_inner();
        let list = caller.recall.list_memories(listing(purpose, general())).await.unwrap().into_inner();
        for (content_type, action_authority, stated) in [
            (envelope.content_type, envelope.action_authority, envelope.purpose),
            (got.content_type, got.action_authority, got.purpose),
            (list.content_type, list.action_authority, list.purpose),
        ] {
            assert_eq!((content_type.as_str(), action_authority), ("untrusted_memory_data", false));
            assert_eq!(stated, purpose);
        }
    }
    let empty = recalled(&mut caller, recalling(in_general(), key("nothing"))).await.envelope.unwrap();
    assert_eq!((empty.content_type.as_str(), empty.action_authority), ("untrusted_memory_data", false));
}

#[tokio::test]
async fn a_fact_comes_with_its_source_and_its_standing_and_a_guess_says_that_it_is_one() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let guess =
        CaptureRequest { source: Some(source("tool_result", "tool-7")), ..unconfirmed(fact("ui_theme", "zq7 dark")) };
    activated(&mut caller, guess).await;
    activated(&mut caller, fact("response_style", "zq7 brief")).await;
    let reply = recalled(&mut caller, recalling(in_general(), all())).await;
    let facts = reply.envelope.unwrap().facts;
    let of_kind = |kind: &str| facts.iter().find(|fact| fact.kind == kind).unwrap();
    let (theme, style) = (of_kind("ui_theme"), of_kind("response_style"));
    assert!(theme.inferred && !style.inferred);
    let sources = [theme, style].map(|fact| fact.source.as_ref().unwrap());
    assert_eq!((sources[0].kind.as_str(), sources[0].reference.as_str()), ("tool_result", "tool-7"));
    assert_eq!((sources[1].kind.as_str(), sources[1].reference.as_str()), ("user_message", "zq7-message-1"));
    assert_eq!((theme.evidence(), style.evidence()), (Evidence::None, Evidence::UserConfirmed));
    assert!((theme.confidence - 0.9).abs() < 1e-9 && (style.confidence - 1.0).abs() < 1e-9);
    assert_eq!(style.sensitivity(), Sensitivity::Internal);
}

#[tokio::test]
async fn i18_explaining_gives_the_verdicts_of_the_recall_and_no_text() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let told = |text: &str, key: &str| CaptureRequest {
        source: Some(source("user_message", &format!("zq7ref-{text}"))),
        ..fact(key, &format!("zq7canary-{text}"))
    };
    let wide = activated(&mut caller, told("wide", "response_style")).await;
    activated(&mut caller, placed(in_project("p1"), told("narrow", "response_style"))).await;
    activated(&mut caller, CaptureRequest { confidence: Some(0.3), ..told("weak", "display_name") }).await;
    activated(&mut caller, CaptureRequest { key: String::new(), ..experience("zq7canary-learnt") }).await;
    held(&mut caller, unconfirmed(told("held", "response_language"))).await;
    let gone = activated(&mut caller, told("gone", "database_engine")).await;
    caller.delete.delete(deletion(&gone.memory_id, 1)).await.unwrap();
    let queries = [all(), key("response_style"), nominating(&[&wide.memory_id, &gone.memory_id])];
    for (purpose, query) in ["converse", "draft", "act"].into_iter().flat_map(|p| queries.clone().map(|q| (p, q))) {
        let asked = recalling_for(purpose, of_project("p1"), query);
        let recalled = recalled(&mut caller, asked.clone()).await;
        let explained = caller.recall.explain_recall(explaining(asked)).await.unwrap().into_inner();
        assert_eq!(explained.accepted, recalled.accepted, "no key is text here: the ones that nobody chose are ids");
        assert_eq!(explained.rejected, recalled.rejected);
        assert_eq!(explained.rejected_count, recalled.rejected_count);
        assert_eq!(counted(&explained.reason_counts), counted(&recalled.reason_counts));
        assert_eq!(explained.not_nominated_count, recalled.not_nominated_count);
        assert_eq!(explained.revisions, recalled.revisions);
        assert_eq!(explained.stale_time, recalled.stale_time);
        assert_eq!(explained.decide_time, recalled.decide_time);
        assert!(!shows(&explained, "zq7"), "{purpose}");
        assert!(shows(&recalled, "zq7canary-narrow"), "{purpose}");
    }
}

#[tokio::test]
async fn subject_access_is_no_purpose_of_a_recall_and_an_unknown_one_is_told() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let asked = recalling_for("subject_access", in_general(), all());
    let refused = caller.recall.recall(asked.clone()).await.unwrap_err();
    assert_eq!((refused.code(), bad_fields(&refused)), (Code::InvalidArgument, vec!["purpose".to_owned()]));
    let refused = caller.recall.explain_recall(explaining(asked)).await.unwrap_err();
    assert_eq!((refused.code(), bad_fields(&refused)), (Code::InvalidArgument, vec!["recall.purpose".to_owned()]));
    let refused = caller.recall.recall(recalling_for("nonsense", in_general(), all())).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert_eq!(error_reason(&refused), "PURPOSE_UNKNOWN");
}
