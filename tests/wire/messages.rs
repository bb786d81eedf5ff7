//! Bytes that are not the one message a method takes: S05, B38 and B39.

use prost::Message;
use recall_gate::api::MAX_REQUEST_BYTES;
use recall_gate::api::proto::capture_service_client::CaptureServiceClient;
use recall_gate::api::proto::delete_service_client::DeleteServiceClient;
use recall_gate::api::proto::recall_service_client::RecallServiceClient;
use recall_gate::api::proto::{
    CaptureRequest, CaptureResponse, DeleteRequest, GetCallerResponse, MemoryName, Nomination, Query, RecallRequest,
    memory_name,
};
use recall_gate::server::Limits;
use tonic::Code;

use crate::harness::{Service, channel, fact};
use crate::raw::{Answer, LONG, Raw, framed, gzip};

const CAPTURE: &str = "/recallgate.v1.CaptureService/Capture";
const GET: &str = "/recallgate.v1.DiscoveryService/GetCaller";
const GZIP: (&str, &[u8]) = ("grpc-encoding", b"gzip");

fn malformed(answer: &Answer) {
    assert_eq!(answer.refused(), (Code::InvalidArgument, "FIELD_INVALID".to_owned()), "{answer:?}");
    assert_eq!(answer.bad_field(), "request");
}

async fn works(raw: &mut Raw) {
    let answer = raw.call(GET, &[], &framed(0, b"")).await;
    assert_eq!(answer.code(), Code::Ok);
    GetCallerResponse::decode(&answer.body[5..]).unwrap();
}

#[tokio::test]
async fn bytes_that_are_no_message_are_the_senders_fault() {
    let service = Service::start(Limits::default()).await;
    let mut raw = service.raw().await;
    let deep = [0x12, 0x7f].repeat(40_000);
    for bytes in [
        &b"\xff\xff\xff\xff"[..],
        b"\x0a",
        b"\x0a\xff\xff\xff\xff\x0f",
        b"\x00\x00",
        // B38: a string that is no UTF-8.
        b"\x2a\x04\xc3\x28\xa0\xff",
        b"\x2a\x03\xed\xa0\x80",
        // A field of another type.
        b"\x28\x01",
        &deep,
        &vec![0x0b; 100_000],
    ] {
        malformed(&raw.call(CAPTURE, &[], &framed(0, bytes)).await);
        works(&mut raw).await;
    }
}

#[tokio::test]
async fn i01_who_calls_is_settled_before_a_byte_of_the_message_is_read() {
    let service = Service::start(Limits::default()).await;
    let mut raw = service.raw().await;
    for body in [&framed(0, b"\xff\xff")[..], b"\0\xff\xff\xff\xff", b"\x07", b""] {
        let answer = raw.call(CAPTURE, &[("authorization", b"Bearer junk")], body).await;
        assert_eq!(answer.refused(), (Code::Unauthenticated, "CREDENTIAL_INVALID".to_owned()));
    }
}

#[tokio::test]
async fn a_request_that_is_not_exactly_one_message_is_refused() {
    let service = Service::start(Limits::default()).await;
    let mut raw = service.raw().await;
    let one = framed(0, b"");
    let message = framed(0, &fact("zq7 brief", "").encode_to_vec());
    for body in [
        &b""[..],
        b"\0\0",
        &message[..20],
        &message[..message.len() - 1],
        &[&one[..], &one].concat(),
        &[&message[..], b"garbage"].concat(),
        &[&message[..], b"\0"].concat(),
        // The length says less than there is, and more.
        b"\0\0\0\0\x01\x0a\x00",
        b"\0\0\0\0\x09\x0a\x00",
        b"\x02\0\0\0\0",
        b"\xff\xff\xff\xff\xff",
        // Compressed, and nobody says how.
        &framed(1, &gzip(b"")),
    ] {
        malformed(&raw.call(CAPTURE, &[], body).await);
        works(&mut raw).await;
    }
    let answer = raw.call(CAPTURE, &[], &message).await;
    let reply = CaptureResponse::decode(&answer.body[5..]).unwrap();
    assert_eq!(reply.version, 1, "nothing of all that was written");
}

fn of_size(bytes: usize) -> Vec<u8> {
    let request = |length| CaptureRequest { value: "v".repeat(length), ..CaptureRequest::default() }.encode_to_vec();
    let message = request(bytes - 5);
    assert_eq!(message.len(), bytes);
    message
}

