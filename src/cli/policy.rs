//! `recall-gate policy`.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::{ConfigFile, Failure, fit};
use crate::config::{Layer, Settings};
use crate::policy::{DEFAULT_DOCUMENT, Policy};

#[derive(Debug, Subcommand)]
pub(super) enum PolicyCommand {
    /// Check a policy file and name everything that is wrong with it
    ///
    /// With a database also whether the memories in it fit: counts by kind and reason, with the ids of up to five
    /// each. Exits with 1 when the file is no policy, and when memories do not fit it. Changes nothing.
    Check {
        /// The policy file
        file: PathBuf,
        /// Database file whose memories are compared; a service may be running on it. What changes
        /// while it is read may be missed
        #[arg(long, value_name = "FILE")]
        database: Option<PathBuf>,
    },
    /// Print the policy that would be in force, with its version
    Show(Show),
}

#[derive(Debug, Args)]
pub(super) struct Show {
    #[command(flatten)]
    config: ConfigFile,
    /// Policy file; without one the policy that is compiled in
    #[arg(long, value_name = "FILE", env = "RECALL_GATE_POLICY")]
    policy: Option<String>,
}

impl PolicyCommand {
    pub(super) async fn run(self, out: &mut (impl Write + Send)) -> Result<(), Failure> {
        match self {
            Self::Check { file, database } => {
                let policy = load(Some(&file))?;
                writeln!(out, "`{}` is a policy, version {}", file.display(), policy.version)?;
                if let Some(database) = database {
                    fit::check(&policy, &database, out).await?;
                }
            }
            Self::Show(show) => {
                let flags = Layer { policy: show.policy, ..Layer::default() };
                let settings = Settings::load(flags, show.config.config.as_deref())?;
                let policy = load(settings.policy.as_deref())?;
                writeln!(out, "# version {}", policy.version)?;
                write!(out, "{}", policy.document)?;
            }
        }
        Ok(())
    }
}

/// A file's text. No policy is longer than this, and `/dev/zero` has no end.
fn read(file: &Path) -> io::Result<String> {
    const MAX_BYTES: u64 = 1 << 20;
    let mut document = String::new();
    let read = fs::File::open(file)?.take(MAX_BYTES + 1).read_to_string(&mut document)?;
    if u64::try_from(read).unwrap_or(u64::MAX) > MAX_BYTES {
        return Err(io::Error::other("larger than 1 MiB"));
    }
    Ok(document)
}

/// The policy of a file, or the one that is compiled in.
pub(super) fn load(file: Option<&Path>) -> Result<Policy, Failure> {
    let (name, document) = match file {
        Some(file) => {
            let name = format!("policy `{}`", file.display());
            let document = read(file).map_err(|error| Failure::because(&name, &error))?;
            (name, document)
        }
        None => ("the policy that is compiled in".to_owned(), DEFAULT_DOCUMENT.to_owned()),
    };
    Policy::parse(&document).map_err(|faults| {
        let told = faults.0.iter().map(|fault| format!("{name}: `{}`: {}", fault.path, fault.message));
        Failure::Failed(told.collect())
    })
}
