//! Every field of every request that reads, wrong.

use recall_gate::api::proto::{
    AllQuery, Budget, Context, ExplainRecallRequest, GetMemoryRequest, ListCandidatesRequest, ListMemoriesRequest,
    Nomination, Query, RecallRequest, Scope, list_memories_request,
};

use crate::bad_input::{Cases, SOME_ID, case, ids, kept, names, refused, shares, uuids};
use crate::harness::Service;
use crate::reading::{activated, all, candidates_of, experience, explaining, getting, listing};
use crate::requests::{
    bad_fields, fact, general, in_general, in_project, in_task, keys, named, nominating, nomination, of_project,
    of_task, recalling,
};

fn recall_cases() -> Cases<RecallRequest> {
    let nominated = |nominations: Vec<Nomination>| Some(Query { nominations, ..Query::default() });
    let mut cases: Cases<RecallRequest> = vec![
        case("context", |r: &mut RecallRequest| r.context = None),
        case("context", |r: &mut RecallRequest| r.context = Some(Context { context: None })),
        case("context.project.project_id", |r: &mut RecallRequest| r.context = Some(of_project(""))),
        case("context.task.task_id", |r: &mut RecallRequest| r.context = Some(of_task("p1", ""))),
        case("purpose", |r: &mut RecallRequest| r.purpose = String::new()),
        case("query", |r: &mut RecallRequest| r.query = None),
        case("query", |r: &mut RecallRequest| r.query = Some(Query::default())),
        case("query.keys", |r: &mut RecallRequest| {
            r.query = Some(Query { keys: vec!["k".to_owned(); 101], all: Some(AllQuery {}), ..Query::default() });
        }),
        case("query.keys", |r: &mut RecallRequest| {
            r.query = Some(Query { keys: vec![String::new(); 10_000], ..Query::default() });
        }),
        case("query.keys[1]", |r: &mut RecallRequest| r.query = Some(keys(&["k", ""]))),
        case("query.nominations", move |r: &mut RecallRequest| {
            r.query = nominated((0..257).map(|_| nomination(SOME_ID)).collect());
        }),
        case("query.nominations", move |r: &mut RecallRequest| r.query = nominated(vec![nomination(""); 10_000])),
        case("query.nominations[1].memory_id", |r: &mut RecallRequest| r.query = Some(nominating(&[SOME_ID, SOME_ID]))),
        case("query.nominations[0].memory_id", |r: &mut RecallRequest| r.query = Some(nominating(&[""]))),
        case("query.nominations[0].value_version", move |r: &mut RecallRequest| {
            r.query = nominated(vec![Nomination { value_version: Some(-1), ..nomination(SOME_ID) }]);
        }),
        case("budget.max_items", |r: &mut RecallRequest| {
            r.budget = Some(Budget { max_items: Some(0), ..Budget::default() });
        }),
        case("budget.max_value_chars", |r: &mut RecallRequest| {
            r.budget = Some(Budget { max_value_chars: Some(0), ..Budget::default() });
        }),
    ];
    for score in [f64::NAN, f64::from_bits(0x7FF0_0000_0000_0001), f64::INFINITY, f64::NEG_INFINITY] {
        cases.push(case("query.nominations[0].score", move |r: &mut RecallRequest| {
            r.query = nominated(vec![Nomination { score: Some(score), ..nomination(SOME_ID) }]);
        }));
    }
    cases.extend(ids("subject_id", |r: &mut RecallRequest, id| r.subject_id = id));
    cases.extend(ids("purpose", |r: &mut RecallRequest, id| r.purpose = id));
    cases.extend(ids("context.project.project_id", |r: &mut RecallRequest, id| r.context = Some(of_project(&id))));
    cases.extend(ids("context.task.task_id", |r: &mut RecallRequest, id| r.context = Some(of_task("p1", &id))));
    cases.extend(ids("query.keys[0]", |r: &mut RecallRequest, id| {
        r.query = Some(Query { keys: vec![id], ..Query::default() });
    }));
    cases.extend(ids("query.nominations[0].derived_store_id", |r: &mut RecallRequest, id| {
        let nominations = vec![Nomination { derived_store_id: id, ..nomination(SOME_ID) }];
        r.query = Some(Query { nominations, ..Query::default() });
    }));
    cases.extend(uuids("query.nominations[0].memory_id", |r: &mut RecallRequest, id| {
        r.query = Some(nominating(&[&id]));
    }));
    cases.extend(shares("min_confidence", |r: &mut RecallRequest, share| r.min_confidence = Some(share)));
    cases
}

