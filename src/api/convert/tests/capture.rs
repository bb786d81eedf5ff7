use prost_types::Timestamp;

use super::super::{capture, confirm_candidate, get_candidate, list_candidates, reject_candidate};
use super::rows::{self, Row, row};
use super::{ID, at, bad_fields, each_bad_value_is_named, source, task_scope};
use crate::api::proto;
use crate::gate::Error;
use crate::memory::{Audience, Confidence, Consent, Evidence, Level, Scope, Time, Version};

pub(super) fn good() -> proto::CaptureRequest {
    proto::CaptureRequest {
        subject_id: "ada".to_owned(),
        scope: Some(task_scope()),
        kind: "preference".to_owned(),
        key: "language".to_owned(),
        value: "Rust".to_owned(),
        source: Some(source()),
        evidence: proto::Evidence::UserConfirmed.into(),
        confidence: Some(0.9),
        sensitivity: proto::Sensitivity::Personal.into(),
        consent: Some(proto::Consent {
            state: proto::ConsentState::Granted.into(),
            purposes: vec!["draft".to_owned()],
        }),
        purposes: vec!["draft".to_owned()],
        observe_time: Some(at(100)),
        valid_from_time: Some(at(200)),
        expire_time: Some(at(300)),
        expected_version: Some(0),
        accept_revoked: true,
        request_id: ID.to_owned(),
        validate_only: true,
    }
}

fn consent(request: &mut proto::CaptureRequest) -> &mut proto::Consent {
    request.consent.as_mut().unwrap()
}

pub(super) fn bad() -> Vec<Row<proto::CaptureRequest>> {
    type Request = proto::CaptureRequest;
    let mut rows = rows::ids("subject_id", |r: &mut Request, id| r.subject_id = id);
    rows.push(row("scope", |r: &mut Request| r.scope = None));
    rows.extend(rows::within("scope", |r: &mut Request| r.scope.as_mut().unwrap(), rows::scopes()));
    rows.extend(rows::required_ids("kind", |r: &mut Request, id| r.kind = id));
    rows.extend(rows::ids("key", |r: &mut Request, id| r.key = id));
    rows.extend(rows::values(|r: &mut Request, value| r.value = value));
    rows.extend(rows::within("source", |r: &mut Request| r.source.as_mut().unwrap(), rows::sources()));
    rows.extend(rows::unknown_numbers("evidence", |r: &mut Request, n| r.evidence = n));
    rows.extend(rows::no_confidences("confidence", |r: &mut Request, n| r.confidence = Some(n)));
    rows.extend(rows::unknown_numbers("sensitivity", |r: &mut Request, n| r.sensitivity = n));
    rows.extend(rows::unknown_numbers("consent.state", |r: &mut Request, n| consent(r).state = n));
    rows.push(row("consent.state", |r| consent(r).state = proto::ConsentState::NotApplicable.into()));
    rows.extend(rows::purposes("consent.purposes", |r| &mut consent(r).purposes));
    rows.push(row("consent.purposes", |r| consent(r).purposes.clear()));
    rows.push(row("consent.state", |r| consent(r).state = proto::ConsentState::Withdrawn.into()));
    for state in [proto::ConsentState::Unspecified, proto::ConsentState::Unset] {
        rows.push(row("consent.purposes", move |r| consent(r).state = state.into()));
    }
    rows.push(row("consent", |r: &mut Request| {
        r.scope.as_mut().unwrap().audience = proto::Audience::Shared.into();
    }));
    rows.extend(rows::purposes("purposes", |r: &mut Request| &mut r.purposes));
    rows.extend(rows::no_times("observe_time", |r: &mut Request, time| r.observe_time = time));
    rows.extend(rows::no_times("valid_from_time", |r: &mut Request, time| r.valid_from_time = time));
    rows.extend(rows::no_times("expire_time", |r: &mut Request, time| r.expire_time = time));
    rows.push(row("expire_time", |r: &mut Request| r.expire_time = r.valid_from_time));
    // Less than a microsecond apart is no time apart.
    rows.push(row("expire_time", |r: &mut Request| r.expire_time = Some(Timestamp { seconds: 200, nanos: 999 })));
    rows.extend(rows::numbers("expected_version", &[-1, i64::MIN], |r: &mut Request, n| r.expected_version = Some(n)));
    rows.extend(rows::request_ids(|r: &mut Request, id| r.request_id = id));
    rows
}

