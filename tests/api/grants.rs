//! What a credential does not hold is refused, whatever the request says; and what is foreign is as if it were not.

use recall_gate::api::proto::{
    Audience, CaptureRequest, ConfirmCandidateRequest, Consent, ConsentState, Evidence, ExplainRecallRequest,
    GetCandidateRequest, GetMemoryRequest, ListCandidatesRequest, ListMemoriesRequest, RecallRequest,
    RejectCandidateRequest, Scope, list_memories_request,
};
use recall_gate::identity::{ProjectClaim, Ticket};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::harness::{Caller, Service, all_but, project, ticket};
use crate::requests::{
    correction, deletion, error_reason, fact, in_general, in_project, in_task, keys, named, of_project, of_task,
    recalling, restoration, source,
};

const NOBODY: &str = "018f3c4e-7b2a-7c3d-9e4f-5a6b7c8d9e0f";

async fn without(service: &Service, grants: &[&str]) -> Caller {
    service.caller_of(&Ticket { grants: all_but(grants), ..ticket() }).await
}

fn refused(status: &Status) -> (Code, String, Option<String>) {
    let info = status.get_details_error_info().unwrap();
    (status.code(), info.reason, info.metadata.get("grant").cloned())
}

fn missing(grant: &str) -> (Code, String, Option<String>) {
    (Code::PermissionDenied, "GRANT_MISSING".to_owned(), Some(grant.to_owned()))
}

/// Every method with a request that is malformed in every way, and the grant it takes.
async fn call(caller: &mut Caller, method: &str) -> Status {
    let malformed = "x".repeat(200);
    match method {
        "Capture" => caller.capture.capture(CaptureRequest::default()).await.unwrap_err(),
        "ConfirmCandidate" => {
            let request = ConfirmCandidateRequest { candidate_id: malformed, ..ConfirmCandidateRequest::default() };
            caller.capture.confirm_candidate(request).await.unwrap_err()
        }
        "RejectCandidate" => {
            let request = RejectCandidateRequest { candidate_id: malformed, ..RejectCandidateRequest::default() };
            caller.capture.reject_candidate(request).await.unwrap_err()
        }
        "GetCandidate" => caller.capture.get_candidate(GetCandidateRequest::default()).await.unwrap_err(),
        "ListCandidates" => caller.capture.list_candidates(ListCandidatesRequest::default()).await.unwrap_err(),
        "Correct" => caller.correct.correct(correction(&malformed, -1, "")).await.unwrap_err(),
        "Recall" => caller.recall.recall(RecallRequest::default()).await.unwrap_err(),
        "ExplainRecall" => caller.recall.explain_recall(ExplainRecallRequest::default()).await.unwrap_err(),
        "GetMemory" => caller.recall.get_memory(GetMemoryRequest::default()).await.unwrap_err(),
        "ListMemories" => caller.recall.list_memories(ListMemoriesRequest::default()).await.unwrap_err(),
        "Delete" => caller.delete.delete(deletion(&malformed, -1)).await.unwrap_err(),
        "Restore" => caller.delete.restore(restoration(&malformed, -1)).await.unwrap_err(),
        other => panic!("{other}"),
    }
}

const METHODS: [(&str, &str); 12] = [
    ("Capture", "capture"),
    ("ConfirmCandidate", "confirm"),
    ("RejectCandidate", "confirm"),
    ("GetCandidate", "confirm"),
    ("ListCandidates", "confirm"),
    ("Correct", "correct"),
    ("Recall", "recall"),
    ("ExplainRecall", "recall"),
    ("GetMemory", "recall"),
    ("ListMemories", "recall"),
    ("Delete", "delete"),
    ("Restore", "delete"),
];

#[tokio::test]
async fn i01_a_method_takes_its_grant_before_a_word_is_said_of_the_request() {
    let service = Service::start().await;
    for (method, grant) in METHODS {
        let mut caller = without(&service, &[grant]).await;
        assert_eq!(refused(&call(&mut caller, method).await), missing(grant), "{method}");
        let mut holder = service.caller().await;
        assert_eq!(call(&mut holder, method).await.code(), Code::InvalidArgument, "{method}");
    }
}

