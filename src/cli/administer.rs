//! What is done to a PostgreSQL database from outside, as the role that owns its tables: `recall-gate migrate`, and
//! `recall-gate ledger` there.

use std::io::Write;

use clap::Args;

use super::Failure;
use super::ledger::instant;
use crate::gate::{Clock, SystemClock};
use crate::memory::Time;
use crate::store::Administration;

/// The database, and who owns it.
#[derive(Debug, Args)]
pub(super) struct Migrate {
    /// PostgreSQL database, with the role that owns its tables, which is `recall_gate_migrator` where none is named:
    /// `postgres://host:port/database`
    #[arg(long, value_name = "URL", env = "RECALL_GATE_DATABASE", hide_env_values = true)]
    database: String,
}

/// Whether it is a PostgreSQL database, and no file.
pub(super) fn is_address(database: &str) -> bool {
    ["postgres://", "postgresql://"].iter().any(|scheme| database.starts_with(scheme))
}

impl Migrate {
    pub(super) async fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        if !is_address(&self.database) {
            let why = "`--database` must begin with `postgres://`: a database file is migrated by `recall-gate serve`";
            return Err(Failure::Usage(vec![why.to_owned()]));
        }
        let mut database = open(&self.database).await?;
        let migrated =
            database.migrate(SystemClock.now()).await.map_err(|error| Failure::because("migrate", &error))?;
        database.close().await;
        if migrated.from == migrated.to {
            writeln!(out, "the schema is {} already", migrated.to)?;
        } else {
            writeln!(out, "migrated the schema from {} to {}", migrated.from, migrated.to)?;
        }
        writeln!(out, "made {} weekly partitions of the decision ledger ahead", migrated.partitions)?;
        Ok(())
    }
}

/// Tells how large the ledger is.
pub(super) async fn stats(address: &str, out: &mut impl Write) -> Result<(), Failure> {
    let mut database = open(address).await?;
    let size = database.ledger_size().await.map_err(|error| unreadable(&error))?;
    database.close().await;
    writeln!(out, "decisions        {}", size.decisions)?;
    writeln!(out, "oldest           {}", size.oldest.map_or_else(|| "-".to_owned(), instant))?;
    writeln!(out, "newest           {}", size.newest.map_or_else(|| "-".to_owned(), instant))?;
    writeln!(out, "ledger bytes     {}", size.bytes)?;
    writeln!(out, "partitions       {}", size.partitions)?;
    writeln!(out, "in no partition  {}", size.in_default)?;
    Ok(())
}

/// Removes what is old, or tells how much that would be.
pub(super) async fn prune(address: &str, before: Time, dry_run: bool, out: &mut impl Write) -> Result<(), Failure> {
    let mut database = open(address).await?;
    let (did, decisions) = if dry_run {
        ("would remove", database.droppable_decisions(before).await)
    } else {
        ("removed", database.drop_decisions(before).await)
    };
    let decisions = decisions.map_err(|error| unreadable(&error))?;
    database.close().await;
    writeln!(out, "{did} {decisions} decisions, of the weeks that were over at {}", instant(before))?;
    Ok(())
}

async fn open(address: &str) -> Result<Administration, Failure> {
    Administration::open(address).await.map_err(|error| Failure::because("the database cannot be opened", &error))
}

fn unreadable(error: &crate::store::Error) -> Failure {
    Failure::because("the database does not answer", error)
}
