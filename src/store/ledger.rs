//! How a judgement is kept: encoded whole, without any text.

use super::Change;
use super::digest::DigestKey;
use super::packing::packed;
use crate::memory::{
    Attributes, Confidence, DerivedStoreId, Disposition, Judgement, Level, PurposeName, Reason, ScopeRevision,
    SourceKindName, State, Subject, SubjectId, Time, Verdict,
};
use crate::wire::Message;

/// About what a decision takes, and each of its verdicts: room that need not grow.
const FIXED_BYTES: usize = 512;
const VERDICT_BYTES: usize = 320;

/// A change with its judgement as the ledger keeps it.
pub(super) struct Sealed {
    pub(super) change: Change,
    pub(super) body: Vec<u8>,
}

/// Encodes the judgement of a change, beside it.
pub(super) fn seal(change: Change, key: &DigestKey) -> Sealed {
    let body = packed(encode(&change.judgement, key));
    Sealed { change, body }
}

/// The stored message of a judgement. Keys that are text go in as keyed digests.
pub(super) fn encode(judgement: &Judgement, key: &DigestKey) -> Vec<u8> {
    let mut message = Message::with_room(FIXED_BYTES + judgement.verdicts.len() * VERDICT_BYTES);
    decision(&mut message, judgement, key);
    message.into_bytes()
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

fn decision(message: &mut Message, judgement: &Judgement, key: &DigestKey) {
    let context = judgement.context.as_ref().map(|context| &context.0);
    message
        .text(1, judgement.method)
        .text(2, judgement.subject.as_ref().map_or("", SubjectId::as_str))
        .text(3, judgement.principal.as_str())
        .texts(4, judgement.grants.iter().map(String::as_str))
        .text(5, judgement.purpose.as_ref().map_or("", PurposeName::as_str))
        .text(6, context.map_or("", Level::name))
        .text(7, context.map_or("", Level::project))
        .text(8, context.map_or("", Level::task))
        .bytes(9, &judgement.policy_version.0)
        .number(10, judgement.decide_time.micros())
        .optional(11, judgement.stale_time.map(Time::micros));
    for one in &judgement.revisions {
        message.message(12, |message| revision(message, one));
    }
    for one in &judgement.verdicts {
        message.message(13, |message| verdict(message, judgement, one, key));
    }
    message
        .number(14, i64::try_from(judgement.not_nominated_count).unwrap_or(i64::MAX))
        .text(15, outcome(&judgement.disposition));
    match &judgement.disposition {
        Disposition::Answered | Disposition::Done => {}
        Disposition::Decided { reasons, .. } => names(message, 16, reasons),
        Disposition::Refused(reason) => {
            message.texts(16, [*reason]);
        }
    }
    message
        .optional(17, judgement.min_confidence.map(millionths))
        .number(18, judgement.budget.map_or(0, |budget| budget.max_items.into()))
        .number(19, judgement.budget.map_or(0, |budget| budget.max_value_chars.into()))
        .flag(20, judgement.validate_only)
        .text(21, judgement.evidence.name())
        .text(22, judgement.max_sensitivity.name());
}

fn revision(message: &mut Message, revision: &ScopeRevision) {
    message
        .text(1, revision.owner.as_str())
        .text(2, revision.level.name())
        .text(3, revision.level.project())
        .text(4, revision.level.task())
        .number(5, revision.revision.0);
}

fn verdict(message: &mut Message, judgement: &Judgement, verdict: &Verdict, key: &DigestKey) {
    match verdict.subject {
        Subject::Memory(id) => message.bytes(1, id.0.as_bytes()),
        Subject::Candidate(id) => message.bytes(2, id.0.as_bytes()),
    };
    names(message, 3, &verdict.reasons);
    message.text(4, nominator(verdict));
    if let Some(nomination) = &verdict.nomination {
        message
            .optional_double(5, nomination.score)
            .optional(6, nomination.value_version.map(|version| version.0))
            .text(7, nomination.derived_store.as_ref().map_or("", DerivedStoreId::as_str));
    }
    if let Some(one) = &verdict.attributes {
        let key = match (verdict.has_own_key(), one.key_is_text) {
            (true, _) => KeptKey::Own,
            (false, true) => KeptKey::Digest(key.key(&judgement.tenant, one.key.as_str())),
            (false, false) => KeptKey::Name(one.key.as_str()),
        };
        message.message(8, |message| attributes(message, one, &key));
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

/// What is kept of a key.
enum KeptKey<'a> {
    Own,
    Name(&'a str),
    Digest(Vec<u8>),
}

fn attributes(message: &mut Message, attributes: &Attributes, key: &KeptKey<'_>) {
    message
        .text(1, attributes.owner.as_str())
        .text(2, attributes.level.name())
        .text(3, attributes.level.project())
        .text(4, attributes.level.task());
    match key {
        KeptKey::Own => message.flag(25, true),
        KeptKey::Name(name) => message.text(5, name),
        KeptKey::Digest(digest) => message.bytes(6, digest),
    };
    message
        .text(7, attributes.kind.as_str())
        .number(8, attributes.version.0)
        .number(9, attributes.value_version.0)
        .text(10, attributes.state.map_or("", State::name))
        .text(11, attributes.source_kind.as_ref().map_or("", SourceKindName::as_str))
        .text(12, attributes.lineage_trust.name())
        .text(13, attributes.evidence.name())
        .optional(14, attributes.confidence.map(millionths))
        .text(15, attributes.sensitivity.name())
        .text(16, attributes.consent.name())
        .texts(17, attributes.consent.purposes().iter().map(PurposeName::as_str))
        .texts(18, attributes.purposes.iter().map(PurposeName::as_str))
        .number(19, attributes.observe_time.micros())
        .optional(20, attributes.valid_from_time.map(Time::micros))
        .optional(21, attributes.expire_time.map(Time::micros))
        .number(22, attributes.update_time.micros())
        .optional(23, attributes.confirm_time.map(Time::micros))
        .number(24, attributes.value_chars.into());
}

fn names(message: &mut Message, field: u64, reasons: &[Reason]) {
    message.texts(field, reasons.iter().map(|reason| reason.name()));
}

fn millionths(confidence: Confidence) -> i64 {
    confidence.millionths().into()
}

#[cfg(test)]
mod tests {
    use prost::Message as _;
    use uuid::Uuid;
    use zeroize::Zeroizing;

    use super::*;
    use crate::memory::{
        Budget, CandidateId, Consent, Context, DecisionId, Evidence, Key, KindName, MemoryId, Nomination, Nominator,
        Outcome, Owner, PolicyVersion, PrincipalId, ProjectId, Revision, Sensitivity, TaskId, TenantId, Trust, Version,
    };
    use crate::store::stored;

    fn judgement(disposition: Disposition) -> Judgement {
        Judgement {
            decision_id: DecisionId(Uuid::from_u128(1)),
            method: "Recall",
            tenant: TenantId::new("acme").unwrap(),
            subject: Some(SubjectId::new("ann").unwrap()),
            principal: PrincipalId::new("agent").unwrap(),
            grants: ["purpose:draft".to_owned(), "recall".to_owned()].into(),
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
    fn what_was_judged_is_kept_whole_but_a_key_that_is_text_as_its_digest_and_one_that_is_its_id_not_again() {
        let purposes = |names: [&str; 2]| names.map(|name| PurposeName::new(name).unwrap()).to_vec();
        let attributes = |key: &str, key_is_text| Attributes {
            owner: Owner::personal(SubjectId::new("ann").unwrap()),
            level: Level::Task(ProjectId::new("p").unwrap(), TaskId::new("t").unwrap()),
            key: Key::new(key).unwrap(),
            key_is_text,
            kind: KindName::new("fact").unwrap(),
            version: Version(300),
            value_version: Version(2),
            state: Some(State::Quarantined),
            source_kind: SourceKindName::new("tool").ok(),
            lineage_trust: Trust::Unverified,
            evidence: Evidence::UserConfirmed,
            confidence: Confidence::from_millionths(0),
            sensitivity: Sensitivity::Restricted,
            consent: Consent::Granted(purposes(["a", "b"])),
            purposes: purposes(["c", "d"]),
            observe_time: Time::from_micros(-1),
            valid_from_time: Some(Time::from_micros(2)),
            expire_time: Some(Time::from_micros(3)),
            update_time: Time::from_micros(4),
            confirm_time: Some(Time::from_micros(5)),
            value_chars: u32::MAX,
        };
        let key = DigestKey::new(&Zeroizing::new([1; 32])).unwrap();
        let own = Uuid::from_u128(4).to_string();
        let digest = key.key(&TenantId::new("acme").unwrap(), "k");
        let anothers = Uuid::from_u128(5).to_string();
        for (its_key, key_is_text, name, digest) in [
            ("k", false, "k", Vec::new()),
            ("k", true, "", digest),
            (own.as_str(), false, "", Vec::new()),
            (anothers.as_str(), false, anothers.as_str(), Vec::new()),
        ] {
            let mut judgement = judgement(Disposition::Answered);
            judgement.tenant = TenantId::new("acme").unwrap();
            judgement.verdicts = vec![Verdict {
                subject: Subject::Candidate(CandidateId(Uuid::from_u128(4))),
                reasons: Vec::new(),
                nominator: Nominator::SameKey,
                nomination: None,
                attributes: Some(attributes(its_key, key_is_text)),
            }];
            let expected = stored::Attributes {
                owner: "ann".to_owned(),
                level: "task".to_owned(),
                project: "p".to_owned(),
                task: "t".to_owned(),
                key: name.to_owned(),
                key_digest: digest,
                kind: "fact".to_owned(),
                version: 300,
                value_version: 2,
                state: "quarantined".to_owned(),
                source_kind: "tool".to_owned(),
                lineage_trust: "unverified".to_owned(),
                evidence: "user_confirmed".to_owned(),
                confidence: Some(0),
                sensitivity: "restricted".to_owned(),
                consent: "granted".to_owned(),
                consent_purposes: vec!["a".to_owned(), "b".to_owned()],
                purposes: vec!["c".to_owned(), "d".to_owned()],
                observe_time: -1,
                valid_from_time: Some(2),
                expire_time: Some(3),
                update_time: 4,
                confirm_time: Some(5),
                value_chars: u32::MAX,
                own_key: its_key == own,
            };
            let [verdict] = &kept(&judgement).verdicts[..] else { panic!("one verdict") };
            assert_eq!((verdict.nominator.as_str(), verdict.attributes.as_ref()), ("same_key", Some(&expected)));
        }
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
