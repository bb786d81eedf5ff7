//! Every field of every request that writes, wrong.

use recall_gate::api::proto::{
    CaptureRequest, ConfirmCandidateRequest, Consent, ConsentState, CorrectRequest, DeleteRequest, Evidence,
    GetCandidateRequest, RejectCandidateRequest, RestoreRequest, Scope, Source,
};

use crate::bad_input::{Cases, SOME_ID, bad_ids, case, ids, instants, kept, names, numbers, refused, shares, uuids};
use crate::harness::Service;
use crate::reading::{activated, after, held, unconfirmed};
use crate::requests::{correction, deletion, fact, general, in_project, in_task, restoration, source};

fn told() -> Source {
    source("user_message", "zq7-message-1")
}

fn source_cases<R: 'static>(set: fn(&mut R, Source)) -> Cases<R> {
    let mut cases: Cases<R> = Vec::new();
    for bad in bad_ids() {
        cases.push(case("source.kind", move |request| set(request, Source { kind: bad.clone(), ..told() })));
    }
    for bad in ["a\0b".to_owned(), "語".repeat(513)] {
        let reference = bad.clone();
        cases.push(case("source.reference", move |r| set(r, Source { reference: reference.clone(), ..told() })));
        cases.push(case("source.parent_references[1]", move |request| {
            let parent_references = vec!["fine".to_owned(), bad.clone()];
            set(request, Source { parent_references, ..told() });
        }));
    }
    cases.push(case("source.parent_references[0]", move |request| {
        set(request, Source { parent_references: vec![String::new()], ..told() });
    }));
    cases.push(case("source.parent_memory_ids[0]", move |request| {
        set(request, Source { parent_memory_ids: vec!["x".to_owned()], ..told() });
    }));
    for count in [33, 10_000] {
        cases.push(case("source.parent_memory_ids", move |request| {
            set(request, Source { parent_memory_ids: vec![SOME_ID.to_owned(); count], ..told() });
        }));
        cases.push(case("source.parent_references", move |request| {
            set(request, Source { parent_references: vec!["a".to_owned(); count], ..told() });
        }));
    }
    cases
}

#[tokio::test]
async fn b14_b20_every_field_of_a_capture() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    activated(&mut caller, fact("response_style", "zq7 brief")).await;
    let valid = fact("response_style", "zq7 brief");
    let granted = |purposes: Vec<String>| Some(Consent { state: ConsentState::Granted.into(), purposes });
    let mut cases: Cases<CaptureRequest> = vec![
        case("scope", |r: &mut CaptureRequest| r.scope = None),
        case("scope.level", |r: &mut CaptureRequest| r.scope = Some(Scope::default())),
        case("scope.project_id", |r: &mut CaptureRequest| {
            r.scope = Some(Scope { project_id: "p1".to_owned(), ..general() });
        }),
        case("scope.task_id", |r: &mut CaptureRequest| r.scope = Some(Scope { task_id: "k1".to_owned(), ..general() })),
        case("scope.task_id", |r: &mut CaptureRequest| {
            r.scope = Some(Scope { task_id: "k1".to_owned(), ..in_project("p1") });
        }),
        case("scope.project_id", |r: &mut CaptureRequest| r.scope = Some(in_project(""))),
        case("scope.task_id", |r: &mut CaptureRequest| r.scope = Some(in_task("p1", ""))),
        case("kind", |r: &mut CaptureRequest| r.kind = String::new()),
        case("value", |r: &mut CaptureRequest| r.value = String::new()),
        case("value", |r: &mut CaptureRequest| r.value = "a\0b".to_owned()),
        case("value", |r: &mut CaptureRequest| r.value = "\0".to_owned()),
        case("value", |r: &mut CaptureRequest| r.value = "x".repeat(65_537)),
        case("value", |r: &mut CaptureRequest| r.value = "x".repeat(3 << 20)),
        case("consent.purposes", move |r: &mut CaptureRequest| r.consent = granted(vec![])),
        case("consent.purposes", move |r: &mut CaptureRequest| {
            r.consent = granted((0..33).map(|n| format!("p{n}")).collect());
        }),
        case("consent.purposes", |r: &mut CaptureRequest| {
            r.consent = Some(Consent { state: ConsentState::Unset.into(), purposes: vec!["converse".to_owned()] });
        }),
        case("consent.state", |r: &mut CaptureRequest| {
            r.consent = Some(Consent { state: ConsentState::Withdrawn.into(), purposes: vec![] });
        }),
        case("purposes", |r: &mut CaptureRequest| r.purposes = (0..33).map(|n| format!("p{n}")).collect()),
        case("purposes", |r: &mut CaptureRequest| r.purposes = vec!["a\0".to_owned(); 10_000]),
        case("purposes[1]", |r: &mut CaptureRequest| r.purposes = vec!["converse".to_owned(), String::new()]),
        case("expected_version", |r: &mut CaptureRequest| r.expected_version = Some(-1)),
        case("expected_version", |r: &mut CaptureRequest| r.expected_version = Some(i64::MIN)),
    ];
    cases.extend(ids("subject_id", |r: &mut CaptureRequest, id| r.subject_id = id));
    cases.extend(ids("kind", |r: &mut CaptureRequest, id| r.kind = id));
    cases.extend(ids("key", |r: &mut CaptureRequest, id| r.key = id));
    cases.extend(ids("scope.project_id", |r: &mut CaptureRequest, id| r.scope = Some(in_project(&id))));
    cases.extend(ids("scope.task_id", |r: &mut CaptureRequest, id| r.scope = Some(in_task("p1", &id))));
    cases.extend(ids("purposes[0]", |r: &mut CaptureRequest, id| r.purposes = vec![id]));
    cases.extend(numbers("scope.level", |r: &mut CaptureRequest, level| r.scope = Some(Scope { level, ..general() })));
    cases.extend(numbers("scope.audience", |r: &mut CaptureRequest, audience| {
        r.scope = Some(Scope { audience, ..general() });
    }));
    cases.extend(numbers("evidence", |r: &mut CaptureRequest, evidence| r.evidence = evidence));
    cases.extend(numbers("sensitivity", |r: &mut CaptureRequest, sensitivity| r.sensitivity = sensitivity));
    cases.extend(numbers("consent.state", |r: &mut CaptureRequest, state| {
        r.consent = Some(Consent { state, purposes: vec![] });
    }));
    cases.extend(shares("confidence", |r: &mut CaptureRequest, share| r.confidence = Some(share)));
    cases.extend(instants("observe_time", |r: &mut CaptureRequest, time| r.observe_time = Some(time)));
    cases.push(case("observe_time", |r: &mut CaptureRequest| r.observe_time = Some(after(6))));
    cases.extend(instants("valid_from_time", |r: &mut CaptureRequest, time| r.valid_from_time = Some(time)));
    cases.extend(instants("expire_time", |r: &mut CaptureRequest, time| r.expire_time = Some(time)));
    cases.extend(uuids("request_id", |r: &mut CaptureRequest, id| r.request_id = id));
    cases.extend(source_cases(|r: &mut CaptureRequest, stated| r.source = Some(stated)));
    let before = kept(&mut caller).await;
    let mut client = caller.clone();
    refused(&valid, cases, async move |request| client.capture.capture(request).await.map(drop)).await;
    assert_eq!(kept(&mut caller).await, before, "nothing was written");
}

