//! `recall-gate ledger`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::{ConfigFile, Failure};
use crate::config::{Layer, Settings};
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
    Prune(Prune),
}

#[derive(Debug, Args)]
pub(super) struct Place {
    #[command(flatten)]
    config: ConfigFile,
    /// Database file [default: recall-gate.db]
    #[arg(long, value_name = "FILE", env = "RECALL_GATE_DATABASE")]
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
            Self::Stats(place) => stats(&place.database()?, out).await,
            Self::Prune(prune) => {
                let database = prune.place.database()?;
                let before = SystemClock.now().minus(Span::from_seconds(prune.older_than * SECONDS_PER_DAY));
                if prune.dry_run { count(&database, before, out).await } else { remove(&database, before, out).await }
            }
        }
    }
}

impl Place {
    fn database(&self) -> Result<PathBuf, Failure> {
        let flags = Layer { database: self.database.clone(), ..Layer::default() };
        Ok(Settings::load(flags, self.config.config.as_deref())?.database)
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
fn instant(time: Time) -> String {
    let (seconds, nanos) = time.parts();
    prost_types::Timestamp { seconds, nanos }.to_string()
}
