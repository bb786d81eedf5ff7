//! The public gRPC services: one file a service, each handler as thin as its conversion allows.
//!
//! The only place that names the public protobuf and tonic's server types. No rule lives here: a request is checked
//! for form and becomes a command of [`gate`](crate::gate), its answer becomes a reply, an error becomes a status.
//!
//! Invariant: text is encoded out of `Admitted` and `Disclosed` alone, and a status is made in [`status`] alone.

mod call;
mod capture;
mod codec;
mod convert;
mod correct;
mod delete;
mod discovery;
#[doc(hidden)]
pub mod fuzzing;
mod recall;
mod reply;
pub mod status;

use std::sync::Arc;

use tonic::codec::CompressionEncoding::Gzip;
use tonic::service::Routes;

use self::servers::capture_service_server::CaptureServiceServer;
use self::servers::correct_service_server::CorrectServiceServer;
use self::servers::delete_service_server::DeleteServiceServer;
use self::servers::discovery_service_server::DiscoveryServiceServer;
use self::servers::recall_service_server::RecallServiceServer;
use crate::gate::Gate;

/// When a call has to be answered: an extension of its request, where its caller or the service has set an end to it.
pub use crate::gate::Deadline;

/// Messages and clients, as generated from `proto/recallgate/v1`.
#[expect(clippy::disallowed_methods, clippy::pedantic, reason = "generated code follows its generator")]
pub mod proto {
    tonic::include_proto!("recallgate.v1");
}

/// Servers, generated from the same.
#[expect(clippy::allow_attributes, clippy::pedantic, unreachable_pub, reason = "generated code follows its generator")]
mod servers {
    tonic::include_proto!("servers/recallgate.v1");
}

/// The encoded `google.protobuf.FileDescriptorSet` of the public protos, for reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/recallgate.v1.bin"));

/// The largest request that is decoded, after decompression.
pub const MAX_REQUEST_BYTES: usize = 4 * 1024 * 1024;

/// Implements the services over one gate.
struct Api {
    gate: Arc<Gate>,
}

/// The five services over one gate. Each request has to carry its [`Caller`](crate::identity::Caller) as an
/// extension. Compressed requests are taken; replies go out uncompressed.
pub fn routes(gate: Arc<Gate>) -> Routes {
    let api = Arc::new(Api { gate });
    let capture = CaptureServiceServer::from_arc(Arc::clone(&api));
    let correct = CorrectServiceServer::from_arc(Arc::clone(&api));
    let recall = RecallServiceServer::from_arc(Arc::clone(&api));
    let delete = DeleteServiceServer::from_arc(Arc::clone(&api));
    let discovery = DiscoveryServiceServer::from_arc(api);
    Routes::new(capture.accept_compressed(Gzip).max_decoding_message_size(MAX_REQUEST_BYTES))
        .add_service(correct.accept_compressed(Gzip).max_decoding_message_size(MAX_REQUEST_BYTES))
        .add_service(recall.accept_compressed(Gzip).max_decoding_message_size(MAX_REQUEST_BYTES))
        .add_service(delete.accept_compressed(Gzip).max_decoding_message_size(MAX_REQUEST_BYTES))
        .add_service(discovery.accept_compressed(Gzip).max_decoding_message_size(MAX_REQUEST_BYTES))
}
