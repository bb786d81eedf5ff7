//! The commands of the README, run as they stand there, and once more with `buf curl` in the place of `grpcurl`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};

use regex::Regex;
use tempfile::TempDir;

use crate::console::{Block, Step, blocks, ids, is_as_promised, masked};
use crate::on_postgres::Server;
use crate::postgres;
use crate::program::{BINARY, Running, address, eventually};

const ADDRESS: &str = "127.0.0.1:7437";
const CARGO: &str = "cargo run --release --";
const MARK: &str = "@@ end of step, exit code ";

/// How the names of blocks begin that want an empty PostgreSQL.
const ON_POSTGRES: &str = "postgres";

/// What a README may use beside the program itself, and what of it says its version.
const TOOLS: [(&str, &str); 2] = [("grpcurl", "-version"), ("buf", "--version")];

/// Where `tests/run` puts the tools: `tools/bin` below cargo's target directory, in which the binary lies too.
fn tool_folder() -> PathBuf {
    let target = Path::new(BINARY).ancestors().nth(2).unwrap();
    target.join("tools").join("bin")
}

/// The search path of the commands: the program, the tools, and what else the host has.
fn search_path(programs: &Path) -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "commands of the README find the host's tools as a reader's shell does"
    )]
    let host = std::env::var("PATH").unwrap();
    let folders = [programs, &tool_folder(), &postgres::programs()].map(|folder| folder.display().to_string());
    format!("{}:{host}", folders.join(":"))
}

