//! A PostgreSQL of one test's own, which it can stop and start again on the same data.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::postgres;
use crate::program::eventually;

/// A server of the script `tests/postgres`. It ends with this.
pub(crate) struct Server {
    url: String,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    script: Child,
}

impl Server {
    pub(crate) fn new() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/postgres");
        let mut script = Command::new(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut answers = BufReader::new(script.stdout.take().unwrap());
        let url = line(&mut answers);
        assert!(url.starts_with("postgres://"), "no server was started: {url}");
        let orders = script.stdin.take();
        Self { url, orders, answers, script }
    }

    /// The URL of its superuser.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Its host and port.
    pub(crate) fn address(&self) -> &str {
        let (_, at) = self.url.split_once('@').unwrap();
        at.split_once('/').unwrap().0
    }

    /// Says anew who may connect from elsewhere than the server's own socket, and how: lines of `pg_hba.conf`.
    pub(crate) fn rule(&self, lines: &str) {
        let psql = |sql: &str| {
            let mut psql = Command::new(postgres::programs().join("psql"));
            let ran = psql.args(["--no-psqlrc", "--tuples-only", "--no-align", "-c", sql, &self.url]).output().unwrap();
            assert!(ran.status.success(), "{sql}: {}", String::from_utf8_lossy(&ran.stderr));
            String::from_utf8(ran.stdout).unwrap().trim().to_owned()
        };
        std::fs::write(psql("SHOW hba_file"), format!("local all all trust\n{lines}")).unwrap();
        psql("SELECT pg_reload_conf()");
        // A session that begins now may still be judged by the old ones.
        let loaded = "SELECT pg_conf_load_time() > pg_postmaster_start_time()";
        eventually("the rules are in force", || (psql(loaded) == "t").then_some(()));
    }

    /// Stops it as an operator does: who is connected is told.
    pub(crate) fn stop(&mut self) {
        self.order("fast");
    }

    /// Stops it at once, without a word to anybody and without writing anything: when it starts it has to recover.
    pub(crate) fn crash(&mut self) {
        self.order("immediate");
    }

    /// Starts it again, at the same port and on the same data.
    pub(crate) fn start(&mut self) {
        self.order("start");
    }

    fn order(&mut self, order: &str) {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
        assert_eq!(line(&mut self.answers), order, "the server did not do it");
    }
}

fn line(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.orders.take());
        self.script.wait().unwrap();
    }
}
