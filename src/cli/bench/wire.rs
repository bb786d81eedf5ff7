//! Connections over which bytes go as they are, so that every kind of call costs the load generator the same.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Buf, BufMut, Bytes};
use http::uri::PathAndQuery;
use tonic::client::Grpc;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};

use super::Failure;
use super::mix::Method;

/// Messages as their bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        into.put(item);
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::default()
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::default()
    }
}

/// A few connections to one server, used in turn.
pub(super) struct Wire {
    clients: Vec<Grpc<Channel>>,
    next: AtomicUsize,
}

impl Wire {
    pub(super) async fn connect(address: &str, connections: u16) -> Result<Self, Failure> {
        let uri = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
        let endpoint =
            Endpoint::from_shared(uri).map_err(|_| Failure::Usage(vec![format!("`{address}` is no address")]))?;
        let mut clients = Vec::new();
        for _ in 0..connections.max(1) {
            let channel = endpoint.connect().await;
            let channel = channel.map_err(|error| Failure::because(&format!("`{address}` does not answer"), &error))?;
            clients.push(Grpc::new(channel));
        }
        Ok(Self { clients, next: AtomicUsize::new(0) })
    }

    /// Asks, and hands back the reply's bytes.
    pub(super) async fn call(
        &self,
        method: Method,
        token: &MetadataValue<Ascii>,
        message: Bytes,
    ) -> Result<Bytes, (Code, String)> {
        self.call_path(method.path(), token, message).await
    }

    /// The same, for any method.
    pub(super) async fn call_path(
        &self,
        path: &'static str,
        token: &MetadataValue<Ascii>,
        message: Bytes,
    ) -> Result<Bytes, (Code, String)> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let client = self.clients.get(turn % self.clients.len().max(1));
        let mut client = client.cloned().ok_or_else(|| (Code::Internal, "no connection".to_owned()))?;
        client.ready().await.map_err(|error| (Code::Unavailable, error.to_string()))?;
        let mut request = Request::new(message);
        request.metadata_mut().insert("authorization", token.clone());
        match client.unary(request, PathAndQuery::from_static(path), Raw).await {
            Ok(reply) => Ok(reply.into_inner()),
            Err(status) => Err((status.code(), status.message().to_owned())),
        }
    }
}
