//! Requests of `DeleteService`.

use super::faults::Faults;
use super::{choice, field, place};
use crate::api::proto;
use crate::gate::{Error, command};

/// `Delete`.
pub(in crate::api) fn delete(request: proto::DeleteRequest) -> Result<command::ChangeDeleted, Error> {
    let proto::DeleteRequest { subject_id, memory, expected_version, evidence, request_id } = request;
    restore(proto::RestoreRequest { subject_id, memory, expected_version, evidence, request_id })
}

/// `Restore`, which asks the same as `Delete`.
pub(in crate::api) fn restore(request: proto::RestoreRequest) -> Result<command::ChangeDeleted, Error> {
    let faults = &mut Faults::default();
    let subject = field::subject(faults, request.subject_id);
    let memory = place::memory(faults, request.memory);
    let expected_version = field::required_version(faults, request.expected_version);
    let evidence = choice::deciding_evidence(faults, request.evidence);
    let request_id = field::request_id(faults, &request.request_id);
    faults.finish(|| {
        Ok(command::ChangeDeleted {
            subject: subject?,
            memory: memory?,
            expected_version: expected_version?,
            evidence: evidence?,
            request_id: request_id?,
        })
    })
}