pub(super) fn good_confirm() -> proto::ConfirmCandidateRequest {
    proto::ConfirmCandidateRequest {
        subject_id: "ada".to_owned(),
        candidate_id: ID.to_owned(),
        evidence: proto::Evidence::TaskVerified.into(),
        expected_version: Some(0),
        accept_revoked: true,
        request_id: ID.to_owned(),
        validate_only: true,
    }
}

pub(super) fn bad_confirm() -> Vec<Row<proto::ConfirmCandidateRequest>> {
    type Request = proto::ConfirmCandidateRequest;
    let mut rows = rows::ids("subject_id", |r: &mut Request, id| r.subject_id = id);
    rows.extend(rows::required_uuids("candidate_id", |r: &mut Request, id| r.candidate_id = id));
    rows.extend(rows::unknown_numbers("evidence", |r: &mut Request, n| r.evidence = n));
    for evidence in [proto::Evidence::Unspecified, proto::Evidence::None] {
        rows.push(row("evidence", move |r: &mut Request| r.evidence = evidence.into()));
    }
    rows.extend(rows::numbers("expected_version", &[-1], |r: &mut Request, n| r.expected_version = Some(n)));
    rows.extend(rows::request_ids(|r: &mut Request, id| r.request_id = id));
    rows
}

pub(super) fn good_reject() -> proto::RejectCandidateRequest {
    proto::RejectCandidateRequest {
        subject_id: "ada".to_owned(),
        candidate_id: ID.to_owned(),
        request_id: ID.to_owned(),
    }
}

pub(super) fn bad_reject() -> Vec<Row<proto::RejectCandidateRequest>> {
    type Request = proto::RejectCandidateRequest;
    let mut rows = rows::ids("subject_id", |r: &mut Request, id| r.subject_id = id);
    rows.extend(rows::required_uuids("candidate_id", |r: &mut Request, id| r.candidate_id = id));
    rows.extend(rows::request_ids(|r: &mut Request, id| r.request_id = id));
    rows
}

pub(super) fn good_get() -> proto::GetCandidateRequest {
    proto::GetCandidateRequest { subject_id: "ada".to_owned(), candidate_id: ID.to_owned() }
}

pub(super) fn bad_get() -> Vec<Row<proto::GetCandidateRequest>> {
    type Request = proto::GetCandidateRequest;
    let mut rows = rows::ids("subject_id", |r: &mut Request, id| r.subject_id = id);
    rows.extend(rows::required_uuids("candidate_id", |r: &mut Request, id| r.candidate_id = id));
    rows
}

pub(super) fn good_list() -> proto::ListCandidatesRequest {
    proto::ListCandidatesRequest {
        subject_id: "ada".to_owned(),
        scope: Some(task_scope()),
        page_size: 7,
        page_token: "AAEC_w".to_owned(),
    }
}

pub(super) fn bad_list() -> Vec<Row<proto::ListCandidatesRequest>> {
    type Request = proto::ListCandidatesRequest;
    let mut rows = rows::ids("subject_id", |r: &mut Request, id| r.subject_id = id);
    rows.push(row("scope", |r: &mut Request| r.scope = None));
    rows.extend(rows::within("scope", |r: &mut Request| r.scope.as_mut().unwrap(), rows::scopes()));
    rows.push(row("page_size", |r: &mut Request| r.page_size = -1));
    rows.push(row("page_size", |r: &mut Request| r.page_size = i32::MIN));
    rows.push(row("page_token", |r: &mut Request| r.page_token = "A".repeat(4097)));
    rows
}

