//! What comes before the gate (keys, all, what an index found), in which order, and for which version of the value.

use recall_gate::api::proto::{CaptureRequest, Nomination, Nominator, Query, RecallResponse, Verdict};

use crate::harness::Service;
use crate::reading::{
    activated, after, all, experience, experiences, held, key, placed, reasons_for, recalled, recalling_for,
    rejections, shows, unconfirmed, without,
};
use crate::requests::{
    correction, fact, in_general, in_project, keys, nominating, nomination, of_project, reasons, recalling, source,
    values,
};

fn scored(memory_id: &str, score: f64, index: &str) -> Nomination {
    Nomination { score: Some(score), derived_store_id: index.to_owned(), ..nomination(memory_id) }
}

fn versioned(memory_id: &str, value_version: i64) -> Query {
    let nominated = Nomination { value_version: Some(value_version), ..nomination(memory_id) };
    Query { nominations: vec![nominated], ..Query::default() }
}

fn of_index(nominations: Vec<Nomination>) -> Query {
    Query { nominations, ..Query::default() }
}

fn nominators(reply: &RecallResponse) -> Vec<Nominator> {
    reply.accepted.iter().map(Verdict::nominator).collect()
}

#[tokio::test]
async fn keys_ask_for_what_lies_at_them_and_for_nothing_else() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    activated(&mut caller, fact("response_style", "zq7 brief")).await;
    activated(&mut caller, fact("response_language", "zh-CN")).await;
    activated(&mut caller, fact("display_name", "zq7 Ada")).await;
    let reply = recalled(&mut caller, recalling(in_general(), keys(&["response_language", "display_name"]))).await;
    let mut found = values(&reply);
    found.sort_unstable();
    assert_eq!((found, reply.rejected_count), (vec!["zh-CN", "zq7 Ada"], 0));
    assert_eq!(nominators(&reply), [Nominator::Key; 2]);
    let reply = recalled(&mut caller, recalling(in_general(), key("no_such_key"))).await;
    assert_eq!((values(&reply).len(), reply.rejected_count, reply.not_nominated_count), (0, 0, 0));
}

#[tokio::test]
async fn b05_keys_are_literal() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    activated(&mut caller, fact("response_style", "zq7 brief")).await;
    for literal in [
        "%",
        "response%",
        "response_styl_",
        "_______________",
        "RESPONSE_STYLE",
        "response_style ",
        "response_style*",
        "' OR 1=1 --",
        "response_style' OR '1'='1",
        "\"response_style\"",
        "response_style; DROP TABLE memories",
        "a.b[0]",
        "NEAR(",
        "*",
        "^response",
        "response_style\\",
        "$1",
        "?1",
    ] {
        let reply = recalled(&mut caller, recalling(in_general(), key(literal))).await;
        assert_eq!((values(&reply).len(), reply.rejected_count), (0, 0), "{literal}");
    }
    let reply = recalled(&mut caller, recalling(in_general(), key("response_style"))).await;
    assert_eq!(values(&reply), ["zq7 brief"]);
}

#[tokio::test]
async fn all_nominates_whatever_the_context_reads() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    activated(&mut caller, fact("response_style", "zq7 brief")).await;
    activated(&mut caller, placed(in_project("p1"), fact("response_language", "en"))).await;
    activated(&mut caller, experience("learnt")).await;
    let reply = recalled(&mut caller, recalling(of_project("p1"), all())).await;
    // Narrower places come first; in one place the key decides, and here an id sorts before a word.
    assert_eq!(values(&reply), ["en", "learnt", "zq7 brief"]);
    assert_eq!(nominators(&reply), [Nominator::All; 3]);
    let reply = recalled(&mut caller, recalling(in_general(), all())).await;
    assert_eq!(values(&reply), ["learnt", "zq7 brief"]);
}

