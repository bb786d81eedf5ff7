//! The other commands: policy, health, demo; and pipes that nobody reads.

use std::process::Stdio;

use recall_gate::policy::DEFAULT_DOCUMENT;
use tonic::Code;

use crate::callers::{Caller, fact, recall_all, values};
use crate::program::{BINARY, Ran, Service, finish, program, run};

/// A policy with four faults.
pub(crate) fn bad_policy() -> String {
    DEFAULT_DOCUMENT
        .replacen("candidate_life_seconds = 2592000", "candidate_life_seconds = 0", 1)
        .replacen("risk = \"medium\"", "risk = \"enormous\"", 1)
        .replacen("[kinds.ui_theme]", "[kinds.ui_theme]\nnonsense = 1", 1)
        .replacen("class = \"task_fact\"", "class = \"permission\"", 1)
}

pub(crate) fn assert_every_fault_is_told(told: &str) {
    let faults =
        ["limits.candidate_life_seconds", "purposes.draft.risk", "kinds.ui_theme.nonsense", "kinds.status.class"];
    for path in faults {
        assert!(told.contains(&format!("`{path}`")), "{path} is not in {told}");
    }
    assert_eq!(told.lines().filter(|line| line.starts_with("error: ")).count(), faults.len(), "{told}");
}

#[test]
fn a_policy_is_checked_and_every_fault_of_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("good.toml"), DEFAULT_DOCUMENT).unwrap();
    std::fs::write(folder.path().join("bad.toml"), bad_policy()).unwrap();
    let good = run(folder.path(), &["policy", "check", "good.toml"]);
    assert_eq!((good.code, good.err.as_str()), (Some(0), ""));
    assert!(good.out.contains("`good.toml` is a policy, version "), "{}", good.out);
    let bad = run(folder.path(), &["policy", "check", "bad.toml"]);
    assert_eq!((bad.code, bad.out.as_str()), (Some(1), ""));
    assert_every_fault_is_told(&bad.err);
    let missing = run(folder.path(), &["policy", "check", "nowhere.toml"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.err.contains("nowhere.toml"), "{}", missing.err);
}

#[tokio::test]
async fn the_policy_that_is_shown_is_the_one_that_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let document = DEFAULT_DOCUMENT.replacen("candidate_life_seconds = 2592000", "candidate_life_seconds = 60", 1);
    std::fs::write(folder.path().join("mine.toml"), &document).unwrap();
    let mut versions = Vec::new();
    for (arguments, expected) in [(&[][..], DEFAULT_DOCUMENT), (&["--policy", "mine.toml"], &document)] {
        let shown = run(folder.path(), &[&["policy", "show"], arguments].concat());
        assert_eq!(shown.code, Some(0), "{}", shown.err);
        let (head, rest) = shown.out.split_once('\n').unwrap();
        assert_eq!(rest, expected);
        versions.push(head.strip_prefix("# version ").unwrap().to_owned());
    }
    assert_ne!(versions[0], versions[1]);
    let service = Service::start_in(folder, &["--policy", "mine.toml"]);
    let mut caller = Caller::nobody(&service.address).await;
    assert_eq!(caller.recall.recall(recall_all()).await.unwrap().into_inner().policy_version, versions[1]);
}

#[test]
fn health_exits_with_0_only_where_it_is_serving() {
    let service = Service::start(&[]);
    let ask = |arguments: &[&str]| service.run(&[&["health", "--address", &service.address], arguments].concat());
    for name in ["", "liveness", "recallgate.v1.RecallService"] {
        let ran = ask(&["--service", name]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "SERVING\n", ""), "{name:?}");
    }
    let unknown = ask(&["--service", "nonsense"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (Some(1), ""));
    assert!(unknown.err.contains("NOT_FOUND"), "{}", unknown.err);
    let variable = finish(program(service.path()).arg("health").env("RECALL_GATE_ADDRESS", &service.address));
    assert_eq!(variable.code, Some(0), "{}", variable.err);

    let address = service.address.clone();
    let (folder, _) = service.stop();
    let gone = run(folder.path(), &["health", "--address", &address, "--timeout-seconds", "5"]);
    assert_eq!((gone.code, gone.out.as_str()), (Some(1), ""));
    assert!(gone.err.contains(&address), "{}", gone.err);
    assert_eq!(run(folder.path(), &["health", "--address", "not an address"]).code, Some(2));
}

#[test]
fn health_does_not_wait_for_ever_for_who_does_not_answer() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let ran = run(folder.path(), &["health", "--address", &address, "--timeout-seconds", "1"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("does not answer"), "{}", ran.err);
}

