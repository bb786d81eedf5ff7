//! How a judgement is kept: encoded whole, without any text.

use prost::Message;

use super::digest::DigestKey;
use super::stored;
use crate::memory::{Attributes, Confidence, Disposition, Judgement, Reason, ScopeRevision, Subject, Time, Verdict};

/// The stored message of a judgement. Keys that are text go in as keyed digests.
pub(super) fn encode(judgement: &Judgement, key: &DigestKey) -> Vec<u8> {
    decision(judgement, key).encode_to_vec()
}

/// The outcome as the ledger's column and message name it; empty for reads.
pub(super) const fn outcome(disposition: &Disposition) -> &'static str {
    match disposition {
        Disposition::Answered => "",
        Disposition::Decided { outcome, .. } => outcome.name(),
        Disposition::Done => "DONE",
        Disposition::Refused(_) => "REFUSED",
    }
}

fn decision(judgement: &Judgement, key: &DigestKey) -> stored::Decision {
    let context = judgement.context.as_ref().map(|context| &context.0);
    stored::Decision {
        method: judgement.method.to_owned(),
        subject: judgement.subject.as_ref().map(ToString::to_string).unwrap_or_default(),
        principal: judgement.principal.to_string(),
        grants: judgement.grants.clone(),
        purpose: judgement.purpose.as_ref().map(ToString::to_string).unwrap_or_default(),
        context_level: context.map(|level| level.name().to_owned()).unwrap_or_default(),
        context_project: context.map(|level| level.project().to_owned()).unwrap_or_default(),
        context_task: context.map(|level| level.task().to_owned()).unwrap_or_default(),
        policy_version: judgement.policy_version.0.to_vec(),
        decide_time: judgement.decide_time.micros(),
        stale_time: judgement.stale_time.map(Time::micros),
        revisions: judgement.revisions.iter().map(revision).collect(),
        verdicts: judgement.verdicts.iter().map(|one| verdict(judgement, one, key)).collect(),
        not_nominated_count: i64::try_from(judgement.not_nominated_count).unwrap_or(i64::MAX),
        outcome: outcome(&judgement.disposition).to_owned(),
        reasons: match &judgement.disposition {
            Disposition::Answered | Disposition::Done => Vec::new(),
            Disposition::Decided { reasons, .. } => names(reasons),
            Disposition::Refused(reason) => vec![(*reason).to_owned()],
        },
        min_confidence: judgement.min_confidence.map(Confidence::millionths),
        max_items: judgement.budget.map_or(0, |budget| budget.max_items),
        max_value_chars: judgement.budget.map_or(0, |budget| budget.max_value_chars),
        validate_only: judgement.validate_only,
        evidence: judgement.evidence.name().to_owned(),
        max_sensitivity: judgement.max_sensitivity.name().to_owned(),
    }
}

fn revision(revision: &ScopeRevision) -> stored::Revision {
    stored::Revision {
        owner: revision.owner.as_str().to_owned(),
        level: revision.level.name().to_owned(),
        project: revision.level.project().to_owned(),
        task: revision.level.task().to_owned(),
        revision: revision.revision.0,
    }
}

fn verdict(judgement: &Judgement, verdict: &Verdict, key: &DigestKey) -> stored::Verdict {
    let nomination = verdict.nomination.as_ref();
    let (memory_id, candidate_id) = match verdict.subject {
        Subject::Memory(id) => (id.0.into_bytes().to_vec(), Vec::new()),
        Subject::Candidate(id) => (Vec::new(), id.0.into_bytes().to_vec()),
    };
    stored::Verdict {
        memory_id,
        candidate_id,
        reasons: names(&verdict.reasons),
        nominator: nominator(verdict).to_owned(),
        score: nomination.and_then(|nomination| nomination.score),
        nominated_value_version: nomination.and_then(|nomination| nomination.value_version).map(|version| version.0),
        derived_store: nomination
            .and_then(|nomination| nomination.derived_store.as_ref())
            .map(ToString::to_string)
            .unwrap_or_default(),
        attributes: verdict.attributes.as_ref().map(|one| attributes(judgement, one, key)),
    }
}

const fn nominator(verdict: &Verdict) -> &'static str {
    use crate::memory::Nominator;

    match verdict.nominator {
        Nominator::Key => "key",
        Nominator::Index => "index",
        Nominator::All => "all",
        Nominator::SameKey => "same_key",
        Nominator::Name => "name",
    }
}

fn attributes(judgement: &Judgement, attributes: &Attributes, key: &DigestKey) -> stored::Attributes {
    let name = attributes.key.as_str();
    let (key, key_digest) = if attributes.key_is_text {
        (String::new(), key.key(&judgement.tenant, name))
    } else {
        (name.to_owned(), Vec::new())
    };
    stored::Attributes {
        owner: attributes.owner.as_str().to_owned(),
        level: attributes.level.name().to_owned(),
        project: attributes.level.project().to_owned(),
        task: attributes.level.task().to_owned(),
        key,
        key_digest,
        kind: attributes.kind.to_string(),
        version: attributes.version.0,
        value_version: attributes.value_version.0,
        state: attributes.state.map(|state| state.name().to_owned()).unwrap_or_default(),
        source_kind: attributes.source_kind.as_ref().map(ToString::to_string).unwrap_or_default(),
        lineage_trust: attributes.lineage_trust.name().to_owned(),
        evidence: attributes.evidence.name().to_owned(),
        confidence: attributes.confidence.map(Confidence::millionths),
        sensitivity: attributes.sensitivity.name().to_owned(),
        consent: attributes.consent.name().to_owned(),
        consent_purposes: attributes.consent.purposes().iter().map(ToString::to_string).collect(),
        purposes: attributes.purposes.iter().map(ToString::to_string).collect(),
        observe_time: attributes.observe_time.micros(),
        valid_from_time: attributes.valid_from_time.map(Time::micros),
        expire_time: attributes.expire_time.map(Time::micros),
        update_time: attributes.update_time.micros(),
        confirm_time: attributes.confirm_time.map(Time::micros),
        value_chars: attributes.value_chars,
    }
}

fn names(reasons: &[Reason]) -> Vec<String> {
    reasons.iter().map(|reason| reason.name().to_owned()).collect()
}
