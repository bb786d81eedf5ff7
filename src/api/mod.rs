//! The public gRPC services: one file a service, each handler as thin as its conversion allows.
//!
//! The only place that names the public protobuf and tonic's server types. No rule lives here: a request is checked
//! for form and becomes a command of [`gate`](crate::gate), its answer becomes a reply, an error becomes a status.
//!
//! Invariant: text is encoded out of `Admitted` and `Disclosed` alone, and a status is made in [`status`] alone.

mod convert;
mod reply;
pub mod status;

/// Messages, clients and servers, as generated from `proto/recallgate/v1`.
#[expect(
    clippy::allow_attributes,
    clippy::disallowed_methods,
    clippy::pedantic,
    reason = "generated code follows its generator"
)]
pub mod proto {
    tonic::include_proto!("recallgate.v1");
}

/// The encoded `google.protobuf.FileDescriptorSet` of the public protos, for reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/recallgate.v1.bin"));