#[tokio::test]
async fn b39_a_message_may_be_four_mebibytes_and_not_one_byte_more() {
    let service = Service::start(Limits::default()).await;
    let mut raw = service.raw().await;
    let just = raw.call(CAPTURE, &[], &framed(0, &of_size(MAX_REQUEST_BYTES))).await;
    let (code, reason) = just.refused();
    assert_eq!((code, reason.as_str()), (Code::InvalidArgument, "FIELD_INVALID"), "read, and its value is too long");
    assert_ne!(just.bad_field(), "request");
    for body in [&framed(0, &of_size(MAX_REQUEST_BYTES + 1))[..], b"\0\xff\xff\xff\xff", b"\0\x00\x40\x00\x01"] {
        let answer = raw.call(CAPTURE, &[], body).await;
        assert_eq!(answer.refused(), (Code::ResourceExhausted, "TOO_LARGE".to_owned()));
        works(&mut raw).await;
    }
}

#[tokio::test]
async fn b39_what_expands_past_the_limit_is_too_large_however_small_it_was_sent() {
    let service = Service::start(Limits::default()).await;
    let mut raw = service.raw().await;
    let bomb = gzip(&vec![0; 256 * 1024 * 1024]);
    for packed in [bomb, gzip(&of_size(MAX_REQUEST_BYTES + 1))] {
        let answer = raw.call(CAPTURE, &[GZIP], &framed(1, &packed)).await;
        assert_eq!(answer.refused(), (Code::ResourceExhausted, "TOO_LARGE".to_owned()));
        works(&mut raw).await;
    }
    let just = raw.call(CAPTURE, &[GZIP], &framed(1, &gzip(&of_size(MAX_REQUEST_BYTES)))).await;
    assert_ne!(just.bad_field(), "request", "read, and its value is too long");
    assert_eq!(raw.call(GET, &[GZIP], &framed(1, &gzip(b""))).await.code(), Code::Ok);
    let whole = gzip(&fact("zq7 brief", "").encode_to_vec());
    for packed in
        [&whole[..whole.len() - 9], &whole[..5], b"", b"no gzip at all", &[&b"\x1f\x8b\x08"[..], &[0xff; 30]].concat()]
    {
        malformed(&raw.call(CAPTURE, &[GZIP], &framed(1, packed)).await);
        works(&mut raw).await;
    }
}

#[tokio::test]
async fn a_compression_that_is_not_taken_is_unimplemented_and_names_those_that_are() {
    let service = Service::start(Limits::default()).await;
    let mut raw = service.raw().await;
    for encoding in [&b"zstd"[..], b"br", b"GZIP", b"gzip,gzip", b"", b"\xff"] {
        let answer = raw.call(GET, &[("grpc-encoding", encoding)], &framed(1, b"x")).await;
        assert_eq!(answer.refused(), (Code::Unimplemented, "UNIMPLEMENTED".to_owned()), "{encoding:?}");
        assert_eq!(answer.headers["grpc-accept-encoding"], "gzip,identity");
    }
    assert_eq!(raw.call(GET, &[("grpc-encoding", b"identity")], &framed(0, b"")).await.code(), Code::Ok);
    malformed(&raw.call(GET, &[("grpc-encoding", b"identity")], &framed(1, b"x")).await);
}

#[tokio::test]
async fn b39_the_default_client_sees_the_right_code_at_once_and_its_channel_stays_good() {
    let service = Service::start(Limits::default()).await;
    let channel = channel(service.address).await;
    let mut capture = CaptureServiceClient::new(channel.clone());
    let mut delete = DeleteServiceClient::new(channel.clone());
    let mut recall = RecallServiceClient::new(channel);
    let long = "\u{1f600}\n".repeat(100 * 1024);
    for _ in 0..3 {
        let request =
            CaptureRequest { kind: long.clone(), key: long.clone(), subject_id: long.clone(), ..fact(&long, "") };
        let name = MemoryName { name: Some(memory_name::Name::MemoryId(long.clone())) };
        let forget = DeleteRequest { memory: Some(name), ..DeleteRequest::default() };
        let nomination = Nomination { memory_id: "x".repeat(300), ..Nomination::default() };
        let query = Query { nominations: vec![nomination; 10_000], ..Query::default() };
        let ask = RecallRequest { query: Some(query), purpose: "converse".to_owned(), ..RecallRequest::default() };
        for refused in [
            soon(capture.capture(request)).await.unwrap_err(),
            soon(delete.delete(forget)).await.unwrap_err(),
            soon(recall.recall(ask)).await.unwrap_err(),
        ] {
            assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
            assert!(refused.message().len() + refused.details().len() < 4096);
        }
        let large = soon(capture.capture(fact(&"v".repeat(MAX_REQUEST_BYTES), ""))).await.unwrap_err();
        assert_eq!(large.code(), Code::ResourceExhausted, "{large:?}");
    }
    let made = capture.capture(fact("zq7 brief", "")).await.unwrap().into_inner();
    assert_eq!(made.version, 1);
}

async fn soon<T>(call: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, call).await.unwrap()
}
