//! Loads memories over the API, where the database is out of reach.

use std::sync::Arc;

use bytes::Bytes;
use prost::Message;
use tonic::metadata::{Ascii, MetadataValue};
use uuid::Uuid;

use super::Failure;
use super::requests::{consent, scope, source};
use super::wire::Wire;
use super::world::{KIND, World};
use crate::api::proto::{BatchCaptureItem, BatchCaptureRequest, BatchCaptureResponse, Evidence, Outcome};

const PATH: &str = "/recallgate.v1.CaptureService/BatchCapture";

/// Memories of one call, which takes no more.
const BATCH: u32 = 100;

/// Loads the world; the ids that the service gave, in the order of the world.
pub(super) async fn fill(
    wire: &Wire,
    tokens: &[MetadataValue<Ascii>],
    world: World,
    run: i64,
    tick: impl Fn(u64),
) -> Result<Arc<Vec<Uuid>>, Failure> {
    let mut ids = Vec::new();
    for (tenant, token) in (0..world.tenants).zip(tokens) {
        for subject in 0..world.subjects {
            let mut from = 0;
            while from < world.memories {
                let to = from.saturating_add(BATCH).min(world.memories);
                ids.extend(batch(wire, token, &world, (tenant, subject), from..to, run).await?);
                tick(u64::try_from(ids.len()).unwrap_or(u64::MAX));
                from = to;
            }
        }
    }
    Ok(Arc::new(ids))
}

async fn batch(
    wire: &Wire,
    token: &MetadataValue<Ascii>,
    world: &World,
    (tenant, subject): (u32, u32),
    memories: std::ops::Range<u32>,
    run: i64,
) -> Result<Vec<Uuid>, Failure> {
    let item = |memory: u32| {
        let ordinal = world.ordinal(tenant, subject, memory);
        BatchCaptureItem {
            scope: Some(scope(memory)),
            kind: KIND.to_owned(),
            value: world.value(ordinal),
            source: Some(source(&format!("bench-{run}-load-{ordinal}"))),
            evidence: Evidence::UserConfirmed.into(),
            consent: Some(consent()),
            ..BatchCaptureItem::default()
        }
    };
    let message = BatchCaptureRequest {
        subject_id: World::subject(subject),
        items: memories.map(item).collect(),
        import: true,
        ..BatchCaptureRequest::default()
    };
    let message = Bytes::from(message.encode_to_vec());
    let reply = wire.call_path(PATH, token, message).await.map_err(|(code, message)| {
        Failure::failed(format!("memories could not be loaded: {}: {message}", crate::telemetry::names::status(code)))
    })?;
    let reply = BatchCaptureResponse::decode(reply)
        .map_err(|error| Failure::because("memories could not be loaded", &error))?;
    let id = |result: &crate::api::proto::BatchCaptureResult| match result.outcome() {
        Outcome::Activated => Uuid::parse_str(&result.memory_id)
            .map_err(|error| Failure::because("the service gave an id that is none", &error)),
        other => Err(Failure::failed(format!("memories could not be loaded: {}", other.as_str_name()))),
    };
    reply.results.iter().map(id).collect()
}
