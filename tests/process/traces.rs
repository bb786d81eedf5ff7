//! Spans at a collector: what they say, whose they are, and that nobody waits for them.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use recall_gate::api::proto::RecallRequest;
use tonic::Request;

use crate::callers::{Caller, correction, deletion, fact, recall_all, recall_in, restoration, values};
use crate::collector::{Collector, texts};
use crate::program::{Service, eventually, run};

const TRACE: [u8; 16] =
    [0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36];
const PARENT: [u8; 8] = [0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7];
const SAMPLED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const NOT_SAMPLED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

const RECALL: &str = "recallgate.v1.RecallService/Recall";

/// Within this it has stopped: what waits is flushed for 3 s at most.
const STOPPED: Duration = Duration::from_secs(8);

fn traced(parent: &'static str, request: RecallRequest) -> Request<RecallRequest> {
    let mut request = Request::new(request);
    request.metadata_mut().insert("traceparent", parent.parse().unwrap());
    request.metadata_mut().insert("tracestate", "zq7vendor=zq7state".parse().unwrap());
    request
}

/// A call that is refused, and the refusal recorded.
async fn denied(service: &Service) {
    let token = service.run(&["token", "--tenant", "zq7tenant", "--subject", "zq7subject"]).out;
    let mut stranger = Caller::with_token(&service.address, token.trim()).await;
    stranger.recall.recall(recall_in("zq7project", "status")).await.unwrap_err();
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

fn below<'a>(spans: &'a [Span], parent: &Span) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.parent_span_id == parent.span_id && span.trace_id == parent.trace_id).collect()
}

