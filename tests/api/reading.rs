//! What the tests of reads share: facts to lay down, requests that read, and ways to look at the answers.

use prost::Message;
use recall_gate::api::proto::{
    AllProjects, AllQuery, Audience, CaptureRequest, CaptureResponse, Consent, ConsentState, Context, Evidence,
    ExplainRecallRequest, GetMemoryRequest, ListCandidatesRequest, ListMemoriesRequest, ListMemoriesResponse,
    MemoryName, Outcome, Query, ReasonCount, RecallRequest, RecallResponse, Scope, Verdict, list_memories_request,
};
use recall_gate::identity::Ticket;
use recall_gate::policy::{DEFAULT_DOCUMENT, Policy};
use tonic::Status;

use crate::harness::{BEGIN_SECONDS, Caller, Service, all_but, project, ticket};
use crate::requests::{fact, keys, reasons, recalling, source};

/// A kind that holds in all six places, which no kind of the default policy does.
const NOTE: &str = r#"
[kinds.note]
class = "experience"
keys = ["note"]
levels = ["general", "project", "task"]
audiences = ["personal", "shared"]
purposes = ["converse", "draft", "act", "index"]
consent_needed = false
evidence = ["user_confirmed", "task_verified", "operator_verified"]
sensitivity = "internal"
"#;

/// A service whose policy also has the kind `note`.
pub(crate) async fn service_with_notes() -> Service {
    let policy = Policy::parse(&format!("{DEFAULT_DOCUMENT}{NOTE}")).unwrap();
    Service::start_with(policy).await
}

pub(crate) fn seconds(seconds: i64) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds, nanos: 0 }
}

/// So many seconds after the instant at which tests begin.
pub(crate) fn after(seconds_later: i64) -> prost_types::Timestamp {
    seconds(BEGIN_SECONDS + seconds_later)
}

pub(crate) fn shared(scope: Scope) -> Scope {
    Scope { audience: Audience::Shared.into(), ..scope }
}

/// The fact in another place; a shared one is an operator's.
pub(crate) fn placed(scope: Scope, fact: CaptureRequest) -> CaptureRequest {
    if scope.audience() == Audience::Shared {
        let told = Some(source("operator_entry", "ticket-1"));
        let consent = None;
        CaptureRequest {
            scope: Some(scope),
            evidence: Evidence::OperatorVerified.into(),
            source: told,
            consent,
            ..fact
        }
    } else {
        CaptureRequest { scope: Some(scope), ..fact }
    }
}

/// A confirmed experience, under its own id, that the subject agreed to have used. There may be any number.
pub(crate) fn experience(value: &str) -> CaptureRequest {
    let purposes = ["converse", "draft", "index"].map(str::to_owned).to_vec();
    CaptureRequest {
        key: String::new(),
        consent: Some(Consent { state: ConsentState::Granted.into(), purposes }),
        ..fact("experience", value)
    }
}

/// The same fact without anybody's word for it: held, unless its kind may be inferred.
pub(crate) fn unconfirmed(fact: CaptureRequest) -> CaptureRequest {
    CaptureRequest { evidence: Evidence::Unspecified.into(), ..fact }
}

/// Captures what has to come into force, and does.
pub(crate) async fn activated(caller: &mut Caller, fact: CaptureRequest) -> CaptureResponse {
    let made = caller.capture.capture(fact).await.unwrap().into_inner();
    assert_eq!(made.outcome(), Outcome::Activated, "{:?}", made.reasons);
    made
}

/// Captures what has to wait, and does.
pub(crate) async fn held(caller: &mut Caller, fact: CaptureRequest) -> CaptureResponse {
    let made = caller.capture.capture(fact).await.unwrap().into_inner();
    assert_eq!(made.outcome(), Outcome::Held, "{:?}", made.reasons);
    made
}

/// Captures so many experiences `{prefix}{number}`, sixteen at a time, and gives their ids in order of number.
pub(crate) async fn experiences(
    caller: &Caller,
    prefix: &str,
    count: usize,
    change: fn(&mut CaptureRequest),
) -> Vec<String> {
    let mut ids = Vec::new();
    let numbers: Vec<usize> = (0..count).collect();
    for batch in numbers.chunks(16) {
        let tasks: Vec<_> = batch
            .iter()
            .map(|number| {
                let mut caller = caller.clone();
                let mut fact = experience(&format!("{prefix}{number}"));
                change(&mut fact);
                tokio::spawn(async move { activated(&mut caller, fact).await.memory_id })
            })
            .collect();
        for task in tasks {
            ids.push(task.await.unwrap());
        }
    }
    ids
}

pub(crate) fn all() -> Query {
    Query { all: Some(AllQuery {}), ..Query::default() }
}

