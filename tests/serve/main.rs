//! The program as an operator meets it: settings, start, tokens, signals.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod in_flight;
mod ledger;
mod policy;
mod program;

use std::time::Duration;

use program::{Service, program};

#[test]
fn a_flag_stands_over_the_environment_and_that_over_the_file() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("settings.toml"), "listen = 'from-file'").unwrap();
    let refused = |flag: &[&str], environment: &[(&str, &str)]| {
        let mut command = program(dir.path());
        let output = command.args(["serve"]).args(flag).envs(environment.iter().copied()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let (file, variable) = (("RECALL_GATE_CONFIG", "settings.toml"), ("RECALL_GATE_LISTEN", "from-environment"));
    assert!(refused(&[], &[file]).contains("from-file"));
    assert!(refused(&[], &[file, variable]).contains("from-environment"));
    assert!(refused(&["--listen", "from-flag"], &[file, variable]).contains("from-flag"));
}

#[test]
fn a_variable_that_no_setting_knows_stops_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let output =
        program(dir.path()).args(["serve", "--listen", "x"]).env("RECALL_GATE_LISEN", "127.0.0.1:1").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("`RECALL_GATE_LISEN`"));
}

#[test]
fn it_starts_without_settings_says_that_it_is_open_and_stops_at_sigterm() {
    let service = Service::start(&[]);
    let health = service.run(&["health", "--address", &service.address]);
    assert_eq!(health.out, "SERVING\n");
    assert_eq!(health.code, Some(0));
    let unknown = service.run(&["health", "--address", &service.address, "--service", "other"]);
    assert_eq!(unknown.code, Some(1));
    let token = service.run(&["token", "--subject", "alice"]);
    assert_eq!(token.code, Some(0), "the development key lies beside the database");
    service.signal("TERM");
    let (code, log) = service.end();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("DEVELOPMENT MODE"), "{log}");
    assert!(log.contains("stopped"), "{log}");
}

#[test]
fn the_warning_of_development_is_told_even_when_the_log_hides_warnings() {
    let service = Service::start(&["--log-filter", "off"]);
    service.signal("INT");
    let (code, log) = service.end();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("DEVELOPMENT MODE"), "{log}");
}

#[test]
fn logs_can_be_json() {
    let service = Service::start(&["--log-format", "json"]);
    service.signal("TERM");
    let (_, log) = service.end();
    assert!(log.lines().count() > 3);
    for line in log.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
}

#[test]
fn a_second_signal_ends_at_once() {
    use std::io::Write;

    let service = Service::start(&["--drain-seconds", "3600"]);
    // A connection that has sent its preface and keeps a stream open holds up the drain.
    let mut connection = std::net::TcpStream::connect(&service.address).unwrap();
    connection.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00").unwrap();
    let headers: &[u8] = b"\x83\x86\x44\x1c/grpc.health.v1.Health/Check\x41\x01x\x5f\x10application/grpc";
    let length = u8::try_from(headers.len()).unwrap();
    connection.write_all(&[0, 0, length, 1, 4, 0, 0, 0, 1]).unwrap();
    connection.write_all(headers).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    service.signal("TERM");
    std::thread::sleep(Duration::from_millis(300));
    service.signal("TERM");
    let (code, log) = service.end();
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("second signal"), "{log}");
    drop(connection);
}
