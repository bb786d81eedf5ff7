//! B39: whatever a client sends that is too much or wrong in thousands of places, it sees the right code at once, and its
//! channel stays good: tonic's client with its default limits, and the official one for Python.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use prost::Message;
use recall_gate::api::MAX_REQUEST_BYTES;
use recall_gate::api::proto::capture_service_client::CaptureServiceClient;
use recall_gate::api::proto::discovery_service_client::DiscoveryServiceClient;
use recall_gate::api::proto::{
    BatchCaptureItem, BatchCaptureRequest, GetCallerRequest, GetMemoryRequest, MemoryName, Nomination, Query,
    RecallRequest, memory_name,
};
use recall_gate::server::Limits;
use tonic::Code;

use crate::harness::{Service, channel, fact};
use crate::raw::LONG;

/// What the message and the details of a refusal may take together.
const MAX_TOLD: usize = 4096;

/// So many facts with two faults each. More than a hundred are one fault together.
fn faulty_batch(count: usize) -> BatchCaptureRequest {
    let faulty = BatchCaptureItem {
        kind: "\u{e9}\n".repeat(20),
        key: "\0".to_owned(),
        value: "zq7 value".to_owned(),
        ..BatchCaptureItem::default()
    };
    BatchCaptureRequest { items: vec![faulty; count], ..BatchCaptureRequest::default() }
}

/// A name for each, its method, its message, and the code that it must get.
fn bad_calls() -> Vec<(&'static str, &'static str, Vec<u8>, &'static str)> {
    let name = |id: String| Some(MemoryName { name: Some(memory_name::Name::MemoryId(id)) });
    let get = GetMemoryRequest { memory: name("i".repeat(100 * 1024)), ..GetMemoryRequest::default() };
    let unknown = Nomination { memory_id: "0190a000-0000-7000-8000-000000000001".to_owned(), ..Nomination::default() };
    let query =
        |query| RecallRequest { query: Some(query), purpose: "converse".to_owned(), ..RecallRequest::default() };
    let ids = query(Query { nominations: vec![unknown; 10_000], ..Query::default() });
    let keys = query(Query { keys: vec!["k".repeat(50 * 1024), "\u{e9}\n\u{1f600}".repeat(1000)], ..Query::default() });
    let large = fact(&"v".repeat(MAX_REQUEST_BYTES), "");
    let (capture, recall) = ("/recallgate.v1.CaptureService", "/recallgate.v1.RecallService");
    let call = |name, service: &str, method: &str, message: Vec<u8>, code| {
        let path: &'static str = format!("{service}/{method}").leak();
        (name, path, message, code)
    };
    vec![
        call("batch", capture, "BatchCapture", faulty_batch(100).encode_to_vec(), "INVALID_ARGUMENT"),
        call("batches", capture, "BatchCapture", faulty_batch(5_000).encode_to_vec(), "INVALID_ARGUMENT"),
        call("id", recall, "GetMemory", get.encode_to_vec(), "INVALID_ARGUMENT"),
        call("ids", recall, "Recall", ids.encode_to_vec(), "INVALID_ARGUMENT"),
        call("keys", recall, "Recall", keys.encode_to_vec(), "INVALID_ARGUMENT"),
        call("large", capture, "Capture", large.encode_to_vec(), "RESOURCE_EXHAUSTED"),
        call("noise", capture, "Capture", vec![0xff; 1000], "INVALID_ARGUMENT"),
        call("nowhere", recall, "NoSuchMethod", Vec::new(), "UNIMPLEMENTED"),
    ]
}

#[tokio::test]
async fn b39_a_batch_that_is_wrong_in_thousands_of_places_is_refused_in_few_words() {
    let service = Service::start(Limits::default()).await;
    let channel = channel(service.address).await;
    for count in [100, 5_000, 100] {
        let mut capture = CaptureServiceClient::new(channel.clone());
        let refused =
            tokio::time::timeout(LONG, capture.batch_capture(faulty_batch(count))).await.unwrap().unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
        assert!(refused.message().len() + refused.details().len() < MAX_TOLD, "{refused:?}");
        DiscoveryServiceClient::new(channel.clone()).get_caller(GetCallerRequest {}).await.unwrap();
    }
}

/// The Python with the client: the one that `tests/run` sets up, or the host's.
fn python() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_recall-gate")).ancestors().nth(2).unwrap();
    let own = target.join("tools/bin/python");
    if own.exists() { own } else { "python3".into() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b39_the_python_client_sees_the_right_code_at_once_and_its_channel_stays_good() {
    let service = Service::start(Limits::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let mut calls = bad_calls();
    calls.sort_by_key(|(name, ..)| *name);
    for (name, method, message, _) in &calls {
        std::fs::write(folder.path().join(name), [method.as_bytes(), b"\n", message].concat()).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire/client.py");
    let mut command = Command::new(python());
    command.arg("-B").arg(script).arg(service.address.to_string()).arg(folder.path()).env_remove("http_proxy");
    let ran = tokio::task::spawn_blocking(move || command.stdin(Stdio::null()).output().unwrap()).await.unwrap();
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(
        ran.status.success(),
        "the client for Python is needed, in {} or in the host's Python: run tests/run, which installs it: {told}",
        python().display()
    );
    let said = String::from_utf8(ran.stdout).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), calls.len() * 2, "{said}");
    for ((name, _, _, code), pair) in calls.iter().zip(lines.chunks(2)) {
        let words: Vec<&str> = pair[0].split(' ').collect();
        assert_eq!(words[..2], [*name, code], "{said}");
        assert!(words[2].parse::<usize>().unwrap() < MAX_TOLD, "{said}");
        assert_eq!(pair[1], "good OK 0", "after {name}: {said}");
    }
}
