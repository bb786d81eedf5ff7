//! The limits of a command, stated once more and apart from the conversion that has to keep them.

use std::collections::BTreeSet;
use std::fmt::Display;

use recall_gate::api::fuzzing::Command;
use recall_gate::gate::command::{BatchCapture, Capture, ChangeDeleted, Correct, ListRange, MemoryName, Recall};
use recall_gate::memory::{
    Audience, Consent, Evidence, Level, MemoryId, PurposeName, RequestId, Scope, Source, SubjectId, Text, TextQuery,
    Time, Version,
};

/// The microseconds of the years 1 to 9999.
const YEARS: std::ops::RangeInclusive<i64> = -62_135_596_800_000_000..=253_402_300_799_999_999;

/// Panics where a command of this method is none that the gate may be handed.
pub fn check(method: &str, command: &Command) {
    match command {
        Command::Capture(command) => capture(method, command),
        Command::BatchCapture(command) => batch(method, command),
        Command::ConfirmCandidate(command) => {
            called(method, "ConfirmCandidate");
            subject(command.subject.as_ref());
            request(command.request_id);
            assert_ne!(command.evidence, Evidence::None);
            assert!(command.expected_version.is_none_or(|version| version >= Version(0)));
        }
        Command::RejectCandidate(command) => {
            called(method, "RejectCandidate");
            subject(command.subject.as_ref());
            request(command.request_id);
        }
        Command::GetCandidate(command) => {
            called(method, "GetCandidate");
            subject(command.subject.as_ref());
        }
        Command::ListCandidates(command) => {
            called(method, "ListCandidates");
            subject(command.subject.as_ref());
            scope(&command.scope);
            page(command.page_size, &command.page_token);
        }
        Command::Correct(command) => correct(method, command),
        Command::Delete(command) => change_deleted(method, "Delete", command),
        Command::Restore(command) => change_deleted(method, "Restore", command),
        Command::Recall(command) => recall(method, "Recall", command),
        Command::ExplainRecall(command) => recall(method, "ExplainRecall", command),
        Command::GetMemory(command) => {
            called(method, "GetMemory");
            subject(command.subject.as_ref());
            memory(&command.memory);
            id(&command.purpose);
        }
        Command::ListMemories(command) => {
            called(method, "ListMemories");
            subject(command.subject.as_ref());
            id(&command.purpose);
            match &command.range {
                ListRange::Scope(range) => scope(range),
                ListRange::AllProjects => {}
            }
            page(command.page_size, &command.page_token);
        }
        Command::GetCaller => called(method, "GetCaller"),
        Command::GetPolicy => called(method, "GetPolicy"),
    }
}

fn called(method: &str, own: &str) {
    assert_eq!(method, own, "a command of another method");
}

fn capture(method: &str, command: &Capture) {
    called(method, "Capture");
    fact(command);
}

fn batch(method: &str, command: &BatchCapture) {
    called(method, "BatchCapture");
    subject(command.subject.as_ref());
    request(command.request_id);
    assert!((1..=100).contains(&command.items.len()), "{} facts", command.items.len());
    for item in &command.items {
        fact(item);
        assert!(item.subject.is_none() && item.request_id.is_none() && !item.validate_only);
    }
}

fn fact(fact: &Capture) {
    subject(fact.subject.as_ref());
    scope(&fact.scope);
    id(&fact.kind);
    fact.key.iter().for_each(id);
    value(&fact.value);
    source(&fact.source);
    purposes(&fact.purposes);
    match &fact.consent {
        Consent::Unset => {}
        Consent::Granted(named) => {
            assert!(!named.is_empty(), "consent to nothing");
            assert_eq!(fact.scope.audience, Audience::Personal, "nobody consents for all");
            purposes(named);
        }
        Consent::Withdrawn | Consent::NotApplicable => panic!("a capture takes no consent back"),
    }
    times(fact.observe_time, fact.valid_from_time, fact.expire_time);
    assert!(fact.expected_version.is_none_or(|version| version >= Version(0)));
    request(fact.request_id);
}

