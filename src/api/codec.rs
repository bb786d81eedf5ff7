//! Messages as bytes. A request that is no message of its method is its sender's fault, where the codec of tonic's own
//! would call it ours.

use std::marker::PhantomData;

use prost::Message;
use tonic::Status;
use tonic::codec::{BufferSettings, Codec as Coding, DecodeBuf, Decoder};
use tonic_prost::ProstEncoder;

use super::status::{Refusal, refused};

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
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = Decoding<U>;

    fn encoder(&mut self) -> ProstEncoder<T> {
        ProstEncoder::new(BufferSettings::default())
    }

    fn decoder(&mut self) -> Decoding<U> {
        Decoding(PhantomData)
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
