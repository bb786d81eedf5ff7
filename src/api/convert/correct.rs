//! Requests of `CorrectService`.

use super::faults::{Faults, Path};
use super::{choice, field, place, provenance};
use crate::api::proto;
use crate::gate::{Error, command};

/// `Correct`.
pub(in crate::api) fn correct(request: proto::CorrectRequest) -> Result<command::Correct, Error> {
    let faults = &mut Faults::default();
    let subject = field::subject(faults, request.subject_id);
    let memory = place::memory(faults, request.memory);
    let expected_version = field::required_version(faults, request.expected_version);
    let value = field::value(faults, request.value);
    let source = provenance::source(faults, request.source);
    let evidence = choice::evidence(faults, request.evidence);
    let confidence = field::confidence(faults, request.confidence);
    let sensitivity = choice::sensitivity(faults, request.sensitivity);
    let observe_time = field::time(faults, Path::of("observe_time"), request.observe_time);
    let validity = field::validity(faults, request.valid_from_time, request.expire_time);
    let reason = field::reason(faults, request.reason);
    let request_id = field::request_id(faults, &request.request_id);
    faults.finish(|| {
        let (valid_from_time, expire_time) = validity?;
        Ok(command::Correct {
            subject: subject?,
            memory: memory?,
            expected_version: expected_version?,
            value: value?,
            source: source?,
            evidence: evidence?,
            confidence: confidence?,
            sensitivity: sensitivity?,
            observe_time: observe_time?,
            valid_from_time,
            expire_time,
            reason: reason?,
            accept_revoked: request.accept_revoked,
            request_id: request_id?,
            validate_only: request.validate_only,
        })
    })
}
