use super::super::{explain_recall, get_memory, list_memories, recall};
use super::rows::{self, Row, row};
use super::{ID, address, bad_fields, each_bad_value_is_named, task_scope};
use crate::api::proto;
use crate::api::proto::context::Context as Choice;
use crate::api::proto::list_memories_request::Range;
use crate::gate::Error;
use crate::gate::command::ListRange;
use crate::memory::{Budget, Confidence, Context, Key, Level, Text, TextQuery};

pub(super) fn good() -> proto::RecallRequest {
    proto::RecallRequest {
        subject_id: "ada".to_owned(),
        context: Some(task("alpha".to_owned(), "t-1".to_owned())),
        purpose: "draft".to_owned(),
        query: Some(proto::Query {
            keys: vec!["language".to_owned()],
            nominations: vec![proto::Nomination {
                memory_id: ID.to_owned(),
                value_version: Some(1),
                score: Some(0.5),
                derived_store_id: "vectors".to_owned(),
            }],
            all: Some(proto::AllQuery {}),
            text: Some(proto::TextQuery { text: "a AND".to_owned(), mode: proto::TextMode::Substring.into() }),
        }),
        budget: Some(proto::Budget { max_items: Some(20), max_value_chars: Some(100_000) }),
        min_confidence: Some(0.5),
    }
}

fn task(project_id: String, task_id: String) -> proto::Context {
    proto::Context { context: Some(Choice::Task(proto::TaskContext { project_id, task_id })) }
}

fn project(project_id: String) -> proto::Context {
    proto::Context { context: Some(Choice::Project(proto::ProjectContext { project_id })) }
}

fn query(request: &mut proto::RecallRequest) -> &mut proto::Query {
    request.query.as_mut().unwrap()
}

fn nomination(request: &mut proto::RecallRequest) -> &mut proto::Nomination {
    &mut query(request).nominations[0]
}

fn text(request: &mut proto::RecallRequest) -> &mut proto::TextQuery {
    query(request).text.as_mut().unwrap()
}

fn budget(request: &mut proto::RecallRequest) -> &mut proto::Budget {
    request.budget.as_mut().unwrap()
}

pub(super) fn bad() -> Vec<Row<proto::RecallRequest>> {
    type Request = proto::RecallRequest;
    let mut rows = rows::ids("subject_id", |r: &mut Request, id| r.subject_id = id);
    rows.push(row("context", |r: &mut Request| r.context = None));
    rows.push(row("context", |r: &mut Request| r.context = Some(proto::Context::default())));
    rows.extend(rows::required_ids("context.project.project_id", |r: &mut Request, id| r.context = Some(project(id))));
    rows.extend(rows::required_ids("context.task.project_id", |r: &mut Request, id| {
        r.context = Some(task(id, "t-1".to_owned()));
    }));
    rows.extend(rows::required_ids("context.task.task_id", |r: &mut Request, id| {
        r.context = Some(task("alpha".to_owned(), id));
    }));
    rows.extend(rows::required_ids("purpose", |r: &mut Request, id| r.purpose = id));
    rows.push(row("query", |r: &mut Request| r.query = None));
    rows.push(row("query", |r: &mut Request| r.query = Some(proto::Query::default())));
    rows.extend(rows::required_ids("query.keys[1]", |r, id| query(r).keys.push(id)));
    rows.push(row("query.keys[1]", |r| query(r).keys.push("language".to_owned())));
    rows.push(row("query.keys", |r| query(r).keys = vec![String::new(); 101]));
    rows.push(row("query.keys", |r| query(r).keys = vec![String::new(); 10_000]));
    rows.extend(rows::required_uuids("query.nominations[0].memory_id", |r, id| nomination(r).memory_id = id));
    rows.push(row("query.nominations[1].memory_id", |r| {
        let again = nomination(r).clone();
        query(r).nominations.push(again);
    }));
    rows.push(row("query.nominations", |r| query(r).nominations = vec![proto::Nomination::default(); 257]));
    let versions = [0, -1, i64::MIN];
    rows.extend(rows::numbers("query.nominations[0].value_version", &versions, |r, n| {
        nomination(r).value_version = Some(n);
    }));
    for score in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        rows.push(row("query.nominations[0].score", move |r| nomination(r).score = Some(score)));
    }
    rows.extend(rows::ids("query.nominations[0].derived_store_id", |r, id| nomination(r).derived_store_id = id));
    rows.push(row("query.text.text", |r| *text(r) = proto::TextQuery::default()));
    for bad in ["a\0b".to_owned(), "\0".to_owned(), " ".repeat(10_000), "x".repeat(1001), "\u{1f600}".repeat(1001)] {
        rows.push(row("query.text.text", move |r| text(r).text.clone_from(&bad)));
    }
    rows.extend(rows::unknown_numbers("query.text.mode", |r, n| text(r).mode = n));
    for items in [0, -1, 21, i32::MAX, i32::MIN] {
        rows.push(row("budget.max_items", move |r| budget(r).max_items = Some(items)));
    }
    for chars in [0, -1, 100_001, i32::MAX, i32::MIN] {
        rows.push(row("budget.max_value_chars", move |r| budget(r).max_value_chars = Some(chars)));
    }
    rows.extend(rows::no_confidences("min_confidence", |r: &mut Request, n| r.min_confidence = Some(n)));
    rows
}

