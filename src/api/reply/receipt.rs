//! What a mutation answers. No text.

use super::{choice, incomplete, place};
use crate::api::proto;
use crate::gate::Error;
use crate::memory::{CandidateId, MemoryId, Receipt, Version};

/// `Capture`.
pub(in crate::api) fn capture(receipt: &Receipt) -> Result<proto::CaptureResponse, Error> {
    Ok(proto::CaptureResponse {
        outcome: outcome(receipt)?.into(),
        reasons: choice::reasons(&receipt.reasons),
        memory_id: memory_id(receipt.memory_id),
        candidate_id: candidate_id(receipt.candidate_id),
        version: version(receipt.version),
        value_version: version(receipt.value_version),
        decision_id: receipt.decision_id.to_string(),
        policy_version: receipt.policy_version.to_string(),
        expire_time: receipt.expire_time.map(place::timestamp),
        replayed: receipt.replayed,
    })
}

/// `BatchCapture`.
pub(in crate::api) fn batch_capture(
    (first, further): &(Receipt, Vec<Receipt>),
) -> Result<proto::BatchCaptureResponse, Error> {
    let results = std::iter::once(first).chain(further).map(result).collect::<Result<_, _>>()?;
    Ok(proto::BatchCaptureResponse {
        results,
        policy_version: first.policy_version.to_string(),
        replayed: first.replayed,
    })
}

fn result(receipt: &Receipt) -> Result<proto::BatchCaptureResult, Error> {
    Ok(proto::BatchCaptureResult {
        outcome: outcome(receipt)?.into(),
        reasons: choice::reasons(&receipt.reasons),
        memory_id: memory_id(receipt.memory_id),
        candidate_id: candidate_id(receipt.candidate_id),
        version: version(receipt.version),
        value_version: version(receipt.value_version),
        decision_id: receipt.decision_id.to_string(),
        expire_time: receipt.expire_time.map(place::timestamp),
    })
}

/// `ConfirmCandidate`.
pub(in crate::api) fn confirm_candidate(receipt: &Receipt) -> Result<proto::ConfirmCandidateResponse, Error> {
    Ok(proto::ConfirmCandidateResponse {
        outcome: outcome(receipt)?.into(),
        reasons: choice::reasons(&receipt.reasons),
        memory_id: memory_id(receipt.memory_id),
        version: version(receipt.version),
        value_version: version(receipt.value_version),
        decision_id: receipt.decision_id.to_string(),
        policy_version: receipt.policy_version.to_string(),
        expire_time: receipt.expire_time.map(place::timestamp),
        replayed: receipt.replayed,
    })
}

/// `RejectCandidate`.
pub(in crate::api) fn reject_candidate(receipt: &Receipt) -> proto::RejectCandidateResponse {
    proto::RejectCandidateResponse { decision_id: receipt.decision_id.to_string(), replayed: receipt.replayed }
}

/// `Correct`.
pub(in crate::api) fn correct(receipt: &Receipt) -> Result<proto::CorrectResponse, Error> {
    Ok(proto::CorrectResponse {
        outcome: outcome(receipt)?.into(),
        reasons: choice::reasons(&receipt.reasons),
        memory_id: memory_id(receipt.memory_id),
        candidate_id: candidate_id(receipt.candidate_id),
        version: version(receipt.version),
        value_version: version(receipt.value_version),
        decision_id: receipt.decision_id.to_string(),
        policy_version: receipt.policy_version.to_string(),
        expire_time: receipt.expire_time.map(place::timestamp),
        replayed: receipt.replayed,
    })
}

/// `Delete`.
pub(in crate::api) fn delete(receipt: &Receipt) -> proto::DeleteResponse {
    proto::DeleteResponse {
        memory_id: memory_id(receipt.memory_id),
        version: version(receipt.version),
        decision_id: receipt.decision_id.to_string(),
        policy_version: receipt.policy_version.to_string(),
        replayed: receipt.replayed,
    }
}

/// `Restore`.
pub(in crate::api) fn restore(receipt: &Receipt) -> proto::RestoreResponse {
    proto::RestoreResponse {
        memory_id: memory_id(receipt.memory_id),
        version: version(receipt.version),
        decision_id: receipt.decision_id.to_string(),
        policy_version: receipt.policy_version.to_string(),
        replayed: receipt.replayed,
    }
}

fn outcome(receipt: &Receipt) -> Result<proto::Outcome, Error> {
    receipt.outcome.map(choice::outcome).ok_or_else(|| incomplete("an outcome"))
}

fn memory_id(id: Option<MemoryId>) -> String {
    id.map(|id| id.to_string()).unwrap_or_default()
}

fn candidate_id(id: Option<CandidateId>) -> String {
    id.map(|id| id.to_string()).unwrap_or_default()
}

fn version(version: Option<Version>) -> i64 {
    version.map_or(0, |version| version.0)
}
