//! Requests to vary, each valid as it is made here.

use prost_types::Timestamp;
use recall_gate::api::proto::{
    AllQuery, CaptureRequest, Consent, ConsentState, Context, CorrectRequest, DeleteRequest, Evidence, GeneralContext,
    Level, MemoryAddress, MemoryName, Nomination, ProjectContext, Query, Reason, RecallRequest, RecallResponse,
    RestoreRequest, Scope, Source, TaskContext, TextMode, TextQuery, Verdict, context, memory_name,
};
use tonic::{Code, Status};
use tonic_types::StatusExt;

pub(crate) fn general() -> Scope {
    Scope { level: Level::General.into(), ..Scope::default() }
}

pub(crate) fn in_project(project: &str) -> Scope {
    Scope { level: Level::Project.into(), project_id: project.to_owned(), ..Scope::default() }
}

pub(crate) fn in_task(project: &str, task: &str) -> Scope {
    Scope { level: Level::Task.into(), task_id: task.to_owned(), ..in_project(project) }
}

pub(crate) fn source(kind: &str, reference: &str) -> Source {
    Source { kind: kind.to_owned(), reference: reference.to_owned(), ..Source::default() }
}

/// A general, personal fact that the subject told and confirmed, of the kind with the key's name.
pub(crate) fn fact(key: &str, value: &str) -> CaptureRequest {
    CaptureRequest {
        scope: Some(general()),
        kind: key.to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
        source: Some(source("user_message", "zq7-message-1")),
        evidence: Evidence::UserConfirmed.into(),
        ..CaptureRequest::default()
    }
}

/// A general, personal fact under a key of its own, that the subject confirmed and lets be used in conversation.
pub(crate) fn experience(value: &str) -> CaptureRequest {
    let consent = Consent { state: ConsentState::Granted.into(), purposes: vec!["converse".to_owned()] };
    CaptureRequest { key: String::new(), consent: Some(consent), ..fact("experience", value) }
}

pub(crate) fn named(memory_id: &str) -> MemoryName {
    MemoryName { name: Some(memory_name::Name::MemoryId(memory_id.to_owned())) }
}

pub(crate) fn at(scope: Scope, key: &str) -> MemoryName {
    let address = MemoryAddress { scope: Some(scope), key: key.to_owned() };
    MemoryName { name: Some(memory_name::Name::Address(address)) }
}

/// A confirmed correction from another message.
pub(crate) fn correction(memory_id: &str, seen: i64, value: &str) -> CorrectRequest {
    CorrectRequest {
        memory: Some(named(memory_id)),
        expected_version: Some(seen),
        value: value.to_owned(),
        source: Some(source("user_message", "zq7-message-2")),
        evidence: Evidence::UserConfirmed.into(),
        reason: "zq7: the subject said so".to_owned(),
        ..CorrectRequest::default()
    }
}

pub(crate) fn deletion(memory_id: &str, seen: i64) -> DeleteRequest {
    DeleteRequest {
        memory: Some(named(memory_id)),
        expected_version: Some(seen),
        evidence: Evidence::UserConfirmed.into(),
        ..DeleteRequest::default()
    }
}

pub(crate) fn restoration(memory_id: &str, seen: i64) -> RestoreRequest {
    RestoreRequest {
        memory: Some(named(memory_id)),
        expected_version: Some(seen),
        evidence: Evidence::UserConfirmed.into(),
        ..RestoreRequest::default()
    }
}

pub(crate) fn in_general() -> Context {
    Context { context: Some(context::Context::General(GeneralContext {})) }
}

pub(crate) fn of_project(project: &str) -> Context {
    Context { context: Some(context::Context::Project(ProjectContext { project_id: project.to_owned() })) }
}

pub(crate) fn of_task(project: &str, task: &str) -> Context {
    let task = TaskContext { project_id: project.to_owned(), task_id: task.to_owned() };
    Context { context: Some(context::Context::Task(task)) }
}

pub(crate) fn keys(keys: &[&str]) -> Query {
    Query { keys: keys.iter().map(|key| (*key).to_owned()).collect(), ..Query::default() }
}

pub(crate) fn nomination(memory_id: &str) -> Nomination {
    Nomination { memory_id: memory_id.to_owned(), ..Nomination::default() }
}

pub(crate) fn nominating(memory_ids: &[&str]) -> Query {
    Query { nominations: memory_ids.iter().map(|id| nomination(id)).collect(), ..Query::default() }
}

pub(crate) fn words(text: &str) -> Query {
    Query { text: Some(TextQuery { text: text.to_owned(), mode: TextMode::Words.into() }), ..Query::default() }
}

pub(crate) fn substring(text: &str) -> Query {
    Query { text: Some(TextQuery { text: text.to_owned(), mode: TextMode::Substring.into() }), ..Query::default() }
}

/// For `converse`.
pub(crate) fn recalling(context: Context, query: Query) -> RecallRequest {
    RecallRequest {
        context: Some(context),
        purpose: "converse".to_owned(),
        query: Some(query),
        ..RecallRequest::default()
    }
}

/// The values in the envelope, in rank.
pub(crate) fn values(reply: &RecallResponse) -> Vec<&str> {
    reply.envelope.iter().flat_map(|envelope| &envelope.facts).filter_map(|fact| fact.value.as_deref()).collect()
}

/// The names of a verdict's reasons, without their prefix.
pub(crate) fn reasons(verdict: &Verdict) -> Vec<&'static str> {
    verdict.reasons().map(|reason| reason.as_str_name().trim_start_matches("REASON_")).collect()
}

/// The reason in the one `ErrorInfo` of a failed call.
pub(crate) fn error_reason(status: &Status) -> String {
    status.get_details_error_info().unwrap().reason
}

/// The bad fields that a failed call names, sorted.
pub(crate) fn bad_fields(status: &Status) -> Vec<String> {
    let details = status.get_details_bad_request().unwrap();
    let mut fields: Vec<String> = details.field_violations.into_iter().map(|violation| violation.field).collect();
    fields.sort();
    fields
}

/// That many seconds since 1970.
#[expect(clippy::unnecessary_wraps, reason = "the fields of requests and replies are optional")]
pub(crate) fn time(seconds: i64) -> Option<Timestamp> {
    Some(Timestamp { seconds, nanos: 0 })
}

/// The names of a write's reasons, without their prefix.
pub(crate) fn why(reasons: &[i32]) -> Vec<&'static str> {
    let name = |reason: &i32| Reason::try_from(*reason).unwrap().as_str_name().trim_start_matches("REASON_");
    reasons.iter().map(name).collect()
}

/// One key for `converse`, in no project.
pub(crate) fn key(key: &str) -> RecallRequest {
    recalling(in_general(), keys(&[key]))
}

/// Everything in no project, for `converse`.
pub(crate) fn everything() -> RecallRequest {
    recalling(in_general(), Query { all: Some(AllQuery {}), ..Query::default() })
}

/// Who failed a call, and why.
pub(crate) fn refusal(status: &Status) -> (Code, String) {
    (status.code(), error_reason(status))
}