#[test]
fn every_check_of_the_demonstration_passes_and_it_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let ran = finish(program(folder.path()).arg("demo").env("TMPDIR", temporary.path()));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let passed = ran.out.lines().filter(|line| line.starts_with("PASS  ")).count();
    assert!(passed > 5, "{}", ran.out);
    assert!(!ran.out.contains("FAIL"), "{}", ran.out);
    assert!(ran.out.ends_with(&format!("{passed} passed, 0 failed\n")), "{}", ran.out);
    for place in [folder.path(), temporary.path()] {
        assert_eq!(std::fs::read_dir(place).unwrap().count(), 0, "{}", place.display());
    }
}

#[test]
fn the_demonstration_as_json_has_every_check_with_its_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let ran = run(folder.path(), &["demo", "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let checks = report["checks"].as_array().unwrap();
    assert_eq!((&report["passed"], &report["failed_count"]), (&true.into(), &0.into()));
    assert_eq!(report["passed_count"], checks.len());
    let text = run(folder.path(), &["demo"]).out;
    for check in checks {
        let name = check["name"].as_str().unwrap();
        assert_eq!(check["passed"], true, "{name}");
        assert!(text.contains(&format!("PASS  {name}\n")), "{name} is not in the table");
        let steps = check["steps"].as_array().unwrap();
        let answers = steps.iter().flat_map(|step| step["answers"].as_array().unwrap());
        assert!(answers.count() > 0, "{name} has no answers");
        let ids = steps.iter().filter_map(|step| step["decision_id"].as_str());
        assert!(ids.clone().count() > 0 && ids.map(uuid::Uuid::parse_str).all(|id| id.is_ok()), "{name}");
    }
}

fn assert_no_panic(what: &str, ran: &Ran) {
    assert!(!ran.err.contains("panicked"), "{what}: {}", ran.err);
    assert_ne!(ran.code, Some(101), "{what}: {}", ran.err);
    assert_ne!(ran.code, None, "{what} ended by a signal: {}", ran.err);
}

/// Each command that answers on standard output.
const TALKERS: [&[&str]; 5] =
    [&["policy", "show"], &["demo"], &["demo", "--json"], &["--help"], &["serve", "--listen", "127.0.0.1:0"]];

#[test]
fn a_pipe_that_nobody_reads_is_an_error_and_no_panic() {
    for arguments in TALKERS {
        let folder = tempfile::tempdir().unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = finish(program(folder.path()).args(arguments).stdout(Stdio::from(writer)));
        assert_no_panic(&arguments.join(" "), &ran);
        assert_eq!(ran.code, Some(1), "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn a_closed_standard_output_is_no_panic() {
    for arguments in TALKERS.iter().filter(|arguments| arguments[0] != "serve") {
        let folder = tempfile::tempdir().unwrap();
        let mut command = std::process::Command::new("sh");
        command.current_dir(folder.path()).env_clear().stdin(Stdio::null()).stderr(Stdio::piped());
        let ran = finish(command.args(["-c", "exec \"$@\" >&-", "sh", BINARY]).args(*arguments));
        assert_no_panic(&arguments.join(" "), &ran);
    }
}

#[tokio::test]
async fn a_log_that_nobody_reads_any_more_does_not_stop_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = program(folder.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--log-filter", "debug"]).stderr(Stdio::from(writer));
    let mut running = crate::program::Running::spawn(&mut command);
    drop(command);
    // Read until it serves, then never again.
    let address = {
        let mut reader = reader;
        let drained = std::thread::spawn(move || {
            let mut seen = Vec::new();
            let mut piece = [0; 4096];
            while !String::from_utf8_lossy(&seen).contains("listening") {
                let read = std::io::Read::read(&mut reader, &mut piece).unwrap();
                assert_ne!(read, 0, "it ended");
                seen.extend_from_slice(&piece[..read]);
            }
        });
        let address = crate::program::address(&mut running);
        drained.join().unwrap();
        address
    };
    let mut caller = Caller::nobody(&address).await;
    caller.capture.capture(fact("response_style", "zq7 brief")).await.unwrap();
    assert_eq!(values(&caller.recall.recall(recall_all()).await.unwrap().into_inner()), ["zq7 brief"]);
    let refused = Caller::with_token(&address, "junk").await.recall.recall(recall_all()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated);
    running.signal("TERM");
    assert_eq!(running.wait().code(), Some(0));
}
