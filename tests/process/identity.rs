//! Credentials, from the command that makes them to the service that takes them.

use recall_gate::api::proto::{CaptureRequest, GetCallerRequest, GetPolicyRequest, RecallRequest};
use tonic::Code;
use tonic_health::pb::health_check_response::ServingStatus;

use crate::callers::{Caller, channel, error_reason, fact, recall_all, values};
use crate::program::{Ran, Service, run};
use crate::serving::{health, reflected};

const ISSUER: &str = "https://issuer.example";

/// A service that takes tokens of a key that `token --generate-key` made.
fn configured(arguments: &[&str]) -> Service {
    let folder = tempfile::tempdir().unwrap();
    let made = run(folder.path(), &["token", "--generate-key", "signing.pem"]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    let identity = ["--issuer", ISSUER, "--audience", "gate", "--key", "k1=signing.pem.pub"];
    Service::start_in(folder, &[&identity, arguments].concat())
}

fn token(service: &Service, arguments: &[&str]) -> Ran {
    let signer = ["token", "--key", "k1=signing.pem", "--issuer", ISSUER, "--audience", "gate"];
    service.run(&[&signer, arguments].concat())
}

fn printed(ran: &Ran) -> &str {
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran.out.trim_end()
}

#[tokio::test]
async fn i01_with_keys_no_call_goes_without_a_credential_but_health_and_reflection_do() {
    let service = configured(&[]);
    let mut nobody = Caller::nobody(&service.address).await;
    let answers = [
        nobody.discovery.get_caller(GetCallerRequest {}).await.map(drop).unwrap_err(),
        nobody.discovery.get_policy(GetPolicyRequest {}).await.map(drop).unwrap_err(),
        nobody.capture.capture(CaptureRequest::default()).await.map(drop).unwrap_err(),
        nobody.recall.recall(RecallRequest::default()).await.map(drop).unwrap_err(),
    ];
    for status in answers {
        assert_eq!((status.code(), error_reason(&status).as_str()), (Code::Unauthenticated, "CREDENTIAL_MISSING"));
    }
    let channel = channel(&service.address).await;
    assert_eq!(health(channel.clone(), "").await, Ok(ServingStatus::Serving));
    assert!(reflected(channel).await.iter().all(|listed| listed.contains("recallgate.v1.RecallService")));
    let (_, ran) = service.stop();
    assert!(!ran.err.contains("DEVELOPMENT MODE"), "{}", ran.err);
}

#[tokio::test]
async fn i01_a_token_of_a_generated_key_is_taken_for_what_it_says() {
    let service = configured(&[]);
    let ran = token(
        &service,
        &["--tenant", "acme", "--principal", "backend", "--subject", "alice", "--project", "apollo:t1,t2"],
    );
    let mut alice = Caller::with_token(&service.address, printed(&ran)).await;
    let reply = alice.discovery.get_caller(GetCallerRequest {}).await.unwrap().into_inner();
    assert_eq!(
        (reply.tenant_id.as_str(), reply.principal.as_str(), reply.subject_id.as_str(), reply.development),
        ("acme", "backend", "alice", false)
    );
    assert_eq!(reply.projects[0].task_ids, ["t1", "t2"]);
    alice.capture.capture(fact("response_style", "zq7 brief")).await.unwrap();
    assert_eq!(values(&alice.recall.recall(recall_all()).await.unwrap().into_inner()), ["zq7 brief"]);

    let ran = token(&service, &["--tenant", "other", "--subject", "alice"]);
    let mut stranger = Caller::with_token(&service.address, printed(&ran)).await;
    assert_eq!(values(&stranger.recall.recall(recall_all()).await.unwrap().into_inner()), [""; 0]);

    let ran = token(&service, &["--tenant", "acme", "--subject", "alice", "--grant", "capture"]);
    let mut writer = Caller::with_token(&service.address, printed(&ran)).await;
    let denied = writer.recall.recall(recall_all()).await.unwrap_err();
    assert_eq!((denied.code(), error_reason(&denied).as_str()), (Code::PermissionDenied, "GRANT_MISSING"));
}

#[tokio::test]
async fn i01_a_token_of_another_key_issuer_or_audience_is_refused() {
    let service = configured(&[]);
    assert_eq!(service.run(&["token", "--generate-key", "other.pem"]).code, Some(0));
    for (key, issuer, audience) in [
        ("k1=other.pem", ISSUER, "gate"),
        ("k2=signing.pem", ISSUER, "gate"),
        ("k1=signing.pem", "someone", "gate"),
        ("k1=signing.pem", ISSUER, "other"),
    ] {
        let ran = service.run(&["token", "--key", key, "--issuer", issuer, "--audience", audience]);
        let mut caller = Caller::with_token(&service.address, printed(&ran)).await;
        let refused = caller.recall.recall(recall_all()).await.unwrap_err();
        assert_eq!((refused.code(), error_reason(&refused).as_str()), (Code::Unauthenticated, "CREDENTIAL_INVALID"));
    }
}

#[tokio::test]
async fn a_token_of_the_development_key_works_against_the_service_that_made_the_key() {
    let service = Service::start(&[]);
    let ran = service.run(&["token", "--tenant", "acme", "--subject", "alice", "--project", "apollo"]);
    let mut alice = Caller::with_token(&service.address, printed(&ran)).await;
    let reply = alice.discovery.get_caller(GetCallerRequest {}).await.unwrap().into_inner();
    assert_eq!((reply.tenant_id.as_str(), reply.subject_id.as_str()), ("acme", "alice"));
    alice.capture.capture(fact("response_style", "zq7 brief")).await.unwrap();
    assert_eq!(values(&alice.recall.recall(recall_all()).await.unwrap().into_inner()), ["zq7 brief"]);

    // Without a credential one is somebody else, and a bad credential is not none.
    let mut nobody = Caller::nobody(&service.address).await;
    assert_eq!(values(&nobody.recall.recall(recall_all()).await.unwrap().into_inner()), [""; 0]);
    let mut forger = Caller::with_token(&service.address, "no.good.token").await;
    let refused = forger.recall.recall(recall_all()).await.unwrap_err();
    assert_eq!((refused.code(), error_reason(&refused).as_str()), (Code::Unauthenticated, "CREDENTIAL_INVALID"));
}

#[test]
fn without_a_service_that_made_one_there_is_no_development_key() {
    let folder = tempfile::tempdir().unwrap();
    let ran = run(folder.path(), &["token"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.contains("no development key"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn private_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let service = Service::start(&[]);
    assert_eq!(service.run(&["token", "--generate-key", "signing.pem"]).code, Some(0));
    for file in std::fs::read_dir(service.path()).unwrap().map(|file| file.unwrap()) {
        let (name, mode) = (file.file_name(), file.metadata().unwrap().permissions().mode());
        if name != "signing.pem.pub" {
            assert_eq!(mode & 0o077, 0, "{name:?} has mode {mode:o}");
        }
    }
}

#[test]
fn every_key_file_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("junk.pem"), "no key").unwrap();
    let keys = ["--issuer", "i", "--audience", "a", "--key", "k1=junk.pem", "--key", "k2=nowhere.pem"];
    let ran = run(folder.path(), &[&["serve", "--listen", "127.0.0.1:0"][..], &keys].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("junk.pem") && ran.err.contains("nowhere.pem"), "{}", ran.err);
    assert!(!folder.path().join("recall-gate.db").exists());
}
