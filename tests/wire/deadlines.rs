//! Case B39 and what is left of a call that ran out of time.

use std::time::{Duration, Instant};

use bytes::Bytes;
use recall_gate::api::proto::Outcome;
use recall_gate::api::proto::capture_service_client::CaptureServiceClient;
use recall_gate::server::Limits;
use sqlx::{Connection, Executor};
use tonic::Code;

use crate::harness::{Service, channel, fact};
use crate::raw::{Answer, LONG, framed, read};
use crate::witness::Witness;

const GET: &str = "/recallgate.v1.DiscoveryService/GetCaller";

fn out_of_time(answer: &Answer) {
    assert_eq!(answer.refused(), (Code::DeadlineExceeded, "DEADLINE_EXCEEDED".to_owned()), "{answer:?}");
}

#[tokio::test]
async fn b39_an_odd_timeout_is_refused_by_its_name_and_the_connection_stays_good() {
    let service = Service::start(Limits::default()).await;
    let mut raw = service.raw().await;
    for odd in [&b""[..], b"-1S", b"1", b"123456789S", b"S", b"1x", b"1S,1S", b" 1S", b"\xff1S"] {
        let answer = raw.call(GET, &[("grpc-timeout", odd)], &framed(0, b"")).await;
        assert_eq!(answer.refused(), (Code::InvalidArgument, "FIELD_INVALID".to_owned()), "{odd:?}");
        assert_eq!(answer.bad_field(), "grpc-timeout", "{odd:?}");
    }
    let twice = raw.call(GET, &[("grpc-timeout", b"1S"), ("grpc-timeout", b"2S")], &framed(0, b"")).await;
    assert_eq!(twice.bad_field(), "grpc-timeout");
    for (legal, code) in [(&b"99999999H"[..], Code::Ok), (b"00000020S", Code::Ok), (b"20000m", Code::Ok)] {
        assert_eq!(raw.call(GET, &[("grpc-timeout", legal)], &framed(0, b"")).await.code(), code, "{legal:?}");
    }
}

#[tokio::test]
async fn b39_no_time_at_all_is_out_of_time_before_any_handler() {
    let service = Service::start(Limits::default()).await;
    let mut raw = service.raw().await;
    for none in [&b"0n"[..], b"0H", b"1n"] {
        let answer = raw.call("/stub.Stub/Ok", &[("grpc-timeout", none)], &framed(0, b"")).await;
        out_of_time(&answer);
    }
    assert_eq!(service.stub.reached.load(std::sync::atomic::Ordering::SeqCst), 0);
}

#[tokio::test]
async fn i01_who_calls_is_settled_before_how_long() {
    let service = Service::start(Limits::default()).await;
    let mut raw = service.raw().await;
    for timeout in [&b"0n"[..], b"x"] {
        let headers = [("authorization", &b"Bearer junk"[..]), ("grpc-timeout", timeout)];
        assert_eq!(raw.call(GET, &headers, &framed(0, b"")).await.code(), Code::Unauthenticated);
    }
}

/// tonic has a timer for the same header, which starts a little later and says `CANCELLED`: many of them, so that both
/// end in the same tick.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b39_a_call_that_is_not_answered_in_time_is_told_so_and_never_cancelled() {
    let service = Service::start(Limits::default()).await;
    let mut raw = service.raw().await;
    let mut answers = Vec::new();
    for _ in 0..200 {
        let (answer, mut body) = raw.begin("/stub.Stub/Wait", &[("grpc-timeout", b"50m")]).await;
        body.send_data(Bytes::from(framed(0, b"")), true).unwrap();
        answers.push(tokio::spawn(read(answer)));
    }
    for answer in answers {
        out_of_time(&answer.await.unwrap().unwrap());
    }
}

#[tokio::test]
async fn b39_time_runs_while_the_body_is_still_on_its_way() {
    let service = Service::start(Limits::default()).await;
    let mut raw = service.raw().await;
    let (answer, mut body) = raw.begin(GET, &[("grpc-timeout", b"100m")]).await;
    body.send_data(Bytes::from_static(b"\0\0\0\0\x09half"), false).unwrap();
    let begin = Instant::now();
    out_of_time(&read(answer).await.unwrap());
    assert!(begin.elapsed() < Duration::from_secs(5), "before the body is given up");
    let after = raw.call(GET, &[], &framed(0, b"")).await;
    assert_eq!(after.code(), Code::Ok);
}

#[tokio::test]
async fn no_call_takes_longer_than_the_service_allows_and_later_layers_are_told_what_is_left() {
    let limits = Limits { max_call: Duration::from_secs(2), ..Limits::default() };
    let service = Service::start(limits).await;
    let mut raw = service.raw().await;
    for (asked, most) in
        [(&[("grpc-timeout", &b"99999999H"[..])][..], 2000), (&[], 2000), (&[("grpc-timeout", b"1S")], 1000)]
    {
        let answer = raw.call("/stub.Stub/Deadline", asked, &framed(0, b"")).await;
        let left: u64 = answer.headers["x-left"].to_str().unwrap().parse().unwrap();
        assert!((most - 900..=most).contains(&left), "{asked:?}: {left}");
    }
    let waiting = raw.call("/stub.Stub/Wait", &[("grpc-timeout", b"99999999H")], &framed(0, b"")).await;
    out_of_time(&waiting);
}

#[tokio::test]
async fn a_watch_ends_at_its_callers_deadline_and_not_at_the_longest_call() {
    let limits = Limits { max_call: Duration::from_millis(300), ..Limits::default() };
    let service = Service::start(limits).await;
    let mut raw = service.raw().await;
    let begin = Instant::now();
    let watch = raw.call("/grpc.health.v1.Health/Watch", &[("grpc-timeout", b"1S")], &framed(0, b"")).await;
    assert!(begin.elapsed() >= Duration::from_secs(1));
    assert!(!watch.body.is_empty(), "a first state comes before the end");
    out_of_time(&watch);
    let (answer, _open) = raw.begin("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", &[]).await;
    out_of_time(&read(answer).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b34_a_change_that_waited_past_its_deadline_is_never_made_and_may_be_sent_again() {
    let service = Service::start(Limits::default()).await;
    let witness = Witness::of(service.address).await;
    let mut client = CaptureServiceClient::new(channel(service.address).await);
    let database = format!("sqlite://{}", service.folder.path().join("recall-gate.db").display());
    let mut outside = sqlx::SqliteConnection::connect(&database).await.unwrap();
    outside.execute("BEGIN IMMEDIATE").await.unwrap();

    let id = "0190a000-0000-7000-8000-00000000000a";
    let request = fact("zq7 brief", id);
    let mut raw = service.raw().await;
    let message = framed(0, &prost::Message::encode_to_vec(&request));
    let path = "/recallgate.v1.CaptureService/Capture";
    let answer = raw.call(path, &[("grpc-timeout", b"200m")], &message).await;
    out_of_time(&answer);
    outside.execute("ROLLBACK").await.unwrap();
    outside.close().await.unwrap();

    let first = tokio::time::timeout(LONG, client.capture(request.clone())).await.unwrap().unwrap().into_inner();
    let again = client.capture(request).await.unwrap().into_inner();
    assert!(!first.replayed && again.replayed, "whoever was told that time was over finds nothing made of it");
    assert_eq!((&first.memory_id, first.version), (&again.memory_id, 1));
    let other = client.capture(fact("zq7 brief", "0190a000-0000-7000-8000-00000000000b")).await.unwrap().into_inner();
    assert_eq!(other.outcome(), Outcome::Duplicate, "there is one already");
    witness.was_undisturbed().await;
}
