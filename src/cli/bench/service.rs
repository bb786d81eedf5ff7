//! Servers of this program in processes of their own, so that what they use is theirs alone.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use super::Failure;

/// The longest that a server may take to stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server. It is killed when this goes out of scope.
pub(super) struct Process {
    child: Child,
    /// It ends when this is closed.
    _input: Option<ChildStdin>,
    pub(super) address: String,
}

impl Process {
    /// Starts this program with these arguments, hands it a line of input, and waits until it says where it listens. Its log
    /// goes into a file of that folder.
    pub(super) async fn start(
        folder: &Path,
        name: &str,
        arguments: Vec<String>,
        input: Vec<u8>,
    ) -> Result<Self, Failure> {
        let log = folder.join(format!("{name}.log"));
        let name = name.to_owned();
        tokio::task::spawn_blocking(move || Self::start_now(&name, &arguments, &input, &log))
            .await
            .map_err(|error| Failure::because("no server", &error))?
    }

    fn start_now(name: &str, arguments: &[String], input: &[u8], log: &PathBuf) -> Result<Self, Failure> {
        let failed = |error| Failure::because(&format!("`{name}` could not be started"), &error);
        let program = std::env::current_exe().map_err(failed)?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(log).map_err(failed)?)
            .spawn()
            .map_err(failed)?;
        let mut stdin = child.stdin.take();
        if let Some(stdin) = &mut stdin {
            // Who has ended already reads nothing; its log says why.
            let _ = stdin.write_all(input).and_then(|()| stdin.write_all(b"\n"));
        }
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line).map_err(failed)?;
        }
        let mut process = Self { child, _input: stdin, address: String::new() };
        let Some(address) = line.trim_end().strip_prefix("listening on ") else {
            let said = std::fs::read_to_string(log).unwrap_or_default();
            return Err(Failure::failed(format!("`{name}` did not start: {}", said.trim_end())));
        };
        address.clone_into(&mut process.address);
        Ok(process)
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Tells it to stop, and waits until it has.
    pub(super) async fn stop(mut self) -> Result<(), Failure> {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM)
            .map_err(|error| Failure::because("the server cannot be stopped", &error))?;
        let begin = std::time::Instant::now();
        while begin.elapsed() < PATIENCE {
            match self.child.try_wait() {
                Ok(Some(_)) => return Ok(()),
                Ok(None) => tokio::time::sleep(Duration::from_millis(10)).await,
                Err(error) => return Err(Failure::because("the server cannot be stopped", &error)),
            }
        }
        Err(Failure::failed("the server did not stop"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already, and then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
