//! How much comes back, how sure it has to be, and how what was left out is counted.

use recall_gate::api::proto::{Budget, CaptureRequest, Query, RecallRequest};
use tonic::Code;

use crate::harness::Service;
use crate::reading::{
    activated, all, counted, experience, experiences, explaining, key, placed, recalled, recalling_for, rejections,
    shared,
};
use crate::requests::{bad_fields, fact, general, in_general, keys, recalling, values};

fn within(max_items: Option<i32>, max_value_chars: Option<i32>, query: Query) -> RecallRequest {
    let budget = Some(Budget { max_items, max_value_chars });
    RecallRequest { budget, ..recalling(in_general(), query) }
}

#[tokio::test]
async fn five_facts_come_back_unless_more_keys_are_asked_or_the_budget_says_otherwise() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    experiences(&caller, "e", 21, |_| {}).await;
    let known = [
        "display_name",
        "response_style",
        "response_language",
        "ui_theme",
        "database_engine",
        "service_target",
        "duty_team",
    ];
    for key in known {
        activated(&mut caller, fact(key, "x")).await;
    }
    let reply = recalled(&mut caller, recalling(in_general(), all())).await;
    assert_eq!((values(&reply).len(), reply.rejected_count), (5, 23));
    assert_eq!(counted(&reply.reason_counts), [("BUDGET_ITEMS", 23)]);
    let reply = recalled(&mut caller, recalling(in_general(), keys(&known))).await;
    assert_eq!((values(&reply).len(), reply.rejected_count), (7, 0));
    let reply = recalled(&mut caller, within(Some(1), None, keys(&known))).await;
    assert_eq!((values(&reply).len(), reply.rejected_count), (1, 6));
    let reply = recalled(&mut caller, within(Some(20), None, all())).await;
    assert_eq!((values(&reply).len(), reply.rejected_count), (20, 8));
    let mut many: Vec<String> = known.map(str::to_owned).to_vec();
    many.extend((0..30).map(|number| format!("nothing-{number}")));
    let query = Query { keys: many, ..all() };
    let reply = recalled(&mut caller, recalling(in_general(), query)).await;
    assert_eq!(values(&reply).len(), 20, "37 keys asked, and never more than 20");
}

#[tokio::test]
async fn a_budget_out_of_bounds_is_refused() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    activated(&mut caller, fact("response_style", "brief")).await;
    for wrong in [i32::MIN, -1, 0, 21, i32::MAX] {
        let refused = caller.recall.recall(within(Some(wrong), None, all())).await.unwrap_err();
        assert_eq!(
            (refused.code(), bad_fields(&refused)),
            (Code::InvalidArgument, vec!["budget.max_items".to_owned()])
        );
    }
    for wrong in [i32::MIN, -1, 0, 100_001, i32::MAX] {
        let refused = caller.recall.recall(within(None, Some(wrong), all())).await.unwrap_err();
        assert_eq!(bad_fields(&refused), ["budget.max_value_chars"], "{wrong}");
    }
    for right in [(1, 5), (20, 100_000)] {
        let reply = recalled(&mut caller, within(Some(right.0), Some(right.1), all())).await;
        assert_eq!(values(&reply), ["brief"]);
    }
}

#[tokio::test]
async fn a_fact_that_does_not_fit_is_skipped_and_the_next_one_is_tried() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    for length in [100, 101, 700, 700] {
        activated(&mut caller, experience(&"语".repeat(length))).await;
        service.pass(1);
    }
    let reply = recalled(&mut caller, recalling(in_general(), all())).await;
    let lengths: Vec<usize> = values(&reply).iter().map(|value| value.chars().count()).collect();
    assert_eq!(lengths, [700, 700, 100], "1500 characters, whatever their bytes");
    assert_eq!(rejections(&reply.rejected), [["BUDGET_CHARACTERS"]]);
    let reply = recalled(&mut caller, within(None, Some(1501), all())).await;
    let lengths: Vec<usize> = values(&reply).iter().map(|value| value.chars().count()).collect();
    assert_eq!(lengths, [700, 700, 101]);
}

