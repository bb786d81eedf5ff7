//! The program as a child process.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use recall_gate::api::proto::capture_service_client::CaptureServiceClient;
use recall_gate::api::proto::{CaptureRequest, CaptureResponse, Evidence, Level, Scope, Source};
use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tempfile::TempDir;

/// As long as anything may take.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) fn program(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recall-gate"));
    command.current_dir(dir).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a command said.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A running service.
pub(crate) struct Service {
    pub(crate) dir: TempDir,
    pub(crate) address: String,
    child: Child,
    lines: Receiver<String>,
    log: String,
}

impl Service {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), arguments)
    }

    pub(crate) fn start_in(dir: TempDir, arguments: &[&str]) -> Self {
        let mut child = program(dir.path()).args(["serve", "--listen", "127.0.0.1:0"]).args(arguments).spawn().unwrap();
        let (logged, lines) = channel();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut kept = crate::said::file("err");
        std::thread::spawn(move || {
            log.lines().map_while(Result::ok).try_for_each(|line| {
                writeln!(kept, "{line}").unwrap();
                logged.send(line)
            })
        });
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let Some(address) = line.trim().strip_prefix("listening on ") else {
            child.kill().unwrap();
            panic!("no address: {line:?} {:?}", lines.iter().collect::<Vec<_>>());
        };
        crate::keys::note(dir.path());
        Self { address: address.to_owned(), dir, child, lines, log: String::new() }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.dir.path().join("recall-gate.db")
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        program(self.dir.path()).args(arguments).output().unwrap().into()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until a line that was not waited for yet says that, and answers the log up to it.
    pub(crate) fn hear(&mut self, part: &str) -> String {
        let mut heard = String::new();
        while !heard.lines().last().is_some_and(|line| line.contains(part)) {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|error| panic!("{error}: no `{part}` in {heard}"));
            heard.push_str(&line);
            heard.push('\n');
        }
        self.log.push_str(&heard);
        heard
    }

    /// Stops it. The log, and the folder.
    pub(crate) fn stop(self) -> (String, TempDir) {
        self.signal("TERM");
        let (code, log, dir) = self.ended();
        assert_eq!(code, Some(0), "{log}");
        (log, dir)
    }

    fn ended(mut self) -> (Option<i32>, String, TempDir) {
        let begin = Instant::now();
        // The log ends with the process.
        loop {
            match self.lines.recv_timeout(PATIENCE.saturating_sub(begin.elapsed())) {
                Ok(line) => self.log.push_str(&(line + "\n")),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.child.kill().unwrap();
                    panic!("the service did not stop: {}", self.log);
                }
            }
        }
        (self.child.wait().unwrap().code(), self.log, self.dir)
    }

    /// Offers a confirmed fact as the development identity.
    pub(crate) async fn capture(&self, kind: &str, value: &str) -> CaptureResponse {
        let mut client = CaptureServiceClient::connect(format!("http://{}", self.address)).await.unwrap();
        let request = CaptureRequest {
            scope: Some(Scope { level: Level::General.into(), ..Scope::default() }),
            kind: kind.to_owned(),
            key: kind.to_owned(),
            value: value.to_owned(),
            source: Some(Source { kind: "user_message".to_owned(), ..Source::default() }),
            evidence: Evidence::UserConfirmed.into(),
            ..CaptureRequest::default()
        };
        client.capture(request).await.unwrap().into_inner()
    }

    /// A connection to its database, behind its back.
    pub(crate) async fn backdoor(&self) -> SqliteConnection {
        SqliteConnectOptions::new().filename(self.database()).connect().await.unwrap()
    }
}
