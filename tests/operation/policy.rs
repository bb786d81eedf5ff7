//! Another policy: checked against what is stored, and put in force without a restart.

use recall_gate::policy::{DEFAULT_DOCUMENT, Policy};
use sqlx::Row;
use tempfile::TempDir;

use crate::program::{Service, program};
use crate::unpacked::unpacked;

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
    let before = service.capture("display_name", "zq7 Ann").await;
    let next = document("candidate_life_seconds = 2592000", "candidate_life_seconds = 60");
    put(&service.dir, &next);
    service.signal("HUP");
    service.hear("another policy is in force");
    let after = service.capture("response_style", "zq7 short").await;

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
        assert!(unpacked(&body).windows(32).any(|bytes| bytes == version), "the decision does not name its policy");
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
    let before = service.capture("display_name", "zq7 Ann").await;
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

    let after = service.capture("response_style", "zq7 short").await;
    assert_eq!(after.policy_version, before.policy_version);
    let documents =
        sqlx::query("SELECT count(*) FROM policies").fetch_one(&mut service.backdoor().await).await.unwrap();
    assert_eq!(documents.get::<i64, _>(0), 1);

    put(&service.dir, &document("max_chars = 100", "max_chars = 99"));
    service.signal("HUP");
    service.hear("another policy is in force");
    assert_ne!(service.capture("ui_theme", "zq7 dark").await.policy_version, before.policy_version);
    service.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_policy_file_sighup_is_told_and_ignored() {
    let mut service = Service::start(&[]);
    service.signal("HUP");
    service.hear("SIGHUP is ignored");
    service.capture("display_name", "zq7 Ann").await;
    service.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_beside_the_service_counts_the_memories_that_do_not_fit_and_never_shows_text() {
    let service = with_a_policy_file();
    let name = service.capture("display_name", "zq7canary, a rather long name").await;
    let theme = service.capture("ui_theme", "zq7canary").await;
    service.capture("response_style", "zq7canary").await;
    let check = |document: &str| {
        put(&service.dir, document);
        let said = service.run(&["policy", "check", "policy.toml", "--database", "recall-gate.db"]);
        assert!(!format!("{}{}", said.out, said.err).contains("zq7canary"), "{} {}", said.out, said.err);
        said
    };

    let same = check(DEFAULT_DOCUMENT);
    assert_eq!((same.code, same.err.as_str()), (Some(0), ""));
    assert!(same.out.contains("all 3 stored memories fit"), "{}", same.out);

    let narrower = document("max_chars = 100", "max_chars = 10").replace("kinds.ui_theme", "kinds.theme");
    let said = check(&narrower);
    assert_eq!(said.code, Some(1), "{}", said.out);
    for row in [
        format!("display_name  VALUE_NOT_ALLOWED  1  {}", name.memory_id),
        format!("ui_theme  KIND_UNKNOWN  1  {}", theme.memory_id),
    ] {
        assert!(said.out.contains(&row), "{row}: {}", said.out);
    }
    assert_eq!(said.out.lines().count(), 4, "{}", said.out);
    assert!(said.err.contains("2 of 3 stored memories do not fit"), "{}", said.err);
    service.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_gives_five_examples_at_most_and_pages_through_all_memories() {
    let service = with_a_policy_file();
    service.capture("display_name", "zq7 Ann").await;
    let sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) \
               INSERT INTO memories SELECT 'tenant-' || (i % 7), owner, project, task, key || i, \
               randomblob(16), version, value_version, state, kind, value, value_chars, source_kind, \
               source_reference, parents, parent_references, lineage_trust, evidence, confidence, sensitivity, \
               consent, consent_purposes, purposes, observe_time, valid_from_time, expire_time, create_time, \
               update_time, confirm_time, author, change_reason, counter, key_id, tokens FROM memories, n";
    sqlx::query(sql).execute(&mut service.backdoor().await).await.unwrap();
    let said = service.run(&["policy", "check", "policy.toml", "--database", "recall-gate.db"]);
    assert!(said.err.contains("1200 of 1201 stored memories do not fit"), "{} {}", said.out, said.err);
    let row = said.out.lines().last().unwrap();
    assert!(row.starts_with("display_name  KEY_NOT_ALLOWED  1200  "), "{row}");
    assert_eq!(row.matches('-').count(), 5 * 4, "five ids: {row}");
    service.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_makes_no_database_and_refuses_one_of_another_schema() {
    let service = with_a_policy_file();
    let check = |database: &str| {
        let said = service.run(&["policy", "check", "policy.toml", "--database", database]);
        assert_eq!(said.code, Some(1), "{}", said.out);
        said.err
    };
    assert!(check("none.db").contains("`none.db`"));
    assert!(!service.dir.path().join("none.db").exists());
    std::fs::write(service.dir.path().join("empty.db"), "").unwrap();
    assert!(check("empty.db").contains("schema 0"));
    std::fs::write(service.dir.path().join("text.db"), "no database at all, but some text").unwrap();
    check("text.db");
    let sql = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
               VALUES (9000, 'later', 1, x'00', 0)";
    sqlx::query(sql).execute(&mut service.backdoor().await).await.unwrap();
    assert!(check("recall-gate.db").contains("9000"));
    service.stop();
}

#[test]
fn a_policy_that_is_none_is_not_compared() {
    let dir = tempfile::tempdir().unwrap();
    put(&dir, "x = 1");
    let output =
        program(dir.path()).args(["policy", "check", "policy.toml", "--database", "none.db"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(!String::from_utf8(output.stderr).unwrap().contains("none.db"));
}
