//! What the gate says of a caller, and of the policy as that caller may use it.

use recall_gate::api::proto::discovery_service_client::DiscoveryServiceClient;
use recall_gate::api::proto::{
    Evidence, GetCallerRequest, GetCallerResponse, GetPolicyRequest, GetPolicyResponse, KindClass, Level, Risk,
    Sensitivity, Trust, ValueType,
};
use recall_gate::identity::Ticket;
use tonic::Code;

use crate::harness::{Caller, Service, project, ticket};
use crate::reading::{up_to_internal, without};
use crate::requests::error_reason;

async fn seen(caller: &mut Caller) -> GetCallerResponse {
    caller.discovery.get_caller(GetCallerRequest {}).await.unwrap().into_inner()
}

async fn policy(caller: &mut Caller) -> GetPolicyResponse {
    caller.discovery.get_policy(GetPolicyRequest {}).await.unwrap().into_inner()
}

#[tokio::test]
async fn i01_the_caller_is_who_the_credential_says() {
    let service = Service::start().await;
    let mut tasks = project("p2");
    tasks.tasks = Some(vec!["k1".to_owned(), "k2".to_owned()]);
    let mut none = project("p3");
    none.tasks = Some(vec![]);
    let ticket = Ticket { projects: vec![project("p1"), tasks, none], ..up_to_internal() };
    let seen = seen(&mut service.caller_of(&ticket).await).await;
    assert_eq!((seen.tenant_id.as_str(), seen.principal.as_str(), seen.subject_id.as_str()), ("t1", "agent", "s1"));
    let held: Vec<_> =
        seen.projects.iter().map(|held| (held.project_id.as_str(), held.task_ids.len(), held.all_tasks)).collect();
    assert_eq!(held, [("p1", 0, true), ("p2", 2, false), ("p3", 0, false)]);
    assert_eq!((seen.max_sensitivity(), seen.development, seen.all_projects), (Sensitivity::Internal, false, false));
    assert!(seen.grants.is_sorted(), "{:?}", seen.grants);
    let mut granted = ticket.grants.clone();
    granted.sort();
    assert_eq!(seen.grants, granted);
}

#[tokio::test]
async fn a_caller_for_nobody_without_grants_may_still_ask_who_they_are() {
    let service = Service::start().await;
    let ticket = Ticket { subject: None, projects: vec![], grants: vec![], ..ticket() };
    let mut caller = service.caller_of(&ticket).await;
    let seen = seen(&mut caller).await;
    assert_eq!((seen.subject_id.as_str(), seen.projects.len()), ("", 0));
    let policy = policy(&mut caller).await;
    assert_eq!((policy.purposes.len(), policy.sources.len()), (0, 0), "nothing that they could use");
    assert_eq!(policy.policy_version.len(), 64);
}

#[tokio::test]
async fn i01_without_a_credential_nothing_is_told() {
    let service = Service::start().await;
    let mut nobody = DiscoveryServiceClient::new(service.channel().await);
    let refused = nobody.get_caller(GetCallerRequest {}).await.unwrap_err();
    assert_eq!((refused.code(), error_reason(&refused)), (Code::Unauthenticated, "CREDENTIAL_MISSING".to_owned()));
    let refused = nobody.get_policy(GetPolicyRequest {}).await.unwrap_err();
    assert_eq!((refused.code(), error_reason(&refused)), (Code::Unauthenticated, "CREDENTIAL_MISSING".to_owned()));
}

#[tokio::test]
async fn the_policy_is_told_as_it_stands_in_the_document() {
    let service = Service::start().await;
    let policy = policy(&mut service.caller().await).await;
    let kinds: Vec<&str> = policy.kinds.iter().map(|kind| kind.kind.as_str()).collect();
    let mut expected = [
        "display_name",
        "response_style",
        "response_language",
        "ui_theme",
        "status",
        "database_engine",
        "service_target",
        "duty_team",
        "inferred_role",
        "experience",
    ];
    expected.sort_unstable();
    let mut sorted = kinds.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    let kind = |name: &str| policy.kinds.iter().find(|kind| kind.kind == name).unwrap();
    let duty = kind("duty_team");
    assert_eq!((duty.kind_class(), duty.max_value_chars), (KindClass::EnvironmentFact, 100));
    assert_eq!(duty.default_life.map(|life| (life.seconds, life.nanos)), Some((604_800, 0)));
    assert_eq!(duty.longest_life.map(|life| life.seconds), Some(2_592_000));
    let evidence: Vec<Evidence> = duty.evidence().collect();
    assert_eq!(evidence, [Evidence::OperatorVerified, Evidence::TaskVerified, Evidence::UserConfirmed]);
    let experience = kind("experience");
    assert!(experience.many && experience.consent_needed && experience.keys.is_empty());
    assert_eq!(experience.levels().collect::<Vec<_>>(), [Level::General, Level::Project, Level::Task]);
    assert!(kind("ui_theme").inference_allowed && !duty.inference_allowed);
    assert_eq!((kind("display_name").value_type(), kind("display_name").default_life), (ValueType::Text, None));
    let purpose = |name: &str| policy.purposes.iter().find(|purpose| purpose.purpose == name).unwrap();
    let act = purpose("act");
    assert_eq!(
        (act.risk(), act.min_trust(), act.max_sensitivity()),
        (Risk::High, Trust::Attributed, Sensitivity::Personal)
    );
    assert!((act.min_confidence - 0.9).abs() < 1e-12);
    assert_eq!(act.max_confirmation_age.map(|age| age.seconds), Some(7_776_000));
    assert_eq!((purpose("converse").risk(), purpose("converse").max_confirmation_age), (Risk::Low, None));
    let source = |name: &str| policy.sources.iter().find(|source| source.source_kind == name).unwrap();
    assert_eq!((source("summary").trust(), source("summary").lineage_required), (Trust::Unverified, true));
    assert!((source("tool_result").max_confidence - 0.9).abs() < 1e-12);
}

#[tokio::test]
async fn only_the_purposes_and_sources_that_the_caller_holds_are_told() {
    let service = Service::start().await;
    let mut ticket = without(&["purpose:", "source:"]);
    ticket.grants.extend(["purpose:draft", "purpose:converse", "source:tool_result"].map(str::to_owned));
    let policy = policy(&mut service.caller_of(&ticket).await).await;
    let mut purposes: Vec<&str> = policy.purposes.iter().map(|purpose| purpose.purpose.as_str()).collect();
    purposes.sort_unstable();
    assert_eq!(purposes, ["converse", "draft"]);
    let sources: Vec<&str> = policy.sources.iter().map(|source| source.source_kind.as_str()).collect();
    assert_eq!(sources, ["tool_result"]);
}
