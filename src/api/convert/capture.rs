//! Requests of `CaptureService`.

use super::faults::{Checked, Faults, Path};
use super::{choice, field, page, place, provenance};
use crate::api::proto;
use crate::gate::{Error, command};
use crate::memory::{Key, KindName};

/// `Capture`.
pub(in crate::api) fn capture(request: proto::CaptureRequest) -> Result<command::Capture, Error> {
    let faults = &mut Faults::default();
    let command = fields(faults, request);
    faults.finish(|| command)
}

/// Its fields.
pub(super) fn fields(faults: &mut Faults, request: proto::CaptureRequest) -> Checked<command::Capture> {
    let subject = field::subject(faults, request.subject_id);
    let scope = place::scope(faults, Path::of("scope"), request.scope);
    let kind = field::id(faults, Path::of("kind"), request.kind, KindName::new);
    let key = field::optional_id(faults, Path::of("key"), request.key, Key::new);
    let value = field::value(faults, request.value);
    let source = provenance::source(faults, request.source);
    let evidence = choice::evidence(faults, request.evidence);
    let confidence = field::confidence(faults, request.confidence);
    let sensitivity = choice::sensitivity(faults, request.sensitivity);
    let consent = provenance::consent(faults, &scope, request.consent);
    let purposes = provenance::purposes(faults, Path::of("purposes"), request.purposes);
    let observe_time = field::time(faults, Path::of("observe_time"), request.observe_time);
    let validity = field::validity(faults, request.valid_from_time, request.expire_time);
    let expected_version = field::seen_version(faults, request.expected_version);
    let request_id = field::request_id(faults, &request.request_id);
    let (valid_from_time, expire_time) = validity?;
    Ok(command::Capture {
        subject: subject?,
        scope: scope?,
        kind: kind?,
        key: key?,
        value: value?,
        source: source?,
        evidence: evidence?,
        confidence: confidence?,
        sensitivity: sensitivity?,
        consent: consent?,
        purposes: purposes?,
        observe_time: observe_time?,
        valid_from_time,
        expire_time,
        expected_version: expected_version?,
        accept_revoked: request.accept_revoked,
        request_id: request_id?,
        validate_only: request.validate_only,
    })
}

/// `ConfirmCandidate`.
pub(in crate::api) fn confirm_candidate(
    request: proto::ConfirmCandidateRequest,
) -> Result<command::ConfirmCandidate, Error> {
    let faults = &mut Faults::default();
    let subject = field::subject(faults, request.subject_id);
    let candidate_id = place::candidate(faults, &request.candidate_id);
    let evidence = choice::required_evidence(faults, request.evidence);
    let expected_version = field::seen_version(faults, request.expected_version);
    let request_id = field::request_id(faults, &request.request_id);
    faults.finish(|| {
        Ok(command::ConfirmCandidate {
            subject: subject?,
            candidate_id: candidate_id?,
            evidence: evidence?,
            expected_version: expected_version?,
            accept_revoked: request.accept_revoked,
            request_id: request_id?,
            validate_only: request.validate_only,
        })
    })
}

/// `RejectCandidate`.
pub(in crate::api) fn reject_candidate(
    request: proto::RejectCandidateRequest,
) -> Result<command::RejectCandidate, Error> {
    let faults = &mut Faults::default();
    let subject = field::subject(faults, request.subject_id);
    let candidate_id = place::candidate(faults, &request.candidate_id);
    let request_id = field::request_id(faults, &request.request_id);
    faults.finish(|| {
        Ok(command::RejectCandidate { subject: subject?, candidate_id: candidate_id?, request_id: request_id? })
    })
}

/// `GetCandidate`.
pub(in crate::api) fn get_candidate(request: proto::GetCandidateRequest) -> Result<command::GetCandidate, Error> {
    let faults = &mut Faults::default();
    let subject = field::subject(faults, request.subject_id);
    let candidate_id = place::candidate(faults, &request.candidate_id);
    faults.finish(|| Ok(command::GetCandidate { subject: subject?, candidate_id: candidate_id? }))
}

/// `ListCandidates`.
pub(in crate::api) fn list_candidates(request: proto::ListCandidatesRequest) -> Result<command::ListCandidates, Error> {
    let faults = &mut Faults::default();
    let subject = field::subject(faults, request.subject_id);
    let scope = place::scope(faults, Path::of("scope"), request.scope);
    let page_size = page::size(faults, request.page_size);
    let page_token = page::token(faults, request.page_token);
    let command = faults.finish(|| {
        Ok(command::ListCandidates {
            subject: subject?,
            scope: scope?,
            page_size: page_size?,
            page_token: page_token?.into_bytes(),
        })
    })?;
    Ok(command::ListCandidates { page_token: page::decode(&command.page_token)?, ..command })
}
