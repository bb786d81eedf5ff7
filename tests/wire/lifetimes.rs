//! How long a connection lasts, and what a stop does not wait for.

use std::time::Duration;

use h2::client::ResponseFuture;
use recall_gate::server::{Drained, Limits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::Code;

use crate::harness::Service;
use crate::raw::{LONG, Raw, framed, read};

const GET: &str = "/recallgate.v1.DiscoveryService/GetCaller";
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";
const SHORT: Duration = Duration::from_millis(100);
const NEVER: Duration = Duration::from_hours(1);

async fn in_time<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, what).await.unwrap()
}

/// A connection with a call in flight that the stub holds; another where it was told to go before that.
async fn waiting(service: &Service) -> (Raw, ResponseFuture) {
    in_time(async {
        loop {
            let mut raw = service.raw().await;
            let Ok(mut send) = raw.send.clone().ready().await else { continue };
            let request =
                http::Request::post("http://localhost/stub.Stub/Wait").header("content-type", "application/grpc");
            let Ok((answer, _)) = send.send_request(request.body(()).unwrap(), true) else { continue };
            tokio::select! {
                biased;
                () = service.stub.begun.notified() => break (raw, answer),
                _ = &mut raw.driver => {}
            }
        }
    })
    .await
}

/// Calls until the connection takes no more.
async fn told_to_go(raw: &mut Raw) {
    in_time(async {
        while let Ok(mut send) = raw.send.clone().ready().await {
            let request = http::Request::post("http://localhost/").body(()).unwrap();
            let Ok((answer, _)) = send.send_request(request, true) else { break };
            if answer.await.is_err() {
                break;
            }
        }
    })
    .await;
}

/// Reads until the other side has closed.
async fn closed(mut stream: TcpStream) {
    let mut bytes = [0; 1024];
    in_time(async { while stream.read(&mut bytes).await.is_ok_and(|read| read > 0) {} }).await;
}

#[tokio::test]
async fn an_old_connection_takes_no_more_calls_and_ends_when_those_in_flight_are_answered() {
    let limits = Limits { max_connection_age: Some(SHORT), ..Limits::default() };
    let service = Service::draining(limits, NEVER).await;
    let (mut raw, answer) = waiting(&service).await;
    told_to_go(&mut raw).await;
    assert!(!raw.driver.is_finished(), "a call is in flight");
    service.stub.go_on.add_permits(1);
    assert_eq!(read(answer).await.unwrap().code(), Code::Ok);
    in_time(raw.driver).await.unwrap().unwrap();
    let mut next = service.raw().await;
    assert_eq!(next.call(GET, &[], &framed(0, b"")).await.code(), Code::Ok, "whoever comes back is served");
}

#[tokio::test]
async fn an_old_connection_is_closed_when_its_calls_take_longer_than_a_drain() {
    let limits = Limits { max_connection_age: Some(SHORT), ..Limits::default() };
    let service = Service::draining(limits, SHORT).await;
    let (raw, answer) = waiting(&service).await;
    assert!(read(answer).await.is_err(), "nobody lets it go on");
    // However it ended, it did.
    let _ = in_time(raw.driver).await.unwrap();
}

#[tokio::test]
async fn a_connection_without_calls_is_closed_and_one_that_carries_a_call_is_not() {
    let limits = Limits { idle_connection: Some(Duration::from_millis(300)), ..Limits::default() };
    let service = Service::draining(limits, NEVER).await;
    let (used, answer) = waiting(&service).await;
    // One after the other, so that the first is used for at least twice as long.
    for _ in 0..2 {
        let mut unused = service.raw().await;
        // May come too late on a slow machine.
        let _ = unused.try_call(GET, &[], &framed(0, b"")).await;
        in_time(unused.driver).await.unwrap().unwrap();
    }
    assert!(!used.driver.is_finished());
    service.stub.go_on.add_permits(1);
    assert_eq!(read(answer).await.unwrap().code(), Code::Ok);
    in_time(used.driver).await.unwrap().unwrap();
}

#[tokio::test]
async fn without_bounds_a_connection_outlives_those_that_have_them() {
    let unbound = Limits { max_connection_age: None, idle_connection: None, ..Limits::default() };
    let lasting = Service::draining(unbound, NEVER).await;
    let mut stays = lasting.raw().await;
    assert_eq!(stays.call(GET, &[], &framed(0, b"")).await.code(), Code::Ok);
    let bound = Limits { max_connection_age: Some(SHORT), ..Limits::default() };
    let service = Service::draining(bound, NEVER).await;
    for _ in 0..3 {
        in_time(service.raw().await.driver).await.unwrap().unwrap();
    }
    assert_eq!(stays.call(GET, &[], &framed(0, b"")).await.code(), Code::Ok);
}

/// Never spoke; half of the preface; no settings; settings, and no answer to any ping.
#[tokio::test]
async fn a_stop_waits_for_calls_and_not_for_connections_that_are_silent() {
    let limits = Limits { preface: NEVER, keepalive: NEVER, farewell: SHORT, ..Limits::default() };
    let service = Service::draining(limits, NEVER).await;
    let mut silent = Vec::new();
    for said in [&b""[..], &PREFACE[..20], PREFACE, &[PREFACE, SETTINGS].concat()] {
        let mut stream = TcpStream::connect(service.address).await.unwrap();
        stream.write_all(said).await.unwrap();
        silent.push(stream);
    }
    let (_raw, answer) = waiting(&service).await;
    let stub = service.stub.clone();
    let stopping = tokio::spawn(service.stop());
    for stream in silent {
        closed(stream).await;
    }
    assert!(!stopping.is_finished(), "a call is in flight");
    stub.go_on.add_permits(1);
    assert_eq!(read(answer).await.unwrap().code(), Code::Ok);
    assert_eq!(in_time(stopping).await.unwrap(), Drained::Whole);
}
