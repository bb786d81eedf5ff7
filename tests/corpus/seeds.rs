//! The inputs that the fuzzers begin with, by target and name. `the_seeds_are_kept_as_they_are_made` says how to write
//! them anew.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use prost_types::Timestamp;
use recall_gate::api::proto;
use recall_gate::policy::DEFAULT_DOCUMENT;

use crate::fuzz::requests::{self, Shape};
use crate::fuzz::tokens::{self, Form};

const ID: &str = "0192f0c1-2b3a-7c4d-8e5f-0123456789ab";

/// By the path below `fuzz/corpus`.
pub(crate) type Seeds = BTreeMap<String, Vec<u8>>;

pub(crate) fn all() -> Seeds {
    let mut seeds = Seeds::new();
    for (method, bytes) in good_requests() {
        seeds.insert(format!("requests/{method}"), requests::input(method, Shape::Message, &bytes));
    }
    request_shapes(&mut seeds);
    past_the_limits(&mut seeds);
    page_tokens(&mut seeds);
    policy_files(&mut seeds);
    seeds
}

/// A request of each method that becomes a command, every field set.
pub(crate) fn good_requests() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("Capture", capture().encode_to_vec()),
        ("BatchCapture", batch().encode_to_vec()),
        ("ConfirmCandidate", confirm().encode_to_vec()),
        (
            "RejectCandidate",
            proto::RejectCandidateRequest { subject_id: ada(), candidate_id: id(), request_id: id() }.encode_to_vec(),
        ),
        ("GetCandidate", proto::GetCandidateRequest { subject_id: ada(), candidate_id: id() }.encode_to_vec()),
        ("ListCandidates", list_candidates().encode_to_vec()),
        ("Correct", correct().encode_to_vec()),
        ("Delete", delete().encode_to_vec()),
        ("Restore", restore().encode_to_vec()),
        ("Recall", recall().encode_to_vec()),
        ("ExplainRecall", proto::ExplainRecallRequest { recall: Some(recall()) }.encode_to_vec()),
        ("GetMemory", get_memory().encode_to_vec()),
        ("ListMemories", list_memories().encode_to_vec()),
        ("GetCaller", Vec::new()),
        ("GetPolicy", Vec::new()),
    ]
}

/// What is not one plain message: compressed, with its frames, with more frames than one, and with none.
fn request_shapes(seeds: &mut Seeds) {
    let message = recall().encode_to_vec();
    let plain = [frame(0, &message), frame(0, &message)].concat();
    let compressed = frame(1, &gzip(&message));
    for (name, shape, bytes) in [
        ("compressed", Shape::Compressed, gzip(&message)),
        ("compressed-zeros", Shape::Compressed, gzip(&vec![0; 100_000])),
        ("body", Shape::Body, plain),
        ("body-compressed", Shape::CompressedBody, compressed),
        ("body-too-long", Shape::Body, b"\0\xff\xff\xff\xff".to_vec()),
        ("body-empty", Shape::Body, Vec::new()),
    ] {
        seeds.insert(format!("requests/{name}"), requests::input("Recall", shape, &bytes));
    }
}

/// Good but for one thing, so that a limit that is no longer kept is seen.
fn past_the_limits(seeds: &mut Seeds) {
    let long = proto::CaptureRequest { value: "x".repeat(65_537), ..capture() };
    let never = proto::CaptureRequest { expire_time: Some(at(200)), ..capture() };
    let purposes = vec!["draft".to_owned(); 2];
    let twice = proto::CaptureRequest { purposes, ..capture() };
    let mut many = batch();
    many.items = vec![many.items[0].clone(); 101];
    let silent = proto::CorrectRequest { reason: " ".to_owned(), ..correct() };
    for (name, method, bytes) in [
        ("value-too-long", "Capture", long.encode_to_vec()),
        ("never-valid", "Capture", never.encode_to_vec()),
        ("purpose-twice", "Capture", twice.encode_to_vec()),
        ("too-many", "BatchCapture", many.encode_to_vec()),
        ("no-reason", "Correct", silent.encode_to_vec()),
    ] {
        let input = requests::input(method, Shape::Compressed, &gzip(&bytes));
        seeds.insert(format!("requests/{method}-{name}"), input);
    }
}

