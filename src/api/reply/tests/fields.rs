//! Every field goes out under the number that the proto gives it.

use super::*;

const fn micros(micros: i32) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds: 0, nanos: micros * 1000 }
}

fn scope(level: proto::Level, project_id: &str, task_id: &str, audience: proto::Audience) -> proto::Scope {
    let [project_id, task_id] = [project_id, task_id].map(ToOwned::to_owned);
    proto::Scope { level: level.into(), project_id, task_id, audience: audience.into() }
}

fn source() -> proto::Source {
    proto::Source {
        kind: "user_message".to_owned(),
        reference: "message 7".to_owned(),
        parent_memory_ids: vec![memory_id(8).to_string()],
        parent_references: vec!["ticket 9".to_owned()],
    }
}

#[test]
fn every_field_of_a_memory_goes_out_where_the_proto_has_it() {
    let draft = || vec!["draft".to_owned()];
    // The key is withheld, and the change reason is not for callers.
    let expected = proto::Memory {
        memory_id: memory_id(1).to_string(),
        scope: Some(scope(proto::Level::General, "", "", proto::Audience::Personal)),
        key: String::new(),
        kind: "preference".to_owned(),
        value: Some("Rust".to_owned()),
        source: Some(source()),
        trust: proto::Trust::Attributed.into(),
        evidence: proto::Evidence::UserConfirmed.into(),
        confidence: 0.29,
        inferred: true,
        version: 3,
        value_version: 2,
        state: proto::MemoryState::Quarantined.into(),
        sensitivity: proto::Sensitivity::Personal.into(),
        consent: Some(proto::Consent { state: proto::ConsentState::Granted.into(), purposes: draft() }),
        purposes: draft(),
        observe_time: Some(micros(1)),
        valid_from_time: Some(micros(2)),
        expire_time: Some(micros(3)),
        update_time: Some(micros(5)),
        confirm_time: Some(micros(6)),
    };
    assert_eq!(read::<proto::Memory>(|message| memory::memory(message, &shown(1))), expected);
}

#[test]
fn an_admitted_memory_has_its_key_and_may_have_no_value_and_no_times() {
    let mut memory = shown(1).memory().clone();
    memory.value = Some(Text::default());
    (memory.confidence, memory.valid_from_time, memory.expire_time, memory.confirm_time) = (None, None, None, None);
    let written = |memory: &Memory| {
        let shown = Shown::made_up(memory.clone(), false, Trust::Attributed, false);
        read::<proto::Memory>(|message| memory::memory(message, &shown))
    };
    let out = written(&memory);
    assert_eq!((out.key.as_str(), out.value.as_deref(), out.confidence), ("zq7canary", Some(""), 0.0));
    assert_eq!((out.valid_from_time, out.expire_time, out.confirm_time), (None, None, None));
    memory.value = None;
    assert_eq!(written(&memory).value, None);
}

#[test]
fn every_field_of_a_verdict_goes_out_where_the_proto_has_it() {
    let expected = proto::Verdict {
        memory_id: memory_id(1).to_string(),
        candidate_id: String::new(),
        accepted: false,
        reasons: vec![proto::Reason::Expired.into(), proto::Reason::LowConfidence.into()],
        version: 3,
        value_version: 2,
        scope: Some(scope(proto::Level::Project, "alpha", "", proto::Audience::Shared)),
        key: "zq7canary".to_owned(),
        kind: "preference".to_owned(),
        nominator: proto::Nominator::Key.into(),
    };
    let mut judged = judged(1, vec![Reason::Expired, Reason::LowConfidence], Some(attributes(false)));
    assert_eq!(verdict(&judged, TextKeys::Withheld), expected);
    judged.subject = Subject::Candidate(CandidateId(Uuid::from_u128(2)));
    judged.reasons = Vec::new();
    let candidate = verdict(&judged, TextKeys::Withheld);
    assert_eq!((candidate.memory_id.as_str(), candidate.candidate_id), ("", memory_id(2).to_string()));
    assert!(candidate.accepted && candidate.reasons.is_empty());
}

#[test]
fn every_field_of_an_explanation_goes_out_where_the_proto_has_it() {
    let level = Level::Task(ProjectId::new("alpha").unwrap(), TaskId::new("t").unwrap());
    let revision = ScopeRevision { owner: Owner::SHARED, level, revision: Revision(7) };
    let mut judgement = judgement(vec![judged(1, vec![], None), judged(2, vec![Reason::Expired], None)]);
    (judgement.stale_time, judgement.decide_time) = (Some(Time::from_micros(4)), Time::from_micros(5));
    (judgement.revisions, judgement.not_nominated_count) = (vec![revision], 6);
    let of = |number| verdict(&judgement.verdicts[number], TextKeys::Withheld);
    let expected = proto::ExplainRecallResponse {
        decision_id: judgement.decision_id.to_string(),
        accepted: vec![of(0)],
        rejected: vec![of(1)],
        rejected_count: 1,
        reason_counts: vec![proto::ReasonCount { reason: proto::Reason::Expired.into(), count: 1 }],
        not_nominated_count: 6,
        revisions: vec![proto::ScopeRevision {
            scope: Some(scope(proto::Level::Task, "alpha", "t", proto::Audience::Shared)),
            revision: 7,
        }],
        stale_time: Some(micros(4)),
        policy_version: "ab".repeat(32),
        decide_time: Some(micros(5)),
    };
    assert_eq!(recall::explain_recall(&judgement).read(), expected);
}

#[test]
fn every_field_of_a_candidate_goes_out_where_the_proto_has_it() {
    let memory = shown(1).memory().clone();
    let candidate = Candidate {
        id: CandidateId(memory.id.0),
        address: memory.address,
        kind: memory.kind,
        value: memory.value,
        source: memory.source,
        lineage_trust: memory.lineage_trust,
        evidence: memory.evidence,
        confidence: memory.confidence,
        sensitivity: memory.sensitivity,
        consent: memory.consent,
        purposes: memory.purposes,
        observe_time: memory.observe_time,
        valid_from_time: memory.valid_from_time,
        expire_time: memory.expire_time,
        reasons: vec![Reason::InstructionLike],
        create_time: memory.create_time,
        lapse_time: Time::from_micros(7),
        author: memory.author,
        change_reason: memory.change_reason,
    };
    let expected = proto::Candidate {
        candidate_id: memory_id(1).to_string(),
        scope: Some(scope(proto::Level::General, "", "", proto::Audience::Personal)),
        key: "zq7canary".to_owned(),
        kind: "preference".to_owned(),
        value: "Rust".to_owned(),
        source: Some(source()),
        trust: proto::Trust::Untrusted.into(),
        evidence: proto::Evidence::UserConfirmed.into(),
        confidence: 0.29,
        reasons: vec![proto::Reason::InstructionLike.into()],
        observe_time: Some(micros(1)),
        create_time: Some(micros(4)),
        lapse_time: Some(micros(7)),
    };
    let shown = ShownCandidate::made_up(candidate, Trust::Untrusted);
    assert_eq!(read::<proto::Candidate>(|message| candidate::candidate(message, &shown)), expected);
}
