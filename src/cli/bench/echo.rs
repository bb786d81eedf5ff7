//! `recall-gate bench-echo`: a bare tonic server that reads a request of any method and answers with bytes that it was
//! given on standard input. Nothing is checked or looked up: what it costs is what gRPC costs. It may append a row for
//! each call before it answers: what that costs more is what keeping a decision costs.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use clap::Args;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::server::Grpc;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use tower::Service;

use super::Failure;
use super::appending::{Append, Appending};
use super::guest::end_with_input;
use super::wire::Raw;

#[derive(Debug, Args)]
pub(in crate::cli) struct BenchEcho {}

/// What it does.
#[derive(Serialize, Deserialize)]
pub(super) struct Told {
    /// The answer to each path.
    pub(super) answers: BTreeMap<String, Vec<u8>>,
    /// What it appends before it answers.
    pub(super) append: Option<Append>,
}

impl BenchEcho {
    pub(in crate::cli) async fn run(self, out: &mut (impl Write + Send)) -> Result<(), Failure> {
        let mut input = String::new();
        std::io::stdin().read_line(&mut input).map_err(|error| Failure::because("no answers", &error))?;
        let told: Told = serde_json::from_str(&input).map_err(|error| Failure::because("no answers", &error))?;
        let answers = told.answers.into_iter().map(|(path, answer)| (path, Bytes::from(answer))).collect();
        end_with_input();
        let appending = match told.append {
            Some(append) => Some(Appending::start(append).await?),
            None => None,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.map_err(|error| Failure::because("nothing can be listened on", &error))?;
        let address = listener.local_addr().map_err(|error| Failure::because("no address", &error))?;
        writeln!(out, "listening on {address}").and_then(|()| out.flush())?;
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        tonic::transport::Server::builder()
            .serve_with_incoming(Echo { answers: Arc::new(answers), appending }, incoming)
            .await
            .map_err(|error| Failure::because("serving failed", &error))
    }
}

#[derive(Clone)]
struct Echo {
    answers: Arc<BTreeMap<String, Bytes>>,
    appending: Option<Appending>,
}

impl Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let answer = Answer(self.answers.get(request.uri().path()).cloned().unwrap_or_default());
        match self.appending.clone() {
            None => Box::pin(async move { Ok(Grpc::new(Raw).unary(answer, request).await) }),
            Some(appending) => {
                Box::pin(async move { Ok(Grpc::new(Raw).unary(Appended { answer, appending }, request).await) })
            }
        }
    }
}

/// Answers with these bytes.
#[derive(Clone)]
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

/// Answers when a row is durable.
struct Appended {
    answer: Answer,
    appending: Appending,
}

impl Service<Request<Bytes>> for Appended {
    type Response = Response<Bytes>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Bytes>, Status>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let (mut answer, appending) = (self.answer.clone(), self.appending.clone());
        Box::pin(async move { if appending.append().await { answer.call(request).await } else { Err(not_appended()) } })
    }
}

#[expect(clippy::disallowed_methods, reason = "a status of no service of ours")]
fn not_appended() -> Status {
    Status::unavailable("the row was not appended")
}
