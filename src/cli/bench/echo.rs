//! `recall-gate bench-echo`: a bare tonic server that reads a request of any method and answers with bytes that it was
//! given on standard input. Nothing is checked, looked up or kept: what it costs is what gRPC costs.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io::{Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use clap::Args;
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::server::Grpc;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use tower::Service;

use super::Failure;
use super::wire::Raw;

#[derive(Debug, Args)]
pub(in crate::cli) struct BenchEcho {}

/// The answer to each path.
pub(super) type Answers = BTreeMap<String, Vec<u8>>;

impl BenchEcho {
    pub(in crate::cli) async fn run(self, out: &mut (impl Write + Send)) -> Result<(), Failure> {
        let mut input = Vec::new();
        std::io::stdin().read_to_end(&mut input).map_err(|error| Failure::because("no answers", &error))?;
        let answers: Answers =
            serde_json::from_slice(&input).map_err(|error| Failure::because("no answers", &error))?;
        let answers = answers.into_iter().map(|(path, answer)| (path, Bytes::from(answer))).collect();
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.map_err(|error| Failure::because("nothing can be listened on", &error))?;
        let address = listener.local_addr().map_err(|error| Failure::because("no address", &error))?;
        writeln!(out, "listening on {address}").and_then(|()| out.flush())?;
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        tonic::transport::Server::builder()
            .serve_with_incoming(Echo(Arc::new(answers)), incoming)
            .await
            .map_err(|error| Failure::because("serving failed", &error))
    }
}

#[derive(Clone)]
struct Echo(Arc<BTreeMap<String, Bytes>>);

impl Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let answer = Answer(self.0.get(request.uri().path()).cloned().unwrap_or_default());
        Box::pin(async move { Ok(Grpc::new(Raw).unary(answer, request).await) })
    }
}

/// Answers with these bytes.
struct Answer(Bytes);

impl Service<Request<Bytes>> for Answer {
    type Response = Response<Bytes>;
    type Error = Status;
    type Future = Ready<Result<Response<Bytes>, Status>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        ready(Ok(Response::new(self.0.clone())))
    }
}
