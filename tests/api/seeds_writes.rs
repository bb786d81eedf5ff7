//! What the first store of memories promised, asked of the service: writing, correcting, deleting, restoring.

use recall_gate::api::proto::{CaptureRequest, CorrectRequest, Evidence, Outcome, RecallRequest};
use tonic::Code;

use crate::harness::{Caller, Service, all_but, project, ticket};
use crate::requests::{
    bad_fields, correction, deletion, everything, fact, general, in_task, key, of_task, reasons, recalling, refusal,
    restoration, source, time, values, why,
};

const STYLE: &str = "response_style";

/// Captures a confirmed style and gives its id.
async fn style(caller: &mut Caller, value: &str) -> String {
    let made = caller.capture.capture(fact(STYLE, value)).await.unwrap().into_inner();
    assert_eq!((made.outcome(), made.version, made.value_version), (Outcome::Activated, 1, 1));
    made.memory_id
}

/// The values that a recall gives.
async fn recalled(caller: &mut Caller, request: RecallRequest) -> Vec<String> {
    let reply = caller.recall.recall(request).await.unwrap().into_inner();
    values(&reply).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_fact_keeps_its_source_and_the_time_of_its_observation() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let observed = service.now_seconds() - 100;
    let request = CaptureRequest { observe_time: time(observed), ..fact(STYLE, "zq7 brief") };
    caller.capture.capture(request).await.unwrap();
    let reply = caller.recall.recall(key(STYLE)).await.unwrap().into_inner();
    let shown = &reply.envelope.unwrap().facts[0];
    assert_eq!(shown.source, Some(source("user_message", "zq7-message-1")));
    assert_eq!(shown.observe_time, time(observed));
    assert_eq!(shown.update_time, time(service.now_seconds()));
    assert_eq!((shown.evidence(), shown.inferred, shown.version), (Evidence::UserConfirmed, false, 1));
}

#[tokio::test]
async fn a_correction_takes_the_old_value_out_of_every_recall() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let id = style(&mut caller, "zq7 brief").await;
    service.pass(1);
    let corrected = caller.correct.correct(correction(&id, 1, "zq7 detailed")).await.unwrap().into_inner();
    assert_eq!((corrected.outcome(), corrected.version, corrected.value_version), (Outcome::Activated, 2, 2));
    assert_eq!(corrected.memory_id, id);
    assert_eq!(recalled(&mut caller, key(STYLE)).await, ["zq7 detailed"]);
    assert_eq!(recalled(&mut caller, everything()).await, ["zq7 detailed"]);
}

#[tokio::test]
async fn i04_a_stale_version_overwrites_nothing_and_is_told_the_current_one() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let id = style(&mut caller, "zq7 brief").await;
    service.pass(1);
    caller.correct.correct(correction(&id, 1, "new")).await.unwrap();
    for seen in [1, 3] {
        let refused = caller.correct.correct(correction(&id, seen, "stale")).await.unwrap_err();
        assert_eq!(refusal(&refused), (Code::Aborted, "VERSION_CONFLICT".to_owned()));
    }
    assert_eq!(recalled(&mut caller, key(STYLE)).await, ["new"]);
    let unstated = CorrectRequest { expected_version: None, ..correction(&id, 2, "zq7 unseen") };
    let refused = caller.correct.correct(unstated).await.unwrap_err();
    assert_eq!(refusal(&refused), (Code::InvalidArgument, "FIELD_INVALID".to_owned()));
    assert_eq!(bad_fields(&refused), ["expected_version"]);
}

#[tokio::test]
async fn i04_capture_checks_a_version_where_one_is_stated() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let nowhere = CaptureRequest { expected_version: Some(1), ..fact(STYLE, "zq7 brief") };
    let refused = caller.capture.capture(nowhere).await.unwrap_err();
    assert_eq!(refusal(&refused), (Code::Aborted, "VERSION_CONFLICT".to_owned()));
    let first = CaptureRequest { expected_version: Some(0), ..fact(STYLE, "zq7 brief") };
    let made = caller.capture.capture(first.clone()).await.unwrap().into_inner();
    assert_eq!(made.outcome(), Outcome::Activated);
    let refused = caller.capture.capture(first).await.unwrap_err();
    assert_eq!(refusal(&refused), (Code::Aborted, "VERSION_CONFLICT".to_owned()));
}