#[tokio::test]
async fn b14_b20_every_field_of_a_correction() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = activated(&mut caller, fact("response_style", "zq7 brief")).await;
    let valid = CorrectRequest { validate_only: true, ..correction(&made.memory_id, 1, "zq7 thorough") };
    let mut cases: Cases<CorrectRequest> = vec![
        case("expected_version", |r: &mut CorrectRequest| r.expected_version = None),
        case("value", |r: &mut CorrectRequest| r.value = String::new()),
        case("value", |r: &mut CorrectRequest| r.value = "\0".to_owned()),
        case("value", |r: &mut CorrectRequest| r.value = "x".repeat(65_537)),
        case("reason", |r: &mut CorrectRequest| r.reason = String::new()),
        case("reason", |r: &mut CorrectRequest| r.reason = "語".repeat(513)),
        case("reason", |r: &mut CorrectRequest| r.reason = "a\0b".to_owned()),
    ];
    for bad in [0, -1, i64::MIN] {
        cases.push(case("expected_version", move |r: &mut CorrectRequest| r.expected_version = Some(bad)));
    }
    cases.extend(ids("subject_id", |r: &mut CorrectRequest, id| r.subject_id = id));
    cases.extend(names(|r: &mut CorrectRequest, name| r.memory = name));
    cases.extend(numbers("evidence", |r: &mut CorrectRequest, evidence| r.evidence = evidence));
    cases.extend(numbers("sensitivity", |r: &mut CorrectRequest, sensitivity| r.sensitivity = sensitivity));
    cases.extend(shares("confidence", |r: &mut CorrectRequest, share| r.confidence = Some(share)));
    cases.extend(instants("observe_time", |r: &mut CorrectRequest, time| r.observe_time = Some(time)));
    cases.extend(instants("valid_from_time", |r: &mut CorrectRequest, time| r.valid_from_time = Some(time)));
    cases.extend(instants("expire_time", |r: &mut CorrectRequest, time| r.expire_time = Some(time)));
    cases.extend(uuids("request_id", |r: &mut CorrectRequest, id| r.request_id = id));
    cases.extend(source_cases(|r: &mut CorrectRequest, stated| r.source = Some(stated)));
    let before = kept(&mut caller).await;
    let mut client = caller.clone();
    refused(&valid, cases, async move |request| client.correct.correct(request).await.map(drop)).await;
    assert_eq!(kept(&mut caller).await, before, "nothing was written");
}