#[tokio::test]
async fn what_is_nominated_in_several_ways_is_judged_once_under_the_first_of_them() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let style = activated(&mut caller, fact("response_style", "zq7 brief")).await.memory_id;
    let language = activated(&mut caller, fact("response_language", "en")).await.memory_id;
    activated(&mut caller, fact("display_name", "zq7 Ada")).await;
    let query =
        Query { nominations: vec![scored(&style, 1.0, ""), scored(&language, 2.0, "")], ..keys(&["response_style"]) };
    let reply = recalled(&mut caller, recalling(in_general(), query.clone())).await;
    assert_eq!((reply.accepted.len(), reply.rejected_count), (2, 0));
    let of = |reply: &RecallResponse, id: &str| {
        reply.accepted.iter().find(|verdict| verdict.memory_id == id).unwrap().nominator()
    };
    assert_eq!((of(&reply, &style), of(&reply, &language)), (Nominator::Key, Nominator::Index));
    let reply = recalled(&mut caller, recalling(in_general(), Query { all: all().all, ..query })).await;
    assert_eq!((reply.accepted.len(), reply.rejected_count), (3, 0));
    assert_eq!((of(&reply, &style), of(&reply, &language)), (Nominator::Key, Nominator::All));
}

#[tokio::test]
async fn scores_order_the_facts_and_decide_nothing() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let ids = experiences(&caller, "e", 4, |_| {}).await;
    let weak = experiences(&caller, "weak", 1, |fact| fact.confidence = Some(0.1)).await;
    let scores = [scored(&ids[2], 0.5, "i"), scored(&ids[0], -3.0, "i"), scored(&weak[0], f64::MAX, "i")];
    let unscored = Nomination { derived_store_id: "i".to_owned(), ..nomination(&ids[1]) };
    let query = of_index(scores.into_iter().chain([unscored, scored(&ids[3], 1e300, "i")]).collect());
    let reply = recalled(&mut caller, recalling(in_general(), query)).await;
    assert_eq!(values(&reply), ["e3", "e2", "e0", "e1"], "highest first, the unscored last");
    assert_eq!(rejections(&reply.rejected), [["LOW_CONFIDENCE"]]);
}

#[tokio::test]
async fn the_rankings_of_several_indexes_merge_by_reciprocal_rank() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let a = experiences(&caller, "a", 3, |_| {}).await;
    service.pass(1);
    let b = experiences(&caller, "b", 2, |_| {}).await;
    let query = of_index(vec![
        scored(&a[0], 900.0, "vectors"),
        scored(&a[1], 800.0, "vectors"),
        scored(&a[2], 700.0, "vectors"),
        scored(&b[0], 0.02, "graph"),
        scored(&b[1], 0.01, "graph"),
    ]);
    let reply = recalled(&mut caller, recalling(in_general(), query)).await;
    assert_eq!(values(&reply), ["b0", "a0", "b1", "a1", "a2"], "one scale's size does not outvote the other's rank");
}

#[tokio::test]
async fn without_scores_the_newer_comes_first_and_then_the_more_confident() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let mut ids = experiences(&caller, "old", 1, |_| {}).await;
    service.pass(1);
    ids.extend(experiences(&caller, "unsure", 1, |fact| fact.confidence = Some(0.6)).await);
    ids.extend(experiences(&caller, "sure", 1, |fact| fact.confidence = Some(0.9)).await);
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for query in [all(), nominating(&ids)] {
        let reply = recalled(&mut caller, recalling(in_general(), query)).await;
        assert_eq!(values(&reply), ["sure0", "unsure0", "old0"]);
    }
}

#[tokio::test]
async fn an_index_that_holds_an_older_value_is_told_so() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = activated(&mut caller, fact("response_style", "zq7 brief")).await;
    let corrected = caller.correct.correct(correction(&made.memory_id, 1, "zq7 thorough")).await.unwrap().into_inner();
    assert_eq!(corrected.value_version, 2);
    for (nominated, expected) in [(1, vec!["SUPERSEDED"]), (3, vec!["STALE_NOMINATION"])] {
        let query = versioned(&made.memory_id, nominated);
        let reply = recalled(&mut caller, recalling(in_general(), query)).await;
        assert_eq!(values(&reply), [""; 0]);
        assert_eq!(reasons(&reply.rejected[0]), expected, "value version {nominated}");
        assert_eq!(reply.rejected[0].value_version, 2, "the verdict names what was judged");
    }
    let reply = recalled(&mut caller, recalling(in_general(), versioned(&made.memory_id, 2))).await;
    assert_eq!(values(&reply), ["zq7 thorough"]);
}