#[tokio::test]
async fn i10_evidence_is_refused_and_not_downgraded() {
    let service = Service::start().await;
    let mut owner = service.caller().await;
    let made = owner.capture.capture(fact("response_style", "zq7 brief")).await.unwrap().into_inner();
    let mut caller = without(&service, &["attest:"]).await;
    let held = CaptureRequest { evidence: Evidence::None.into(), ..fact("display_name", "zq7 Lin") };
    let held = caller.capture.capture(held).await.unwrap().into_inner();
    let confirm = ConfirmCandidateRequest {
        candidate_id: held.candidate_id,
        evidence: Evidence::UserConfirmed.into(),
        ..ConfirmCandidateRequest::default()
    };
    let refusals = [
        caller.capture.capture(fact("response_style", "zq7 steps")).await.unwrap_err(),
        caller.correct.correct(correction(&made.memory_id, 1, "zq7 steps")).await.unwrap_err(),
        caller.delete.delete(deletion(&made.memory_id, 1)).await.unwrap_err(),
        caller.delete.restore(restoration(&made.memory_id, 1)).await.unwrap_err(),
        caller.capture.confirm_candidate(confirm).await.unwrap_err(),
    ];
    for status in refusals {
        let expected =
            (Code::PermissionDenied, "EVIDENCE_NOT_HELD".to_owned(), Some("attest:user_confirmed".to_owned()));
        assert_eq!(refused(&status), expected);
    }
}

#[tokio::test]
async fn i10_a_source_kind_and_consent_are_stated_only_by_who_may() {
    let service = Service::start().await;
    let mut caller = without(&service, &["source:", "attest:"]).await;
    let bare = |value: &str| CaptureRequest { evidence: Evidence::None.into(), ..fact("ui_theme", value) };
    let status = caller.capture.capture(bare("zq7 dark")).await.unwrap_err();
    let expected = (Code::PermissionDenied, "SOURCE_KIND_NOT_HELD".to_owned(), Some("source:user_message".to_owned()));
    assert_eq!(refused(&status), expected);
    // Unset is the lowest trust, and nobody's to refuse.
    let unset = CaptureRequest { source: None, ..bare("zq7 dark") };
    caller.capture.capture(unset).await.unwrap();

    let agreed = Consent { state: ConsentState::Granted.into(), purposes: vec!["converse".to_owned()] };
    let about = |subject: &str| CaptureRequest {
        subject_id: subject.to_owned(),
        source: None,
        consent: Some(agreed.clone()),
        ..bare("zq7 light")
    };
    // The subject speaks for itself; for another it takes the right to say that they confirmed something.
    caller.capture.capture(about("")).await.unwrap();
    let status = caller.capture.capture(about("s2")).await.unwrap_err();
    assert_eq!(refused(&status).1, "EVIDENCE_NOT_HELD");
}

#[tokio::test]
async fn i01_a_request_selects_among_the_subjects_projects_and_tasks_that_are_held() {
    let service = Service::start().await;
    let own = Ticket {
        projects: vec![project("p1"), ProjectClaim { id: "p2".to_owned(), tasks: Some(vec!["t1".to_owned()]) }],
        grants: all_but(&["act_for"]),
        ..ticket()
    };
    let mut caller = service.caller_of(&own).await;
    let about = RecallRequest { subject_id: "s2".to_owned(), ..recalling(in_general(), keys(&["status"])) };
    assert_eq!(error_reason(&caller.recall.recall(about).await.unwrap_err()), "SUBJECT_NOT_HELD");
    let itself = RecallRequest { subject_id: "s1".to_owned(), ..recalling(in_general(), keys(&["status"])) };
    caller.recall.recall(itself).await.unwrap();
    for context in [of_project("p1"), of_project("p2"), of_task("p1", "any"), of_task("p2", "t1")] {
        caller.recall.recall(recalling(context, keys(&["status"]))).await.unwrap();
    }
    for context in [of_project("p9"), of_task("p9", "t1"), of_task("p2", "t2"), of_project("P1")] {
        let status = caller.recall.recall(recalling(context, keys(&["status"]))).await.unwrap_err();
        assert_eq!((status.code(), error_reason(&status)), (Code::PermissionDenied, "SCOPE_NOT_HELD".to_owned()));
    }
    for scope in [in_project("p9"), in_task("p2", "t2")] {
        let write = CaptureRequest { scope: Some(scope.clone()), ..fact("status", "ready") };
        assert_eq!(error_reason(&caller.capture.capture(write).await.unwrap_err()), "SCOPE_NOT_HELD");
        let list = ListMemoriesRequest {
            purpose: "converse".to_owned(),
            range: Some(list_memories_request::Range::Scope(scope.clone())),
            ..ListMemoriesRequest::default()
        };
        assert_eq!(error_reason(&caller.recall.list_memories(list).await.unwrap_err()), "SCOPE_NOT_HELD");
        let list = ListCandidatesRequest { scope: Some(scope), ..ListCandidatesRequest::default() };
        assert_eq!(error_reason(&caller.capture.list_candidates(list).await.unwrap_err()), "SCOPE_NOT_HELD");
    }
}

