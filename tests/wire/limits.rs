//! How much at once.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use recall_gate::server::Limits;
use tonic::Code;
use tonic_types::StatusExt;

use crate::harness::Service;
use crate::raw::{Raw, framed, read};

const CHECK: &str = "/grpc.health.v1.Health/Check";

async fn waiting(raw: &mut Raw, service: &Service, path: &'static str) -> h2::client::ResponseFuture {
    let (answer, mut body) = raw.begin(path, &[]).await;
    body.send_data(Bytes::from(framed(0, b"")), true).unwrap();
    service.stub.begun.notified().await;
    answer
}

#[tokio::test]
async fn one_call_too_many_is_refused_at_once_on_any_connection_and_health_is_not() {
    let service = Service::start(Limits { max_concurrent_calls: 2, ..Limits::default() }).await;
    let (mut one, mut other) = (service.raw().await, service.raw().await);
    let first = waiting(&mut one, &service, "/stub.Stub/Wait").await;
    let second = waiting(&mut other, &service, "/stub.Stub/Wait").await;
    for raw in [&mut one, &mut other] {
        let refused = raw.call("/stub.Stub/Ok", &[], &framed(0, b"")).await;
        assert_eq!(refused.refused(), (Code::ResourceExhausted, "RATE_LIMITED".to_owned()));
        let retry = refused.status.as_ref().unwrap().get_details_retry_info().unwrap();
        assert!(retry.retry_delay.is_some());
        assert_eq!(raw.call(CHECK, &[], &framed(0, b"")).await.code(), Code::Ok);
        let reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
        assert_eq!(raw.call(reflection, &[], &framed(0, b"\x3a\x00")).await.code(), Code::Ok);
    }
    assert_eq!(service.stub.reached.load(Ordering::SeqCst), 2);
    service.stub.go_on.add_permits(2);
    for answer in [first, second] {
        assert_eq!(read(answer).await.unwrap().code(), Code::Ok);
    }
    for _ in 0..10 {
        assert_eq!(one.call("/stub.Stub/Ok", &[], &framed(0, b"")).await.code(), Code::Ok, "places are given back");
    }
}

#[tokio::test]
async fn a_cancelled_call_keeps_its_place_until_its_work_is_done() {
    let service = Service::start(Limits { max_concurrent_calls: 1, ..Limits::default() }).await;
    let mut raw = service.raw().await;
    drop(waiting(&mut raw, &service, "/stub.Stub/Work").await);
    for _ in 0..3 {
        let refused = raw.call("/stub.Stub/Ok", &[], &framed(0, b"")).await;
        assert_eq!(refused.refused(), (Code::ResourceExhausted, "RATE_LIMITED".to_owned()));
    }
    service.stub.go_on.add_permits(1);
    tokio::time::timeout(crate::raw::LONG, async {
        while raw.call("/stub.Stub/Ok", &[], &framed(0, b"")).await.code() != Code::Ok {}
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_cancelled_call_without_work_gives_its_place_back() {
    let service = Service::start(Limits { max_concurrent_calls: 1, ..Limits::default() }).await;
    let mut raw = service.raw().await;
    drop(waiting(&mut raw, &service, "/stub.Stub/Wait").await);
    tokio::time::timeout(crate::raw::LONG, async {
        while raw.call("/stub.Stub/Ok", &[], &framed(0, b"")).await.code() != Code::Ok {}
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn who_is_slow_to_read_an_answer_keeps_nobody_from_calling() {
    let service = Service::start(Limits { max_concurrent_calls: 1, ..Limits::default() }).await;
    let mut builder = h2::client::Builder::new();
    builder.initial_window_size(0);
    let mut slow = Raw::with(service.address, &builder).await;
    let mut unread = Vec::new();
    for _ in 0..5 {
        let (answer, mut body) = slow.begin("/recallgate.v1.DiscoveryService/GetCaller", &[]).await;
        body.send_data(Bytes::from(framed(0, b"")), true).unwrap();
        let answer = tokio::time::timeout(crate::raw::LONG, answer).await.unwrap().unwrap();
        assert!(!answer.headers().contains_key("grpc-status"), "not refused");
        unread.push(answer);
    }
    let mut raw = service.raw().await;
    assert_eq!(raw.call("/stub.Stub/Ok", &[], &framed(0, b"")).await.code(), Code::Ok);
}
