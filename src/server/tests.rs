use std::convert::Infallible;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body_util::BodyExt;
use tempfile::TempDir;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio_stream::StreamExt;
use tonic::body::Body;
use tonic::server::NamedService;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tracing::Instrument;

use super::*;
use crate::gate::ManualClock;
use crate::identity::{
    Caller, DEVELOPMENT_AUDIENCE, DEVELOPMENT_ISSUER, DEVELOPMENT_KEY_ID, Grants, JwtVerifier, KeySet, SigningKey,
    Ticket, mint,
};
use crate::memory::Time;
use crate::store::{Sqlite, SqliteOptions};

const NOW: Time = Time::from_micros(1_800_000_000_000_000);

/// Answers who called, in a header; `/Wait` only when told.
#[derive(Clone)]
struct Echo {
    begun: Arc<Notify>,
    finish: Arc<Notify>,
}

impl NamedService for Echo {
    const NAME: &'static str = "recallgate.v1.DiscoveryService";
}

impl tower::Service<Request<Body>> for Echo {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let echo = self.clone();
        Box::pin(async move {
            tracing::info!("inside the call");
            if request.uri().path().ends_with("/Wait") {
                echo.begun.notify_one();
                echo.finish.notified().await;
            }
            let caller = request.extensions().get::<Caller>();
            let principal = caller.map_or("nobody", |caller| caller.principal().as_str());
            let response = Response::builder()
                .header("content-type", "application/grpc")
                .header("x-principal", principal)
                .header("x-has-credential", request.headers().contains_key("authorization").to_string())
                .header("grpc-status", "5");
            Ok(response.body(Body::empty()).unwrap())
        })
    }
}

struct Running {
    address: SocketAddr,
    key: SigningKey,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<Drained, Error>>,
    begun: Arc<Notify>,
    finish: Arc<Notify>,
    _folder: TempDir,
}

async fn run(drain: Duration) -> Running {
    let key = SigningKey::generate().unwrap();
    let verifier = JwtVerifier::new(DEVELOPMENT_ISSUER, DEVELOPMENT_AUDIENCE, KeySet::of(DEVELOPMENT_KEY_ID, &key));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (begun, finish) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path().join("recall-gate.db"), SqliteOptions::default()).await.unwrap();
    let server = Server {
        routes: Routes::new(Echo { begun: Arc::clone(&begun), finish: Arc::clone(&finish) }),
        authenticator: Arc::new(Authenticator::required(verifier)),
        store: Arc::new(store),
        ready: true,
        clock: Arc::new(ManualClock::at(NOW)),
        drain,
        limits: Limits::default(),
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let health = Health::new().await;
    let stopped = async { stopped.await.unwrap_or_default() };
    let ended = tokio::spawn(server.run(listener, health, stopped).in_current_span());
    Running { address, key, stop, ended, begun, finish, _folder: folder }
}

impl Running {
    async fn channel(&self) -> Channel {
        Channel::from_shared(format!("http://{}", self.address)).unwrap().connect().await.unwrap()
    }

    fn token(&self) -> String {
        let ticket = Ticket {
            issuer: DEVELOPMENT_ISSUER.to_owned(),
            audience: DEVELOPMENT_AUDIENCE.to_owned(),
            kid: DEVELOPMENT_KEY_ID.to_owned(),
            tenant: "t".to_owned(),
            principal: "backend".to_owned(),
            subject: None,
            projects: Vec::new(),
            grants: Grants::none().names(),
            lifetime_seconds: 60,
        };
        mint(&self.key, &ticket, NOW).unwrap()
    }
}

