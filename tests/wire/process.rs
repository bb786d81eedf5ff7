//! The program in a process of its own, whose memory can be read.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// What abuse may cost, whatever it is: the limits of the wire together stay far below.
pub(crate) const MAX_GROWTH_MIB: u64 = 64;

pub(crate) struct Process {
    pub(crate) address: SocketAddr,
    child: Child,
    _folder: TempDir,
}

impl Process {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_recall-gate"))
            .current_dir(folder.path())
            .env_clear()
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(crate::said::file("err")))
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap().parse().unwrap();
        Self { address, child, _folder: folder }
    }

    /// Its resident memory: now, and the most there has been.
    pub(crate) fn resident_mib(&self) -> (u64, u64) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
        };
        (field("VmRSS:"), field("VmHWM:"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself, which the test has seen then.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