#[tokio::test]
async fn a_credential_without_a_subject_has_to_name_one() {
    let service = Service::start().await;
    let mut caller = service.caller_of(&Ticket { subject: None, ..ticket() }).await;
    let status = caller.recall.recall(recalling(in_general(), keys(&["status"]))).await.unwrap_err();
    assert_eq!(crate::requests::bad_fields(&status), ["subject_id"]);
    let named = RecallRequest { subject_id: "s7".to_owned(), ..recalling(in_general(), keys(&["status"])) };
    caller.recall.recall(named).await.unwrap();
}

#[tokio::test]
async fn a_purpose_takes_its_grant_and_an_unknown_one_is_none() {
    let service = Service::start().await;
    let grants = [all_but(&["purpose:"]), vec!["purpose:converse".to_owned()]].concat();
    let mut caller = service.caller_of(&Ticket { grants, ..ticket() }).await;
    let asking =
        |purpose: &str| RecallRequest { purpose: purpose.to_owned(), ..recalling(in_general(), keys(&["status"])) };
    caller.recall.recall(asking("converse")).await.unwrap();
    assert_eq!(refused(&caller.recall.recall(asking("act")).await.unwrap_err()), missing("purpose:act"));
    assert_eq!(error_reason(&caller.recall.recall(asking("sell")).await.unwrap_err()), "PURPOSE_UNKNOWN");
}

#[tokio::test]
async fn shared_memories_take_a_grant_of_their_own_to_write() {
    let service = Service::start().await;
    let shared = Scope { audience: Audience::Shared.into(), ..in_project("p1") };
    let team = || CaptureRequest {
        scope: Some(shared.clone()),
        source: Some(source("operator_entry", "directory")),
        evidence: Evidence::OperatorVerified.into(),
        ..fact("duty_team", "team-blue")
    };
    let mut operator = service.caller().await;
    let made = operator.capture.capture(team()).await.unwrap().into_inner();
    let mut caller = without(&service, &["shared:"]).await;
    let operator_says = Evidence::OperatorVerified.into();
    let mut correct = correction(&made.memory_id, 1, "team-green");
    correct.evidence = operator_says;
    let mut delete = deletion(&made.memory_id, 1);
    delete.evidence = operator_says;
    for status in [
        caller.capture.capture(team()).await.unwrap_err(),
        caller.correct.correct(correct).await.unwrap_err(),
        caller.delete.delete(delete).await.unwrap_err(),
    ] {
        assert_eq!(refused(&status), missing("shared:write"));
    }
    // And the user's word does not count for them.
    let status = operator.delete.delete(deletion(&made.memory_id, 1)).await.unwrap_err();
    assert_eq!(refused(&status).1, "EVIDENCE_NOT_HELD");
}

