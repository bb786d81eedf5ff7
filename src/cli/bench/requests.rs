//! What is asked, as the bytes of its message, and what the answer has to say.

use bytes::Bytes;
use prost::Message;

use super::dice::Dice;
use super::mix::Method;
use super::world::{KIND, PROJECT, PURPOSE, SOURCE, World};
use crate::api::proto::{
    Budget, CaptureRequest, CaptureResponse, Consent, ConsentState, Context, CorrectRequest, CorrectResponse,
    DeleteRequest, Evidence, Level, MemoryName, Nomination, Outcome, ProjectContext, Query, RecallRequest,
    RecallResponse, Scope, Source, TextQuery, context, memory_name,
};

/// The most that one recall admits.
const MAX_ITEMS: u32 = 20;

/// A memory that a call of the run has made, and no recall asks for.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) tenant: u32,
    pub(super) subject: u32,
    id: String,
    version: i64,
}

/// One call to make.
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) tenant: u32,
    pub(super) subject: u32,
    pub(super) message: Bytes,
}

/// What an answer says that has to be acted upon.
pub(super) enum Answer {
    /// The memory lives, at this version.
    Lives(Held),
    /// Nothing that is needed any more.
    Done,
}

/// How many of so many nominations are admitted.
pub(super) fn admitted(nominations: u32) -> u32 {
    nominations.min(MAX_ITEMS)
}

/// Nominates memories by their ids.
pub(super) fn recall(world: &World, tenant: u32, subject: u32, ids: impl Iterator<Item = uuid::Uuid>) -> Call {
    let nominations: Vec<Nomination> = (0_u32..)
        .zip(ids)
        .map(|(rank, id)| Nomination {
            memory_id: id.to_string(),
            value_version: Some(1),
            score: Some(1.0 / (1.0 + f64::from(rank))),
            derived_store_id: "bench".to_owned(),
        })
        .collect();
    let count = u32::try_from(nominations.len()).unwrap_or(u32::MAX);
    asking(world, tenant, subject, count, Query { nominations, ..Query::default() })
}

/// Has three words for so many memories.
pub(super) fn recall_by_text(world: &World, dice: &mut Dice, tenant: u32, subject: u32, count: u32) -> Call {
    let text = TextQuery { text: World::words(dice, 3).join(" "), ..TextQuery::default() };
    asking(world, tenant, subject, count, Query { text: Some(text), ..Query::default() })
}

fn asking(world: &World, tenant: u32, subject: u32, count: u32, query: Query) -> Call {
    let chars = i32::try_from(admitted(count) * u32::from(world.value_bytes)).unwrap_or(i32::MAX);
    let message = RecallRequest {
        subject_id: World::subject(subject),
        context: Some(Context {
            context: Some(context::Context::Project(ProjectContext { project_id: PROJECT.to_owned() })),
        }),
        purpose: PURPOSE.to_owned(),
        query: Some(query),
        budget: Some(Budget {
            max_items: i32::try_from(admitted(count)).ok(),
            max_value_chars: Some(chars.clamp(1, 100_000)),
        }),
        min_confidence: None,
    };
    Call { method: Method::Recall, tenant, subject, message: message.encode_to_vec().into() }
}

/// `reference` is a source of its own: deleting what came from one shuts out all that came from it.
pub(super) fn capture(world: &World, dice: &mut Dice, tenant: u32, subject: u32, reference: &str) -> Call {
    let message = CaptureRequest {
        subject_id: World::subject(subject),
        scope: Some(scope(dice.below(2))),
        kind: KIND.to_owned(),
        value: world.value(dice.next()),
        source: Some(source(reference)),
        evidence: Evidence::UserConfirmed.into(),
        consent: Some(consent()),
        ..CaptureRequest::default()
    };
    Call { method: Method::Capture, tenant, subject, message: message.encode_to_vec().into() }
}

pub(super) fn correct(world: &World, dice: &mut Dice, held: &Held, reference: &str) -> Call {
    let message = CorrectRequest {
        subject_id: World::subject(held.subject),
        memory: Some(named(held)),
        expected_version: Some(held.version),
        value: world.value(dice.next()),
        source: Some(source(reference)),
        evidence: Evidence::UserConfirmed.into(),
        reason: "it is otherwise".to_owned(),
        ..CorrectRequest::default()
    };
    let message = message.encode_to_vec().into();
    Call { method: Method::Correct, tenant: held.tenant, subject: held.subject, message }
}

pub(super) fn delete(held: &Held) -> Call {
    let message = DeleteRequest {
        subject_id: World::subject(held.subject),
        memory: Some(named(held)),
        expected_version: Some(held.version),
        evidence: Evidence::UserConfirmed.into(),
        ..DeleteRequest::default()
    };
    let message = message.encode_to_vec().into();
    Call { method: Method::Delete, tenant: held.tenant, subject: held.subject, message }
}

/// Reads what came back from a call that writes.
///
/// # Errors
/// What it says where it is not what was asked for.
pub(super) fn settled(call: &Call, reply: Bytes) -> Result<Answer, &'static str> {
    const UNREADABLE: &str = "UNREADABLE_REPLY";
    let held = |outcome: Outcome, id: String, version: i64| match outcome {
        Outcome::Activated => Ok(Answer::Lives(Held { tenant: call.tenant, subject: call.subject, id, version })),
        other => Err(other.as_str_name()),
    };
    match call.method {
        Method::Recall | Method::Delete => Ok(Answer::Done),
        Method::Capture => {
            let reply = CaptureResponse::decode(reply).map_err(|_| UNREADABLE)?;
            held(reply.outcome(), reply.memory_id.clone(), reply.version)
        }
        Method::Correct => {
            let reply = CorrectResponse::decode(reply).map_err(|_| UNREADABLE)?;
            held(reply.outcome(), reply.memory_id.clone(), reply.version)
        }
    }
}

/// How many facts a recall's reply holds, and how many verdicts against.
pub(super) fn facts(reply: Bytes) -> Option<(usize, i32)> {
    let reply = RecallResponse::decode(reply).ok()?;
    Some((reply.envelope?.facts.len(), reply.rejected_count))
}

/// Where every second memory lies.
pub(super) fn scope(number: u32) -> Scope {
    let (level, project_id) =
        if lies_in_project(number) { (Level::Project, PROJECT.to_owned()) } else { (Level::General, String::new()) };
    Scope { level: level.into(), project_id, ..Scope::default() }
}

pub(super) const fn lies_in_project(number: u32) -> bool {
    number % 2 == 1
}

pub(super) fn source(reference: &str) -> Source {
    Source { kind: SOURCE.to_owned(), reference: reference.to_owned(), ..Source::default() }
}

pub(super) fn consent() -> Consent {
    Consent { state: ConsentState::Granted.into(), purposes: vec![PURPOSE.to_owned()] }
}

fn named(held: &Held) -> MemoryName {
    MemoryName { name: Some(memory_name::Name::MemoryId(held.id.clone())) }
}