/// Every tool that the commands name must be there.
fn assert_tools(blocks: &[Block], path: &str) {
    let commands: Vec<&str> = blocks.iter().flat_map(|block| &block.steps).map(|step| step.command.as_str()).collect();
    for (tool, version) in TOOLS {
        if !commands.iter().any(|command| command.split_whitespace().any(|word| word == tool)) {
            continue;
        }
        let found = Command::new("sh")
            .args(["-c", &format!("{tool} {version}")])
            .env("PATH", path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(
            found.is_ok_and(|status| status.success()),
            "the README uses `{tool}`, which is neither in {} nor on the search path: run tests/run, which installs it",
            tool_folder().display()
        );
    }
}

/// Runs blocks, one after the other, against one service in development mode.
struct Session {
    /// The service and where it listens, once it runs.
    service: Option<(Running, String)>,
    /// One for all blocks, so that a variable lasts.
    shell: Running,
    input: ChildStdin,
    /// How much of what it said has been looked at.
    read: usize,
    /// The ids that took the place of those in the document.
    ids: BTreeMap<String, String>,
    /// What whoever runs a command has in their environment.
    environment: Vec<(&'static str, String)>,
    folder: TempDir,
    _server: Option<Server>,
}

impl Session {
    /// With a service on a database file, which runs already.
    fn begin(blocks: &[Block]) -> Self {
        let mut session = Self::prepare(blocks, None);
        session.start("recall-gate serve");
        session
    }

    /// With an empty PostgreSQL, and no service yet.
    fn begin_on_postgres(blocks: &[Block]) -> Self {
        let server = Server::new();
        // The superuser is believed, as at the server's own console; everybody else has to say their password.
        server.rule("host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n");
        Self::prepare(blocks, Some(server))
    }

    fn prepare(blocks: &[Block], server: Option<Server>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let programs = folder.path().join("programs");
        std::fs::create_dir(&programs).unwrap();
        std::os::unix::fs::symlink(BINARY, programs.join("recall-gate")).unwrap();
        let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy");
        std::os::unix::fs::symlink(deploy, folder.path().join("deploy")).unwrap();
        let path = search_path(&programs);
        assert_tools(blocks, &path);
        let mut environment = vec![("PATH", path), ("HOME", folder.path().display().to_string())];
        if let Some(server) = &server {
            let (host, port) = server.address().split_once(':').unwrap();
            environment.extend([("PGHOST", host.to_owned()), ("PGPORT", port.to_owned())]);
            environment.push(("PGUSER", postgres::SUPERUSER.to_owned()));
        }
        let mut shell = Running::spawn(in_shell(folder.path(), &environment).stdin(Stdio::piped()));
        let mut input = shell.input();
        input.write_all(b"exec 2>&1\n").unwrap();
        Self { service: None, shell, input, read: 0, ids: BTreeMap::new(), environment, folder, _server: server }
    }

    /// Starts the service by that command, on a free port.
    fn start(&mut self, command: &str) {
        let command = format!("exec {} --listen 127.0.0.1:0", command.trim_end().trim_end_matches('&'));
        let mut shell = in_shell(self.folder.path(), &self.environment);
        let mut running = Running::spawn(shell.args(["-c", &command]).stdin(Stdio::null()));
        let address = address(&mut running);
        self.service = Some((running, address));
    }

    /// A command of the document as it is here.
    fn here(&self, command: &str) -> String {
        let mut command = command.replace(CARGO, "recall-gate");
        if let Some((_, address)) = &self.service {
            command = command.replace(ADDRESS, address);
        }
        self.ids.iter().fold(command, |command, (there, here)| command.replace(there, here))
    }

    /// The service begins by that step, unless it runs already.
    fn begins(&mut self, block: &Block, step: &Step) {
        if self.service.is_none() {
            self.start(&self.here(&step.command));
        }
        let said = masked(&self.service.as_ref().unwrap().0.out_so_far());
        for line in &step.output {
            assert!(said.contains(masked(line).trim()), "`{}`: {line:?} is not in {said}", block.name);
        }
    }

    fn run(&mut self, block: &Block) {
        for step in &block.steps {
            if starts_it(&step.command) {
                self.begins(block, step);
                continue;
            }
            // One step at a time, so that its ids serve the next.
            let command = self.here(&step.command);
            writeln!(self.input, "{{ {command}\n}} </dev/null\nprintf '\\n{MARK}%s\\n' \"$?\"").unwrap();
            let said = eventually(&command, || {
                let said = self.shell.out_so_far();
                let over = said[self.read..].contains(MARK) || self.shell.ended().is_some();
                over.then_some(said)
            });
            let Some((output, after)) = said[self.read..].split_once(MARK) else {
                panic!("block `{}` broke off: {said}{}", block.name, self.shell.err_so_far());
            };
            self.read = said.len() - after.split_once('\n').map_or("", |(_, rest)| rest).len();
            let promised = step.output.join("\n");
            assert!(
                is_as_promised(&promised, output),
                "block `{}`, line {}\n--- command\n{}\n--- promised\n{}\n--- printed\n{}\n",
                block.name,
                block.line,
                step.command,
                masked(&promised),
                masked(output)
            );
            self.ids.extend(ids(&promised).into_iter().zip(ids(output)));
        }
    }
}

/// A shell in that folder, with nothing of this process's environment.
fn in_shell(folder: &Path, environment: &[(&'static str, String)]) -> Command {
    let mut shell = Command::new("sh");
    shell.current_dir(folder).env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

/// Whether it is the command that starts the service.
fn starts_it(command: &str) -> bool {
    command.trim_end().ends_with('&') && command.contains(" serve")
}

fn run_all(blocks: &[Block]) {
    let mut session = Session::begin(blocks);
    for block in blocks {
        session.run(block);
    }
}

/// The blocks that want an empty PostgreSQL, and the others.
fn parted(document: &str) -> (Vec<Block>, Vec<Block>) {
    blocks(document).into_iter().partition(|block| block.name.starts_with(ON_POSTGRES))
}

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

#[test]
fn the_commands_of_the_readme_print_what_it_says() {
    let (_, blocks) = parted(&readme());
    assert!(!blocks.is_empty(), "README.md has no console block that is marked with `<!-- run: NAME -->`");
    run_all(&blocks);
}

#[test]
fn the_commands_of_the_readme_lead_from_an_empty_postgresql_to_a_recall() {
    let (blocks, _) = parted(&readme());
    assert!(!blocks.is_empty(), "README.md has no console block that is marked with `<!-- run: {ON_POSTGRES}… -->`");
    let mut session = Session::begin_on_postgres(&blocks);
    for block in &blocks {
        session.run(block);
    }
}

#[test]
fn the_commands_of_the_readme_print_the_same_with_buf_curl() {
    let (_, mut blocks) = parted(&readme());
    let mut others = 0;
    for step in blocks.iter_mut().flat_map(|block| &mut block.steps) {
        if let Some(other) = of_buf(step) {
            *step = other;
            others += 1;
        }
    }
    assert!(others >= 5, "only {others} commands of the README are calls with `grpcurl`");
    run_all(&blocks);
}

/// The same call with `buf curl`, which asks reflection v1, where `grpcurl` 1.8 asks v1alpha. It prints the same JSON,
/// and errors in a form of its own.
fn of_buf(step: &Step) -> Option<Step> {
    let call = Regex::new(r"(?s)^grpcurl -plaintext (.*) (127\.0\.0\.1:\d+) (\S+/\S+)$").unwrap();
    let call = call.captures(step.command.trim())?;
    let command =
        format!("buf curl --protocol grpc --reflect-protocol grpc-v1 {} http://{}/{}", &call[1], &call[2], &call[3]);
    let promised = step.output.join("\n");
    let error = Regex::new(r"^ERROR:\n  Code: (\w+)\n  Message: (.*)\n").unwrap();
    let Some(error) = error.captures(&promised) else { return Some(Step { command, output: step.output.clone() }) };
    let code = Regex::new("([a-z])([A-Z])").unwrap().replace_all(&error[1], "${1}_$2").to_lowercase();
    let mut output =
        vec!["{".to_owned(), format!("   \"code\": \"{code}\","), format!("   \"message\": \"{}\",", &error[2])];
    for detail in Regex::new(r#""@type":"type\.googleapis\.com/([\w.]+)""#).unwrap().captures_iter(&promised) {
        output.extend(["...".to_owned(), format!("         \"type\": \"{}\",", &detail[1])]);
    }
    output.push("...".to_owned());
    Some(Step { command, output })
}

const DOCUMENT: &str = r#"
<!-- run: start -->

```console
$ cargo run --release -- serve &
listening on 127.0.0.1:7437
$ cargo run --release -- health --address 127.0.0.1:7437
SERVING
```

<!-- run: fact -->
```console
$ grpcurl -plaintext -d '{
    "scope": {"level": "LEVEL_GENERAL"}, "kind": "ui_theme", "key": "ui_theme", "value": "dark",
    "source": {"kind": "user_message", "reference": "m1"}, "evidence": "EVIDENCE_USER_CONFIRMED"
  }' 127.0.0.1:7437 recallgate.v1.CaptureService/Capture
{
  "outcome": "OUTCOME_ACTIVATED",
  "memoryId": "01a2290b-fe98-7060-9fac-4063a2a00046",
  ...
  "decisionId": "01a2290c-052b-71bd-a89c-abf6499d2cdd",
  ...
}
$ grpcurl -plaintext -d '{"memory": {"memory_id": "01a2290b-fe98-7060-9fac-4063a2a00046"}, "purpose": "converse"}' \
    127.0.0.1:7437 recallgate.v1.RecallService/GetMemory
{
  ...
    "value": "dark",
  ...
}
```
"#;

#[test]
fn blocks_run_against_the_service_and_their_ids_stand_for_those_of_the_run() {
    run_all(&blocks(DOCUMENT));
}

#[test]
#[should_panic(expected = "block `start`")]
fn another_output_than_promised_is_a_fault() {
    run_all(&blocks(&DOCUMENT.replace("\nSERVING", "\nNOT_SERVING")));
}

#[test]
#[should_panic(expected = "the README uses `grpcurl`")]
fn a_tool_that_is_missing_is_named() {
    assert_tools(&blocks(DOCUMENT), "/nowhere");
}

#[test]
fn the_start_of_the_service_is_not_run_again() {
    assert!(starts_it("cargo run --release -- serve &"));
    assert!(!starts_it("recall-gate serve --help"));
    assert!(!starts_it("sleep 1 &"));
}
