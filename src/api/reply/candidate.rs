//! Held candidates as they were disclosed.

use super::{choice, incomplete, memory, place};
use crate::api::convert::page;
use crate::api::proto;
use crate::gate::{Disclosed, Error, ShownCandidate};
use crate::memory::{Confidence, Text};

/// `GetCandidate`.
///
/// # Errors
/// A defect of the gate: it showed nothing, and did not say that there is nothing.
pub(in crate::api) fn get_candidate(disclosed: &Disclosed) -> Result<proto::GetCandidateResponse, Error> {
    let [shown] = disclosed.candidates() else { return Err(incomplete("one candidate")) };
    Ok(proto::GetCandidateResponse {
        candidate: Some(candidate(shown)),
        decision_id: disclosed.judgement().decision_id.to_string(),
    })
}

/// `ListCandidates`.
pub(in crate::api) fn list_candidates(disclosed: &Disclosed) -> proto::ListCandidatesResponse {
    proto::ListCandidatesResponse {
        candidates: disclosed.candidates().iter().map(candidate).collect(),
        next_page_token: page::encode(disclosed.next_page_token()),
        decision_id: disclosed.judgement().decision_id.to_string(),
    }
}

fn candidate(shown: &ShownCandidate) -> proto::Candidate {
    let candidate = shown.candidate();
    let address = &candidate.address;
    proto::Candidate {
        candidate_id: candidate.id.to_string(),
        scope: Some(place::scope(&address.level, address.owner.audience())),
        key: address.key.as_str().to_owned(),
        kind: candidate.kind.as_str().to_owned(),
        value: candidate.value.as_ref().map_or("", Text::expose).to_owned(),
        source: Some(memory::source(&candidate.source)),
        trust: choice::trust(shown.trust()).into(),
        evidence: choice::evidence(candidate.evidence).into(),
        confidence: candidate.confidence.map_or(0.0, Confidence::as_f64),
        reasons: choice::reasons(&candidate.reasons),
        observe_time: Some(place::time(candidate.observe_time)),
        create_time: Some(place::time(candidate.create_time)),
        lapse_time: Some(place::time(candidate.lapse_time)),
    }
}
