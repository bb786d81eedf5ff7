//! `recall-gate ledger`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::{ConfigFile, Failure, administer};
use crate::config::{Database, Layer, Settings};
use crate::gate::{Clock, SystemClock};
use crate::memory::{Span, Time};
use crate::store::{Inspection, OpenError, Sqlite, SqliteOptions, Store, free_bytes};

const SECONDS_PER_DAY: i64 = 86_400;

/// The most decisions that go at once: nobody waits for more.
const AT_ONCE: u32 = 5_000;

#[derive(Debug, Subcommand)]
pub(super) enum LedgerCommand {
    /// Tell how many decisions there are, from when, and what room they take
    ///
    /// Works beside a running service. Reads the whole ledger once.
    Stats(Place),
    /// Remove decisions that are older than so many days, for good
    ///
    /// Removes nothing else, and no memory. Wants the database for itself: while `serve` runs on it, set
    /// `decision_retention_days` instead, with which the service does the same by itself. `--dry-run` works beside it.
    /// The database file does not shrink; its free pages are used again before it grows.
    ///
    /// On PostgreSQL it works beside running services: it drops the weekly partitions of which every decision is that
    /// old, at once, and leaves the decisions of the week that is not over yet.
    Prune(Prune),
}

#[derive(Debug, Args)]
pub(super) struct Place {
    #[command(flatten)]
    config: ConfigFile,
    /// Database file; or a PostgreSQL database, with the role that owns its tables [default: recall-gate.db]
    #[arg(long, value_name = "FILE|URL", env = "RECALL_GATE_DATABASE", hide_env_values = true)]
    database: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct Prune {
    #[command(flatten)]
    place: Place,
    /// Age in whole days, 1 to 36500: decisions made longer ago are removed
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(i64).range(1..=36_500))]
    older_than: i64,
    /// Tell how many would be removed, and remove none
    #[arg(long)]
    dry_run: bool,
}

impl LedgerCommand {
    pub(super) async fn run(self, out: &mut (impl Write + Send)) -> Result<(), Failure> {
        match self {
            Self::Stats(place) => match place.database()? {
                Where::File(path) => stats(&path, out).await,
                Where::Postgres(address) => administer::stats(&address, out).await,
            },
            Self::Prune(prune) => {
                let before = SystemClock.now().minus(Span::from_seconds(prune.older_than * SECONDS_PER_DAY));
                match prune.place.database()? {
                    Where::File(path) if prune.dry_run => count(&path, before, out).await,
                    Where::File(path) => remove(&path, before, out).await,
                    Where::Postgres(address) => administer::prune(&address, before, prune.dry_run, out).await,
                }
            }
        }
    }
}

/// Where the ledger is.
enum Where {
    File(PathBuf),
    /// At this address, with the role that owns the tables.
    Postgres(String),
}

impl Place {
    fn database(&self) -> Result<Where, Failure> {
        if let Some(address) = self.database.as_deref().filter(|database| administer::is_address(database)) {
            return Ok(Where::Postgres(address.to_owned()));
        }
        let flags = Layer { database: self.database.clone(), ..Layer::default() };
        match Settings::load(flags, self.config.config.as_deref())?.database {
            Database::File(path) => Ok(Where::File(path)),
            Database::Postgres(_) => Err(Failure::Usage(vec![
                "on PostgreSQL this takes the role that owns the tables: name it by `--database`".to_owned(),
            ])),
        }
    }
}

async fn stats(database: &Path, out: &mut impl Write) -> Result<(), Failure> {
    let mut inspection = inspect(database).await?;
    let size = inspection.ledger_size().await.map_err(|error| unreadable(database, &error))?;
    inspection.close().await;
    let free = free_bytes(database).map_err(|error| unreadable(database, &error))?;
    writeln!(out, "decisions        {}", size.decisions)?;
    writeln!(out, "oldest           {}", size.oldest.map_or_else(|| "-".to_owned(), instant))?;
    writeln!(out, "newest           {}", size.newest.map_or_else(|| "-".to_owned(), instant))?;
    writeln!(out, "ledger bytes     {}", size.bytes)?;
    writeln!(out, "database bytes   {}", size.file_bytes)?;
    writeln!(out, "reusable bytes   {}", size.reusable_bytes)?;
    writeln!(out, "disk free bytes  {free}")?;
    Ok(())
}

async fn count(database: &Path, before: Time, out: &mut impl Write) -> Result<(), Failure> {
    let mut inspection = inspect(database).await?;
    let old = inspection.decisions_before(before).await.map_err(|error| unreadable(database, &error))?;
    inspection.close().await;
    writeln!(out, "would remove {old} decisions made before {}", instant(before))?;
    Ok(())
}

async fn remove(database: &Path, before: Time, out: &mut impl Write) -> Result<(), Failure> {
    // Opening makes a database where there is none; and one that is not ours, or older, is not to be changed here.
    inspect(database).await?.close().await;
    let store = Sqlite::open(database, SqliteOptions::default()).await.map_err(|error| match error {
        OpenError::Held { .. } => Failure::failed(format!(
            "`{}`: {error}: while it runs, set `decision_retention_days`, with which it prunes by itself; `--dry-run` \
             works beside it",
            database.display()
        )),
        error => unreadable(database, &error),
    })?;
    let mut total = 0;
    let outcome = loop {
        match store.prune(before, AT_ONCE).await {
            Ok(0) => break Ok(()),
            Ok(rows) => total += rows,
            Err(error) => break Err(unreadable(database, &error)),
        }
    };
    store.close().await;
    writeln!(out, "removed {total} decisions made before {}", instant(before))?;
    outcome
}

/// Opens a database to read it, for commands that run beside the service.
pub(super) async fn inspect(database: &Path) -> Result<Inspection, Failure> {
    Inspection::open(database).await.map_err(|error| unreadable(database, &error))
}

pub(super) fn unreadable(database: &Path, error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::because(&format!("`{}`", database.display()), error)
}

/// As RFC 3339 writes it, in UTC.
pub(super) fn instant(time: Time) -> String {
    let (seconds, nanos) = time.parts();
    prost_types::Timestamp { seconds, nanos }.to_string()
}
