use super::super::{delete, restore};
use super::rows::{self, Row, row};
use super::{ID, address, each_bad_value_is_named};
use crate::api::proto;
use crate::memory::{Evidence, Version};

pub(super) fn good_delete() -> proto::DeleteRequest {
    proto::DeleteRequest {
        subject_id: "ada".to_owned(),
        memory: Some(address()),
        expected_version: Some(3),
        evidence: proto::Evidence::UserConfirmed.into(),
        request_id: ID.to_owned(),
    }
}

pub(super) fn bad_delete() -> Vec<Row<proto::DeleteRequest>> {
    type Request = proto::DeleteRequest;
    let mut rows = rows::ids("subject_id", |r: &mut Request, id| r.subject_id = id);
    rows.push(row("memory", |r: &mut Request| r.memory = None));
    rows.push(row("memory", |r: &mut Request| r.memory = Some(proto::MemoryName::default())));
    rows.extend(rows::within("memory", |r: &mut Request| r.memory.as_mut().unwrap(), rows::memory_names()));
    rows.push(row("expected_version", |r: &mut Request| r.expected_version = None));
    rows.extend(rows::numbers("expected_version", &[0, -1], |r: &mut Request, n| r.expected_version = Some(n)));
    rows.extend(rows::unknown_numbers("evidence", |r: &mut Request, n| r.evidence = n));
    for evidence in [proto::Evidence::Unspecified, proto::Evidence::None, proto::Evidence::TaskVerified] {
        rows.push(row("evidence", move |r: &mut Request| r.evidence = evidence.into()));
    }
    rows.extend(rows::request_ids(|r: &mut Request, id| r.request_id = id));
    rows
}

pub(super) fn good_restore() -> proto::RestoreRequest {
    let proto::DeleteRequest { subject_id, memory, expected_version, request_id, .. } = good_delete();
    let evidence = proto::Evidence::OperatorVerified.into();
    proto::RestoreRequest { subject_id, memory, expected_version, evidence, request_id }
}

pub(super) fn bad_restore() -> Vec<Row<proto::RestoreRequest>> {
    type Request = proto::RestoreRequest;
    let mut rows = rows::ids("subject_id", |r: &mut Request, id| r.subject_id = id);
    rows.push(row("memory", |r: &mut Request| r.memory = None));
    rows.extend(rows::within("memory", |r: &mut Request| r.memory.as_mut().unwrap(), rows::memory_names()));
    rows.push(row("expected_version", |r: &mut Request| r.expected_version = None));
    rows.extend(rows::numbers("expected_version", &[0, -1], |r: &mut Request, n| r.expected_version = Some(n)));
    rows.extend(rows::unknown_numbers("evidence", |r: &mut Request, n| r.evidence = n));
    rows.push(row("evidence", |r: &mut Request| r.evidence = proto::Evidence::TaskVerified.into()));
    rows.extend(rows::request_ids(|r: &mut Request, id| r.request_id = id));
    rows
}

#[test]
fn each_bad_field_of_the_delete_service_is_named() {
    each_bad_value_is_named(good_delete, delete, &bad_delete());
    each_bad_value_is_named(good_restore, restore, &bad_restore());
}

#[test]
fn i10_a_deletion_and_a_restoration_name_who_decided() {
    let (deleted, restored) = (delete(good_delete()).unwrap(), restore(good_restore()).unwrap());
    assert_eq!((deleted.evidence, restored.evidence), (Evidence::UserConfirmed, Evidence::OperatorVerified));
    assert_eq!((deleted.expected_version, restored.expected_version), (Version(3), Version(3)));
    assert_eq!(deleted.request_id.unwrap().to_string(), ID);
}