pub(super) fn good_explain() -> proto::ExplainRecallRequest {
    proto::ExplainRecallRequest { recall: Some(good()) }
}

pub(super) fn bad_explain() -> Vec<Row<proto::ExplainRecallRequest>> {
    let mut rows = rows::within("recall", |r: &mut proto::ExplainRecallRequest| r.recall.as_mut().unwrap(), bad());
    rows.push(row("recall", |r: &mut proto::ExplainRecallRequest| r.recall = None));
    rows
}

pub(super) fn good_get() -> proto::GetMemoryRequest {
    proto::GetMemoryRequest {
        subject_id: "ada".to_owned(),
        memory: Some(address()),
        purpose: "subject_access".to_owned(),
    }
}

pub(super) fn bad_get() -> Vec<Row<proto::GetMemoryRequest>> {
    type Request = proto::GetMemoryRequest;
    let mut rows = rows::ids("subject_id", |r: &mut Request, id| r.subject_id = id);
    rows.push(row("memory", |r: &mut Request| r.memory = None));
    rows.push(row("memory", |r: &mut Request| r.memory = Some(proto::MemoryName::default())));
    rows.extend(rows::within("memory", |r: &mut Request| r.memory.as_mut().unwrap(), rows::memory_names()));
    rows.extend(rows::required_ids("purpose", |r: &mut Request, id| r.purpose = id));
    rows
}

pub(super) fn good_list() -> proto::ListMemoriesRequest {
    proto::ListMemoriesRequest {
        subject_id: "ada".to_owned(),
        purpose: "subject_access".to_owned(),
        range: Some(Range::Scope(task_scope())),
        page_size: 7,
        page_token: String::new(),
    }
}

fn scope(request: &mut proto::ListMemoriesRequest) -> &mut proto::Scope {
    match &mut request.range {
        Some(Range::Scope(scope)) => scope,
        other => panic!("no scope: {other:?}"),
    }
}

pub(super) fn bad_list() -> Vec<Row<proto::ListMemoriesRequest>> {
    type Request = proto::ListMemoriesRequest;
    let mut rows = rows::ids("subject_id", |r: &mut Request, id| r.subject_id = id);
    rows.extend(rows::required_ids("purpose", |r: &mut Request, id| r.purpose = id));
    rows.push(row("range", |r: &mut Request| r.range = None));
    rows.extend(rows::within("scope", scope, rows::scopes()));
    rows.push(row("page_size", |r: &mut Request| r.page_size = -1));
    rows.push(row("page_token", |r: &mut Request| r.page_token = "A".repeat(1 << 20)));
    rows
}

