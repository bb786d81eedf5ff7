//! The command line. Answers go to standard output, errors and logs to standard error.

mod administer;
mod bench;
mod demo;
mod failure;
mod fit;
mod health;
mod ledger;
mod policy;
mod serve;
mod signals;
mod token;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};

pub use failure::Failure;

/// Decides which agent memories may be used, and records why before any text leaves.
///
/// Exits with 0 when all went well, 1 when something failed, 2 when it was called or set wrongly.
#[derive(Debug, Parser)]
#[command(name = "recall-gate", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service.
    ///
    /// Each setting can be given as a flag, as a variable of the environment, or in a settings file, and counts in
    /// that order.
    Serve(serve::Serve),
    /// Show what the service does, on a temporary store.
    ///
    /// Starts it on a port of its own, plays checks against it over gRPC, and prints for each what was accepted, what
    /// was refused and why, the ids of the decisions, and PASS or FAIL. Exits with 1 when a check fails.
    Demo(demo::Demo),
    /// Make a credential, or a key to sign credentials with.
    Token(token::Token),
    /// Bring a PostgreSQL database up to date.
    ///
    /// Makes or changes its tables, and makes partitions of the decision ledger for the next twelve weeks: run it
    /// before each new version, and from time to time. Two at once do it once. A database file needs none.
    Migrate(administer::Migrate),
    /// Look at policies.
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// Look at the ledger of decisions, or remove old ones.
    #[command(subcommand)]
    Ledger(ledger::LedgerCommand),
    /// Ask a running service whether it is serving.
    Health(health::Health),
    /// Measure how much the service does here, and how fast.
    ///
    /// Starts it on a port of its own, or aims at one that runs; loads memories, calls it, and tells how many calls were
    /// answered, how long they took, and what the service used. Names who was the limit: the service, or the caller.
    Bench(Box<bench::Bench>),
    /// The service as `bench` starts it: it ends with its standard input.
    #[command(hide = true)]
    BenchServe(serve::Serve),
    /// The server that `bench --baseline echo` compares with.
    #[command(hide = true)]
    BenchEcho(bench::BenchEcho),
    /// A script for `pgbench` with the two statements of a recall on PostgreSQL; `tests/pgbench` runs it.
    #[command(hide = true)]
    BenchStatements,
}

/// Where the settings file is.
#[derive(Debug, Clone, Default, Args)]
struct ConfigFile {
    /// Settings file in TOML; its keys are the long flags with `_` for `-`
    #[arg(long, value_name = "FILE", env = "RECALL_GATE_CONFIG")]
    config: Option<PathBuf>,
}

/// Runs the program with these arguments, the first of which is its name.
pub fn main(
    arguments: impl IntoIterator<Item = OsString>,
    out: &mut (impl Write + Send),
    err: &mut (impl Write + Send),
) -> ExitCode {
    let command = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli.command,
        Err(error) => return explain(&error, out, err),
    };
    let outcome = runtime(&command).and_then(|runtime| {
        let outcome = runtime.block_on(run(command, out, err));
        // What is still going on was given up on.
        runtime.shutdown_timeout(Duration::from_millis(100));
        outcome
    });
    match outcome.and_then(|()| out.flush().map_err(Failure::from)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.tell(err),
    }
}

async fn run(command: Command, out: &mut (impl Write + Send), err: &mut (impl Write + Send)) -> Result<(), Failure> {
    match command {
        Command::Serve(serve) => serve.run(out, err).await,
        Command::Demo(demo) => demo.run(out).await,
        Command::Token(token) => token.run(out),
        Command::Migrate(migrate) => migrate.run(out).await,
        Command::Policy(policy) => policy.run(out).await,
        Command::Ledger(ledger) => ledger.run(out).await,
        Command::Health(health) => health.run(out).await,
        Command::Bench(bench) => bench.run(out).await,
        Command::BenchServe(serve) => {
            bench::end_with_input();
            serve.run(out, err).await
        }
        Command::BenchEcho(echo) => echo.run(out).await,
        Command::BenchStatements => bench::statements(out),
    }
}

/// A service leaves one processor to what works beside its calls: the embedded database writes in a thread of its own,
/// and every answer waits for it. `TOKIO_WORKER_THREADS` says otherwise, as it does for every program on tokio.
fn runtime(command: &Command) -> Result<tokio::runtime::Runtime, Failure> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let serves = matches!(command, Command::Serve(_) | Command::BenchServe(_));
    #[expect(
        clippy::disallowed_methods,
        reason = "a variable of tokio's own, which reads it where nobody sets a number"
    )]
    let set = std::env::var_os("TOKIO_WORKER_THREADS").is_some();
    if serves && !set {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        runtime.worker_threads(processors.saturating_sub(1).max(1));
    }
    runtime.enable_all().build().map_err(|error| Failure::because("no threads could be started", &error))
}

/// Help and version are answers, the rest are errors.
fn explain(error: &clap::Error, out: &mut impl Write, err: &mut impl Write) -> ExitCode {
    let text = error.render();
    let written = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => write!(out, "{text}"),
        _ => write!(err, "{text}"),
    };
    match written {
        Ok(()) => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
        Err(_) => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests;
