//! Abuse of a process of its own, whose memory is looked at: it grows by a bound that is the same for all of these.

use std::future::poll_fn;

use bytes::Bytes;
use h2::Reason;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::Code;

use crate::process::{MAX_GROWTH_MIB, Process};
use crate::raw::{LONG, Raw, framed, gzip, read, send, send_part};
use crate::witness::Witness;

const GET: &str = "/recallgate.v1.DiscoveryService/GetCaller";
const CAPTURE: &str = "/recallgate.v1.CaptureService/Capture";
const WATCH: &str = "/grpc.health.v1.Health/Watch";

struct Abused {
    process: Process,
    before: u64,
    witness: Witness,
}

impl Abused {
    async fn start(arguments: &[&str]) -> Self {
        let process = Process::start(arguments);
        let mut raw = Raw::connect(process.address).await;
        for _ in 0..20 {
            assert_eq!(raw.call(GET, &[], &framed(0, b"")).await.code(), Code::Ok);
        }
        let (before, _) = process.resident_mib();
        let witness = Witness::of(process.address).await;
        Self { process, before, witness }
    }

    async fn did_no_harm(self) {
        self.cost_at_most(MAX_GROWTH_MIB).await;
    }

    async fn cost_at_most(self, growth_mib: u64) {
        self.witness.was_undisturbed().await;
        let (_, most) = self.process.resident_mib();
        assert!(most <= self.before + growth_mib, "{} MiB before, {most} MiB at most", self.before);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_rapid_resets_disturb_nobody() {
    let abused = Abused::start(&[]).await;
    let mut resets = 0;
    while resets < 2000 {
        let mut raw = Raw::connect(abused.process.address).await;
        // The service may close such a connection: then another.
        while resets < 2000 && poll_fn(|context| raw.send.poll_ready(context)).await.is_ok() {
            let request = http::Request::post(format!("http://{}{GET}", abused.process.address))
                .header("content-type", "application/grpc")
                .body(())
                .unwrap();
            let Ok((_, mut body)) = raw.send.send_request(request, false) else { break };
            if resets % 2 == 0 && body.send_data(Bytes::from(framed(0, b"")), true).is_err() {
                break;
            }
            body.send_reset(Reason::CANCEL);
            resets += 1;
        }
    }
    abused.did_no_harm().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_past_sixteen_kib_are_refused_and_megabytes_of_them_end_the_connection() {
    let abused = Abused::start(&[]).await;
    let mut raw = Raw::connect(abused.process.address).await;
    let fits = raw.call(GET, &[("x-note", &[b'x'; 8 * 1024])], &framed(0, b"")).await;
    assert_eq!(fits.code(), Code::Ok);
    let over = raw.try_call(GET, &[("x-note", &vec![b'x'; 20 * 1024])], &framed(0, b"")).await;
    assert!(over.is_err() || over.is_ok_and(|answer| answer.http == http::StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
    for _ in 0..20 {
        let mut stream = TcpStream::connect(abused.process.address).await.unwrap();
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
        // HEADERS, and CONTINUATION without an end.
        stream.write_all(b"\0\0\x01\x01\0\0\0\0\x01\x83").await.unwrap();
        let header = [&b"\0\x01x\x7f\x81\x7e"[..], &[b'x'; 16 * 1024]].concat();
        let header = &header[..16 * 1024];
        let frame = [&b"\0\x40\0\x09\0\0\0\0\x01"[..], header].concat();
        let mut sent = 0;
        while sent < 64 && stream.write_all(&frame).await.is_ok() {
            sent += 1;
        }
        let mut rest = Vec::new();
        let end = tokio::time::timeout(LONG, stream.read_to_end(&mut rest)).await;
        assert!(end.is_ok(), "it is closed after {sent} frames");
    }
    abused.did_no_harm().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_http2_is_closed() {
    let abused = Abused::start(&[]).await;
    for bytes in [
        &b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..],
        b"POST /recallgate.v1.DiscoveryService/GetCaller HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n\0\0\0\0\0",
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03TLS says hello, and goes on",
        &[0xff; 4096],
        &[0; 4096],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x04\0\0\0\x01\xff",
    ] {
        for _ in 0..20 {
            let mut stream = TcpStream::connect(abused.process.address).await.unwrap();
            // It may be closed before all is written.
            let _ = stream.write_all(bytes).await;
            let mut rest = Vec::new();
            let end = tokio::time::timeout(LONG, stream.read_to_end(&mut rest)).await;
            assert!(end.is_ok(), "{bytes:?} is closed");
        }
    }
    abused.did_no_harm().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_idle_connections_leave_room_for_others() {
    let abused = Abused::start(&[]).await;
    let mut idle = Vec::new();
    for _ in 0..1000 {
        idle.push(Raw::connect(abused.process.address).await);
    }
    let mut last = idle.pop().unwrap();
    assert_eq!(last.call(GET, &[], &framed(0, b"")).await.code(), Code::Ok);
    let another = Witness::of(abused.process.address).await;
    another.was_undisturbed().await;
    drop(idle);
    abused.did_no_harm().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_bombs_and_overlong_messages_cost_no_more_than_one() {
    let abused = Abused::start(&[]).await;
    let bomb = Bytes::from(framed(1, &gzip(&vec![0; 64 * 1024 * 1024])));
    let long = Bytes::from([&b"\0\x7f\xff\xff\xff"[..], &vec![0; 1024 * 1024]].concat());
    let mut raw = Raw::connect(abused.process.address).await;
    for _ in 0..25 {
        let mut answers = Vec::new();
        for bytes in [&bomb, &long, &bomb, &long] {
            let (answer, body) = raw.begin(CAPTURE, &[("grpc-encoding", b"gzip")]).await;
            answers.push((tokio::spawn(read(answer)), tokio::spawn(send(body, bytes.clone()))));
        }
        for (answer, sending) in answers {
            let answer = answer.await.unwrap().unwrap();
            assert_eq!(answer.refused(), (Code::ResourceExhausted, "TOO_LARGE".to_owned()));
            sending.abort();
        }
    }
    abused.did_no_harm().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lengths_that_are_never_sent_take_no_memory_and_no_place_for_long() {
    let abused = Abused::start(&["--max-call-seconds", "2"]).await;
    let mut raw = Raw::connect(abused.process.address).await;
    let mut answers = Vec::new();
    for _ in 0..200 {
        let (answer, mut body) = raw.begin(CAPTURE, &[]).await;
        body.send_data(Bytes::from_static(b"\0\x00\x40\0\0and no more"), false).unwrap();
        answers.push((read(answer), body));
    }
    for (answer, body) in answers {
        assert_eq!(answer.await.unwrap().refused(), (Code::DeadlineExceeded, "DEADLINE_EXCEEDED".to_owned()));
        drop(body);
    }
    abused.did_no_harm().await;
}

/// The room for what is long of them is 64 MiB, and each has some of its own. The witness needs no more than that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_are_never_whole_are_refused_where_they_fill_the_room_for_all() {
    let abused = Abused::start(&["--max-call-seconds", "3"]).await;
    let part = Bytes::from([&b"\0\x00\x40\0\0"[..], &vec![0; 4 * 1024 * 1024 - 1]].concat());
    let mut raw = Raw::connect(abused.process.address).await;
    let mut answers = Vec::new();
    for _ in 0..100 {
        let (answer, body) = raw.begin(CAPTURE, &[]).await;
        answers.push((tokio::spawn(read(answer)), tokio::spawn(send_part(body, part.clone()))));
    }
    let mut busy = 0;
    for (answer, sending) in answers {
        match answer.await.unwrap().unwrap().refused() {
            (Code::ResourceExhausted, reason) if reason == "RATE_LIMITED" => busy += 1,
            other => assert_eq!(other, (Code::DeadlineExceeded, "DEADLINE_EXCEEDED".to_owned())),
        }
        sending.abort();
    }
    assert!(busy >= 100 - 16, "{busy}");
    abused.cost_at_most(2 * MAX_GROWTH_MIB).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_beyond_their_number_are_refused_and_a_check_never_is() {
    let abused = Abused::start(&[]).await;
    let mut watches = Vec::new();
    let mut refused = 0;
    for _ in 0..6 {
        let mut raw = Raw::connect(abused.process.address).await;
        for _ in 0..200 {
            let (answer, mut body) = raw.begin(WATCH, &[]).await;
            body.send_data(Bytes::from(framed(0, b"")), true).unwrap();
            let response = tokio::time::timeout(LONG, answer).await.unwrap().unwrap();
            if let Some(status) = response.headers().get("grpc-status") {
                assert_eq!(status, "8");
                refused += 1;
            }
            let mut states = response.into_body();
            if let Some(state) = states.data().await {
                states.flow_control().release_capacity(state.unwrap().len()).unwrap();
            }
            watches.push(states);
        }
        let check = raw.call("/grpc.health.v1.Health/Check", &[], &framed(0, b"")).await;
        assert_eq!(check.code(), Code::Ok);
        tokio::spawn(async move {
            let _kept = raw;
            std::future::pending::<()>().await;
        });
    }
    assert_eq!(refused, 1200 - 1024);
    abused.did_no_harm().await;
}