/// The one span below that one, and the names of those below it, in the order of their begin.
fn operation(spans: &[Span], call: &Span) -> (String, Vec<String>) {
    let [operation] = below(spans, call)[..] else { panic!("{:?}", below(spans, call)) };
    let mut steps = below(spans, operation);
    steps.sort_by_key(|step| step.start_time_unix_nano);
    assert_eq!(texts(&operation.attributes).get("gen_ai.operation.name"), Some(&operation.name));
    (operation.name.clone(), steps.iter().map(|step| step.name.clone()).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_call_is_a_span_below_its_clients_and_above_its_operation() {
    let collector = Collector::start();
    let service = Service::start(&["--otlp-endpoint", &collector.endpoint]);
    let mut caller = Caller::nobody(&service.address).await;
    let reply = caller.recall.recall(traced(SAMPLED, recall_all())).await.unwrap().into_inner();
    assert_eq!(values(&reply), [""; 0]);
    denied(&service).await;
    let (_, ran) = service.stop();
    assert_eq!(ran.code, Some(0), "{}", ran.err);

    let spans = collector.spans();
    let [of_client, of_nobody] = named(&spans, RECALL)[..] else { panic!("{spans:#?}") };
    assert_eq!((&of_client.trace_id[..], &of_client.parent_span_id[..]), (&TRACE[..], &PARENT[..]));
    assert_eq!(of_client.kind(), SpanKind::Server);
    let said = texts(&of_client.attributes);
    for (name, value) in [("rpc.system.name", "grpc"), ("rpc.method", RECALL), ("rpc.response.status_code", "OK")] {
        assert_eq!(said.get(name).map(String::as_str), Some(value), "{said:?}");
    }
    let steps = ["load", "judge", "record"].map(str::to_owned).to_vec();
    assert_eq!(operation(&spans, of_client), ("search_memory".to_owned(), steps));

    assert!(of_nobody.parent_span_id.is_empty() && of_nobody.trace_id != TRACE);
    assert_eq!(texts(&of_nobody.attributes)["rpc.response.status_code"], "PERMISSION_DENIED");
    assert_eq!(operation(&spans, of_nobody), ("search_memory".to_owned(), vec!["record".to_owned()]));
    for resource in collector.resources() {
        assert_eq!((resource["service.name"].as_str(), resource.len()), ("recall-gate", 2));
        assert_eq!(resource["service.version"], env!("CARGO_PKG_VERSION"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn each_method_is_the_operation_that_the_conventions_have_for_it() {
    let collector = Collector::start();
    let service = Service::start(&["--otlp-endpoint", &collector.endpoint]);
    let mut caller = Caller::nobody(&service.address).await;
    let made = caller.capture.capture(fact("ui_theme", "zq7 dark")).await.unwrap().into_inner();
    caller.correct.correct(correction(&made.memory_id, 1, "zq7 light")).await.unwrap();
    caller.delete.delete(deletion(&made.memory_id, 2)).await.unwrap();
    caller.delete.restore(restoration(&made.memory_id, 3)).await.unwrap();
    service.stop();

    let spans = collector.spans();
    for (method, name) in [
        ("CaptureService/Capture", "upsert_memory"),
        ("CorrectService/Correct", "upsert_memory"),
        ("DeleteService/Delete", "delete_memory"),
        ("DeleteService/Restore", "restore_memory"),
    ] {
        let [call] = named(&spans, &format!("recallgate.v1.{method}"))[..] else { panic!("{method}: {spans:#?}") };
        let (operation, steps) = operation(&spans, call);
        assert_eq!(operation, name, "{method}");
        assert!(steps.iter().any(|step| step == "load"), "{method}: {steps:?}");
        assert_eq!(steps.last().map(String::as_str), Some("record"), "{method}: {steps:?}");
    }
}

/// All that a span may say. Another is a decision: does it hold text, a key, a tenant or a subject?
const ATTRIBUTES: [&str; 5] =
    ["rpc.system.name", "rpc.method", "rpc.response.status_code", "trace_id", "gen_ai.operation.name"];

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn b40_spans_say_what_is_listed_here_and_no_more() {
    let collector = Collector::start();
    let service = Service::start(&["--otlp-endpoint", &collector.endpoint, "--log-filter", "trace"]);
    let mut caller = Caller::nobody(&service.address).await;
    caller.capture.capture(fact("ui_theme", "zq7 dark")).await.unwrap();
    caller.recall.recall(traced(SAMPLED, recall_all())).await.unwrap();
    denied(&service).await;
    service.stop();

    let spans = collector.spans();
    assert!(spans.len() >= 11, "{spans:#?}");
    for span in &spans {
        assert!(span.events.is_empty() && span.links.is_empty() && span.trace_state.is_empty(), "{span:#?}");
        assert!(span.status.as_ref().is_none_or(|status| status.message.is_empty()), "{span:#?}");
        for name in texts(&span.attributes).keys() {
            assert!(ATTRIBUTES.contains(&name.as_str()), "`{name}` of {span:#?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_call_that_its_client_does_not_sample_is_not_exported() {
    let collector = Collector::start();
    let service = Service::start(&["--otlp-endpoint", &collector.endpoint]);
    let mut caller = Caller::nobody(&service.address).await;
    caller.recall.recall(traced(NOT_SAMPLED, recall_all())).await.unwrap();
    service.stop();
    assert_eq!(named(&collector.spans(), RECALL).len(), 0);
}

/// So many recalls, and a stop in time: what it wrote to the log.
async fn nobody_waits_for(endpoint: &str, recalls: usize) -> String {
    let service = Service::start(&["--otlp-endpoint", endpoint]);
    let mut caller = Caller::nobody(&service.address).await;
    for _ in 0..recalls {
        caller.recall.recall(recall_all()).await.unwrap();
    }
    drop(caller);
    let begin = Instant::now();
    let (_, ran) = service.stop();
    assert!(begin.elapsed() < STOPPED, "{:?}", begin.elapsed());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told: Vec<&str> = ran.err.lines().filter(|line| line.contains("spans cannot be exported")).collect();
    assert_eq!(told.len(), 1, "{}", ran.err);
    assert!(told[0].contains("WARN") && told[0].contains("lost_spans="), "{told:?}");
    // A call, its operation, and that one's three steps.
    let all = format!("so many spans were never exported lost_spans={}", 5 * recalls);
    assert!(ran.err.contains(&all), "{}", ran.err);
    assert!(!ran.err.contains("BatchSpanProcessor") && !ran.err.contains("opentelemetry"), "{}", ran.err);
    ran.err
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn b40_a_collector_that_is_gone_costs_no_call_and_is_told_once() {
    let endpoint = format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    nobody_waits_for(&endpoint, 200).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn b40_a_collector_that_never_answers_costs_no_call_and_is_told_once() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    // More spans than may wait, and than could be tried one batch after the other before the end.
    let log = nobody_waits_for(&format!("http://{}", silent.local_addr().unwrap()), 600).await;
    assert!(log.contains("the last spans were not exported in time"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn b40_a_collector_that_comes_back_is_told_with_how_much_was_lost() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let service = Service::start(&["--otlp-endpoint", &format!("http://{address}")]);
    let mut caller = Caller::nobody(&service.address).await;
    caller.recall.recall(recall_all()).await.unwrap();
    let told = |text: &'static str| eventually(text, || service.running.err_so_far().contains(text).then_some(()));
    told("spans cannot be exported");
    let collector = Collector::on(TcpListener::bind(address).unwrap());
    caller.recall.recall(recall_all()).await.unwrap();
    told("spans are exported again");
    let (_, ran) = service.stop();
    let end: Vec<&str> = ran.err.lines().filter(|line| line.contains("so many spans were never exported")).collect();
    assert!(end.len() == 1 && end[0].contains("lost_spans="), "{}", ran.err);
    assert!(!named(&collector.spans(), RECALL).is_empty());
}

#[test]
fn an_endpoint_that_spans_cannot_be_sent_to_is_refused_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let ran = run(folder.path(), &["serve", "--otlp-endpoint", "https://user:zq7password@localhost:4317"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("`otlp_endpoint` must be `http://HOST:PORT`"), "{}", ran.err);
    assert!(!ran.err.contains("zq7password"), "{}", ran.err);
}