#[tokio::test]
async fn every_field_of_the_other_writes() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = activated(&mut caller, fact("response_style", "zq7 brief")).await;
    let before = kept(&mut caller).await;
    let mut cases: Cases<DeleteRequest> = vec![
        case("expected_version", |r: &mut DeleteRequest| r.expected_version = None),
        case("expected_version", |r: &mut DeleteRequest| r.expected_version = Some(0)),
        case("evidence", |r: &mut DeleteRequest| r.evidence = Evidence::Unspecified.into()),
        case("evidence", |r: &mut DeleteRequest| r.evidence = Evidence::None.into()),
        case("evidence", |r: &mut DeleteRequest| r.evidence = Evidence::TaskVerified.into()),
    ];
    cases.extend(ids("subject_id", |r: &mut DeleteRequest, id| r.subject_id = id));
    cases.extend(names(|r: &mut DeleteRequest, name| r.memory = name));
    cases.extend(numbers("evidence", |r: &mut DeleteRequest, evidence| r.evidence = evidence));
    cases.extend(uuids("request_id", |r: &mut DeleteRequest, id| r.request_id = id));
    let restored: Cases<RestoreRequest> = vec![
        case("expected_version", |r: &mut RestoreRequest| r.expected_version = Some(-7)),
        case("evidence", |r: &mut RestoreRequest| r.evidence = Evidence::TaskVerified.into()),
        case("subject_id", |r: &mut RestoreRequest| r.subject_id = "\t".to_owned()),
        case("request_id", |r: &mut RestoreRequest| r.request_id = "x".to_owned()),
        case("memory", |r: &mut RestoreRequest| r.memory = None),
    ];
    let mut client = caller.clone();
    let (memory_id, mut after) = (made.memory_id.clone(), caller.clone());
    let valid = deletion(&memory_id, 1);
    // The valid call comes last and deletes it, so what was kept is looked at in between.
    refused(&valid, cases, async |request| {
        let last = request == valid;
        if last {
            assert_eq!(kept(&mut after).await, before, "nothing was written");
        }
        client.delete.delete(request).await.map(drop)
    })
    .await;
    let valid = restoration(&memory_id, 2);
    let mut client = caller.clone();
    refused(&valid, restored, async move |request| client.delete.restore(request).await.map(drop)).await;

    let mut cases: Cases<ConfirmCandidateRequest> = vec![
        case("evidence", |r: &mut ConfirmCandidateRequest| r.evidence = Evidence::Unspecified.into()),
        case("expected_version", |r: &mut ConfirmCandidateRequest| r.expected_version = Some(-1)),
        case("candidate_id", |r: &mut ConfirmCandidateRequest| r.candidate_id = String::new()),
    ];
    cases.extend(uuids("candidate_id", |r: &mut ConfirmCandidateRequest, id| r.candidate_id = id));
    cases.extend(uuids("request_id", |r: &mut ConfirmCandidateRequest, id| r.request_id = id));
    cases.extend(ids("subject_id", |r: &mut ConfirmCandidateRequest, id| r.subject_id = id));
    let waiting = held(&mut caller, unconfirmed(fact("duty_team", "zq7 blue"))).await;
    let candidate_id = waiting.candidate_id;
    let valid = ConfirmCandidateRequest {
        candidate_id: candidate_id.clone(),
        evidence: Evidence::UserConfirmed.into(),
        validate_only: true,
        ..ConfirmCandidateRequest::default()
    };
    let mut client = caller.clone();
    refused(&valid, cases, async move |request| client.capture.confirm_candidate(request).await.map(drop)).await;
    let mut cases: Cases<GetCandidateRequest> =
        uuids("candidate_id", |r: &mut GetCandidateRequest, id| r.candidate_id = id);
    cases.extend(ids("subject_id", |r: &mut GetCandidateRequest, id| r.subject_id = id));
    let valid = GetCandidateRequest { candidate_id: candidate_id.clone(), ..GetCandidateRequest::default() };
    let mut client = caller.clone();
    refused(&valid, cases, async move |request| client.capture.get_candidate(request).await.map(drop)).await;
    let mut cases: Cases<RejectCandidateRequest> =
        uuids("candidate_id", |r: &mut RejectCandidateRequest, id| r.candidate_id = id);
    cases.extend(uuids("request_id", |r: &mut RejectCandidateRequest, id| r.request_id = id));
    let valid = RejectCandidateRequest { candidate_id, ..RejectCandidateRequest::default() };
    let mut client = caller.clone();
    refused(&valid, cases, async move |request| client.capture.reject_candidate(request).await.map(drop)).await;
}
