//! What the layers have in common: how they answer by themselves.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Body as _, Frame};
use http_body_util::BodyExt;
use tokio::time::timeout;
use tonic::Status;
use tonic::body::Body;

/// The future of a layer.
pub(super) type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

/// A service that a layer can stand before.
pub(super) trait Inner:
    tower::Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
{
}

impl<S> Inner for S where
    S: tower::Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
{
}

/// As much of a refused request is read as is on its way already.
const LINGER: Duration = Duration::from_millis(100);
const LINGER_BYTES: usize = 64 * 1024;

/// Instead of the answer of the service behind.
///
/// Decision: HTTP/2 resets a call that is answered before its request is whole, and what then still comes of it counts
/// as a fault of the connection, which is closed after some number of them, with every other call on it. To refuse many
/// calls must not do that. The cost: who sends only half a request waits a moment for the refusal.
pub(super) fn instead(status: Status, request: Request<Body>) -> Answer {
    rather(status.into_http(), request)
}

/// The same with a response that is no status of gRPC.
pub(super) fn rather(response: Response<Body>, request: Request<Body>) -> Answer {
    let mut body = request.into_body();
    if body.is_end_stream() {
        return Box::pin(ready(Ok(response)));
    }
    Box::pin(async move {
        let rest = async {
            let mut bytes = 0;
            while let Some(Ok(frame)) = body.frame().await {
                bytes += frame.data_ref().map_or(0, Bytes::len);
                if bytes > LINGER_BYTES {
                    break;
                }
            }
        };
        // The answer is the same whether or not all came.
        let _ = timeout(LINGER, rest).await;
        Ok(response)
    })
}

/// Instead of the answer of a service that has the request already.
pub(super) fn at_once(status: Status) -> Answer {
    Box::pin(ready(Ok(status.into_http())))
}

/// What ends a body that has begun.
pub(super) fn trailers<D>(status: &Status) -> Frame<D> {
    let mut trailers = HeaderMap::new();
    // It fails only where the message is no header value; the code is written before that.
    let _ = status.add_header(&mut trailers);
    Frame::trailers(trailers)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use http_body_util::StreamBody;
    use tokio::sync::mpsc;
    use tokio_stream::wrappers::ReceiverStream;
    use tonic::Code;

    use super::*;
    use crate::api::status::{Refusal, refused};

    type Sender = mpsc::Sender<Result<Frame<Bytes>, Status>>;

    fn refusing() -> (Sender, Answer) {
        let (sender, receiver) = mpsc::channel(1);
        let body = Body::new(StreamBody::new(ReceiverStream::new(receiver)));
        (sender, instead(refused(&Refusal::Busy), Request::new(body)))
    }

    async fn polled_once(answer: &mut Answer) -> bool {
        poll_fn(|context| Poll::Ready(answer.as_mut().poll(context).is_ready())).await
    }

    #[tokio::test]
    async fn a_refusal_waits_for_what_is_on_its_way_and_for_no_more() {
        let (sender, mut answer) = refusing();
        assert!(!polled_once(&mut answer).await);
        sender.send(Ok(Frame::data(Bytes::from_static(b"rest")))).await.unwrap();
        assert!(!polled_once(&mut answer).await);
        drop(sender);
        assert!(polled_once(&mut answer).await, "the request is whole");

        let (sender, mut answer) = refusing();
        sender.send(Ok(Frame::data(Bytes::from(vec![0; LINGER_BYTES + 1])))).await.unwrap();
        assert!(polled_once(&mut answer).await, "it is large");

        let (_sender, answer) = refusing();
        let response = timeout(Duration::from_secs(5), answer).await.unwrap().unwrap();
        let status = Status::from_header_map(response.headers()).unwrap();
        assert_eq!(status.code(), Code::ResourceExhausted, "it never comes");
    }
}
