//! Calls by hand: any path, any header, any bytes.

use std::future::poll_fn;
use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, SendStream};
use http::uri::{Authority, Parts, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, Uri};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tonic::{Code, Status};
use tonic_types::{ErrorDetail, StatusExt};

/// Nothing here may take longer.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// What a call was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) http: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) status: Option<Status>,
}

impl Answer {
    pub(crate) fn code(&self) -> Code {
        self.status.as_ref().unwrap_or_else(|| panic!("no status: {self:?}")).code()
    }

    /// Of the one `ErrorInfo` of our domain that every refusal has.
    pub(crate) fn refused(&self) -> (Code, String) {
        let status = self.status.as_ref().unwrap_or_else(|| panic!("no status: {self:?}"));
        let details = status.check_error_details_vec().unwrap();
        let infos: Vec<_> = details
            .iter()
            .filter_map(|detail| match detail {
                ErrorDetail::ErrorInfo(info) => Some(info),
                _ => None,
            })
            .collect();
        assert_eq!(infos.len(), 1, "{self:?}");
        assert_eq!(infos[0].domain, "recallgate");
        assert!(status.message().len() + status.details().len() < 4096, "{self:?}");
        (status.code(), infos[0].reason.clone())
    }

    pub(crate) fn bad_field(&self) -> String {
        self.status.as_ref().unwrap().get_details_bad_request().unwrap().field_violations[0].field.clone()
    }
}

/// An HTTP/2 connection.
pub(crate) struct Raw {
    pub(crate) send: SendRequest<Bytes>,
    pub(crate) driver: JoinHandle<Result<(), h2::Error>>,
    address: SocketAddr,
}

impl Raw {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self::try_connect(address).await.unwrap()
    }

    pub(crate) async fn try_connect(address: SocketAddr) -> Option<Self> {
        let stream = TcpStream::connect(address).await.ok()?;
        let (send, connection) = h2::client::handshake(stream).await.ok()?;
        Some(Self { send, driver: tokio::spawn(connection), address })
    }

    pub(crate) async fn with(address: SocketAddr, builder: &h2::client::Builder) -> Self {
        let (send, connection) = builder.handshake(TcpStream::connect(address).await.unwrap()).await.unwrap();
        Self { send, driver: tokio::spawn(connection), address }
    }

    fn request(&self, path: &'static str, headers: &[(&'static str, &[u8])]) -> Request<()> {
        let mut parts = Parts::default();
        parts.scheme = Some(Scheme::HTTP);
        parts.authority = Some(self.address.to_string().parse::<Authority>().unwrap());
        parts.path_and_query = Some(PathAndQuery::from_static(path));
        let mut request = Request::post(Uri::from_parts(parts).unwrap()).body(()).unwrap();
        for (name, value) in [("content-type", &b"application/grpc"[..]), ("te", b"trailers")].iter().chain(headers) {
            request.headers_mut().append(HeaderName::from_static(name), HeaderValue::from_bytes(value).unwrap());
        }
        request
    }

    /// Sends the headers; the body is for the caller to send.
    pub(crate) async fn begin(
        &mut self,
        path: &'static str,
        headers: &[(&'static str, &[u8])],
    ) -> (ResponseFuture, SendStream<Bytes>) {
        let request = self.request(path, headers);
        poll_fn(|context| self.send.poll_ready(context)).await.unwrap();
        self.send.send_request(request, false).unwrap()
    }

    /// A whole call.
    pub(crate) async fn call(&mut self, path: &'static str, headers: &[(&'static str, &[u8])], body: &[u8]) -> Answer {
        self.try_call(path, headers, body).await.unwrap_or_else(|error| panic!("{path} {headers:?}: {error}"))
    }

    pub(crate) async fn try_call(
        &mut self,
        path: &'static str,
        headers: &[(&'static str, &[u8])],
        body: &[u8],
    ) -> Result<Answer, h2::Error> {
        let request = self.request(path, headers);
        poll_fn(|context| self.send.poll_ready(context)).await?;
        let (answer, body_to) = self.send.send_request(request, false)?;
        let body = Bytes::copy_from_slice(body);
        let sending = tokio::spawn(send(body_to, body));
        let answer = read(answer).await;
        sending.abort();
        answer
    }
}

/// Sends a body as far as the other side takes it.
pub(crate) async fn send(to: SendStream<Bytes>, body: Bytes) -> SendStream<Bytes> {
    let mut to = send_part(to, body).await;
    // Refused where the answer is there already.
    let _ = to.send_data(Bytes::new(), true);
    to
}

/// The same without an end.
pub(crate) async fn send_part(mut to: SendStream<Bytes>, mut body: Bytes) -> SendStream<Bytes> {
    while !body.is_empty() {
        to.reserve_capacity(body.len());
        match poll_fn(|context| to.poll_capacity(context)).await {
            Some(Ok(room)) => {
                let chunk = body.split_to(room.min(body.len()));
                if to.send_data(chunk, false).is_err() {
                    return to;
                }
            }
            _ => return to,
        }
    }
    to
}

/// Reads an answer to its end.
pub(crate) async fn read(answer: ResponseFuture) -> Result<Answer, h2::Error> {
    tokio::time::timeout(LONG, async {
        let (parts, mut from) = answer.await?.into_parts();
        let mut body = Vec::new();
        while let Some(data) = from.data().await {
            match data {
                Ok(data) => {
                    from.flow_control().release_capacity(data.len())?;
                    body.extend(data);
                }
                // Sent after a whole answer to a request that need not be sent any further.
                Err(error) if error.reason() == Some(Reason::NO_ERROR) => break,
                Err(error) => return Err(error),
            }
        }
        let trailers = from.trailers().await.ok().flatten();
        let status = Status::from_header_map(trailers.as_ref().unwrap_or(&parts.headers));
        Ok(Answer { http: parts.status, headers: parts.headers, body, status })
    })
    .await
    .unwrap()
}

/// With the five bytes before it.
pub(crate) fn framed(flag: u8, message: &[u8]) -> Vec<u8> {
    let mut bytes = vec![flag];
    bytes.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    bytes.extend(message);
    bytes
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
