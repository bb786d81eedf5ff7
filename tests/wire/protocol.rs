//! What speaks HTTP/2 and not gRPC: browsers, probes, JSON.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use recall_gate::server::Limits;
use tonic::Code;

use crate::harness::Service;
use crate::raw::{Answer, Raw, framed, read};
use crate::witness::Witness;

const GET_CALLER: &str = "/recallgate.v1.DiscoveryService/GetCaller";
const CHECK: &str = "/grpc.health.v1.Health/Check";

async fn asked(raw: &mut Raw, request: http::request::Builder, body: &[u8]) -> Answer {
    let mut send = raw.send.clone().ready().await.unwrap();
    let (answer, mut to) = send.send_request(request.body(()).unwrap(), false).unwrap();
    // Refused where the answer is there already.
    let _ = to.send_data(Bytes::copy_from_slice(body), true);
    read(answer).await.unwrap()
}

fn request(method: Method, path: &str, content_types: &[&[u8]]) -> http::request::Builder {
    let builder = Request::builder().method(method).uri(format!("http://localhost{path}"));
    content_types.iter().fold(builder, |builder, value| builder.header("content-type", *value))
}

#[tokio::test]
async fn what_is_not_posted_is_answered_405_and_reaches_nobody() {
    let service = Service::start(Limits::default()).await;
    let witness = Witness::of(service.address).await;
    let mut raw = service.raw().await;
    for method in [Method::GET, Method::HEAD, Method::PUT, Method::OPTIONS, Method::DELETE, Method::PATCH] {
        for path in ["/", "/healthz", "/stub.Stub/Ok", GET_CALLER, CHECK] {
            // A credential is not looked at: a bad one would be UNAUTHENTICATED.
            let request = request(method.clone(), path, &[b"application/grpc"]).header("authorization", "Bearer junk");
            let answer = asked(&mut raw, request, b"").await;
            assert_eq!(answer.http, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
            assert_eq!(answer.headers.get("allow").unwrap(), "POST");
            assert!(answer.status.is_none() && answer.body.is_empty(), "{answer:?}");
        }
    }
    assert_eq!(service.stub.reached.load(Ordering::SeqCst), 0);
    witness.was_undisturbed().await;
}

#[tokio::test]
async fn what_is_posted_and_is_not_grpc_is_answered_415_and_reaches_nobody() {
    let service = Service::start(Limits::default()).await;
    let witness = Witness::of(service.address).await;
    let mut raw = service.raw().await;
    for types in [
        &[][..],
        &[&b""[..]],
        &[b"application/json"],
        &[b"text/html"],
        &[b"application/x-www-form-urlencoded"],
        &[b"application/grpc-web"],
        &[b"application/grpc-web-text+proto"],
        &[b"application/grpc+json"],
        &[b"application/grpcx"],
        &[b"application/grpc", b"application/json"],
        &[b"\xff"],
    ] {
        for path in ["/", "/stub.Stub/Ok", GET_CALLER, CHECK] {
            let request = request(Method::POST, path, types).header("authorization", "Bearer junk");
            let answer = asked(&mut raw, request, &framed(0, b"")).await;
            assert_eq!(answer.http, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{types:?} {path}");
            assert!(answer.status.is_none() && answer.body.is_empty(), "{answer:?}");
        }
    }
    assert_eq!(service.stub.reached.load(Ordering::SeqCst), 0);
    for spoken in [&b"application/grpc"[..], b"application/grpc+proto", b"application/grpc;x=y"] {
        for path in [GET_CALLER, CHECK, "/stub.Stub/Ok"] {
            let answer = asked(&mut raw, request(Method::POST, path, &[spoken]), &framed(0, b"")).await;
            assert_eq!((answer.http, answer.code()), (StatusCode::OK, Code::Ok), "{spoken:?} {path}");
        }
    }
    witness.was_undisturbed().await;
}

/// What still comes of a refused request must not count against its connection, and not be kept.
#[tokio::test]
async fn a_large_body_that_is_not_grpc_harms_no_call_beside_it() {
    let service = Service::start(Limits::default()).await;
    let mut raw = service.raw().await;
    for _ in 0..50 {
        let request = request(Method::POST, GET_CALLER, &[b"application/json"]);
        let answer = asked(&mut raw, request, &vec![b' '; 100_000]).await;
        assert_eq!(answer.http, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert_eq!(raw.call(GET_CALLER, &[], &framed(0, b"")).await.code(), Code::Ok);
    }
}
