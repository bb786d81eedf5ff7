//! Verdicts: the gate's word, without text.

use std::collections::BTreeMap;

use super::choice::{self, code};
use super::place;
use crate::memory::{Judgement, Reason, Subject, Verdict};
use crate::wire::Message;

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

/// A `Verdict`.
pub(super) fn verdict(message: &mut Message, verdict: &Verdict, text_keys: TextKeys) {
    let accepted = verdict.accepted();
    match verdict.subject {
        Subject::Memory(id) => place::id(message, 1, id.0),
        Subject::Candidate(id) => place::id(message, 2, id.0),
    }
    message.flag(3, accepted).numbers(4, verdict.reasons.iter().map(|reason| code(choice::reason(*reason))));
    if let Some(attributes) = &verdict.attributes {
        message.number(5, attributes.version.0).number(6, attributes.value_version.0);
        place::scope(message, 7, &attributes.level, attributes.owner.audience());
        let key_told = !attributes.key_is_text || (accepted && text_keys == TextKeys::OfAdmitted);
        message.text(8, if key_told { attributes.key.as_str() } else { "" }).text(9, attributes.kind.as_str());
    }
    message.number(10, code(choice::nominator(verdict.nominator)));
}

/// All that were accepted, each in this field.
pub(super) fn accepted(message: &mut Message, field: u64, judgement: &Judgement, text_keys: TextKeys) {
    for each in judgement.accepted() {
        message.message(field, |message| verdict(message, each, text_keys));
    }
}

/// The first of what was rejected.
pub(super) fn rejected(message: &mut Message, field: u64, judgement: &Judgement) {
    for each in judgement.rejected().take(MAX_REJECTED) {
        message.message(field, |message| verdict(message, each, TextKeys::Withheld));
    }
}

pub(super) fn rejected_count(judgement: &Judgement) -> i64 {
    i32::try_from(judgement.rejected().count()).unwrap_or(i32::MAX).into()
}

/// How many of all rejected verdicts carry each reason, in the order of the gates.
pub(super) fn reason_counts(message: &mut Message, field: u64, judgement: &Judgement) {
    let mut counts = BTreeMap::<Reason, i32>::new();
    for reason in judgement.rejected().flat_map(|verdict| &verdict.reasons) {
        let count = counts.entry(*reason).or_default();
        *count = count.saturating_add(1);
    }
    for (reason, count) in counts {
        message.message(field, |message| {
            message.number(1, code(choice::reason(reason))).number(2, count.into());
        });
    }
}
