//! The program as an operator meets it: settings, start, tokens, signals.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

fn program(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recall-gate"));
    command.current_dir(dir).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

struct Service {
    dir: TempDir,
    child: Child,
    address: String,
}

impl Service {
    fn start(arguments: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut child = program(dir.path()).args(["serve", "--listen", "127.0.0.1:0"]).args(arguments).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let Some(address) = line.trim().strip_prefix("listening on ") else {
            child.kill().unwrap();
            let mut err = String::new();
            child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
            panic!("no address: {line:?} {err}");
        };
        Self { address: address.to_owned(), dir, child }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        program(self.dir.path()).args(arguments).output().unwrap()
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// The exit code and the log.
    fn end(mut self) -> (Option<i32>, String) {
        let begin = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            if begin.elapsed() > Duration::from_secs(20) {
                self.child.kill().unwrap();
                panic!("the service did not stop");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

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
    assert_eq!(String::from_utf8(health.stdout).unwrap(), "SERVING\n");
    assert_eq!(health.status.code(), Some(0));
    let unknown = service.run(&["health", "--address", &service.address, "--service", "other"]);
    assert_eq!(unknown.status.code(), Some(1));
    let token = service.run(&["token", "--subject", "alice"]);
    assert_eq!(token.status.code(), Some(0), "the development key lies beside the database");
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