#[tokio::test]
async fn b14_every_field_of_a_recall_and_of_its_explanation() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    activated(&mut caller, experience("learnt")).await;
    let before = kept(&mut caller).await;
    let valid = recalling(in_general(), all());
    let mut client = caller.clone();
    refused(&valid, recall_cases(), async move |request| client.recall.recall(request).await.map(drop)).await;
    let mut cases: Cases<ExplainRecallRequest> = Vec::new();
    for (field, spoil) in recall_cases() {
        cases.push(case(&format!("recall.{field}"), move |r: &mut ExplainRecallRequest| {
            spoil(r.recall.get_or_insert_default());
        }));
    }
    let valid = explaining(valid);
    let nothing = ExplainRecallRequest::default();
    assert_eq!(bad_fields(&caller.recall.explain_recall(nothing).await.unwrap_err()), ["recall"]);
    let mut client = caller.clone();
    refused(&valid, cases, async move |request| client.recall.explain_recall(request).await.map(drop)).await;
    assert_eq!(kept(&mut caller).await, before);
}

#[tokio::test]
async fn every_field_of_the_other_reads() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = activated(&mut caller, fact("response_style", "zq7 brief")).await;
    let mut cases: Cases<GetMemoryRequest> =
        vec![case("purpose", |r: &mut GetMemoryRequest| r.purpose = String::new())];
    cases.extend(ids("subject_id", |r: &mut GetMemoryRequest, id| r.subject_id = id));
    cases.extend(ids("purpose", |r: &mut GetMemoryRequest, id| r.purpose = id));
    cases.extend(names(|r: &mut GetMemoryRequest, name| r.memory = name));
    let mut client = caller.clone();
    let valid = getting(named(&made.memory_id));
    refused(&valid, cases, async move |request| client.recall.get_memory(request).await.map(drop)).await;

    let range = list_memories_request::Range::Scope;
    let mut cases: Cases<ListMemoriesRequest> = vec![
        case("purpose", |r: &mut ListMemoriesRequest| r.purpose = String::new()),
        case("range", |r: &mut ListMemoriesRequest| r.range = None),
        case("scope.level", move |r: &mut ListMemoriesRequest| r.range = Some(range(Scope::default()))),
        case("scope.project_id", move |r: &mut ListMemoriesRequest| r.range = Some(range(in_project("\u{200b}")))),
        case("scope.audience", move |r: &mut ListMemoriesRequest| {
            r.range = Some(range(Scope { audience: 7, ..general() }));
        }),
        case("page_size", |r: &mut ListMemoriesRequest| r.page_size = -1),
    ];
    cases.extend(ids("subject_id", |r: &mut ListMemoriesRequest, id| r.subject_id = id));
    cases.extend(ids("purpose", |r: &mut ListMemoriesRequest, id| r.purpose = id));
    let mut client = caller.clone();
    let valid = listing("converse", general());
    refused(&valid, cases, async move |request| client.recall.list_memories(request).await.map(drop)).await;

    let mut cases: Cases<ListCandidatesRequest> = vec![
        case("scope", |r: &mut ListCandidatesRequest| r.scope = None),
        case("scope.level", |r: &mut ListCandidatesRequest| r.scope = Some(Scope::default())),
        case("scope.task_id", |r: &mut ListCandidatesRequest| r.scope = Some(in_task("p1", "a\0"))),
        case("page_size", |r: &mut ListCandidatesRequest| r.page_size = i32::MIN),
    ];
    cases.extend(ids("subject_id", |r: &mut ListCandidatesRequest, id| r.subject_id = id));
    let mut client = caller.clone();
    let valid = candidates_of(general());
    refused(&valid, cases, async move |request| client.capture.list_candidates(request).await.map(drop)).await;
}
