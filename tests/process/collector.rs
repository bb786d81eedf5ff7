//! An OpenTelemetry collector that keeps what it is sent.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{TraceService, TraceServiceServer};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::sync::oneshot;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::metadata::MetadataMap;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

type Kept = Arc<Mutex<Vec<(MetadataMap, ExportTraceServiceRequest)>>>;

struct Keeper(Kept);

#[tonic::async_trait]
impl TraceService for Keeper {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let (metadata, _, message) = request.into_parts();
        self.0.lock().unwrap().push((metadata, message));
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

/// It runs in a thread of its own, so that a test may wait for the service meanwhile, and ends with its test.
pub(crate) struct Collector {
    pub(crate) endpoint: String,
    kept: Kept,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    pub(crate) fn on(listener: TcpListener) -> Self {
        listener.set_nonblocking(true).unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (kept, (stop, stopped)) = (Kept::default(), oneshot::channel());
        let keeper = TraceServiceServer::new(Keeper(Arc::clone(&kept)));
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let incoming = TcpListenerStream::new(tokio::net::TcpListener::from_std(listener).unwrap());
                tokio::select! {
                    served = Server::builder().add_service(keeper).serve_with_incoming(incoming) => served.unwrap(),
                    _ = stopped => {}
                }
            });
        });
        Self { endpoint, kept, stop: Some(stop), thread: Some(thread) }
    }

    /// Each request as bytes, and the metadata beside it as text.
    pub(crate) fn requests(&self) -> Vec<(String, Vec<u8>)> {
        let kept = self.kept.lock().unwrap();
        kept.iter().map(|(metadata, message)| (format!("{metadata:?}"), message.encode_to_vec())).collect()
    }

    /// Every span.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let kept = self.kept.lock().unwrap();
        let resources = kept.iter().flat_map(|(_, message)| &message.resource_spans);
        resources.flat_map(|resource| &resource.scope_spans).flat_map(|scope| scope.spans.clone()).collect()
    }

    /// What each request says of the service.
    pub(crate) fn resources(&self) -> Vec<BTreeMap<String, String>> {
        let kept = self.kept.lock().unwrap();
        let resources = kept.iter().flat_map(|(_, message)| &message.resource_spans);
        resources.map(|resource| texts(&resource.resource.as_ref().unwrap().attributes)).collect()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let mut kept = crate::said::file("spans");
        for (_, request) in self.requests() {
            // What fails here has failed the test already.
            let _ = kept.write_all(&request);
        }
        drop(self.stop.take());
        // A panic of it has failed the test already, by what is missing.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Attributes, whose values must be text.
pub(crate) fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |attribute: &KeyValue| match attribute.value.clone().unwrap().value.unwrap() {
        any_value::Value::StringValue(text) => text,
        other => panic!("{}: {other:?}", attribute.key),
    };
    attributes.iter().map(|attribute| (attribute.key.clone(), text(attribute))).collect()
}