async fn call(mut channel: Channel, path: &'static str, credential: Option<&str>) -> Response<Body> {
    let mut request = Request::post(path).header("content-type", "application/grpc").header("te", "trailers");
    if let Some(token) = credential {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    std::future::poll_fn(|context| tower::Service::<Request<Body>>::poll_ready(&mut channel, context)).await.unwrap();
    tower::Service::call(&mut channel, request.body(Body::empty()).unwrap()).await.unwrap()
}

fn code(response: &Response<Body>) -> Code {
    Status::from_header_map(response.headers()).unwrap().code()
}

const GET: &str = "/recallgate.v1.DiscoveryService/GetCaller";
const WAIT: &str = "/recallgate.v1.DiscoveryService/Wait";

#[tokio::test]
async fn i01_every_path_but_health_and_reflection_needs_a_credential() {
    let running = run(Duration::from_secs(5)).await;
    let channel = running.channel().await;
    for path in [GET, "/recallgate.v1.Nothing/Call", "/grpc.health.v2.Health/Check", "/", "/x"] {
        assert_eq!(code(&call(channel.clone(), path, None).await), Code::Unauthenticated, "{path}");
        assert_eq!(code(&call(channel.clone(), path, Some("junk")).await), Code::Unauthenticated, "{path}");
    }
    let token = running.token();
    assert_eq!(code(&call(channel.clone(), "/recallgate.v1.Nothing/Call", Some(&token)).await), Code::Unimplemented);
    let answer = call(channel, GET, Some(&token)).await;
    assert_eq!(answer.headers().get("x-principal").unwrap(), "backend");
    assert_eq!(answer.headers().get("x-has-credential").unwrap(), "false", "no handler sees the credential");
}

async fn health(client: &mut HealthClient<Channel>, service: &str) -> Result<ServingStatus, Code> {
    let reply = client.check(HealthCheckRequest { service: service.to_owned() }).await;
    reply.map(|reply| reply.into_inner().status()).map_err(|status| status.code())
}

#[tokio::test]
async fn health_knows_readiness_liveness_and_each_service() {
    let running = run(Duration::from_secs(5)).await;
    let mut client = HealthClient::new(running.channel().await);
    for service in ["", LIVENESS].into_iter().chain(SERVICES) {
        assert_eq!(health(&mut client, service).await, Ok(ServingStatus::Serving), "{service}");
    }
    assert_eq!(health(&mut client, "other").await, Err(Code::NotFound));
}

#[tokio::test]
async fn every_service_of_the_descriptors_has_a_health_of_its_own() {
    use prost::Message;
    let set = prost_types::FileDescriptorSet::decode(DESCRIPTORS).unwrap();
    let named = set
        .file
        .iter()
        .flat_map(|file| file.service.iter().map(move |service| format!("{}.{}", file.package(), service.name())));
    let mut named: Vec<String> = named.collect();
    named.sort();
    let mut known = SERVICES.map(str::to_owned);
    known.sort();
    assert_eq!(named, known);
}

#[tokio::test]
async fn a_service_is_not_ready_until_it_is_told() {
    let health = Health::new().await;
    let service = health.service();
    let routes = Routes::new(service);
    let channel = tonic_health::pb::health_client::HealthClient::new(routes);
    let mut client = channel;
    let check = HealthCheckRequest { service: String::new() };
    assert_eq!(client.check(check.clone()).await.unwrap().into_inner().status(), ServingStatus::NotServing);
    let live = HealthCheckRequest { service: LIVENESS.to_owned() };
    assert_eq!(client.check(live).await.unwrap().into_inner().status(), ServingStatus::Serving);
    health.ready().await;
    assert_eq!(client.check(check).await.unwrap().into_inner().status(), ServingStatus::Serving);
}

#[tokio::test]
async fn a_stop_tells_watchers_first_and_lets_calls_in_flight_finish() {
    let running = run(Duration::from_secs(30)).await;
    let channel = running.channel().await;
    let mut client = HealthClient::new(running.channel().await);
    let watch = client.watch(HealthCheckRequest { service: String::new() }).await.unwrap();
    let mut watch = watch.into_inner();
    let seen = |reply: Option<Result<HealthCheckResponse, Status>>| reply.map(|reply| reply.unwrap().status());
    assert_eq!(seen(watch.next().await), Some(ServingStatus::Serving));

    let token = running.token();
    let waiting = tokio::spawn(async move { call(channel, WAIT, Some(&token)).await });
    running.begun.notified().await;
    running.stop.send(()).unwrap();
    assert_eq!(seen(watch.next().await), Some(ServingStatus::NotServing));
    let end = tokio::time::timeout(Duration::from_secs(10), watch.next()).await;
    assert_eq!(seen(end.expect("a watch ends with the drain")), None);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!running.ended.is_finished());

    running.finish.notify_one();
    assert_eq!(code(&waiting.await.unwrap()), Code::NotFound);
    assert_eq!(running.ended.await.unwrap().unwrap(), Drained::Whole);
    assert!(tokio::net::TcpStream::connect(running.address).await.is_err(), "nothing listens any more");
}

#[tokio::test]
async fn the_drain_is_bounded() {
    let running = run(Duration::from_millis(100)).await;
    let (channel, token) = (running.channel().await, running.token());
    tokio::spawn(async move { call(channel, WAIT, Some(&token)).await });
    running.begun.notified().await;
    running.stop.send(()).unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(10), running.ended).await.unwrap();
    assert_eq!(ended.unwrap().unwrap(), Drained::Cut);
}

