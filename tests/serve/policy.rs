//! Another policy, put in force without a restart.

use recall_gate::policy::{DEFAULT_DOCUMENT, Policy};
use sqlx::Row;
use tempfile::TempDir;

use crate::program::Service;

/// The compiled-in document with one text in it replaced.
fn document(old: &str, new: &str) -> String {
    assert!(DEFAULT_DOCUMENT.contains(old), "{old}");
    DEFAULT_DOCUMENT.replacen(old, new, 1)
}

fn version(document: &str) -> [u8; 32] {
    Policy::parse(document).unwrap().version.0
}

/// A service whose policy file holds the compiled-in document.
fn with_a_policy_file() -> Service {
    let dir = tempfile::tempdir().unwrap();
    put(&dir, DEFAULT_DOCUMENT);
    Service::start_in(dir, &["--policy", "policy.toml"])
}

fn put(dir: &TempDir, document: &str) {
    std::fs::write(dir.path().join("policy.toml"), document).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_sighup_a_good_policy_is_kept_and_put_in_force_and_each_decision_names_its_own() {
    let mut service = with_a_policy_file();
    let before = service.capture("display_name", "Ann").await;
    let next = document("candidate_life_seconds = 2592000", "candidate_life_seconds = 60");
    put(&service.dir, &next);
    service.signal("HUP");
    service.hear("another policy is in force");
    let after = service.capture("response_style", "short").await;

    let mut database = service.backdoor().await;
    for (decision, document) in [(before, DEFAULT_DOCUMENT), (after, &next)] {
        let version = version(document);
        assert_eq!(decision.policy_version, Policy::parse(document).unwrap().version.to_string());
        let id = uuid::Uuid::try_parse(&decision.decision_id).unwrap();
        let body: Vec<u8> = sqlx::query_scalar("SELECT body FROM decisions WHERE decision_id = $1")
            .bind(id)
            .fetch_one(&mut database)
            .await
            .unwrap();
        assert!(body.windows(32).any(|bytes| bytes == version), "the decision does not name its policy");
        let kept: String = sqlx::query_scalar("SELECT document FROM policies WHERE policy_version = $1")
            .bind(version.as_slice())
            .fetch_one(&mut database)
            .await
            .unwrap();
        assert_eq!(kept, document);
    }

    service.signal("HUP");
    service.hear("what is in force already");
    service.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_sighup_a_bad_policy_is_told_whole_and_the_old_one_stays_until_a_good_one_comes() {
    let mut service = with_a_policy_file();
    let before = service.capture("display_name", "Ann").await;
    put(&service.dir, &format!("{}\n[fault]\n", document("risk = \"low\"", "risk = \"none\"")));
    service.signal("HUP");
    let log = service.hear("the one in force stays");
    for fault in ["purposes.converse.risk", "`fault`"] {
        assert!(log.lines().any(|line| line.contains("ERROR") && line.contains(fault)), "{fault}: {log}");
    }
    std::fs::remove_file(service.dir.path().join("policy.toml")).unwrap();
    service.signal("HUP");
    let log = service.hear("the one in force stays");
    assert!(log.contains("No such file"), "{log}");

    let after = service.capture("response_style", "short").await;
    assert_eq!(after.policy_version, before.policy_version);
    let documents =
        sqlx::query("SELECT count(*) FROM policies").fetch_one(&mut service.backdoor().await).await.unwrap();
    assert_eq!(documents.get::<i64, _>(0), 1);

    put(&service.dir, &document("max_chars = 100", "max_chars = 99"));
    service.signal("HUP");
    service.hear("another policy is in force");
    assert_ne!(service.capture("ui_theme", "dark").await.policy_version, before.policy_version);
    service.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_policy_file_sighup_is_told_and_ignored() {
    let mut service = Service::start(&[]);
    service.signal("HUP");
    service.hear("SIGHUP is ignored");
    service.capture("display_name", "Ann").await;
    service.stop();
}