#[test]
fn each_bad_field_of_the_capture_service_is_named() {
    each_bad_value_is_named(good, capture, &bad());
    each_bad_value_is_named(good_confirm, confirm_candidate, &bad_confirm());
    each_bad_value_is_named(good_reject, reject_candidate, &bad_reject());
    each_bad_value_is_named(good_get, get_candidate, &bad_get());
    each_bad_value_is_named(good_list, list_candidates, &bad_list());
}

#[test]
fn all_faults_are_named_at_once_in_the_order_of_the_fields() {
    let mut request = good();
    request.kind.clear();
    request.value.clear();
    request.source.as_mut().unwrap().reference = "\0".to_owned();
    request.confidence = Some(f64::NAN);
    request.valid_from_time = Some(Timestamp { seconds: 0, nanos: -1 });
    request.expire_time = Some(Timestamp { seconds: i64::MAX, nanos: 0 });
    request.request_id = "again".to_owned();
    assert_eq!(
        bad_fields(capture(request)),
        ["kind", "value", "source.reference", "confidence", "valid_from_time", "expire_time", "request_id"]
    );
    assert_eq!(bad_fields(capture(proto::CaptureRequest::default())), ["scope", "kind", "value"]);
}

#[test]
fn a_good_capture_becomes_a_command_with_every_field() {
    let command = capture(good()).unwrap();
    assert_eq!(command.subject.unwrap().as_str(), "ada");
    assert_eq!((command.scope.level.project(), command.scope.level.task()), ("alpha", "t-1"));
    assert_eq!(command.scope.audience, Audience::Personal);
    assert_eq!(command.kind.as_str(), "preference");
    assert_eq!(command.key.unwrap().as_str(), "language");
    assert_eq!(command.value.expose(), "Rust");
    assert_eq!(command.source.kind.unwrap().as_str(), "user_message");
    assert_eq!(command.source.reference.expose(), "message 7");
    assert_eq!(command.source.parents[0].to_string(), ID);
    assert_eq!(command.source.parent_references[0].expose(), "ticket 9");
    assert_eq!(command.evidence, Evidence::UserConfirmed);
    assert_eq!(command.confidence, Confidence::from_millionths(900_000));
    assert_eq!(command.consent.purposes()[0].as_str(), "draft");
    assert_eq!(command.purposes[0].as_str(), "draft");
    assert_eq!(command.observe_time, Time::from_parts(100, 0));
    assert_eq!(command.valid_from_time, Time::from_parts(200, 0));
    assert_eq!(command.expire_time, Time::from_parts(300, 0));
    assert_eq!(command.expected_version, Some(Version(0)));
    assert_eq!(command.request_id.unwrap().to_string(), ID);
    assert!(command.accept_revoked && command.validate_only);
}

#[test]
fn what_is_left_out_is_told_apart_from_zero_and_takes_its_default() {
    let scope = proto::Scope { level: proto::Level::General.into(), ..proto::Scope::default() };
    let command = capture(proto::CaptureRequest {
        scope: Some(scope),
        kind: "preference".to_owned(),
        value: "Rust".to_owned(),
        ..proto::CaptureRequest::default()
    })
    .unwrap();
    assert_eq!(command.scope, Scope { level: Level::General, audience: Audience::Personal });
    assert_eq!((command.subject, command.key, command.request_id), (None, None, None));
    assert_eq!((command.evidence, command.consent), (Evidence::None, Consent::Unset));
    assert_eq!((command.confidence, command.sensitivity, command.expected_version), (None, None, None));
    assert_eq!((command.observe_time, command.valid_from_time, command.expire_time), (None, None, None));
    assert_eq!(command.source.kind, None);
    assert!(!command.source.has_lineage() && command.source.reference.is_empty() && command.purposes.is_empty());

    let zero = proto::CaptureRequest { confidence: Some(-0.0), ..good() };
    assert_eq!(capture(zero).unwrap().confidence, Some(Confidence::ZERO));
}

