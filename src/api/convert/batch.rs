//! `BatchCapture`.

use super::faults::{Checked, Faults, Path};
use super::{capture, field};
use crate::api::proto;
use crate::gate::{Error, command};

/// Most facts of one batch.
const MAX_ITEMS: usize = 100;

/// `BatchCapture`.
pub(in crate::api) fn batch_capture(request: proto::BatchCaptureRequest) -> Result<command::BatchCapture, Error> {
    let faults = &mut Faults::default();
    let subject = field::subject(faults, request.subject_id);
    let path = Path::of("items");
    let items = if request.items.is_empty() {
        Err(faults.add(path, field::REQUIRED))
    } else {
        field::list(faults, path, request.items, MAX_ITEMS, item)
    };
    let request_id = field::request_id(faults, &request.request_id);
    faults.finish(|| {
        Ok(command::BatchCapture {
            subject: subject?,
            items: items?,
            import: request.import,
            request_id: request_id?,
            validate_only: request.validate_only,
        })
    })
}

/// As `Capture` would take it.
fn item(faults: &mut Faults, path: Path<'_>, item: proto::BatchCaptureItem) -> Checked<command::Capture> {
    let alone = proto::CaptureRequest {
        subject_id: String::new(),
        scope: item.scope,
        kind: item.kind,
        key: item.key,
        value: item.value,
        source: item.source,
        evidence: item.evidence,
        confidence: item.confidence,
        sensitivity: item.sensitivity,
        consent: item.consent,
        purposes: item.purposes,
        observe_time: item.observe_time,
        valid_from_time: item.valid_from_time,
        expire_time: item.expire_time,
        expected_version: item.expected_version,
        accept_revoked: item.accept_revoked,
        request_id: String::new(),
        validate_only: false,
    };
    faults.within(path, |faults| capture::fields(faults, alone))
}
