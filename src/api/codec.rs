//! Messages as bytes. A request that is no message of its method is its sender's fault, where the codec of tonic's own
//! would call it ours. A reply is a value of its generated type, or bytes that have been [`Written`].

use std::marker::PhantomData;

use prost::Message;
use prost::bytes::BufMut;
use tonic::Status;
use tonic::codec::{Codec as Coding, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic_prost::ProstEncoder;

use super::status::{Refusal, refused};
use crate::wire;

/// Encodes `T` and decodes `U`. The generated clients use it too, so a reply that cannot be read is reported as a bad
/// request by a client in Rust.
pub(in crate::api) struct Codec<T, U>(PhantomData<fn(T) -> U>);

impl<T, U> Default for Codec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Coding for Codec<T, U>
where
    T: Outgoing,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = Encoding<T>;
    type Decoder = Decoding<U>;

    fn encoder(&mut self) -> Encoding<T> {
        Encoding(PhantomData)
    }

    fn decoder(&mut self) -> Decoding<U> {
        Decoding(PhantomData)
    }
}

/// What can be sent as one message.
pub(in crate::api) trait Outgoing: Send + 'static {
    fn encode(self, bytes: &mut EncodeBuf<'_>) -> Result<(), Status>;
}

impl<M: Message + 'static> Outgoing for M {
    fn encode(self, bytes: &mut EncodeBuf<'_>) -> Result<(), Status> {
        ProstEncoder::default().encode(self, bytes)
    }
}

/// A message as it goes out, written field by field; read, it is an `M`.
pub(in crate::api) struct Written<M>(Vec<u8>, PhantomData<fn() -> M>);

impl<M> Written<M> {
    /// Of about so many bytes.
    pub(in crate::api) fn new(room: usize, write: impl FnOnce(&mut wire::Message)) -> Self {
        let mut message = wire::Message::with_room(room);
        write(&mut message);
        Self(message.into_bytes(), PhantomData)
    }
}

#[cfg(test)]
impl<M: Message + Default> Written<M> {
    /// As whoever gets it reads it. It must have no field that the generated type does not know.
    pub(in crate::api) fn read(&self) -> M {
        let message = M::decode(self.0.as_slice()).unwrap();
        assert_eq!(message.encode_to_vec(), self.0, "no field more, and all in their order");
        message
    }
}

impl<M: 'static> Outgoing for Written<M> {
    fn encode(self, bytes: &mut EncodeBuf<'_>) -> Result<(), Status> {
        bytes.put_slice(&self.0);
        Ok(())
    }
}

pub(in crate::api) struct Encoding<T>(PhantomData<fn() -> T>);

impl<T: Outgoing> Encoder for Encoding<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, item: T, bytes: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(bytes)
    }
}

pub(in crate::api) struct Decoding<U>(PhantomData<fn() -> U>);

impl<U: Message + Default> Decoder for Decoding<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, bytes: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        U::decode(bytes).map(Some).map_err(|error| refused(&Refusal::NoMessage(error)))
    }
}
