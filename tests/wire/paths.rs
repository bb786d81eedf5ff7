//! Case S11: a path that is nearly one of ours reaches no handler.

use std::sync::atomic::Ordering;

use recall_gate::server::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::Code;

use crate::harness::Service;
use crate::raw::{LONG, framed};

#[tokio::test]
async fn s11_a_path_that_is_nearly_one_of_ours_reaches_no_handler() {
    let service = Service::start(Limits::default()).await;
    for path in [
        "//stub.Stub/Ok",
        "//recallgate.v1.DiscoveryService/GetCaller",
        "/recallgate.v1.DiscoveryService//GetCaller",
        "/recallgate.v1.DiscoveryService/GetCaller/",
        "/recallgate.v1.DiscoveryService/GetCaller%00",
        "/recallgate.v1.DiscoveryService/%47etCaller",
        "/recallgate.v1.DiscoveryService%2FGetCaller",
        "/%72ecallgate.v1.DiscoveryService/GetCaller",
        "/recallgate.v1.DiscoveryService/getcaller",
        "/RecallGate.v1.DiscoveryService/GetCaller",
        "/recallgate.v1.DiscoveryService/../DiscoveryService/GetCaller",
        "/./recallgate.v1.DiscoveryService/GetCaller",
        "/recallgate.v1.DiscoveryService",
        "/recallgate.v1.DiscoveryService/",
        "/recallgate.v1.DiscoveryService/Get{x}",
        "/x/stub.Stub/Ok",
        "/grpc.health.v1.Health/Check/stub.Stub/Ok",
        "/grpc.health.v1.Health//stub.Stub/Ok",
        "/grpc.health.v1.Health/../stub.Stub/Ok",
        "/",
        "/*",
        "*",
    ] {
        let mut raw = service.raw().await;
        for credential in [&[][..], &[("authorization", &b"Bearer junk"[..])]] {
            let (code, reason) = raw.call(path, credential, &framed(0, b"")).await.refused();
            let open = path.starts_with("/grpc.health.v1.Health/");
            let expected = if credential.is_empty() || open {
                (Code::Unimplemented, "UNIMPLEMENTED")
            } else {
                (Code::Unauthenticated, "CREDENTIAL_INVALID")
            };
            assert_eq!((code, reason.as_str()), expected, "{path}");
        }
    }
    assert_eq!(service.stub.reached.load(Ordering::SeqCst), 0);
    let mut raw = service.raw().await;
    assert_eq!(raw.call("/stub.Stub/Ok", &[], &framed(0, b"")).await.code(), Code::Ok);
    // A query is no part of the path.
    assert_eq!(raw.call("/stub.Stub/Ok?x=/y", &[], &framed(0, b"")).await.code(), Code::Ok);
}

const RST_STREAM: u8 = 3;
const GOAWAY: u8 = 7;

/// Field names and values as HPACK writes them without tables.
fn headers_frame(path: &[u8]) -> Vec<u8> {
    let fields = [
        (&b":method"[..], &b"POST"[..]),
        (b":scheme", b"http"),
        (b":path", path),
        (b"content-type", b"application/grpc"),
    ];
    let block = fields.iter().flat_map(|(name, value)| {
        let length = |bytes: &[u8]| u8::try_from(bytes.len()).unwrap();
        [&[0, length(name)][..], name, &[length(value)], value].concat()
    });
    let block: Vec<u8> = block.collect();
    let length = u8::try_from(block.len()).unwrap();
    [&[0, 0, length, 1, 4, 0, 0, 0, 1][..], &block].concat()
}

/// The kind and content of the first frame about stream 1, or of the one that ends the connection.
async fn about_the_call(stream: &mut TcpStream) -> (u8, Vec<u8>) {
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.unwrap();
        let length = usize::from(head[1]) << 8 | usize::from(head[2]);
        let mut content = vec![0; length];
        stream.read_exact(&mut content).await.unwrap();
        if head[5..] == [0, 0, 0, 1] || head[3] == GOAWAY {
            return (head[3], content);
        }
    }
}

/// No HTTP library sends such a path, and ours does not take it: the stream is reset.
#[tokio::test]
async fn s11_a_path_without_its_slash_is_no_request_at_all() {
    let service = Service::start(Limits::default()).await;
    for path in [&b"stub.Stub/Ok"[..], b"recallgate.v1.DiscoveryService/GetCaller", b"", b"\xff/", b"/stub.Stub/Ok\x01"]
    {
        let mut stream = TcpStream::connect(service.address).await.unwrap();
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
        stream.write_all(&headers_frame(path)).await.unwrap();
        let (kind, content) = tokio::time::timeout(LONG, about_the_call(&mut stream)).await.unwrap();
        // What is no UTF-8 ends the connection.
        let expected =
            if path.is_ascii() { (RST_STREAM, &[0, 0, 0, 1][..]) } else { (GOAWAY, &[0, 0, 0, 0, 0, 0, 0, 1][..]) };
        assert_eq!((kind, &content[..]), expected, "{path:?}");
    }
    assert_eq!(service.stub.reached.load(Ordering::SeqCst), 0);
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    stream.write_all(&headers_frame(b"/stub.Stub/Ok")).await.unwrap();
    let (kind, _) = tokio::time::timeout(LONG, about_the_call(&mut stream)).await.unwrap();
    assert_eq!((kind, service.stub.reached.load(Ordering::SeqCst)), (1, 1), "the same frame with the slash");
}