pub(crate) fn recalling_for(purpose: &str, context: Context, query: Query) -> RecallRequest {
    RecallRequest { purpose: purpose.to_owned(), ..recalling(context, query) }
}

pub(crate) fn explaining(recall: RecallRequest) -> ExplainRecallRequest {
    ExplainRecallRequest { recall: Some(recall) }
}

/// For `converse`.
pub(crate) fn getting(memory: MemoryName) -> GetMemoryRequest {
    GetMemoryRequest { memory: Some(memory), purpose: "converse".to_owned(), ..GetMemoryRequest::default() }
}

pub(crate) fn listing(purpose: &str, scope: Scope) -> ListMemoriesRequest {
    ListMemoriesRequest {
        purpose: purpose.to_owned(),
        range: Some(list_memories_request::Range::Scope(scope)),
        ..ListMemoriesRequest::default()
    }
}

pub(crate) fn listing_all(purpose: &str) -> ListMemoriesRequest {
    ListMemoriesRequest {
        purpose: purpose.to_owned(),
        range: Some(list_memories_request::Range::AllProjects(AllProjects {})),
        ..ListMemoriesRequest::default()
    }
}

pub(crate) fn candidates_of(scope: Scope) -> ListCandidatesRequest {
    ListCandidatesRequest { scope: Some(scope), ..ListCandidatesRequest::default() }
}

/// One recall, in full.
pub(crate) async fn recalled(caller: &mut Caller, request: RecallRequest) -> RecallResponse {
    caller.recall.recall(request).await.unwrap().into_inner()
}

/// Every page of a list, and how many pages there were.
pub(crate) async fn pages(caller: &mut Caller, request: ListMemoriesRequest) -> Vec<ListMemoriesResponse> {
    let mut pages: Vec<ListMemoriesResponse> = Vec::new();
    loop {
        let page_token = pages.last().map(|page| page.next_page_token.clone()).unwrap_or_default();
        let asked = ListMemoriesRequest { page_token, ..request.clone() };
        pages.push(caller.recall.list_memories(asked).await.unwrap().into_inner());
        assert!(pages.len() < 1000, "a list that never ends");
        if pages.last().unwrap().next_page_token.is_empty() {
            return pages;
        }
    }
}

/// The values in a list, as they come.
pub(crate) fn listed_values(pages: &[ListMemoriesResponse]) -> Vec<String> {
    let entries = pages.iter().flat_map(|page| &page.entries);
    entries.filter_map(|entry| entry.memory.as_ref()?.value.clone()).collect()
}

/// The reasons of each rejection, in the order of the reply.
pub(crate) fn rejections(verdicts: &[Verdict]) -> Vec<Vec<&'static str>> {
    verdicts.iter().map(reasons).collect()
}

/// Why that memory was rejected; `None` where it was not.
pub(crate) fn reasons_for<'a>(verdicts: &'a [Verdict], memory_id: &str) -> Option<Vec<&'a str>> {
    verdicts.iter().find(|verdict| verdict.memory_id == memory_id).map(reasons)
}

/// How often each reason was given, by name.
pub(crate) fn counted(counts: &[ReasonCount]) -> Vec<(&'static str, i32)> {
    let name = |count: &ReasonCount| count.reason().as_str_name().trim_start_matches("REASON_");
    let mut counted: Vec<_> = counts.iter().map(|count| (name(count), count.count)).collect();
    counted.sort_unstable();
    counted
}

/// Whether the bytes of a message contain the text.
pub(crate) fn shows(message: &impl Message, text: &str) -> bool {
    message.encode_to_vec().windows(text.len()).any(|window| window == text.as_bytes())
}

/// Everything of a failed call that a client gets to see, but for the date.
pub(crate) fn bytes_of(status: &Status) -> (i32, String, Vec<u8>, String) {
    let mut metadata = status.metadata().clone();
    metadata.remove("date");
    (status.code() as i32, status.message().to_owned(), status.details().to_vec(), format!("{metadata:?}"))
}

/// The tenant's own subject, projects `p1` and `p2`, every grant.
pub(crate) fn of(tenant: &str, subject: &str) -> Ticket {
    Ticket {
        tenant: tenant.to_owned(),
        subject: Some(subject.to_owned()),
        principal: format!("agent-of-{subject}"),
        projects: vec![project("p1"), project("p2")],
        ..ticket()
    }
}

/// The usual caller without the grants that start so.
pub(crate) fn without(grants: &[&str]) -> Ticket {
    Ticket { grants: all_but(grants), ..ticket() }
}

/// The usual caller who may see nothing above `internal`.
pub(crate) fn up_to_internal() -> Ticket {
    let mut grants = all_but(&["max_sensitivity"]);
    grants.push("max_sensitivity:internal".to_owned());
    Ticket { grants, ..ticket() }
}

/// A key query of one.
pub(crate) fn key(key: &str) -> Query {
    keys(&[key])
}
