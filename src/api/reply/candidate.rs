//! Held candidates as they were disclosed, written field by field.

use super::choice::{self, code};
use super::{incomplete, memory, place};
use crate::api::codec::Written;
use crate::api::convert::page;
use crate::api::proto;
use crate::gate::{Disclosed, Error, ShownCandidate};
use crate::memory::{Confidence, Text};
use crate::wire::Message;

/// About what a candidate takes, beside its text.
const BYTES: usize = 384;

/// `GetCandidate`.
///
/// # Errors
/// A defect of the gate: it showed nothing, and did not say that there is nothing.
pub(in crate::api) fn get_candidate(disclosed: &Disclosed) -> Result<Written<proto::GetCandidateResponse>, Error> {
    let [shown] = disclosed.candidates() else { return Err(incomplete("one candidate")) };
    Ok(Written::new(BYTES, |message| {
        message.message(1, |message| candidate(message, shown));
        place::id(message, 2, disclosed.judgement().decision_id.0);
    }))
}

/// `ListCandidates`.
pub(in crate::api) fn list_candidates(disclosed: &Disclosed) -> Written<proto::ListCandidatesResponse> {
    Written::new(disclosed.candidates().len() * BYTES, |message| {
        for shown in disclosed.candidates() {
            message.message(1, |message| candidate(message, shown));
        }
        message.text(2, &page::encode(disclosed.next_page_token()));
        place::id(message, 3, disclosed.judgement().decision_id.0);
    })
}

/// A `Candidate`.
pub(super) fn candidate(message: &mut Message, shown: &ShownCandidate) {
    let candidate = shown.candidate();
    let address = &candidate.address;
    place::id(message, 1, candidate.id.0);
    place::scope(message, 2, &address.level, address.owner.audience());
    message
        .text(3, address.key.as_str())
        .text(4, candidate.kind.as_str())
        .text(5, candidate.value.as_ref().map_or("", Text::expose))
        .message(6, |message| memory::source(message, &candidate.source))
        .number(7, code(choice::trust(shown.trust())))
        .number(8, code(choice::evidence(candidate.evidence)))
        .double(9, candidate.confidence.map_or(0.0, Confidence::as_f64))
        .numbers(10, candidate.reasons.iter().map(|reason| code(choice::reason(*reason))));
    place::time(message, 11, Some(candidate.observe_time));
    place::time(message, 12, Some(candidate.create_time));
    place::time(message, 13, Some(candidate.lapse_time));
}