#[tokio::test]
async fn what_a_budget_leaves_out_does_not_fall_back_to_a_wider_place() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    activated(&mut caller, fact("response_style", "a rather long wish")).await;
    activated(&mut caller, placed(shared(general()), fact("response_style", "brief"))).await;
    let reply = recalled(&mut caller, within(None, Some(6), key("response_style"))).await;
    assert_eq!(values(&reply), [""; 0]);
    let mut why = rejections(&reply.rejected);
    why.sort();
    assert_eq!(why, [["BUDGET_CHARACTERS"], ["SHADOWED"]]);
}

#[tokio::test]
async fn min_confidence_only_raises_the_floor() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    for (key, confidence) in [("display_name", 0.49), ("response_style", 0.5), ("response_language", 0.7)] {
        activated(&mut caller, CaptureRequest { confidence: Some(confidence), ..fact(key, key) }).await;
    }
    for (floor, expected) in [
        (None, 2),
        (Some(0.0), 2),
        (Some(0.499), 2),
        (Some(0.5), 2),
        (Some(0.500_000_1), 1),
        (Some(0.7), 1),
        (Some(0.700_000_1), 0),
        (Some(1.0), 0),
    ] {
        let asked = RecallRequest { min_confidence: floor, ..recalling(in_general(), all()) };
        let reply = recalled(&mut caller, asked).await;
        assert_eq!(values(&reply).len(), expected, "{floor:?}");
        assert_eq!(counted(&reply.reason_counts), [("LOW_CONFIDENCE", 3 - i32::try_from(expected).unwrap())]);
    }
}

#[tokio::test]
async fn each_purpose_has_its_floor() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    for (key, confidence) in [("display_name", 0.799_999), ("response_style", 0.8), ("response_language", 0.9)] {
        activated(&mut caller, CaptureRequest { confidence: Some(confidence), ..fact(key, key) }).await;
    }
    for (purpose, expected) in [("converse", 3), ("draft", 2), ("act", 1), ("index", 3)] {
        let reply = recalled(&mut caller, recalling_for(purpose, in_general(), all())).await;
        assert_eq!(values(&reply).len(), expected, "{purpose}");
    }
}

#[tokio::test]
async fn at_most_64_rejections_are_listed_and_the_counts_cover_all() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    experiences(&caller, "weak", 70, |fact| fact.confidence = Some(0.3)).await;
    experiences(&caller, "kept for drafts", 3, |fact| {
        fact.confidence = Some(0.2);
        fact.purposes = vec!["draft".to_owned()];
    })
    .await;
    let asked = recalling(in_general(), all());
    let reply = recalled(&mut caller, asked.clone()).await;
    assert_eq!((values(&reply).len(), reply.rejected.len(), reply.rejected_count), (0, 64, 73));
    let expected = [("LOW_CONFIDENCE", 73), ("PURPOSE_NOT_ALLOWED", 3)];
    assert_eq!(counted(&reply.reason_counts), expected);
    let explained = caller.recall.explain_recall(explaining(asked)).await.unwrap().into_inner();
    assert_eq!((explained.rejected.len(), explained.rejected_count), (64, 73));
    assert_eq!(counted(&explained.reason_counts), expected);
}

#[tokio::test]
async fn what_is_never_nominated_is_counted_and_rejected_entries_crowd_out_nothing() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    activated(&mut caller, fact("response_style", "old but good")).await;
    service.pass(1);
    experiences(&caller, "weak", 260, |fact| fact.confidence = Some(0.3)).await;
    let reply = recalled(&mut caller, recalling(in_general(), all())).await;
    assert_eq!(values(&reply), ["old but good"]);
    assert_eq!((i64::from(reply.rejected_count), reply.not_nominated_count), (255, 5));
    experiences(&caller, "good", 300, |_| {}).await;
    let reply = recalled(&mut caller, recalling(in_general(), all())).await;
    assert_eq!((values(&reply).len(), reply.rejected_count), (5, 251));
    assert_eq!(reply.not_nominated_count, 561 - 256);
    assert!(values(&reply).iter().all(|value| value.starts_with("good")));
}
