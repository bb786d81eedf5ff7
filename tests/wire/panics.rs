//! A panic ends its call and nothing else.

use std::io::Write;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use recall_gate::server::Limits;
use tonic::Code;

use crate::harness::Service;
use crate::raw::{framed, read};
use crate::stub::CANARY;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_panic_anywhere_is_answered_internal_and_leaves_the_connections_other_calls_alone() {
    let service = Service::start(Limits::default()).await;
    let mut raw = service.raw().await;
    let (beside, mut body) = raw.begin("/stub.Stub/Wait", &[]).await;
    body.send_data(Bytes::from(framed(0, b"")), true).unwrap();
    service.stub.begun.notified().await;

    for path in ["/stub.Stub/PanicInCall", "/stub.Stub/PanicInFuture", "/stub.Stub/PanicInBody"] {
        for _ in 0..3 {
            let answer = raw.call(path, &[], &framed(0, b"")).await;
            assert_eq!(answer.refused(), (Code::Internal, "INTERNAL".to_owned()), "{path}");
            assert!(!format!("{answer:?}").contains(CANARY));
        }
    }
    assert!(!raw.driver.is_finished());
    service.stub.go_on.add_permits(1);
    assert_eq!(read(beside).await.unwrap().code(), Code::Ok, "a call that had begun before");
}

#[tokio::test]
async fn b40_neither_a_panic_nor_a_refusal_repeats_a_header_or_what_was_panicked_with() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    // Everything runs on this one thread.
    let logging = tracing::subscriber::set_default(subscriber);
    let service = Service::start(Limits::default()).await;
    let mut raw = service.raw().await;
    let headers = [("x-note", &b"zq7header"[..])];
    raw.call("/stub.Stub/PanicInFuture", &headers, &framed(0, b"")).await;
    raw.call("/stub.Stub/PanicInBody", &headers, &framed(0, b"")).await;
    raw.call("/stub.Stub/Ok", &[("grpc-timeout", b"zq7header")], &framed(0, b"")).await;
    raw.call("/stub.Stub/Ok", &[("grpc-encoding", b"zq7header")], &framed(1, b"zq7canary")).await;
    raw.call("/zq7header", &headers, &framed(0, b"")).await;
    let capture = "/recallgate.v1.CaptureService/Capture";
    raw.call(capture, &[("authorization", b"Bearer zq7header")], &framed(0, b"")).await;
    raw.call(capture, &headers, &framed(0, b"\x2a\x09zq7canary\xff")).await;
    let (_, mut cancelled) = raw.begin(capture, &headers).await;
    cancelled.send_reset(h2::Reason::CANCEL);
    assert_eq!(raw.call("/stub.Stub/Ok", &[], &framed(0, b"")).await.code(), Code::Ok);
    drop(logging);
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("a call panicked"), "{text}");
    let ended = text.lines().filter(|line| line.contains("call ended"));
    assert_eq!(ended.filter(|line| line.contains("\"INTERNAL\"")).count(), 2, "the spans of both panics");
    let errors = text.lines().filter(|line| line.contains(" ERROR "));
    assert_eq!(errors.count(), 2, "B39: neither a refusal nor a cancelled call is a fault of the service");
    // At its most talkative tonic repeats a timeout that it cannot read, which is no secret.
    let told =
        text.lines().filter(|line| line.contains("zq7") && !line.contains("tonic::transport::service::grpc_timeout"));
    let told: Vec<&str> = told.collect();
    assert!(told.is_empty(), "{told:#?}");
}
