use super::super::correct;
use super::rows::{self, Row, row};
use super::{ID, address, at, bad_fields, by_id, each_bad_value_is_named, source};
use crate::api::proto;
use crate::gate::command::MemoryName;
use crate::memory::Version;

pub(super) fn good() -> proto::CorrectRequest {
    proto::CorrectRequest {
        subject_id: "ada".to_owned(),
        memory: Some(address()),
        expected_version: Some(3),
        value: "Rust".to_owned(),
        source: Some(source()),
        evidence: proto::Evidence::UserConfirmed.into(),
        confidence: Some(0.9),
        sensitivity: proto::Sensitivity::Personal.into(),
        observe_time: Some(at(100)),
        valid_from_time: Some(at(200)),
        expire_time: Some(at(300)),
        reason: "she said so".to_owned(),
        accept_revoked: false,
        request_id: ID.to_owned(),
        validate_only: false,
    }
}

pub(super) fn bad() -> Vec<Row<proto::CorrectRequest>> {
    type Request = proto::CorrectRequest;
    let mut rows = rows::ids("subject_id", |r: &mut Request, id| r.subject_id = id);
    rows.push(row("memory", |r: &mut Request| r.memory = None));
    rows.push(row("memory", |r: &mut Request| r.memory = Some(proto::MemoryName::default())));
    rows.extend(rows::within("memory", |r: &mut Request| r.memory.as_mut().unwrap(), rows::memory_names()));
    rows.push(row("expected_version", |r: &mut Request| r.expected_version = None));
    let versions = [0, -1, i64::MIN];
    rows.extend(rows::numbers("expected_version", &versions, |r: &mut Request, n| r.expected_version = Some(n)));
    rows.extend(rows::values(|r: &mut Request, value| r.value = value));
    rows.extend(rows::within("source", |r: &mut Request| r.source.as_mut().unwrap(), rows::sources()));
    rows.extend(rows::unknown_numbers("evidence", |r: &mut Request, n| r.evidence = n));
    rows.extend(rows::no_confidences("confidence", |r: &mut Request, n| r.confidence = Some(n)));
    rows.extend(rows::unknown_numbers("sensitivity", |r: &mut Request, n| r.sensitivity = n));
    rows.extend(rows::no_times("observe_time", |r: &mut Request, time| r.observe_time = time));
    rows.extend(rows::no_times("valid_from_time", |r: &mut Request, time| r.valid_from_time = time));
    rows.extend(rows::no_times("expire_time", |r: &mut Request, time| r.expire_time = time));
    rows.push(row("expire_time", |r: &mut Request| r.expire_time = r.valid_from_time));
    for reason in [String::new(), " \n\t".to_owned(), "a\0b".to_owned(), "x".repeat(513)] {
        rows.push(row("reason", move |r: &mut Request| r.reason.clone_from(&reason)));
    }
    rows.extend(rows::request_ids(|r: &mut Request, id| r.request_id = id));
    rows
}

#[test]
fn each_bad_field_of_the_correct_service_is_named() {
    each_bad_value_is_named(good, correct, &bad());
    let empty = bad_fields(correct(proto::CorrectRequest::default()));
    assert_eq!(empty, ["memory", "expected_version", "value", "reason"]);
}

#[test]
fn i04_b23_a_correction_names_the_version_it_saw() {
    let command = correct(proto::CorrectRequest { memory: Some(by_id(ID)), ..good() }).unwrap();
    assert_eq!(command.expected_version, Version(3));
    assert!(matches!(command.memory, MemoryName::Id(id) if id.to_string() == ID));
    assert_eq!(command.reason.expose(), "she said so");
    let MemoryName::Address(scope, key) = correct(good()).unwrap().memory else { panic!("no address") };
    assert_eq!((scope.level.task(), key.as_str()), ("t-1", "language"));
}