#[tokio::test]
async fn an_older_observation_is_rejected_and_an_equal_one_is_allowed() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let began = service.now_seconds();
    let id = style(&mut caller, "zq7 brief").await;
    service.pass(10);
    let observed = |seconds, value| CorrectRequest { observe_time: time(seconds), ..correction(&id, 1, value) };
    let older = caller.correct.correct(observed(began - 1, "older")).await.unwrap().into_inner();
    assert_eq!((older.outcome(), why(&older.reasons)), (Outcome::Rejected, vec!["OBSERVATION_OLDER"]));
    assert_eq!(older.version, 1);
    assert_eq!(recalled(&mut caller, key(STYLE)).await, ["zq7 brief"]);
    let equal = caller.correct.correct(observed(began, "equal")).await.unwrap().into_inner();
    assert_eq!((equal.outcome(), equal.version), (Outcome::Activated, 2));
}

#[tokio::test]
async fn an_observation_from_the_future_counts_as_now_up_to_five_seconds_and_is_refused_beyond() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let now = service.now_seconds();
    let ahead = |seconds| CaptureRequest { observe_time: time(now + seconds), ..fact(STYLE, "zq7 brief") };
    let refused = caller.capture.capture(ahead(6)).await.unwrap_err();
    assert_eq!(refusal(&refused), (Code::InvalidArgument, "FIELD_INVALID".to_owned()));
    assert_eq!(bad_fields(&refused), ["observe_time"]);
    assert_eq!(recalled(&mut caller, key(STYLE)).await, [""; 0]);
    let made = caller.capture.capture(ahead(5)).await.unwrap().into_inner();
    assert_eq!(made.outcome(), Outcome::Activated);
    let reply = caller.recall.recall(key(STYLE)).await.unwrap().into_inner();
    assert_eq!(reply.envelope.unwrap().facts[0].observe_time, time(now));
}

#[tokio::test]
async fn i16_the_end_of_validity_is_exclusive_and_its_beginning_inclusive() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let now = service.now_seconds();
    let request = CaptureRequest {
        valid_from_time: time(now + 5),
        expire_time: time(now + 10),
        observe_time: time(now),
        ..fact(STYLE, "zq7 brief")
    };
    let made = caller.capture.capture(request).await.unwrap().into_inner();
    assert_eq!(made.expire_time, time(now + 10));
    for (second, expected) in
        [(4, Err("NOT_YET_VALID")), (5, Ok("zq7 brief")), (9, Ok("zq7 brief")), (10, Err("EXPIRED"))]
    {
        service.pass(now + second - service.now_seconds());
        let reply = caller.recall.recall(key(STYLE)).await.unwrap().into_inner();
        match expected {
            Ok(value) => assert_eq!(values(&reply), [value], "second {second}"),
            Err(reason) => assert_eq!(reasons(&reply.rejected[0]), [reason], "second {second}"),
        }
    }
}

#[tokio::test]
async fn i12_a_deleted_fact_is_hidden_and_restore_needs_the_current_version() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let id = style(&mut caller, "zq7 brief").await;
    let early = caller.delete.restore(restoration(&id, 1)).await.unwrap_err();
    assert_eq!(refusal(&early), (Code::FailedPrecondition, "MEMORY_NOT_DELETED".to_owned()));
    service.pass(1);
    let deleted = caller.delete.delete(deletion(&id, 1)).await.unwrap().into_inner();
    assert_eq!((deleted.memory_id, deleted.version), (id.clone(), 2));
    assert_eq!(recalled(&mut caller, everything()).await, [""; 0]);
    let again = caller.delete.delete(deletion(&id, 2)).await.unwrap_err();
    assert_eq!(refusal(&again), (Code::FailedPrecondition, "MEMORY_DELETED".to_owned()));
    let stale = caller.delete.restore(restoration(&id, 1)).await.unwrap_err();
    assert_eq!(refusal(&stale), (Code::Aborted, "VERSION_CONFLICT".to_owned()));
    assert_eq!(recalled(&mut caller, key(STYLE)).await, [""; 0]);
    service.pass(1);
    let restored = caller.delete.restore(restoration(&id, 2)).await.unwrap().into_inner();
    assert_eq!((restored.memory_id, restored.version), (id, 3));
    let reply = caller.recall.recall(key(STYLE)).await.unwrap().into_inner();
    assert_eq!(values(&reply), ["zq7 brief"]);
    let shown = &reply.envelope.unwrap().facts[0];
    assert_eq!((shown.version, shown.value_version), (3, 1), "the value is the one of the first version");
}