#[tokio::test]
async fn a_nomination_without_a_version_is_stale_where_the_purpose_demands_one() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = activated(&mut caller, fact("response_style", "zq7 brief")).await;
    let asked = |purpose: &str, query: Query| {
        let (mut caller, asked) = (caller.clone(), recalling_for(purpose, in_general(), query));
        async move { recalled(&mut caller, asked).await }
    };
    for purpose in ["converse", "draft"] {
        assert_eq!(values(&asked(purpose, nominating(&[&made.memory_id])).await), ["zq7 brief"], "{purpose}");
    }
    let reply = asked("act", nominating(&[&made.memory_id])).await;
    assert_eq!(rejections(&reply.rejected), [["STALE_NOMINATION"]]);
    assert_eq!(values(&asked("act", versioned(&made.memory_id, 1)).await), ["zq7 brief"]);
    assert_eq!(values(&asked("act", key("response_style")).await), ["zq7 brief"], "a key names no version");
}

#[tokio::test]
async fn i07_a_rejection_lists_every_failing_reason_in_the_order_of_the_gates() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let narrow = CaptureRequest {
        purposes: vec!["converse".to_owned()],
        confidence: Some(0.3),
        expire_time: Some(after(60)),
        source: Some(source("tool_result", "tool-1")),
        ..unconfirmed(fact("ui_theme", "zq7 dark"))
    };
    let made = activated(&mut caller, narrow).await;
    service.pass(60);
    let reply = recalled(&mut caller, recalling_for("draft", in_general(), versioned(&made.memory_id, 9))).await;
    let expected = [
        "STALE_NOMINATION",
        "EXPIRED",
        "UNTRUSTED_SOURCE",
        "PURPOSE_NOT_ALLOWED",
        "LOW_CONFIDENCE",
        "EVIDENCE_TOO_WEAK",
        "INFERENCE_NOT_ALLOWED",
    ];
    assert_eq!(rejections(&reply.rejected), [expected]);
}

#[tokio::test]
async fn i07_what_does_not_exist_gets_a_verdict_of_its_own() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = activated(&mut caller, fact("response_style", "zq7 brief")).await;
    let nobody = "01890000-0000-7000-8000-000000000001";
    let reply = recalled(&mut caller, recalling(in_general(), nominating(&[nobody, &made.memory_id]))).await;
    assert_eq!(values(&reply), ["zq7 brief"]);
    assert_eq!(reasons_for(&reply.rejected, nobody), Some(vec!["UNKNOWN_NOMINATION"]));
    let verdict = &reply.rejected[0];
    assert_eq!((verdict.version, verdict.value_version), (0, 0));
    assert!(verdict.scope.is_none() && verdict.key.is_empty() && verdict.kind.is_empty());
}

#[tokio::test]
async fn b13_a_held_candidate_is_told_of_only_to_those_who_may_confirm_it() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let mut other = service.caller_of(&without(&["confirm"])).await;
    let waiting = held(&mut caller, unconfirmed(fact("response_style", "zq7canary"))).await;
    for query in [key("response_style"), all()] {
        let asked = recalling(in_general(), query);
        let reply = recalled(&mut caller, asked.clone()).await;
        assert_eq!(rejections(&reply.rejected), [["UNCONFIRMED"]]);
        let verdict = &reply.rejected[0];
        assert_eq!((&verdict.candidate_id, verdict.memory_id.as_str()), (&waiting.candidate_id, ""));
        assert!(!shows(&reply, "zq7canary"));
        let reply = recalled(&mut other, asked).await;
        assert_eq!((reply.rejected_count, reply.reason_counts.len()), (0, 0));
        assert!(reply.accepted.is_empty() && !shows(&reply, "zq7canary"));
    }
}

#[tokio::test]
async fn a_nomination_without_a_score_comes_after_those_with_one_also_from_another_index() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let ranked = experiences(&caller, "scored", 2, |_| {}).await;
    service.pass(1);
    let unscored = experiences(&caller, "unscored", 1, |_| {}).await;
    let nominations =
        vec![scored(&ranked[0], 2.0, "vectors"), scored(&ranked[1], 1.0, "vectors"), nomination(&unscored[0])];
    let reply = recalled(&mut caller, recalling(in_general(), of_index(nominations))).await;
    assert_eq!(values(&reply), ["scored0", "scored1", "unscored0"]);
}
