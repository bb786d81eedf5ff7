//! What recalls, gets and lists answer.

use super::verdict::{self, TextKeys};
use super::{ACTION_AUTHORITY, CONTENT_TYPE, incomplete, memory, place};
use crate::api::convert::page;
use crate::api::proto;
use crate::gate::{Admitted, Error, Shown};
use crate::memory::{Judgement, Subject, Verdict};

/// `Recall`.
pub(in crate::api) fn recall(admitted: &Admitted) -> proto::RecallResponse {
    let judgement = admitted.judgement();
    proto::RecallResponse {
        decision_id: judgement.decision_id.to_string(),
        envelope: Some(envelope(judgement, admitted.shown())),
        accepted: verdict::accepted(judgement, TextKeys::OfAdmitted),
        rejected: verdict::rejected(judgement),
        rejected_count: verdict::rejected_count(judgement),
        reason_counts: verdict::reason_counts(judgement),
        not_nominated_count: not_nominated_count(judgement),
        revisions: judgement.revisions.iter().map(place::revision).collect(),
        stale_time: judgement.stale_time.map(place::time),
        policy_version: judgement.policy_version.to_string(),
        decide_time: Some(place::time(judgement.decide_time)),
    }
}

pub(super) fn envelope(judgement: &Judgement, facts: &[Shown]) -> proto::Envelope {
    proto::Envelope {
        content_type: CONTENT_TYPE.to_owned(),
        action_authority: ACTION_AUTHORITY,
        purpose: purpose(judgement),
        facts: facts.iter().map(memory::memory).collect(),
    }
}

/// `ExplainRecall`. No text, so no key that is text either, not even of what would be admitted.
pub(in crate::api) fn explain_recall(judgement: &Judgement) -> proto::ExplainRecallResponse {
    proto::ExplainRecallResponse {
        decision_id: judgement.decision_id.to_string(),
        accepted: verdict::accepted(judgement, TextKeys::Withheld),
        rejected: verdict::rejected(judgement),
        rejected_count: verdict::rejected_count(judgement),
        reason_counts: verdict::reason_counts(judgement),
        not_nominated_count: not_nominated_count(judgement),
        revisions: judgement.revisions.iter().map(place::revision).collect(),
        stale_time: judgement.stale_time.map(place::time),
        policy_version: judgement.policy_version.to_string(),
        decide_time: Some(place::time(judgement.decide_time)),
    }
}

/// `GetMemory`.
///
/// # Errors
/// A defect of the gate: it judged nothing, and did not say that there is nothing.
pub(in crate::api) fn get_memory(admitted: &Admitted) -> Result<proto::GetMemoryResponse, Error> {
    let judgement = admitted.judgement();
    let mut entries = entries(&judgement.verdicts, admitted.shown());
    let (Some(entry), true) = (entries.pop(), entries.is_empty()) else { return Err(incomplete("one verdict")) };
    Ok(proto::GetMemoryResponse {
        decision_id: judgement.decision_id.to_string(),
        verdict: entry.verdict,
        memory: entry.memory,
        content_type: CONTENT_TYPE.to_owned(),
        action_authority: ACTION_AUTHORITY,
        purpose: purpose(judgement),
        policy_version: judgement.policy_version.to_string(),
    })
}

/// `ListMemories`.
pub(in crate::api) fn list_memories(admitted: &Admitted) -> proto::ListMemoriesResponse {
    let judgement = admitted.judgement();
    proto::ListMemoriesResponse {
        decision_id: judgement.decision_id.to_string(),
        entries: entries(&judgement.verdicts, admitted.shown()),
        next_page_token: page::encode(admitted.next_page_token()),
        content_type: CONTENT_TYPE.to_owned(),
        action_authority: ACTION_AUTHORITY,
        purpose: purpose(judgement),
        policy_version: judgement.policy_version.to_string(),
    }
}

/// Each verdict with the memory it is about. Candidates are told of by their verdict alone.
pub(super) fn entries(verdicts: &[Verdict], shown: &[Shown]) -> Vec<proto::MemoryEntry> {
    let mut shown = shown.iter().peekable();
    let entry = |judged: &Verdict| proto::MemoryEntry {
        verdict: Some(verdict::verdict(judged, TextKeys::OfAdmitted)),
        memory: shown.next_if(|shown| judged.subject == Subject::Memory(shown.memory().id)).map(memory::memory),
    };
    verdicts.iter().map(entry).collect()
}

fn purpose(judgement: &Judgement) -> String {
    judgement.purpose.as_ref().map(ToString::to_string).unwrap_or_default()
}

fn not_nominated_count(judgement: &Judgement) -> i64 {
    i64::try_from(judgement.not_nominated_count).unwrap_or(i64::MAX)
}