fn page_tokens(seeds: &mut Seeds) {
    let memory = br#"{"Memory":{"owner":"dev","project":"","task":"","key":"language"}}"#;
    let candidate = br#"{"Candidate":{"create_time":1767225600000000,"id":"0192f0c1-2b3a-7c4d-8e5f-0123456789ab"}}"#;
    let held = br#"[1767225600000000,"0192f0c1-2b3a-7c4d-8e5f-0123456789ab"]"#;
    let looks_sealed: Vec<u8> = (0..80).collect();
    let damage = [&[0, 3, 1], [7; 32].as_slice(), memory].concat();
    for (name, form, rest) in [
        ("written", Form::Written, b"\0AAEC_wAAEC_wAAEC_wAAEC_wAAEC_wAAEC_wAAEC_w".to_vec()),
        ("written-padded", Form::Written, b"\x07AAEC_w==".to_vec()),
        ("written-first-page", Form::Written, b"\x01".to_vec()),
        ("bytes", Form::Bytes, [&[0], looks_sealed.as_slice()].concat()),
        ("sealed", Form::Sealed, damage),
        ("memory", Form::Cursor, [&[0, 0], memory.as_slice()].concat()),
        ("candidate", Form::Cursor, [&[6, 6], candidate.as_slice()].concat()),
        ("held", Form::Cursor, [&[7, 7], held.as_slice()].concat()),
        ("memory-elsewhere", Form::Cursor, [&[0, 1], memory.as_slice()].concat()),
        ("held-elsewhere", Form::Cursor, [&[7, 8], held.as_slice()].concat()),
    ] {
        seeds.insert(format!("tokens/{name}"), tokens::input(form, &rest));
    }
}

fn policy_files(seeds: &mut Seeds) {
    for (name, document) in [
        ("default", DEFAULT_DOCUMENT),
        ("small", include_str!("small.toml")),
        ("every-field-wrong", include_str!("wrong.toml")),
        ("not-toml", "[kinds\nmin_confidence =\n\"\u{1f600}\" 7 ["),
    ] {
        seeds.insert(format!("policies/{name}"), document.as_bytes().to_vec());
    }
}

fn frame(flag: u8, message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[flag], length.as_slice(), message].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn id() -> String {
    ID.to_owned()
}

fn ada() -> String {
    "ada".to_owned()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp { seconds, nanos: 999_999_999 }
}

fn scope() -> proto::Scope {
    proto::Scope {
        level: proto::Level::Task.into(),
        project_id: "alpha".to_owned(),
        task_id: "t-1".to_owned(),
        audience: proto::Audience::Personal.into(),
    }
}

fn source() -> proto::Source {
    proto::Source {
        kind: "user_message".to_owned(),
        reference: "message 7".to_owned(),
        parent_memory_ids: vec![id()],
        parent_references: vec!["ticket 9".to_owned()],
    }
}

fn by_address() -> proto::MemoryName {
    let address = proto::MemoryAddress { scope: Some(scope()), key: "language".to_owned() };
    proto::MemoryName { name: Some(proto::memory_name::Name::Address(address)) }
}

fn by_id() -> proto::MemoryName {
    proto::MemoryName { name: Some(proto::memory_name::Name::MemoryId(id())) }
}

fn capture() -> proto::CaptureRequest {
    let purposes = vec!["draft".to_owned()];
    proto::CaptureRequest {
        subject_id: ada(),
        scope: Some(scope()),
        kind: "preference".to_owned(),
        key: "language".to_owned(),
        value: "R\u{fc}st \u{1f980}".to_owned(),
        source: Some(source()),
        evidence: proto::Evidence::UserConfirmed.into(),
        confidence: Some(0.9),
        sensitivity: proto::Sensitivity::Personal.into(),
        consent: Some(proto::Consent { state: proto::ConsentState::Granted.into(), purposes: purposes.clone() }),
        purposes,
        observe_time: Some(at(100)),
        valid_from_time: Some(at(200)),
        expire_time: Some(at(300)),
        expected_version: Some(0),
        accept_revoked: true,
        request_id: id(),
        validate_only: true,
    }
}

