use super::super::batch_capture;
use super::rows::{self, Row, row};
use super::{ID, bad_fields, capture, each_bad_value_is_named};
use crate::api::proto;
use crate::memory::Version;

type Request = proto::BatchCaptureRequest;

fn of(request: proto::CaptureRequest) -> proto::BatchCaptureItem {
    proto::BatchCaptureItem {
        scope: request.scope,
        kind: request.kind,
        key: request.key,
        value: request.value,
        source: request.source,
        evidence: request.evidence,
        confidence: request.confidence,
        sensitivity: request.sensitivity,
        consent: request.consent,
        purposes: request.purposes,
        observe_time: request.observe_time,
        valid_from_time: request.valid_from_time,
        expire_time: request.expire_time,
        expected_version: request.expected_version,
        accept_revoked: request.accept_revoked,
    }
}

pub(super) fn good() -> Request {
    Request {
        subject_id: "ada".to_owned(),
        items: vec![of(capture::good()), of(capture::good())],
        import: true,
        request_id: ID.to_owned(),
        validate_only: true,
    }
}

/// Whatever a capture may have wrong, the second item has wrong.
pub(super) fn bad() -> Vec<Row<Request>> {
    let mut rows = rows::ids("subject_id", |r: &mut Request, id| r.subject_id = id);
    let of_the_batch = |path: &str| ["subject_id", "request_id"].contains(&path);
    for (path, spoil) in capture::bad().into_iter().filter(|(path, _)| !of_the_batch(path)) {
        rows.push(row(&format!("items[1].{path}"), move |r: &mut Request| {
            let mut alone = capture::good();
            spoil(&mut alone);
            r.items[1] = of(alone);
        }));
    }
    rows.push(row("items", |r: &mut Request| r.items.clear()));
    rows.push(row("items", |r: &mut Request| r.items = vec![proto::BatchCaptureItem::default(); 101]));
    rows.extend(rows::request_ids(|r: &mut Request, id| r.request_id = id));
    rows
}

#[test]
fn each_bad_field_of_a_batch_is_named_by_its_item() {
    each_bad_value_is_named(good, batch_capture, &bad());
}

#[test]
fn the_faults_of_all_items_are_named_at_once() {
    let mut request = good();
    request.subject_id = "\0".to_owned();
    request.items[0].kind.clear();
    request.items[1] = proto::BatchCaptureItem::default();
    let named = ["subject_id", "items[0].kind", "items[1].scope", "items[1].kind", "items[1].value"];
    assert_eq!(bad_fields(batch_capture(request)), named);
}

#[test]
fn a_good_batch_becomes_a_command_with_every_field() {
    let full = Request { items: vec![of(capture::good()); 100], ..good() };
    let command = batch_capture(full).unwrap();
    assert_eq!((command.items.len(), command.import), (100, true));
    assert_eq!(command.subject.unwrap().as_str(), "ada");
    assert_eq!(command.request_id.unwrap().to_string(), ID);
    assert!(command.import && command.validate_only);
    let last = command.items.last().unwrap();
    assert_eq!((last.value.expose(), last.expected_version), ("Rust", Some(Version(0))));
    assert!(!batch_capture(Request { import: false, ..good() }).unwrap().import);
}
