//! The password in an address is used, and is said nowhere.

use tonic_health::pb::health_check_response::ServingStatus;

use super::place::{APP, Place, role_name};
use crate::callers::{Caller, fact};
use crate::program::{Ran, finish, program, run};

const PASSWORD: &str = "Zx9-hunter2-kQ";

/// A role that has to prove who it is.
async fn guarded(place: &Place, like: &str) -> String {
    let name = role_name("guarded");
    place.sql(&format!("CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}' IN ROLE {like}, by_password")).await;
    name
}

fn assert_silent(what: &str, ran: &Ran) {
    for said in [&ran.out, &ran.err] {
        assert!(!said.contains("hunter2"), "{what}: {said}");
    }
}

#[tokio::test]
async fn a_service_that_works_says_no_password_at_any_level() {
    let place = Place::new().await;
    let app = guarded(&place, APP).await;
    for format in ["text", "json"] {
        let arguments = ["--log-filter", "trace", "--log-format", format];
        let replica = place.serve_as(&format!("{app}:{PASSWORD}"), &arguments);
        replica.until_it_is(ServingStatus::Serving).await;
        Caller::nobody(&replica.address).await.capture.capture(fact("response_style", "brief")).await.unwrap();
        let ran = replica.stop();
        assert!(ran.err.contains(&app), "it says who it is: {}", ran.err);
        assert_silent(format, &ran);
    }
}

#[tokio::test]
async fn a_password_that_is_wrong_is_refused_and_not_said() {
    let place = Place::new().await;
    let app = guarded(&place, APP).await;
    let said = place.refused_as(&format!("{app}:not-{PASSWORD}"), &["--log-filter", "trace"]);
    assert!(said.contains("password authentication failed") && said.contains(&app), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}

#[tokio::test]
async fn commands_that_fail_do_not_say_the_password_that_they_were_given() {
    let place = Place::new().await;
    let app = guarded(&place, APP).await;
    place.sql(&format!("ALTER ROLE {app} BYPASSRLS")).await;
    let said = place.refused_as(&format!("{app}:{PASSWORD}"), &["--log-filter", "trace"]);
    assert!(said.contains(&app) && !said.contains("hunter2"), "{said}");

    let right = place.url(&format!("{app}:{PASSWORD}"));
    let wrong = place.url(&format!("{app}:not-{PASSWORD}"));
    let odd = right.replace("/test_", ":port/test_");
    for command in [&["migrate"][..], &["ledger", "stats"], &["ledger", "prune", "--older-than", "1"]] {
        for url in [&wrong, &odd] {
            let ran = run(place.path(), &[command, &["--database", url]].concat());
            assert_eq!(ran.code, Some(1), "{command:?}: {}", ran.err);
            assert_silent(url, &ran);
        }
    }
    for url in [&odd, &right.replace("postgres://", "mysql://")] {
        let ran = run(place.path(), &["serve", "--listen", "127.0.0.1:0", "--digest-key", "key", "--database", url]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert_silent(url, &ran);
    }
}

#[test]
fn no_help_shows_the_password_of_an_address_in_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("postgres://me:{PASSWORD}@127.0.0.1/gate");
    let variables = ["", "_LEDGER", "_FEEDER", "_WORKER"].map(|which| format!("RECALL_GATE{which}_DATABASE"));
    for command in
        ["serve", "migrate", "token", "ledger stats", "ledger prune", "policy check", "policy show", "health"]
    {
        let mut help = program(folder.path());
        help.args(command.split(' ')).arg("--help").envs(variables.iter().map(|variable| (variable, &url)));
        let ran = finish(&mut help);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_silent(command, &ran);
    }
}
