use std::fs;
use std::path::Path;

use super::*;

struct Ran {
    code: ExitCode,
    out: String,
    err: String,
}

impl Ran {
    fn has_code(&self, code: u8) -> bool {
        format!("{:?}", self.code) == format!("{:?}", ExitCode::from(code))
    }
}

fn run_with(arguments: &[&str]) -> Ran {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let arguments = ["recall-gate"].iter().chain(arguments).map(OsString::from);
    let code = main(arguments, &mut out, &mut err);
    Ran { code, out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap() }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn help_explains_every_setting_with_its_variable() {
    let ran = run_with(&["serve", "--help"]);
    assert!(ran.has_code(0), "{}", ran.err);
    for name in [
        "listen",
        "database",
        "digest-key",
        "ledger-database",
        "feeder-database",
        "worker-database",
        "database-connections",
        "transaction-pooler",
        "policy",
        "issuer",
        "audience",
        "drain-seconds",
        "decision-retention-days",
        "min-free-bytes",
        "max-call-seconds",
        "max-concurrent-calls",
        "max-connections",
        "max-connection-age-seconds",
        "idle-connection-seconds",
        "context-cache-mib",
        "otlp-endpoint",
        "log-format",
        "log-filter",
    ] {
        assert!(ran.out.contains(&format!("--{name}")), "{name}");
        let variable = name.to_uppercase().replace('-', "_");
        // What is set there is shown, unless it may hold a password.
        let shown = ["=", "]"].iter().any(|end| ran.out.contains(&format!("[env: RECALL_GATE_{variable}{end}")));
        assert!(shown, "{variable}");
    }
    assert!(ran.out.contains("--key <KID=FILE>") && ran.out.contains("[env: RECALL_GATE_KEYS="));
}

#[test]
fn a_wrong_call_exits_with_2_and_a_failure_with_1() {
    for usage in [
        &["nothing"][..],
        &["serve", "--nothing"],
        &["serve", "--listen", "x"],
        &["serve", "--listen", "0.0.0.0:0"],
        &["token", "--lifetime", "0"],
        &["token", "--lifetime", "86401"],
        &["token", "--issuer", "i"],
        &["token", "--key", "k=f"],
        &["token", "--key", "k", "--issuer", "i", "--audience", "a"],
        &["health", "--address", " "],
    ] {
        let ran = run_with(usage);
        assert!(ran.has_code(2), "{usage:?}: {}", ran.err);
        assert!(!ran.err.is_empty() && ran.out.is_empty(), "{usage:?}");
    }
    for failed in [
        &["policy", "check", "/nowhere"][..],
        &["token", "--database", "/nowhere/db"],
        &["token", "--key", "k=/nowhere", "--issuer", "i", "--audience", "a"],
        &["health", "--address", "127.0.0.1:1"],
    ] {
        let ran = run_with(failed);
        assert!(ran.has_code(1), "{failed:?}: {}", ran.err);
        assert!(ran.err.starts_with("error: ") && ran.out.is_empty(), "{failed:?}: {}", ran.err);
    }
}

#[test]
fn every_fault_of_the_settings_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("settings.toml");
    fs::write(&file, "lisen = 'x'\nissuer = 1\ndrain_seconds = 4000").unwrap();
    let ran = run_with(&["serve", "--config", path(&file), "--listen", "y"]);
    assert!(ran.has_code(2));
    for part in ["`lisen`", "`issuer`", "`listen`"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
}

#[test]
fn a_generated_key_signs_tokens_that_its_public_half_verifies() {
    use crate::gate::{Clock, SystemClock};
    use crate::identity::{Authenticator, Holding, JwtVerifier, KeySet, Projects};

    let dir = tempfile::tempdir().unwrap();
    let private = dir.path().join("key.pem");
    assert!(run_with(&["token", "--generate-key", path(&private)]).has_code(0));
    let key = format!("k1={}", path(&private));
    let ran = run_with(&[
        "token",
        "--key",
        &key,
        "--issuer",
        "i",
        "--audience",
        "a",
        "--tenant",
        "acme",
        "--principal",
        "backend",
        "--subject",
        "alice",
        "--project",
        "p",
        "--project",
        "q:t1,t2",
        "--grant",
        "recall",
        "--lifetime",
        "60",
    ]);
    assert!(ran.has_code(0), "{}", ran.err);
    let public = dir.path().join("key.pem.pub");
    let keys = KeySet::read([("k1", public.as_path())]).unwrap();
    let authenticator = Authenticator::required(JwtVerifier::new("i", "a", keys));
    let value = http::HeaderValue::from_str(&format!("Bearer {}", ran.out.trim())).unwrap();
    let headers = http::HeaderMap::from_iter([(http::header::AUTHORIZATION, value)]);
    let caller = authenticator.authenticate(&headers, SystemClock.now()).unwrap();
    assert_eq!(caller.tenant().as_str(), "acme");
    assert_eq!(caller.principal().as_str(), "backend");
    assert_eq!(caller.grants().names(), ["max_sensitivity:internal", "recall"]);
    let Projects::Listed(projects) = caller.projects() else { panic!() };
    let held: Vec<_> = projects.iter().map(|(id, holding)| (id.as_str(), holding)).collect();
    assert_eq!(held[0], ("p", &Holding::AllTasks));
    assert!(matches!(held[1], ("q", Holding::Tasks(tasks)) if tasks.len() == 2));

    let again = run_with(&["token", "--generate-key", path(&private)]);
    assert!(again.has_code(1), "an existing key is not overwritten");
}

#[test]
fn a_token_that_the_service_would_refuse_is_not_made() {
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("db");
    crate::identity::development_key(&database).unwrap();
    for (flag, value) in [("--grant", "admin"), ("--tenant", ""), ("--project", "p:"), ("--subject", " ")] {
        let ran = run_with(&["token", "--database", path(&database), flag, value]);
        assert!(ran.has_code(2) && ran.out.is_empty(), "{flag} {value}: {}", ran.err);
    }
    assert!(run_with(&["token", "--database", path(&database)]).has_code(0));
}

#[test]
fn every_fault_of_a_policy_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("policy.toml");
    fs::write(&file, "one = 1\ntwo = 2").unwrap();
    let ran = run_with(&["policy", "check", path(&file)]);
    assert!(ran.has_code(1));
    for part in ["one", "two", "policy.toml"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
}

#[test]
fn the_policy_in_force_is_shown_with_its_version_and_checks_as_itself() {
    let shown = run_with(&["policy", "show"]);
    assert!(shown.has_code(0), "{}", shown.err);
    let (head, document) = shown.out.split_once('\n').unwrap();
    assert_eq!(document, crate::policy::DEFAULT_DOCUMENT);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("policy.toml");
    fs::write(&file, document).unwrap();
    let checked = run_with(&["policy", "check", path(&file)]);
    assert!(checked.has_code(0), "{}", checked.err);
    let version = head.strip_prefix("# version ").unwrap();
    assert_eq!(version.len(), 64);
    assert!(checked.out.contains(version));
}
