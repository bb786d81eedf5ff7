//! Connections that are too many, too slow or not HTTP/2.

use std::time::{Duration, Instant};

use recall_gate::server::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::Code;

use crate::harness::Service;
use crate::raw::{LONG, Raw, framed, read};
use crate::witness::Witness;

const GET: &str = "/recallgate.v1.DiscoveryService/GetCaller";
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

/// Reads until the other side has closed.
async fn closed(mut stream: TcpStream) {
    let mut bytes = [0; 1024];
    tokio::time::timeout(LONG, async { while stream.read(&mut bytes).await.is_ok_and(|read| read > 0) {} })
        .await
        .unwrap();
}

#[tokio::test]
async fn one_connection_too_many_is_closed_and_there_is_room_when_another_goes() {
    let preface = Duration::from_hours(1);
    let service = Service::start(Limits { max_connections: 2, preface, ..Limits::default() }).await;
    let mut one = service.raw().await;
    let other = service.raw().await;
    assert_eq!(one.call(GET, &[], &framed(0, b"")).await.code(), Code::Ok);
    for _ in 0..5 {
        closed(TcpStream::connect(service.address).await.unwrap()).await;
    }
    assert_eq!(one.call(GET, &[], &framed(0, b"")).await.code(), Code::Ok, "those that are there go on");
    other.driver.abort();
    drop(other);
    let back = async {
        loop {
            if let Some(mut raw) = Raw::try_connect(service.address).await
                && raw.try_call(GET, &[], &framed(0, b"")).await.is_ok_and(|answer| answer.code() == Code::Ok)
            {
                break;
            }
        }
    };
    tokio::time::timeout(LONG, back).await.unwrap();
}

#[tokio::test]
async fn a_connection_that_never_says_what_it_speaks_is_closed() {
    let limits = Limits { preface: Duration::from_millis(200), ..Limits::default() };
    let service = Service::start(limits).await;
    let witness = Witness::of(service.address).await;
    let silent = TcpStream::connect(service.address).await.unwrap();
    let mut slow = TcpStream::connect(service.address).await.unwrap();
    slow.write_all(&PREFACE[..20]).await.unwrap();
    let mut whole = service.raw().await;
    closed(silent).await;
    closed(slow).await;
    assert_eq!(whole.call(GET, &[], &framed(0, b"")).await.code(), Code::Ok, "one that has said so stays");
    witness.was_undisturbed().await;
}

#[tokio::test]
async fn a_connection_that_stops_in_the_middle_of_its_headers_is_closed() {
    let second = Duration::from_millis(200);
    let limits = Limits { keepalive: second, keepalive_timeout: second, ..Limits::default() };
    let service = Service::start(limits).await;
    let witness = Witness::of(service.address).await;
    // HEADERS without END_HEADERS; and half of a frame.
    for part in [&b"\0\0\x01\x01\0\0\0\0\x01\x83"[..], b"\0\0\x40\x01\x04\0\0\0\x01\x83\x86"] {
        let mut stream = TcpStream::connect(service.address).await.unwrap();
        stream.write_all(&[PREFACE, SETTINGS, part].concat()).await.unwrap();
        closed(stream).await;
    }
    witness.was_undisturbed().await;
}

#[tokio::test]
async fn a_request_that_stops_coming_is_given_up_and_its_connection_is_not() {
    let limits = Limits { stall: Duration::from_millis(200), ..Limits::default() };
    let service = Service::start(limits).await;
    let witness = Witness::of(service.address).await;
    let mut raw = service.raw().await;
    for part in [&b""[..], b"\0\0", b"\0\0\0\0\x09half"] {
        let (answer, mut body) = raw.begin(GET, &[]).await;
        if !part.is_empty() {
            body.send_data(bytes::Bytes::copy_from_slice(part), false).unwrap();
        }
        let begin = Instant::now();
        let answer = read(answer).await.unwrap();
        assert_eq!(answer.refused(), (Code::DeadlineExceeded, "DEADLINE_EXCEEDED".to_owned()));
        assert!(answer.status.unwrap().message().contains("did not arrive"), "{part:?}");
        assert!(begin.elapsed() < Duration::from_secs(5));
    }
    assert_eq!(raw.call(GET, &[], &framed(0, b"")).await.code(), Code::Ok);
    witness.was_undisturbed().await;
}