#[test]
fn each_bad_field_of_the_recall_service_is_named() {
    each_bad_value_is_named(good, recall, &bad());
    each_bad_value_is_named(good_explain, explain_recall, &bad_explain());
    each_bad_value_is_named(good_get, get_memory, &bad_get());
    each_bad_value_is_named(good_list, list_memories, &bad_list());
    assert_eq!(bad_fields(recall(proto::RecallRequest::default())), ["context", "purpose", "query"]);
}

#[test]
fn every_fault_of_one_nomination_is_named() {
    let mut request = good();
    *nomination(&mut request) = proto::Nomination {
        memory_id: "m1".to_owned(),
        value_version: Some(0),
        score: Some(f64::NAN),
        derived_store_id: "  ".to_owned(),
    };
    let fields = ["memory_id", "value_version", "score", "derived_store_id"];
    let expected = fields.map(|field| format!("query.nominations[0].{field}"));
    assert_eq!(bad_fields(recall(request)), expected);
}

#[test]
fn a_text_is_kept_as_it_is_up_to_1000_characters() {
    let asked = |text: &str, mode: i32| {
        let query = proto::Query { text: Some(proto::TextQuery { text: text.to_owned(), mode }), ..Default::default() };
        recall(proto::RecallRequest { query: Some(query), ..good() }).unwrap().text
    };
    let family = "\u{1f469}\u{200d}\u{1f467}";
    for text in [" ", "\\u0000", "%_*", "e\u{301}", "\u{202e}\u{feff}", &family.repeat(333), &"\u{1f600}".repeat(1000)]
    {
        let kept = Text::new(text.to_owned());
        for words in [proto::TextMode::Unspecified, proto::TextMode::Words] {
            assert_eq!(asked(text, words.into()), Some(TextQuery::Words(kept.clone())));
        }
        assert_eq!(asked(text, proto::TextMode::Substring.into()), Some(TextQuery::Substring(kept)));
    }
    let without = proto::Query { keys: vec!["language".to_owned()], ..Default::default() };
    assert_eq!(recall(proto::RecallRequest { query: Some(without), ..good() }).unwrap().text, None);
}

#[test]
fn the_budget_has_room_for_every_key_asked_within_its_bounds() {
    for (keys, max_items) in [(0, 5), (5, 5), (6, 6), (20, 20), (21, 20), (100, 20)] {
        let mut request = proto::RecallRequest { budget: None, ..good() };
        query(&mut request).keys = (0..keys).map(|key| format!("k{key}")).collect();
        let command = recall(request).unwrap();
        assert_eq!(command.budget, Budget { max_items, max_value_chars: 1500 }, "{keys} keys");
        assert!(command.keys.iter().map(Key::as_str).eq((0..keys).map(|key| format!("k{key}"))));
    }
    let budget = recall(good()).unwrap().budget;
    assert_eq!(budget, Budget { max_items: 20, max_value_chars: 100_000 });
}

#[test]
fn b14_a_demanded_confidence_is_rounded_up_and_unset_is_not_zero() {
    let demanded = |min_confidence| recall(proto::RecallRequest { min_confidence, ..good() }).unwrap().min_confidence;
    assert_eq!(demanded(None), None);
    assert_eq!(demanded(Some(0.0)), Some(Confidence::ZERO));
    assert_eq!(demanded(Some(5e-324)), Confidence::from_millionths(1));
}

#[test]
fn each_context_and_each_range_is_its_own_choice() {
    let general = proto::Context { context: Some(Choice::General(proto::GeneralContext {})) };
    let context = |context| recall(proto::RecallRequest { context: Some(context), ..good() }).unwrap().context;
    assert_eq!(context(general), Context(Level::General));
    assert_eq!(context(project("alpha".to_owned())).0.name(), "project");
    assert_eq!(context(task("alpha".to_owned(), "t-1".to_owned())).0.name(), "task");
    let all = proto::ListMemoriesRequest { range: Some(Range::AllProjects(proto::AllProjects {})), ..good_list() };
    assert_eq!(list_memories(all).unwrap().range, ListRange::AllProjects);
    let forged = proto::ListMemoriesRequest { page_token: "no token".to_owned(), ..good_list() };
    assert!(matches!(list_memories(forged), Err(Error::PageTokenInvalid)));
}