#[tokio::test]
async fn i02_b07_a_foreign_id_and_a_missing_one_are_answered_with_the_same_bytes() {
    let service = Service::start().await;
    let mut owner = service.caller().await;
    let made = owner.capture.capture(fact("response_style", "zq7 brief")).await.unwrap().into_inner();
    let held = CaptureRequest { evidence: Evidence::None.into(), ..fact("display_name", "zq7 Lin") };
    let held = owner.capture.capture(held).await.unwrap().into_inner();
    let strangers = [
        Ticket { tenant: "t2".to_owned(), ..ticket() },
        Ticket { subject: Some("s2".to_owned()), ..ticket() },
        // The same subject, below the memory's sensitivity.
        Ticket {
            grants: [all_but(&["max_sensitivity"]), vec!["max_sensitivity:public".to_owned()]].concat(),
            ..ticket()
        },
    ];
    for stranger in strangers {
        let mut stranger = service.caller_of(&stranger).await;
        let foreign = by_id(&mut stranger, &made.memory_id, &held.candidate_id).await;
        let missing = by_id(&mut stranger, NOBODY, NOBODY).await;
        for (foreign, missing) in foreign.iter().zip(&missing) {
            assert_eq!((foreign.code(), foreign.message()), (Code::NotFound, missing.message()));
            assert_eq!(foreign.details(), missing.details());
            let names = |status: &Status| {
                let mut names: Vec<String> = status.metadata().keys().map(|key| format!("{key:?}")).collect();
                names.sort();
                names
            };
            assert_eq!(names(foreign), names(missing));
        }
    }
    let reply = owner.recall.recall(recalling(in_general(), keys(&["response_style"]))).await.unwrap().into_inner();
    assert_eq!(reply.accepted[0].version, 1);
    let get = GetCandidateRequest { candidate_id: held.candidate_id, ..GetCandidateRequest::default() };
    owner.capture.get_candidate(get).await.unwrap();
}

async fn by_id(caller: &mut Caller, memory_id: &str, candidate_id: &str) -> Vec<Status> {
    let get = GetMemoryRequest {
        memory: Some(named(memory_id)),
        purpose: "converse".to_owned(),
        ..GetMemoryRequest::default()
    };
    let confirm = ConfirmCandidateRequest {
        candidate_id: candidate_id.to_owned(),
        evidence: Evidence::UserConfirmed.into(),
        ..ConfirmCandidateRequest::default()
    };
    let reject = RejectCandidateRequest { candidate_id: candidate_id.to_owned(), ..RejectCandidateRequest::default() };
    let show = GetCandidateRequest { candidate_id: candidate_id.to_owned(), ..GetCandidateRequest::default() };
    vec![
        caller.recall.get_memory(get).await.unwrap_err(),
        caller.correct.correct(correction(memory_id, 1, "zq7 steps")).await.unwrap_err(),
        caller.delete.delete(deletion(memory_id, 1)).await.unwrap_err(),
        caller.delete.restore(restoration(memory_id, 1)).await.unwrap_err(),
        caller.capture.confirm_candidate(confirm).await.unwrap_err(),
        caller.capture.reject_candidate(reject).await.unwrap_err(),
        caller.capture.get_candidate(show).await.unwrap_err(),
    ]
}

#[tokio::test]
async fn i06_every_refusal_of_a_known_caller_is_recorded() {
    let service = Service::start().await;
    let before = decisions(&service).await;
    let mut caller = without(&service, &["attest:", "delete"]).await;
    caller.capture.capture(fact("response_style", "zq7 brief")).await.unwrap_err();
    caller.delete.delete(deletion(NOBODY, 1)).await.unwrap_err();
    caller.recall.recall(recalling(of_project("p9"), keys(&["status"]))).await.unwrap_err();
    let get =
        GetMemoryRequest { memory: Some(named(NOBODY)), purpose: "converse".to_owned(), ..GetMemoryRequest::default() };
    caller.recall.get_memory(get).await.unwrap_err();
    assert_eq!(decisions(&service).await, before + 4);
    // What is malformed is none.
    caller.recall.recall(RecallRequest::default()).await.unwrap_err();
    assert_eq!(decisions(&service).await, before + 4);
}

/// How many decisions there are.
pub(crate) async fn decisions(service: &Service) -> i64 {
    service.home.backdoor().await.number("SELECT count(*) FROM decisions", "").await
}
