//! How it stops: health first, calls in flight to their end, the rest refused, and everything on the disk.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use http::Request;
use prost::Message;
use recall_gate::api::proto::{CaptureRequest, CaptureResponse};
use tokio::task::JoinHandle;
use tonic::Streaming;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

use crate::callers::{Caller, channel, fact, recall_all, values};
use crate::database::Database;
use crate::program::{PATIENCE, Service};

/// A capture whose headers the service has and whose body it still waits for.
struct HalfACall {
    body: h2::SendStream<Bytes>,
    reply: ResponseFuture,
    _requests: SendRequest<Bytes>,
    connection: JoinHandle<()>,
}

impl HalfACall {
    async fn begin(address: &str) -> Self {
        let socket = tokio::net::TcpStream::connect(address).await.unwrap();
        let (requests, mut connection) = h2::client::handshake(socket).await.unwrap();
        let mut ping = connection.ping_pong().unwrap();
        let connection = tokio::spawn(async move { drop(connection.await) });
        let mut requests = requests.ready().await.unwrap();
        let request = Request::post("http://gate/recallgate.v1.CaptureService/Capture")
            .header("content-type", "application/grpc")
            .header("te", "trailers");
        let (reply, body) = requests.send_request(request.body(()).unwrap(), false).unwrap();
        // Frames are read in order: who has answered this has read the headers.
        ping.ping(h2::Ping::opaque()).await.unwrap();
        Self { body, reply, _requests: requests, connection }
    }

    /// Sends the body, and waits for the reply.
    async fn finish(mut self, request: &CaptureRequest) -> CaptureResponse {
        let message = request.encode_to_vec();
        let mut frame = vec![0];
        frame.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
        frame.extend(message);
        self.body.send_data(frame.into(), true).unwrap();
        let mut body = self.reply.await.unwrap().into_body();
        let mut bytes = Vec::new();
        while let Some(piece) = body.data().await {
            let piece = piece.unwrap();
            body.flow_control().release_capacity(piece.len()).unwrap();
            bytes.extend_from_slice(&piece);
        }
        let trailers = body.trailers().await.unwrap().unwrap();
        assert_eq!(trailers["grpc-status"], "0");
        self.connection.abort();
        CaptureResponse::decode(&bytes[5..]).unwrap()
    }
}

/// Readiness as it changes, and that it is serving now.
async fn watch(address: &str) -> Streaming<HealthCheckResponse> {
    let request = HealthCheckRequest { service: String::new() };
    let mut watch = HealthClient::new(channel(address).await).watch(request).await.unwrap().into_inner();
    assert_eq!(watch.message().await.unwrap().unwrap().status(), ServingStatus::Serving);
    watch
}

#[tokio::test]
async fn sigterm_tells_health_first_lets_calls_finish_and_leaves_all_on_the_disk() {
    let mut service = Service::start(&["--drain-seconds", "60"]);
    let mut watch = watch(&service.address).await;
    let mut caller = Caller::nobody(&service.address).await;
    let before = caller.capture.capture(fact("response_style", "zq7 brief")).await.unwrap().into_inner();
    let half = HalfACall::begin(&service.address).await;

    service.running.signal("TERM");
    assert_eq!(watch.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
    assert!(watch.message().await.unwrap().is_none(), "a watch does not hold up the end");
    crate::program::eventually("nobody listens any more", || TcpStream::connect(&service.address).err());
    assert!(service.running.ended().is_none(), "it waits for the call in flight");

    let after = half.finish(&fact("ui_theme", "zq7 dark")).await;
    assert_eq!(after.version, 1);
    drop(caller);
    assert_eq!(service.running.wait().code(), Some(0), "{}", service.running.err());
    let told = service.running.err();
    assert!(told.contains("stopping") && told.contains("stopped"), "{told}");

    let database = Database::open(&service.database()).await;
    for id in [&before.decision_id, &after.decision_id] {
        assert!(database.has_decision(id).await, "{id}");
    }
    database.assert_consistent().await;
    drop(database);
    let Service { folder, .. } = service;
    let again = Service::start_in(folder, &[]);
    let mut caller = Caller::nobody(&again.address).await;
    let reply = caller.recall.recall(recall_all()).await.unwrap().into_inner();
    let mut found = values(&reply);
    found.sort_unstable();
    assert_eq!(found, ["zq7 brief", "zq7 dark"]);
}

#[tokio::test]
async fn a_second_sigterm_ends_at_once() {
    let mut service = Service::start(&["--drain-seconds", "3600"]);
    let mut watch = watch(&service.address).await;
    let half = HalfACall::begin(&service.address).await;
    service.running.signal("TERM");
    assert_eq!(watch.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
    assert!(service.running.ended().is_none(), "it waits for the call in flight");
    let begin = Instant::now();
    service.running.signal("TERM");
    assert_eq!(service.running.wait().code(), Some(1));
    assert!(begin.elapsed() < PATIENCE);
    let told = service.running.err();
    assert!(told.contains("second signal") && !told.contains("panicked"), "{told}");
    drop(half);
}

#[tokio::test]
async fn a_call_that_does_not_end_is_cut_off_when_the_time_is_over() {
    let mut service = Service::start(&["--drain-seconds", "1"]);
    let half = HalfACall::begin(&service.address).await;
    let begin = Instant::now();
    service.running.signal("INT");
    assert_eq!(service.running.wait().code(), Some(0));
    assert!(begin.elapsed() >= Duration::from_secs(1), "{:?}", begin.elapsed());
    let told = service.running.err();
    assert!(told.contains("cut off") && !told.contains("panicked"), "{told}");
    drop(half);
}