#[tokio::test]
async fn i14_a_deleted_fact_blocks_ordinary_writes_to_its_address() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let id = style(&mut caller, "zq7 brief").await;
    service.pass(10);
    caller.delete.delete(deletion(&id, 1)).await.unwrap();
    let deleted_at = service.now_seconds();
    service.pass(10);
    let from = |evidence: Evidence, observed| CaptureRequest {
        source: Some(source("user_message", "zq7-message-9")),
        evidence: evidence.into(),
        observe_time: time(observed),
        ..fact(STYLE, "zq7 long")
    };
    let late = deleted_at + 10;
    let blocked = [
        from(Evidence::None, late),
        from(Evidence::OperatorVerified, late),
        from(Evidence::UserConfirmed, deleted_at),
        from(Evidence::UserConfirmed, deleted_at - 5),
    ];
    for request in blocked {
        let held = caller.capture.capture(request.clone()).await.unwrap().into_inner();
        assert_eq!((held.outcome(), why(&held.reasons)), (Outcome::Held, vec!["ADDRESS_DELETED"]), "{request:?}");
    }
    let corrected =
        CorrectRequest { evidence: Evidence::OperatorVerified.into(), ..correction(&id, 2, "zq7 detailed") };
    let held = caller.correct.correct(corrected).await.unwrap().into_inner();
    assert_eq!((held.outcome(), why(&held.reasons)), (Outcome::Held, vec!["ADDRESS_DELETED"]));
    assert_eq!(recalled(&mut caller, everything()).await, [""; 0]);
}

#[tokio::test]
async fn what_the_subject_confirms_after_a_deletion_is_a_new_memory_and_ends_the_restoring() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let id = style(&mut caller, "zq7 brief").await;
    caller.delete.delete(deletion(&id, 1)).await.unwrap();
    service.pass(1);
    let anew = CaptureRequest { source: Some(source("user_message", "zq7-message-9")), ..fact(STYLE, "zq7 long") };
    let made = caller.capture.capture(anew).await.unwrap().into_inner();
    assert_eq!((made.outcome(), made.version), (Outcome::Activated, 1));
    assert_ne!(made.memory_id, id);
    let refused = caller.delete.restore(restoration(&id, 2)).await.unwrap_err();
    assert_eq!(refusal(&refused), (Code::FailedPrecondition, "ADDRESS_TAKEN".to_owned()));
    assert_eq!(recalled(&mut caller, everything()).await, ["zq7 long"]);
}

#[tokio::test]
async fn a_deleted_fact_that_has_expired_cannot_be_restored() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let expires = time(service.now_seconds() + 2);
    let request = CaptureRequest { expire_time: expires, ..fact(STYLE, "zq7 brief") };
    let id = caller.capture.capture(request).await.unwrap().into_inner().memory_id;
    service.pass(1);
    caller.delete.delete(deletion(&id, 1)).await.unwrap();
    service.pass(1);
    let refused = caller.delete.restore(restoration(&id, 2)).await.unwrap_err();
    assert_eq!(refusal(&refused), (Code::FailedPrecondition, "MEMORY_EXPIRED".to_owned()));
    assert_eq!(recalled(&mut caller, key(STYLE)).await, [""; 0]);
}

#[tokio::test]
async fn i02_neither_another_tenant_nor_another_subject_reaches_a_fact() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let id = style(&mut caller, "zq7 brief").await;
    let mut tenant = ticket();
    tenant.tenant = "t2".to_owned();
    let mut subject = ticket();
    subject.subject = Some("s2".to_owned());
    let missing = "01900000-0000-7000-8000-000000000001";
    for other in [tenant, subject] {
        let mut other = service.caller_of(&other).await;
        assert_eq!(recalled(&mut other, everything()).await, [""; 0]);
        let foreign = other.delete.delete(deletion(&id, 1)).await.unwrap_err();
        let unknown = other.delete.delete(deletion(missing, 1)).await.unwrap_err();
        assert_eq!(refusal(&foreign), (Code::NotFound, "NOT_FOUND".to_owned()));
        assert_eq!((foreign.message(), foreign.details()), (unknown.message(), unknown.details()));
        let foreign = other.correct.correct(correction(&id, 1, "zq7 theirs")).await.unwrap_err();
        let unknown = other.correct.correct(correction(missing, 1, "zq7 theirs")).await.unwrap_err();
        assert_eq!(foreign.code(), Code::NotFound);
        assert_eq!((foreign.message(), foreign.details()), (unknown.message(), unknown.details()));
        let own = style(&mut other, "zq7 theirs").await;
        assert_ne!(own, id);
    }
    assert_eq!(recalled(&mut caller, everything()).await, ["zq7 brief"]);
}

