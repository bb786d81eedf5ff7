//! The binary as a child process that never outlives its test.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The longest that anything is waited for. What takes longer has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// How often something is asked again.
pub(crate) const POLL: Duration = Duration::from_millis(5);

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_recall-gate");

/// Waits until `found` finds something.
pub(crate) fn eventually<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(POLL);
    }
}

/// The program in that folder, with nothing of this process's environment.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(BINARY);
    command.current_dir(folder).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command of the program to its end, which must come soon.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Ran {
    finish(program(folder).args(arguments))
}

/// Runs it to its end, which must come soon.
pub(crate) fn finish(command: &mut Command) -> Ran {
    let mut running = Running::spawn(command);
    let status = running.wait();
    Ran { code: status.code(), out: running.out(), err: running.err() }
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// What a stream has said so far. Read by a thread of its own, so that no pipe fills up.
struct Heard {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Heard {
    /// Keeps it in a file too, where there is one.
    fn of(stream: Option<impl Read + Send + 'static>, mut kept: Option<File>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let reader = stream.map(|stream| {
            let bytes = Arc::clone(&bytes);
            std::thread::spawn(move || {
                let mut stream = BufReader::new(stream);
                let mut line = Vec::new();
                while stream.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                    if let Some(kept) = &mut kept {
                        kept.write_all(&line).unwrap();
                    }
                    bytes.lock().unwrap_or_else(PoisonError::into_inner).append(&mut line);
                }
            })
        });
        Self { bytes, reader }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    fn all(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        self.so_far()
    }
}

/// A child process. It is killed when this goes out of scope.
pub(crate) struct Running {
    child: Child,
    out: Heard,
    err: Heard,
}

impl Running {
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        // What a service says is searched at the end; `token` has to print one.
        let serves = command.get_args().next().is_some_and(|first| first == "serve");
        let kept = |stream: &str| serves.then(|| crate::said::file(stream));
        let (out, err) = (Heard::of(child.stdout.take(), kept("out")), Heard::of(child.stderr.take(), kept("err")));
        Self { child, out, err }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success(), "{name} could not be sent");
    }

    /// SIGKILL, and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Its standard input, once, where it was made a pipe.
    pub(crate) fn input(&mut self) -> ChildStdin {
        self.child.stdin.take().unwrap()
    }

    /// Waits for its own end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        eventually("the program ends", || self.ended())
    }

    /// All that it said on standard output, which it must have closed.
    pub(crate) fn out(&mut self) -> String {
        self.out.all()
    }

    /// All that it said on standard error, which it must have closed.
    pub(crate) fn err(&mut self) -> String {
        self.err.all()
    }

    /// What it has said on standard error until now.
    pub(crate) fn err_so_far(&self) -> String {
        self.err.so_far()
    }

    /// What it has said on standard output until now.
    pub(crate) fn out_so_far(&self) -> String {
        self.out.so_far()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already, and then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder with a running service in it.
pub(crate) struct Service {
    pub(crate) running: Running,
    pub(crate) address: String,
    pub(crate) folder: TempDir,
}

impl Service {
    /// Starts one in a new folder, on a free port.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), arguments)
    }

    /// Starts one in a folder that may hold a database already.
    pub(crate) fn start_in(folder: TempDir, arguments: &[&str]) -> Self {
        Self::start_with(folder, arguments, &[])
    }

    /// The same, with variables in its environment.
    pub(crate) fn start_with(folder: TempDir, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = program(folder.path());
        let command = command.args(["serve", "--listen", "127.0.0.1:0"]).args(arguments);
        let mut running = Running::spawn(command.envs(variables.iter().copied()));
        let address = address(&mut running);
        crate::keys::note(folder.path());
        Self { running, address, folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path().join("recall-gate.db")
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        run(self.path(), arguments)
    }

    /// SIGTERM, and waits for the end: the folder, and how it ended.
    pub(crate) fn stop(mut self) -> (TempDir, Ran) {
        self.running.signal("TERM");
        let code = self.running.wait().code();
        let ran = Ran { code, out: self.running.out(), err: self.running.err() };
        (self.folder, ran)
    }
}

/// Where a child that was told to serve listens.
pub(crate) fn address(running: &mut Running) -> String {
    let address = eventually("an address", || {
        let out = running.out_so_far();
        let line = out.lines().next().filter(|_| out.contains('\n'));
        match (line, running.ended()) {
            (Some(line), _) => Some(line.strip_prefix("listening on ").map(str::to_owned).ok_or(out)),
            (None, Some(status)) => Some(Err(format!("it ended with {status}"))),
            (None, None) => None,
        }
    });
    address.unwrap_or_else(|other| panic!("no address: {other}: {}", running.err_so_far()))
}
