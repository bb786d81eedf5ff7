//! Whether a request is gRPC at all. What is not is answered as HTTP and reaches nothing behind.
//!
//! A status of gRPC would come with HTTP's 200, and whoever speaks only HTTP would take it for success.

use std::convert::Infallible;
use std::task::{Context, Poll};

use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use tonic::body::Body;
use tower::{Layer, Service};

use super::answer::{Answer, Inner, rather};

const GRPC: &str = "application/grpc";
const GRPC_PROTO: &str = "application/grpc+proto";

/// Messages are protobuf alone. What is not known is refused: gRPC-Web and JSON look much the same.
fn is_grpc(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    let essence = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case(GRPC) || essence.eq_ignore_ascii_case(GRPC_PROTO)
}

fn refusal(request: &Request<Body>) -> Option<Response<Body>> {
    let mut response = Response::new(Body::empty());
    if request.method() != Method::POST {
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    } else if !is_grpc(request.headers()) {
        *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    } else {
        return None;
    }
    Some(response)
}

#[derive(Clone)]
pub(super) struct ProtocolLayer;

impl<S> Layer<S> for ProtocolLayer {
    type Service = Protocol<S>;

    fn layer(&self, inner: S) -> Protocol<S> {
        Protocol(inner)
    }
}

#[derive(Clone)]
pub(super) struct Protocol<S>(S);

impl<S: Inner> Service<Request<Body>> for Protocol<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Answer {
        match refusal(&request) {
            Some(response) => {
                tracing::debug!(status = response.status().as_u16(), "a request that is not gRPC");
                rather(response, request)
            }
            None => Box::pin(self.0.call(request)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&[u8]]) -> HeaderMap {
        values.iter().map(|value| (CONTENT_TYPE, HeaderValue::from_bytes(value).unwrap())).collect()
    }

    #[test]
    fn protobuf_over_grpc_is_spoken_and_what_only_looks_like_it_is_not() {
        for value in ["application/grpc", "application/grpc+proto", "Application/gRPC", "application/grpc; charset=x"] {
            assert!(is_grpc(&headers(&[value.as_bytes()])), "{value}");
        }
        for value in [
            &b""[..],
            b"application/json",
            b"application/grpc-web",
            b"application/grpc-web+proto",
            b"application/grpc-web-text",
            b"application/grpc+json",
            b"application/grpcx",
            b"application/grpc+",
            b"text/application/grpc",
            b"application/grpc,application/json",
            b"application/grpc\xff",
        ] {
            assert!(!is_grpc(&headers(&[value])), "{value:?}");
        }
        assert!(!is_grpc(&headers(&[])));
        assert!(!is_grpc(&headers(&[b"application/grpc", b"application/grpc"])));
    }
}
