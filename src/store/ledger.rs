//! How a judgement is kept: encoded whole, without any text.

use prost::Message;

use super::digest::DigestKey;
use super::{Change, stored};
use crate::memory::{Attributes, Confidence, Disposition, Judgement, Reason, ScopeRevision, Subject, Time, Verdict};

/// A change with its judgement as the ledger keeps it.
pub(super) struct Sealed {
    pub(super) change: Change,
    pub(super) body: Vec<u8>,
}

/// Encodes the judgement of a change, beside it.
pub(super) fn seal(change: Change, key: &DigestKey) -> Sealed {
    let body = encode(&change.judgement, key);
    Sealed { change, body }
}

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
        Nominator::Text => "text",
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

#[cfg(test)]
mod tests {
    use uuid::Uuid;
    use zeroize::Zeroizing;

    use super::*;
    use crate::memory::{
        Budget, CandidateId, Context, DecisionId, DerivedStoreId, Evidence, Level, MemoryId, Nomination, Nominator,
        Outcome, Owner, PolicyVersion, PrincipalId, ProjectId, PurposeName, Revision, Sensitivity, SubjectId, TenantId,
        Version,
    };

    fn judgement(disposition: Disposition) -> Judgement {
        Judgement {
            decision_id: DecisionId(Uuid::from_u128(1)),
            method: "Recall",
            tenant: TenantId::new("acme").unwrap(),
            subject: Some(SubjectId::new("ann").unwrap()),
            principal: PrincipalId::new("agent").unwrap(),
            grants: vec!["purpose:draft".to_owned(), "recall".to_owned()],
            max_sensitivity: Sensitivity::Internal,
            purpose: Some(PurposeName::new("draft").unwrap()),
            context: Some(Context(Level::Project(ProjectId::new("p").unwrap()))),
            policy_version: PolicyVersion([5; 32]),
            decide_time: Time::from_micros(6),
            stale_time: Some(Time::from_micros(7)),
            revisions: vec![ScopeRevision { owner: Owner::SHARED, level: Level::General, revision: Revision(8) }],
            verdicts: Vec::new(),
            not_nominated_count: 9,
            min_confidence: Confidence::from_millionths(10),
            budget: Some(Budget { max_items: 11, max_value_chars: 12 }),
            evidence: Evidence::TaskVerified,
            disposition,
            validate_only: true,
        }
    }

    fn kept(judgement: &Judgement) -> stored::Decision {
        let key = DigestKey::new(&Zeroizing::new([1; 32])).unwrap();
        stored::Decision::decode(encode(judgement, &key).as_slice()).unwrap()
    }

    #[test]
    fn a_judgement_is_kept_whole() {
        let mut judgement = judgement(Disposition::Answered);
        let nomination = Nomination {
            memory_id: MemoryId(Uuid::from_u128(2)),
            value_version: Some(Version(3)),
            score: Some(0.5),
            derived_store: Some(DerivedStoreId::new("index").unwrap()),
        };
        let verdict = |subject, nomination| Verdict {
            subject,
            reasons: vec![Reason::UnknownNomination],
            nominator: Nominator::Index,
            nomination,
            attributes: None,
        };
        judgement.verdicts = vec![
            verdict(Subject::Memory(MemoryId(Uuid::from_u128(2))), Some(nomination)),
            verdict(Subject::Candidate(CandidateId(Uuid::from_u128(4))), None),
        ];
        let kept_verdict = |memory_id: Vec<u8>, candidate_id: Vec<u8>| stored::Verdict {
            memory_id,
            candidate_id,
            reasons: vec!["UNKNOWN_NOMINATION".to_owned()],
            nominator: "index".to_owned(),
            ..stored::Verdict::default()
        };
        let expected = stored::Decision {
            method: "Recall".to_owned(),
            subject: "ann".to_owned(),
            principal: "agent".to_owned(),
            grants: vec!["purpose:draft".to_owned(), "recall".to_owned()],
            purpose: "draft".to_owned(),
            context_level: "project".to_owned(),
            context_project: "p".to_owned(),
            context_task: String::new(),
            policy_version: vec![5; 32],
            decide_time: 6,
            stale_time: Some(7),
            revisions: vec![stored::Revision {
                level: "general".to_owned(),
                revision: 8,
                ..stored::Revision::default()
            }],
            verdicts: vec![
                stored::Verdict {
                    score: Some(0.5),
                    nominated_value_version: Some(3),
                    derived_store: "index".to_owned(),
                    ..kept_verdict(Uuid::from_u128(2).into_bytes().to_vec(), Vec::new())
                },
                kept_verdict(Vec::new(), Uuid::from_u128(4).into_bytes().to_vec()),
            ],
            not_nominated_count: 9,
            outcome: String::new(),
            reasons: Vec::new(),
            min_confidence: Some(10),
            max_items: 11,
            max_value_chars: 12,
            validate_only: true,
            evidence: "task_verified".to_owned(),
            max_sensitivity: "internal".to_owned(),
        };
        assert_eq!(kept(&judgement), expected);
    }

    #[test]
    fn each_disposition_has_its_outcome_and_reasons() {
        let reasons = vec![Reason::SecretDetected];
        let rejected = Disposition::Decided { outcome: Outcome::Rejected, reasons };
        for (disposition, outcome, reasons) in [
            (Disposition::Answered, "", vec![]),
            (rejected, "REJECTED", vec!["SECRET_DETECTED"]),
            (Disposition::Done, "DONE", vec![]),
            (Disposition::Refused("VERSION_CONFLICT"), "REFUSED", vec!["VERSION_CONFLICT"]),
        ] {
            let kept = kept(&judgement(disposition));
            assert_eq!(
                (kept.outcome.as_str(), kept.reasons),
                (outcome, reasons.into_iter().map(String::from).collect())
            );
        }
    }
}