fn correct(method: &str, command: &Correct) {
    called(method, "Correct");
    subject(command.subject.as_ref());
    memory(&command.memory);
    assert!(command.expected_version >= Version::FIRST);
    value(&command.value);
    source(&command.source);
    times(command.observe_time, command.valid_from_time, command.expire_time);
    note(&command.reason);
    assert!(!command.reason.expose().trim().is_empty(), "no reason");
    request(command.request_id);
}

fn change_deleted(method: &str, own: &str, command: &ChangeDeleted) {
    called(method, own);
    subject(command.subject.as_ref());
    memory(&command.memory);
    assert!(command.expected_version >= Version::FIRST);
    assert!(matches!(command.evidence, Evidence::UserConfirmed | Evidence::OperatorVerified));
    request(command.request_id);
}

fn recall(method: &str, own: &str, command: &Recall) {
    called(method, own);
    subject(command.subject.as_ref());
    level(&command.context.0);
    id(&command.purpose);
    command.keys.iter().for_each(id);
    assert!(command.keys.len() <= 100 && each_once(&command.keys));
    let nominated: Vec<MemoryId> = command.nominations.iter().map(|nomination| nomination.memory_id).collect();
    assert!(nominated.len() <= 256 && each_once(&nominated));
    for nomination in &command.nominations {
        assert!(nomination.value_version.is_none_or(|version| version >= Version::FIRST));
        assert!(nomination.score.is_none_or(f64::is_finite));
        nomination.derived_store.iter().for_each(id);
    }
    if let Some(TextQuery::Words(text) | TextQuery::Substring(text)) = &command.text {
        assert!((1..=1000).contains(&text.char_count()) && !text.expose().contains('\0'));
    }
    assert!(command.all || command.text.is_some() || !(command.keys.is_empty() && nominated.is_empty()));
    assert!((1..=20).contains(&command.budget.max_items));
    assert!((1..=100_000).contains(&command.budget.max_value_chars));
}

fn subject(subject: Option<&SubjectId>) {
    subject.into_iter().for_each(id);
}

fn id(id: &impl Display) {
    let id = id.to_string();
    assert!((1..=128).contains(&id.chars().count()), "{id:?}");
    assert!(!id.chars().any(char::is_control) && !id.trim().is_empty(), "{id:?}");
}

fn scope(scope: &Scope) {
    level(&scope.level);
}

fn level(level: &Level) {
    match level {
        Level::General => {}
        Level::Project(project) => id(project),
        Level::Task(project, task) => {
            id(project);
            id(task);
        }
    }
}

fn memory(memory: &MemoryName) {
    match memory {
        MemoryName::Id(_) => {}
        MemoryName::Address(place, key) => {
            scope(place);
            id(key);
        }
    }
}

fn value(value: &Text) {
    let value = value.expose();
    assert!((1..=65_536).contains(&value.len()) && !value.contains('\0'));
}

fn note(note: &Text) {
    assert!(note.char_count() <= 512 && !note.expose().contains('\0'));
}

fn source(source: &Source) {
    source.kind.iter().for_each(id);
    note(&source.reference);
    assert!(source.parents.len() <= 32 && each_once(&source.parents));
    assert!(source.parent_references.len() <= 32);
    for reference in &source.parent_references {
        note(reference);
        assert!(!reference.is_empty());
    }
}

fn purposes(purposes: &[PurposeName]) {
    purposes.iter().for_each(id);
    assert!(purposes.len() <= 32 && each_once(purposes));
}

fn times(observe: Option<Time>, valid_from: Option<Time>, expire: Option<Time>) {
    for time in [observe, valid_from, expire].into_iter().flatten() {
        assert!(YEARS.contains(&time.micros()), "{time:?}");
    }
    if let (Some(from), Some(end)) = (valid_from, expire) {
        assert!(from < end, "it never holds");
    }
}

fn request(request: Option<RequestId>) {
    assert!(request.is_none_or(|id| !id.0.is_nil()));
}

fn page(size: u32, token: &[u8]) {
    assert!((1..=200).contains(&size));
    // 4096 characters of base64.
    assert!(token.len() <= 3072, "a token of {} bytes", token.len());
}

fn each_once<T: Ord>(items: &[T]) -> bool {
    items.iter().collect::<BTreeSet<_>>().len() == items.len()
}