#[tokio::test]
async fn i01_a_scope_that_the_credential_does_not_hold_is_refused() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let elsewhere = recalling(of_task("p2", "one"), everything().query.unwrap());
    let refused = caller.recall.recall(elsewhere).await.unwrap_err();
    assert_eq!(refusal(&refused), (Code::PermissionDenied, "SCOPE_NOT_HELD".to_owned()));
    let request = CaptureRequest {
        scope: Some(in_task("p2", "one")),
        evidence: Evidence::TaskVerified.into(),
        ..fact("status", "done")
    };
    let refused = caller.capture.capture(request).await.unwrap_err();
    assert_eq!(refusal(&refused), (Code::PermissionDenied, "SCOPE_NOT_HELD".to_owned()));
    let mut narrow = ticket();
    narrow.projects = vec![project("p1")];
    narrow.projects[0].tasks = Some(vec!["one".to_owned()]);
    let mut narrow = service.caller_of(&narrow).await;
    let another = recalling(of_task("p1", "two"), everything().query.unwrap());
    let refused = narrow.recall.recall(another).await.unwrap_err();
    assert_eq!(refusal(&refused), (Code::PermissionDenied, "SCOPE_NOT_HELD".to_owned()));
}

#[tokio::test]
async fn a_task_fact_stays_in_its_task() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let request = CaptureRequest {
        scope: Some(in_task("p1", "one")),
        source: Some(source("task_check", "report-1")),
        evidence: Evidence::TaskVerified.into(),
        ..fact("status", "tests passed")
    };
    caller.capture.capture(request.clone()).await.unwrap();
    let all = || everything().query.unwrap();
    assert_eq!(recalled(&mut caller, everything()).await, [""; 0]);
    assert_eq!(recalled(&mut caller, recalling(of_task("p1", "two"), all())).await, [""; 0]);
    assert_eq!(recalled(&mut caller, recalling(of_task("p1", "one"), all())).await, ["tests passed"]);
    let general = CaptureRequest { scope: Some(general()), ..request };
    let refused = caller.capture.capture(general).await.unwrap().into_inner();
    assert_eq!((refused.outcome(), why(&refused.reasons)), (Outcome::Rejected, vec!["SCOPE_NOT_ALLOWED"]));
}

#[tokio::test]
async fn i10_evidence_that_the_caller_may_not_attest_is_refused_and_not_downgraded() {
    let service = Service::start().await;
    let mut agent = ticket();
    agent.grants = all_but(&["attest:"]);
    let mut agent = service.caller_of(&agent).await;
    for evidence in [Evidence::UserConfirmed, Evidence::TaskVerified, Evidence::OperatorVerified] {
        let claimed = CaptureRequest { evidence: evidence.into(), ..fact(STYLE, "zq7 brief") };
        let refused = agent.capture.capture(claimed).await.unwrap_err();
        assert_eq!(refusal(&refused), (Code::PermissionDenied, "EVIDENCE_NOT_HELD".to_owned()));
    }
    let invented = CaptureRequest { evidence: 77, ..fact(STYLE, "zq7 brief") };
    let refused = agent.capture.capture(invented).await.unwrap_err();
    assert_eq!((refused.code(), bad_fields(&refused)), (Code::InvalidArgument, vec!["evidence".to_owned()]));
    let plain = CaptureRequest { evidence: Evidence::None.into(), ..fact(STYLE, "zq7 brief") };
    let held = agent.capture.capture(plain).await.unwrap().into_inner();
    assert_eq!((held.outcome(), why(&held.reasons)), (Outcome::Held, vec!["EVIDENCE_TOO_WEAK"]));
    assert_eq!(recalled(&mut agent, everything()).await, [""; 0]);
}