#[tokio::test]
async fn reflection_knows_the_api_in_both_versions() {
    use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
    use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
    use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
    use tonic_reflection::pb::v1::{ServerReflectionRequest, ServerReflectionResponse};
    use tonic_reflection::pb::v1alpha;

    let running = run(Duration::from_secs(5)).await;
    let request = ServerReflectionRequest {
        message_request: Some(MessageRequest::ListServices(String::new())),
        ..ServerReflectionRequest::default()
    };
    let mut client = ServerReflectionClient::new(running.channel().await);
    let mut replies = client.server_reflection_info(tokio_stream::once(request)).await.unwrap().into_inner();
    let reply: ServerReflectionResponse = replies.next().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(list)) = reply.message_response else { panic!("{reply:?}") };
    let names: Vec<&str> = list.service.iter().map(|service| service.name.as_str()).collect();
    for service in SERVICES.into_iter().chain(["grpc.health.v1.Health"]) {
        assert!(names.contains(&service), "{service} is not in {names:?}");
    }

    let request = v1alpha::ServerReflectionRequest {
        message_request: Some(v1alpha::server_reflection_request::MessageRequest::FileContainingSymbol(
            SERVICES[2].to_owned(),
        )),
        ..v1alpha::ServerReflectionRequest::default()
    };
    let mut client = v1alpha::server_reflection_client::ServerReflectionClient::new(running.channel().await);
    let replies = client.server_reflection_info(tokio_stream::once(request)).await.unwrap();
    let reply = replies.into_inner().next().await.unwrap().unwrap();
    assert!(matches!(
        reply.message_response,
        Some(v1alpha::server_reflection_response::MessageResponse::FileDescriptorResponse(_))
    ));
}

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_call_has_a_span_with_its_method_status_and_trace_and_no_secret() {
    use crate::telemetry::{Format, Logs, subscriber};
    use tracing::instrument::WithSubscriber;

    let captured = Captured::default();
    let writer = captured.clone();
    let logs = Logs { format: Format::Json, filter: "recall_gate=debug".to_owned() };
    let subscriber = subscriber(&logs, move || writer.clone()).unwrap();

    let key = SigningKey::generate().unwrap();
    let echo = Echo { begun: Arc::new(Notify::new()), finish: Arc::new(Notify::new()) };
    let methods = methods::Methods::of(&[DESCRIPTORS]).unwrap();
    let mut service = tower::ServiceBuilder::new()
        .layer(calls::CallLayer::new(Arc::new(methods)))
        .layer(authenticate::AuthenticateLayer::new(
            Arc::new(Authenticator::development(&key)),
            Arc::new(ManualClock::at(NOW)),
        ))
        .service(echo);
    async {
        for path in [GET, "/SECRETPATH/x"] {
            let request = Request::post(path)
                .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                .header("x-other", "SECRETHEADER");
            let answer = tower::Service::call(&mut service, request.body(Body::empty()).unwrap()).await.unwrap();
            let _ = answer.into_body().collect().await;
        }
        let request = Request::post(GET).header("authorization", "Bearer SECRETTOKEN").body(Body::empty()).unwrap();
        tower::Service::call(&mut service, request).await.unwrap();
    }
    .with_subscriber(subscriber)
    .await;

    let text = String::from_utf8(captured.0.lock().unwrap().clone()).unwrap();
    assert!(!text.contains("SECRET"), "{text}");
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |message: &str| lines.iter().filter(|line| line["message"] == message).collect::<Vec<_>>();
    let ended = of("call ended");
    let spans: Vec<&serde_json::Value> = ended.iter().map(|line| &line["spans"][0]).collect();
    assert_eq!(spans[0]["rpc.system.name"], "grpc");
    assert_eq!(spans[0]["rpc.method"], &GET[1..]);
    assert_eq!(spans[0]["rpc.response.status_code"], "NOT_FOUND");
    assert_eq!(spans[0]["trace_id"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(spans[1]["rpc.method"], "_OTHER");
    assert_eq!(spans[2]["rpc.response.status_code"], "UNAUTHENTICATED");
    assert_eq!(spans[2]["trace_id"].as_str().map(str::len), Some(32), "an id of our own");
    assert_ne!(spans[2]["trace_id"], spans[0]["trace_id"]);
    assert_eq!(of("inside the call")[0]["spans"][0]["trace_id"], spans[0]["trace_id"]);
}
