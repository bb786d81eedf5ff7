//! Bytes that no generated client would send, and text that layers like to lose.

use bytes::{Buf, BufMut, Bytes};
use http::uri::PathAndQuery;
use recall_gate::api::proto::{Budget, CaptureRequest, Outcome, Reason, RecallRequest};
use recall_gate::identity::Ticket;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::{Code, Request, Status};

use crate::harness::{Service, project, ticket};
use crate::reading::{
    activated, all, candidates_of, experience, getting, listing_all, of, pages, placed, recalled, shows,
};
use crate::requests::{fact, general, in_general, in_project, named, nominating, of_project, recalling, values};

/// Sends and takes a message as it is.
#[derive(Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

/// A field of bytes: its number, then what it holds.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut message = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length > 127 {
        message.push(u8::try_from(length & 127).unwrap() | 128);
        length >>= 7;
    }
    message.push(u8::try_from(length).unwrap());
    message.extend_from_slice(bytes);
    message
}

#[tokio::test]
async fn b38_bytes_that_are_no_message_are_refused_and_the_connection_goes_on() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    activated(&mut caller, fact("response_style", "brief")).await;
    let channel = service.channel().await;
    let token = format!("Bearer {}", service.token(&ticket()));
    let groups = |depth: usize| [vec![0x7b; depth], vec![0x7c; depth]].concat();
    let nested = |depth: usize| (0..depth).fold(Vec::new(), |inner, _| field(4, &inner));
    let hostile: Vec<(&str, Vec<u8>)> = vec![
        ("a byte that is not UTF-8", field(1, b"\xff\xfe")),
        ("half a character", field(1, b"s\xe8\xaf")),
        ("a lone surrogate", field(1, b"\xed\xa0\x80")),
        ("an overlong NUL", field(1, b"\xc0\x80")),
        ("a length beyond the end", vec![0x0a, 0x7f, b's']),
        ("a length beyond memory", vec![0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
        ("an endless number", vec![0xff; 64]),
        ("field number zero", vec![0x02, 0x00]),
        ("a wrong wire type", vec![0x08, 0x01]),
        ("a group without an end", vec![0x7b]),
        ("an end without a group", vec![0x7c]),
        ("deep groups", groups(100_000)),
        ("deep messages", nested(2_000)),
    ];
    let methods = [
        "/recallgate.v1.RecallService/Recall",
        "/recallgate.v1.RecallService/ListMemories",
        "/recallgate.v1.CaptureService/Capture",
        "/recallgate.v1.DeleteService/Delete",
    ];
    for (what, bytes) in hostile {
        for method in methods {
            let mut client = tonic::client::Grpc::new(channel.clone());
            client.ready().await.unwrap();
            let mut request = Request::new(Bytes::from(bytes.clone()));
            request.metadata_mut().insert("authorization", token.parse().unwrap());
            let status = client.unary(request, PathAndQuery::from_static(method), Raw).await.unwrap_err();
            let clean = matches!(status.code(), Code::InvalidArgument | Code::Internal);
            assert!(clean, "{what} to {method}: {status:?}");
            assert!(status.message().len() + status.details().len() < 8 * 1024, "{what}");
            assert!(!status.message().contains("panic"), "{what}: {status:?}");
        }
        let mut client = tonic::client::Grpc::new(channel.clone());
        client.ready().await.unwrap();
        let request = prost::Message::encode_to_vec(&recalling(in_general(), all()));
        let mut request = Request::new(Bytes::from(request));
        request.metadata_mut().insert("authorization", token.parse().unwrap());
        let reply = client.unary(request, PathAndQuery::from_static(methods[0]), Raw).await.unwrap();
        assert!(reply.get_ref().windows(5).any(|window| window == b"brief"), "after {what}");
    }
    let reply = recalled(&mut caller, recalling(in_general(), all())).await;
    assert_eq!(values(&reply), ["brief"]);
}

#[tokio::test]
async fn a_message_too_large_is_refused_and_the_connection_goes_on() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    caller.capture.capture(fact("response_style", &"x".repeat(5 << 20))).await.unwrap_err();
    activated(&mut caller, fact("response_style", "brief")).await;
}

