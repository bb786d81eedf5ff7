//! B08: who calls is what the verified credential says, whatever else a request carries.

use recall_gate::api::proto::capture_service_client::CaptureServiceClient;
use recall_gate::api::proto::delete_service_client::DeleteServiceClient;
use recall_gate::api::proto::discovery_service_client::DiscoveryServiceClient;
use recall_gate::api::proto::recall_service_client::RecallServiceClient;
use recall_gate::api::proto::{CaptureRequest, GetCallerRequest};
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

use crate::harness::Service;
use crate::reading::{activated, all, of, recalled, shows};
use crate::requests::{deletion, fact, in_general, recalling, values};

/// What proxies, meshes and other services say of a caller, here about one of tenant `t2`.
const CLAIMS: [(&str, &str); 12] = [
    ("x-tenant-id", "t2"),
    ("x-tenant-id", ""),
    ("tenant", "t2"),
    ("x-subject-id", "s2"),
    ("x-user-id", "s2"),
    ("x-forwarded-user", "s2"),
    ("x-forwarded-client-cert", "By=spiffe://gate;Hash=00;URI=spiffe://t2/s2"),
    ("x-client-cert-cn", "s2.t2"),
    ("x-ssl-client-verify", "SUCCESS"),
    ("l5d-client-id", "s2.t2.serviceaccount.identity.linkerd.cluster.local"),
    ("x-amzn-oidc-identity", "s2"),
    ("proxy-authorization", "Bearer t2"),
];

/// Sends those headers along.
fn with<T>(message: T, headers: &[(&'static str, &str)]) -> Request<T> {
    let mut request = Request::new(message);
    for (name, value) in headers {
        request.metadata_mut().append(*name, value.parse().unwrap());
    }
    request
}

/// Captures, recalls, deletes and asks who one is, with those headers and no others.
async fn call(channel: &Channel, headers: &[(&'static str, &str)], memory_id: &str) -> Vec<Result<bool, Status>> {
    let capture = CaptureRequest { validate_only: true, ..fact("display_name", "zq7 Ada") };
    let recall = recalling(in_general(), all());
    let (mut captures, mut deletes) =
        (CaptureServiceClient::new(channel.clone()), DeleteServiceClient::new(channel.clone()));
    let (mut recalls, mut discovers) =
        (RecallServiceClient::new(channel.clone()), DiscoveryServiceClient::new(channel.clone()));
    vec![
        captures.capture(with(capture, headers)).await.map(|reply| shows(reply.get_ref(), "t2")),
        recalls.recall(with(recall, headers)).await.map(|reply| shows(reply.get_ref(), "zq7 theirs")),
        deletes.delete(with(deletion(memory_id, 1), headers)).await.map(|_| true),
        discovers.get_caller(with(GetCallerRequest {}, headers)).await.map(|reply| shows(reply.get_ref(), "t2")),
    ]
}

#[tokio::test]
async fn i01_b08_nothing_beside_the_credential_says_who_calls() {
    let service = Service::start().await;
    let mut theirs = service.caller_of(&of("t2", "s2")).await;
    let their_id = activated(&mut theirs, fact("response_style", "zq7 theirs")).await.memory_id;
    let mut own = service.caller_of(&of("t1", "s1")).await;
    activated(&mut own, fact("response_style", "zq7 own")).await;
    let channel = service.channel().await;
    let token = format!("Bearer {}", service.token(&of("t1", "s1")));
    for (name, value) in CLAIMS {
        let answers = call(&channel, &[("authorization", &token), (name, value)], &their_id).await;
        let codes: Vec<Code> =
            answers.iter().map(|answer| answer.as_ref().map_or_else(Status::code, |_| Code::Ok)).collect();
        assert_eq!(codes, [Code::Ok, Code::Ok, Code::NotFound, Code::Ok], "{name}: {value}");
        assert!(answers.into_iter().all(|answer| !answer.unwrap_or_default()), "{name}: {value}");
        for refused in call(&channel, &[(name, value)], &their_id).await {
            assert_eq!(refused.unwrap_err().code(), Code::Unauthenticated, "{name}: {value}, and no credential");
        }
    }
    assert_eq!(values(&recalled(&mut theirs, recalling(in_general(), all())).await), ["zq7 theirs"]);
}

#[tokio::test]
async fn i01_b08_of_two_credentials_neither_counts() {
    let service = Service::start().await;
    let mut theirs = service.caller_of(&of("t2", "s2")).await;
    let their_id = activated(&mut theirs, fact("response_style", "zq7 theirs")).await.memory_id;
    let channel = service.channel().await;
    let [one, other] = ["t1", "t2"].map(|tenant| format!("Bearer {}", service.token(&of(tenant, "s2"))));
    let together = format!("{one}, {other}");
    for headers in [
        vec![("authorization", one.as_str()), ("authorization", other.as_str())],
        vec![("authorization", other.as_str()), ("authorization", one.as_str())],
        vec![("authorization", one.as_str()), ("authorization", one.as_str())],
        vec![("authorization", together.as_str())],
    ] {
        for refused in call(&channel, &headers, &their_id).await {
            assert_eq!(refused.unwrap_err().code(), Code::Unauthenticated);
        }
    }
    assert_eq!(values(&recalled(&mut theirs, recalling(in_general(), all())).await), ["zq7 theirs"]);
}