#[test]
fn b38_limits_hold_exactly_and_text_is_kept_byte_for_byte() {
    let emoji = "\u{1f469}\u{200d}\u{1f680}";
    for value in ["x".repeat(65_536), "\u{1f600}".repeat(16_384), "\\u0000".to_owned(), "\u{202e}\u{feff}".to_owned()] {
        let request = proto::CaptureRequest { value: value.clone(), ..good() };
        assert_eq!(capture(request).unwrap().value.expose(), value);
    }
    let mut request = proto::CaptureRequest { key: "\u{1f600}".repeat(128), ..good() };
    let source = request.source.as_mut().unwrap();
    source.reference = emoji.repeat(170) + "\u{1f600}\u{1f600}";
    source.parent_references = vec!["\u{1f600}".repeat(512); 32];
    let command = capture(request).unwrap();
    assert_eq!(command.source.reference.char_count(), 512);
    assert_eq!(command.source.parent_references.len(), 32);
}

#[test]
fn b09_what_is_no_page_token_is_refused_as_one_and_a_page_has_its_bounds() {
    for token in ["not a token", "AAEC/w", "AAEC_w==", "\u{1f600}", "A"] {
        let request = proto::ListCandidatesRequest { page_token: token.to_owned(), ..good_list() };
        assert!(matches!(list_candidates(request), Err(Error::PageTokenInvalid)), "{token}");
    }
    for (asked, given) in [(0, 50), (1, 1), (200, 200), (201, 200), (i32::MAX, 200)] {
        let request = proto::ListCandidatesRequest { page_size: asked, ..good_list() };
        assert_eq!(list_candidates(request).unwrap().page_size, given);
    }
}

#[test]
fn b09_page_tokens_read_back_as_they_were_written() {
    use super::super::page::{decode, encode};
    let bytes: Vec<u8> = (0..=u8::MAX).collect();
    assert_eq!(decode(encode(Some(&bytes)).as_bytes()).unwrap(), bytes);
    assert_eq!(encode(None), "");
    assert!(encode(Some(&bytes)).bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
}

#[test]
fn no_fault_repeats_what_the_field_held() {
    let hostile = || "zq7canary\0".to_owned();
    let mut request = proto::CaptureRequest {
        subject_id: hostile(),
        kind: hostile(),
        key: hostile(),
        value: hostile(),
        purposes: vec![hostile()],
        request_id: hostile(),
        ..good()
    };
    let scope = request.scope.as_mut().unwrap();
    (scope.project_id, scope.task_id) = (hostile(), hostile());
    let source = request.source.as_mut().unwrap();
    (source.kind, source.reference) = (hostile(), hostile());
    (source.parent_memory_ids, source.parent_references) = (vec![hostile()], vec![hostile()]);
    consent(&mut request).purposes = vec![hostile()];
    let Err(Error::Invalid(faults)) = capture(request) else { panic!("not refused") };
    assert_eq!(faults.len(), 13);
    assert!(!format!("{faults:?}").contains("zq7canary"));
}

#[test]
fn b39_a_list_that_is_too_long_is_one_fault_however_long_it_is() {
    let mut request = good();
    request.purposes = vec![String::new(); 10_000];
    request.source.as_mut().unwrap().parent_memory_ids = vec![String::new(); 10_000];
    let refused = capture(request);
    let Err(error @ Error::Invalid(_)) = &refused else { panic!("not refused") };
    let status = crate::api::status::of(error);
    assert!(status.message().len() + status.details().len() < 1024);
    assert_eq!(bad_fields(refused), ["source.parent_memory_ids", "purposes"]);
}
