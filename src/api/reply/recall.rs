//! What recalls, gets and lists answer, written field by field.

use super::verdict::{self, TextKeys};
use super::{ACTION_AUTHORITY, CONTENT_TYPE, incomplete, memory, place};
use crate::api::codec::Written;
use crate::api::convert::page;
use crate::api::proto;
use crate::gate::{Admitted, Error, Shown};
use crate::memory::{Judgement, PurposeName, Subject, Verdict};
use crate::wire::Message;

/// About what a reply takes, each of its memories beside its text, and each verdict: room that need not grow.
const FIXED_BYTES: usize = 512;
const MEMORY_BYTES: usize = 384;
const VERDICT_BYTES: usize = 160;

/// `Recall`.
pub(in crate::api) fn recall(admitted: &Admitted) -> Written<proto::RecallResponse> {
    let judgement = admitted.judgement();
    Written::new(room(judgement, admitted.shown()), |message| {
        place::id(message, 1, judgement.decision_id.0);
        message.message(2, |message| envelope(message, judgement, admitted.shown()));
        verdict::accepted(message, 3, judgement, TextKeys::OfAdmitted);
        verdict::rejected(message, 4, judgement);
        counts(message, 5, judgement);
    })
}

pub(super) fn envelope(message: &mut Message, judgement: &Judgement, facts: &[Shown]) {
    message.text(1, CONTENT_TYPE).flag(2, ACTION_AUTHORITY).text(3, purpose(judgement));
    for fact in facts {
        message.message(4, |message| memory::memory(message, fact));
    }
}

/// `ExplainRecall`. No text, so no key that is text either, not even of what would be admitted.
pub(in crate::api) fn explain_recall(judgement: &Judgement) -> Written<proto::ExplainRecallResponse> {
    Written::new(room(judgement, &[]), |message| {
        place::id(message, 1, judgement.decision_id.0);
        verdict::accepted(message, 2, judgement, TextKeys::Withheld);
        verdict::rejected(message, 3, judgement);
        counts(message, 4, judgement);
    })
}

/// What the replies of recalls and of explanations end with, from this field.
fn counts(message: &mut Message, from: u64, judgement: &Judgement) {
    message.number(from, verdict::rejected_count(judgement));
    verdict::reason_counts(message, from + 1, judgement);
    message.number(from + 2, i64::try_from(judgement.not_nominated_count).unwrap_or(i64::MAX));
    for one in &judgement.revisions {
        message.message(from + 3, |message| place::revision(message, one));
    }
    place::time(message, from + 4, judgement.stale_time);
    message.text(from + 5, &judgement.policy_version.to_string());
    place::time(message, from + 6, Some(judgement.decide_time));
}

/// `GetMemory`.
///
/// # Errors
/// A defect of the gate: it judged nothing, and did not say that there is nothing.
pub(in crate::api) fn get_memory(admitted: &Admitted) -> Result<Written<proto::GetMemoryResponse>, Error> {
    let judgement = admitted.judgement();
    let [verdict] = judgement.verdicts.as_slice() else { return Err(incomplete("one verdict")) };
    Ok(Written::new(room(judgement, admitted.shown()), |message| {
        place::id(message, 1, judgement.decision_id.0);
        beside(message, [2, 3], verdict, &mut admitted.shown().iter());
        ends(message, 4, judgement);
    }))
}

/// `ListMemories`.
pub(in crate::api) fn list_memories(admitted: &Admitted) -> Written<proto::ListMemoriesResponse> {
    let judgement = admitted.judgement();
    Written::new(room(judgement, admitted.shown()), |message| {
        place::id(message, 1, judgement.decision_id.0);
        entries(message, 2, &judgement.verdicts, admitted.shown());
        message.text(3, &page::encode(admitted.next_page_token()));
        ends(message, 4, judgement);
    })
}

/// What the replies of gets and lists end with, from this field.
fn ends(message: &mut Message, from: u64, judgement: &Judgement) {
    message
        .text(from, CONTENT_TYPE)
        .flag(from + 1, ACTION_AUTHORITY)
        .text(from + 2, purpose(judgement))
        .text(from + 3, &judgement.policy_version.to_string());
}

/// Each verdict with the memory it is about. Candidates are told of by their verdict alone.
pub(super) fn entries(message: &mut Message, field: u64, verdicts: &[Verdict], shown: &[Shown]) {
    let mut shown = shown.iter();
    for judged in verdicts {
        message.message(field, |message| beside(message, [1, 2], judged, &mut shown));
    }
}

/// A verdict, and the next of the memories if it is about that.
fn beside(message: &mut Message, fields: [u64; 2], judged: &Verdict, shown: &mut std::slice::Iter<'_, Shown>) {
    let [of_verdict, of_memory] = fields;
    message.message(of_verdict, |message| verdict::verdict(message, judged, TextKeys::OfAdmitted));
    let next = shown.as_slice().first();
    if let Some(next) = next.filter(|next| judged.subject == Subject::Memory(next.memory().id)) {
        message.message(of_memory, |message| memory::memory(message, next));
        shown.next();
    }
}

fn purpose(judgement: &Judgement) -> &str {
    judgement.purpose.as_ref().map_or("", PurposeName::as_str)
}

fn room(judgement: &Judgement, shown: &[Shown]) -> usize {
    let text = |shown: &Shown| shown.memory().value.as_ref().map_or(0, |value| value.expose().len());
    FIXED_BYTES
        + judgement.verdicts.len() * VERDICT_BYTES
        + shown.iter().map(|shown| MEMORY_BYTES + text(shown)).sum::<usize>()
}