fn batch() -> proto::BatchCaptureRequest {
    let alone = capture();
    let item = proto::BatchCaptureItem {
        scope: alone.scope,
        kind: alone.kind,
        value: alone.value,
        source: alone.source,
        consent: alone.consent,
        purposes: alone.purposes,
        observe_time: alone.observe_time,
        ..proto::BatchCaptureItem::default()
    };
    proto::BatchCaptureRequest {
        subject_id: ada(),
        items: vec![item.clone(), item],
        import: true,
        request_id: id(),
        validate_only: true,
    }
}

fn confirm() -> proto::ConfirmCandidateRequest {
    proto::ConfirmCandidateRequest {
        subject_id: ada(),
        candidate_id: id(),
        evidence: proto::Evidence::TaskVerified.into(),
        expected_version: Some(1),
        accept_revoked: true,
        request_id: id(),
        validate_only: true,
    }
}

fn list_candidates() -> proto::ListCandidatesRequest {
    proto::ListCandidatesRequest {
        subject_id: ada(),
        scope: Some(scope()),
        page_size: 7,
        page_token: "AAEC_w".to_owned(),
    }
}

fn correct() -> proto::CorrectRequest {
    proto::CorrectRequest {
        subject_id: ada(),
        memory: Some(by_address()),
        expected_version: Some(3),
        value: "Go".to_owned(),
        source: Some(source()),
        evidence: proto::Evidence::UserConfirmed.into(),
        confidence: Some(1.0),
        sensitivity: proto::Sensitivity::Internal.into(),
        observe_time: Some(at(-62_135_596_800)),
        valid_from_time: Some(at(200)),
        expire_time: Some(at(253_402_300_799)),
        reason: "she said so".to_owned(),
        accept_revoked: true,
        request_id: id(),
        validate_only: true,
    }
}

fn delete() -> proto::DeleteRequest {
    proto::DeleteRequest {
        subject_id: ada(),
        memory: Some(by_id()),
        expected_version: Some(3),
        evidence: proto::Evidence::UserConfirmed.into(),
        request_id: id(),
    }
}

fn restore() -> proto::RestoreRequest {
    proto::RestoreRequest {
        subject_id: ada(),
        memory: Some(by_address()),
        expected_version: Some(3),
        evidence: proto::Evidence::OperatorVerified.into(),
        request_id: id(),
    }
}

fn recall() -> proto::RecallRequest {
    let (project_id, task_id) = ("alpha".to_owned(), "t-1".to_owned());
    let task = proto::context::Context::Task(proto::TaskContext { project_id, task_id });
    proto::RecallRequest {
        subject_id: ada(),
        context: Some(proto::Context { context: Some(task) }),
        purpose: "draft".to_owned(),
        query: Some(proto::Query {
            keys: vec!["language".to_owned(), "style".to_owned()],
            nominations: vec![proto::Nomination {
                memory_id: id(),
                value_version: Some(1),
                score: Some(0.5),
                derived_store_id: "vectors".to_owned(),
            }],
            all: Some(proto::AllQuery {}),
            text: Some(proto::TextQuery { text: "R\u{fc}st".to_owned(), mode: proto::TextMode::Substring.into() }),
        }),
        budget: Some(proto::Budget { max_items: Some(20), max_value_chars: Some(100_000) }),
        min_confidence: Some(0.5),
    }
}

fn get_memory() -> proto::GetMemoryRequest {
    proto::GetMemoryRequest { subject_id: ada(), memory: Some(by_address()), purpose: "subject_access".to_owned() }
}

fn list_memories() -> proto::ListMemoriesRequest {
    let range = proto::list_memories_request::Range::AllProjects(proto::AllProjects {});
    proto::ListMemoriesRequest {
        subject_id: ada(),
        purpose: "subject_access".to_owned(),
        range: Some(range),
        page_size: 200,
        page_token: "AAEC_w".to_owned(),
    }
}
