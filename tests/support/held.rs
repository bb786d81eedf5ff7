//! A script that runs a server for as long as its standard input is open: it ends with this process, however that ends.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// A server of a script's.
pub(crate) struct Held {
    said: String,
    pipe: Option<ChildStdin>,
    script: Child,
}

impl Held {
    /// Starts a script of `tests/`, and waits until the line that it says when its server is ready.
    pub(crate) fn start(name: &str, arguments: &[&str]) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
        let mut command = Command::new(path);
        let mut script = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(script.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.ends_with('\n'), "tests/{name} started nothing");
        let pipe = script.stdin.take();
        Self { said: said.trim_end().to_owned(), pipe, script }
    }

    /// What it said: where its server is.
    pub(crate) fn said(&self) -> &str {
        &self.said
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.pipe.take());
        self.script.wait().unwrap();
    }
}
