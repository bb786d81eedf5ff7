//! Verdicts: the gate's word, without text.

use std::collections::BTreeMap;

use super::{choice, place};
use crate::api::proto;
use crate::memory::{Attributes, Judgement, Reason, Subject, Verdict};

/// Most rejected verdicts in one reply. The counts are over all of them.
const MAX_REJECTED: usize = 64;

/// Whether keys that are text may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKeys {
    /// Of what was admitted.
    OfAdmitted,
    /// Of nothing: the reply admits nothing.
    Withheld,
}

pub(super) fn verdict(verdict: &Verdict, text_keys: TextKeys) -> proto::Verdict {
    let accepted = verdict.accepted();
    let attributes = verdict.attributes.as_ref();
    let key_told =
        |attributes: &&Attributes| !attributes.key_is_text || (accepted && text_keys == TextKeys::OfAdmitted);
    let (memory_id, candidate_id) = match verdict.subject {
        Subject::Memory(id) => (id.to_string(), String::new()),
        Subject::Candidate(id) => (String::new(), id.to_string()),
    };
    proto::Verdict {
        memory_id,
        candidate_id,
        accepted,
        reasons: choice::reasons(&verdict.reasons),
        version: attributes.map_or(0, |attributes| attributes.version.0),
        value_version: attributes.map_or(0, |attributes| attributes.value_version.0),
        scope: attributes.map(|attributes| place::scope(&attributes.level, attributes.owner.audience())),
        key: attributes.filter(key_told).map(|attributes| attributes.key.as_str().to_owned()).unwrap_or_default(),
        kind: attributes.map(|attributes| attributes.kind.as_str().to_owned()).unwrap_or_default(),
        nominator: choice::nominator(verdict.nominator).into(),
    }
}

pub(super) fn accepted(judgement: &Judgement, text_keys: TextKeys) -> Vec<proto::Verdict> {
    judgement.accepted().map(|each| verdict(each, text_keys)).collect()
}

/// The first of what was rejected.
pub(super) fn rejected(judgement: &Judgement) -> Vec<proto::Verdict> {
    judgement.rejected().take(MAX_REJECTED).map(|each| verdict(each, TextKeys::Withheld)).collect()
}

pub(super) fn rejected_count(judgement: &Judgement) -> i32 {
    i32::try_from(judgement.rejected().count()).unwrap_or(i32::MAX)
}

/// How many of all rejected verdicts carry each reason, in the order of the gates.
pub(super) fn reason_counts(judgement: &Judgement) -> Vec<proto::ReasonCount> {
    let mut counts = BTreeMap::<Reason, i32>::new();
    for reason in judgement.rejected().flat_map(|verdict| &verdict.reasons) {
        let count = counts.entry(*reason).or_default();
        *count = count.saturating_add(1);
    }
    counts
        .into_iter()
        .map(|(reason, count)| proto::ReasonCount { reason: choice::reason(reason).into(), count })
        .collect()
}