#[tokio::test]
async fn b38_text_comes_back_byte_for_byte() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    for text in [
        "\\u0000",
        "\\0 and \\x00",
        "a\u{202e}b",
        "a\u{200c}b\u{200d}",
        "\u{feff}x",
        "e\u{301} beside \u{e9}",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}",
        "\u{1f1e8}\u{1f1f3}\u{fe0f}",
        " led and trailed ",
        "two\r\nlines\tand a tab",
        "' OR 1=1 -- \" % _ ; $1 ?",
        "{\"json\": \"\\ud83d\\ude00\"}",
        "\u{10ffff}\u{fffd}\u{fffe}",
        "无障碍 한국어 עברית العربية",
    ] {
        let made = activated(&mut caller, experience(text)).await;
        let got = caller.recall.get_memory(getting(named(&made.memory_id))).await.unwrap().into_inner();
        assert_eq!(got.memory.unwrap().value().as_bytes(), text.as_bytes());
        let query = nominating(&[&made.memory_id]);
        let reply = recalled(&mut caller, recalling(in_general(), query)).await;
        assert_eq!(values(&reply)[0].as_bytes(), text.as_bytes());
    }
}

#[tokio::test]
async fn b38_limits_count_characters_and_hold_exactly() {
    let service = Service::start().await;
    let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}";
    for (filler, offset) in [("\u{1f600}", ""), (family, "abcdef"), ("语", "a"), ("x", "")] {
        let service = &service;
        let mut caller = service.caller_of(&of("t1", &format!("reader of {filler}"))).await;
        let long: String = offset.chars().chain(filler.chars().cycle()).take(301).collect();
        let at = |count: usize| long.chars().take(count).collect::<String>();
        let over = caller.capture.capture(fact("response_style", &at(301))).await.unwrap().into_inner();
        assert_eq!((over.outcome(), over.reasons().collect()), (Outcome::Rejected, vec![Reason::ValueNotAllowed]));
        let full = activated(&mut caller, fact("response_style", &at(300))).await;
        let got = caller.recall.get_memory(getting(named(&full.memory_id))).await.unwrap().into_inner();
        assert_eq!(got.memory.unwrap().value(), at(300));
        let under = activated(&mut caller, fact("response_language", &at(99))).await;
        assert_eq!(under.version, 1);
        let exactly = RecallRequest {
            budget: Some(Budget { max_value_chars: Some(399), ..Budget::default() }),
            ..recalling(in_general(), all())
        };
        assert_eq!(recalled(&mut caller, exactly.clone()).await.accepted.len(), 2);
        let short = Budget { max_value_chars: Some(398), ..Budget::default() };
        let reply = recalled(&mut caller, RecallRequest { budget: Some(short), ..exactly }).await;
        assert_eq!(reply.accepted.len(), 1);
    }
}

#[tokio::test]
async fn b38_ids_of_128_characters_are_taken_and_compared_byte_for_byte() {
    let service = Service::start().await;
    let names = ["\u{1f600}".repeat(128), "x".repeat(128), "\u{e9}".to_owned(), "e".to_owned(), "E".to_owned()];
    let projects = names.iter().map(|name| project(name)).collect();
    let mut caller = service.caller_of(&Ticket { projects, ..ticket() }).await;
    for name in &names {
        activated(&mut caller, placed(in_project(name), fact("response_style", &name[..4.min(name.len())]))).await;
    }
    for name in &names {
        let reply = recalled(&mut caller, recalling(of_project(name), all())).await;
        assert_eq!(values(&reply), [&name[..4.min(name.len())]]);
    }
}

#[tokio::test]
async fn what_is_refused_or_rejected_is_kept_nowhere_that_a_read_shows() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let canary = "zq7canary";
    let wrong = CaptureRequest { confidence: Some(f64::NAN), ..fact("response_style", canary) };
    let refused = caller.capture.capture(wrong).await.unwrap_err();
    assert!(!format!("{refused:?}").contains(canary));
    let secret = format!("{canary} password = hunter2222");
    let rejected = caller.capture.capture(fact("response_style", &secret)).await.unwrap().into_inner();
    assert_eq!((rejected.outcome(), shows(&rejected, canary)), (Outcome::Rejected, false));
    let listed = pages(&mut caller, listing_all("subject_access")).await;
    assert!(listed.iter().all(|page| page.entries.is_empty()));
    let candidates = candidates_of(general());
    assert!(caller.capture.list_candidates(candidates).await.unwrap().into_inner().candidates.is_empty());
}
