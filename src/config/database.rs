//! Where memories are kept: a file, or a PostgreSQL database.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{DEFAULT_DATABASE, Layer};
use crate::store::PostgresOptions;

const MAX_DATABASE_CONNECTIONS: u64 = 1000;
const SCHEMES: [&str; 2] = ["postgres", "postgresql"];

/// Where memories are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// In this file, for one service.
    File(PathBuf),
    /// In this PostgreSQL database, for any number.
    Postgres(PostgresOptions),
}

impl Database {
    /// The file beside which files of the service's own lie.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Postgres(options) => &options.digest_key,
        }
    }
}

impl From<&Path> for Database {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl From<PostgresOptions> for Database {
    fn from(options: PostgresOptions) -> Self {
        Self::Postgres(options)
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(options) => options.fmt(f),
        }
    }
}

impl Layer {
    /// Where memories are kept; `None`: that is a fault.
    pub(super) fn database(&self, faults: &mut Vec<String>) -> Option<Database> {
        let database = self.database.as_deref().unwrap_or(DEFAULT_DATABASE);
        match database.split_once("://") {
            Some((scheme, _)) if SCHEMES.contains(&scheme) => self.postgres(database, faults).map(Database::Postgres),
            Some((scheme, _)) => {
                faults.push(format!(
                    "`database` must be the path of a file, or begin with `postgres://`; `{scheme}://` is not known"
                ));
                None
            }
            None => self.file(database, faults).map(Database::File),
        }
    }

    fn file(&self, path: &str, faults: &mut Vec<String>) -> Option<PathBuf> {
        let others = [
            ("digest_key", self.digest_key.is_some()),
            ("ledger_database", self.ledger_database.is_some()),
            ("feeder_database", self.feeder_database.is_some()),
            ("worker_database", self.worker_database.is_some()),
            ("database_connections", self.database_connections.is_some()),
            ("transaction_pooler", self.transaction_pooler.is_some()),
        ];
        for (name, _) in others.iter().filter(|(_, is_set)| *is_set) {
            faults.push(format!("`{name}` goes with a PostgreSQL `database`, which is a file here"));
        }
        if path.is_empty() {
            faults.push("`database` must name a file".to_owned());
            return None;
        }
        Some(PathBuf::from(path))
    }

    fn postgres(&self, address: &str, faults: &mut Vec<String>) -> Option<PostgresOptions> {
        let digest_key = self.digest_key.clone().unwrap_or_default();
        if digest_key.is_empty() {
            faults.push(
                "`digest_key` is required with a PostgreSQL `database`: a file of 32 random bytes, the same for every \
                 service on it"
                    .to_owned(),
            );
        }
        let options = PostgresOptions::new(address, digest_key);
        let mut options = options.map_err(|error| faults.push(format!("`database`: {error}"))).ok()?;
        for (name, set, option) in [
            ("ledger_database", &self.ledger_database, &mut options.ledger),
            ("feeder_database", &self.feeder_database, &mut options.feeder),
            ("worker_database", &self.worker_database, &mut options.worker),
        ] {
            if let Some(address) = set {
                match PostgresOptions::new(address, "") {
                    Ok(_) => option.clone_from(address),
                    Err(error) => faults.push(format!("`{name}`: {error}")),
                }
            }
        }
        if let Some(connections) = self.database_connections {
            match u32::try_from(connections) {
                Ok(number) if (1..=MAX_DATABASE_CONNECTIONS).contains(&connections) => options.connections = number,
                _ => faults
                    .push(format!("`database_connections` must be 1 to {MAX_DATABASE_CONNECTIONS}: `{connections}`")),
            }
        }
        options.transaction_pooler = self.transaction_pooler.unwrap_or_default();
        Some(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "as the fields of a layer are")]
    fn some(value: &str) -> Option<String> {
        Some(value.to_owned())
    }

    fn read(layer: &Layer) -> (Option<Database>, Vec<String>) {
        let mut faults = Vec::new();
        let database = layer.database(&mut faults);
        (database, faults)
    }

    #[test]
    fn a_postgresql_database_has_a_digest_key_and_may_name_each_role() {
        let (database, faults) = read(&Layer {
            database: some("postgresql://db/gate"),
            digest_key: some("key"),
            feeder_database: some("postgres://feeds@replica:6432/gate"),
            database_connections: Some(3),
            transaction_pooler: Some(true),
            ..Layer::default()
        });
        assert_eq!(faults, [""; 0]);
        let Some(Database::Postgres(options)) = database else { panic!("{database:?}") };
        assert!(options.app.contains("recall_gate_app@db") && options.ledger.contains("recall_gate_ledger@db"));
        assert_eq!((&*options.feeder, options.connections), ("postgres://feeds@replica:6432/gate", 3));
        assert!(options.transaction_pooler);
    }

    #[test]
    fn every_fault_of_it_is_named_and_no_address_repeated() {
        let (_, faults) = read(&Layer {
            database: some("postgres://me:hunter2@db/gate"),
            worker_database: some("postgres://me:hunter2@db:port/gate"),
            database_connections: Some(0),
            ..Layer::default()
        });
        let all = faults.join("\n");
        for name in ["`digest_key`", "`worker_database`", "`database_connections`"] {
            assert!(all.contains(name), "{name}: {all}");
        }
        assert!(!all.contains("hunter2"), "{all}");
    }

    #[test]
    fn a_file_has_nothing_of_postgresql() {
        let layer = Layer { digest_key: some("key"), transaction_pooler: Some(false), ..Layer::default() };
        let (_, faults) = read(&layer);
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(read(&Layer { database: some("mysql://db"), ..Layer::default() }).1.concat().contains("mysql://"));
        assert!(read(&Layer { database: some(""), ..Layer::default() }).1.concat().contains("file"));
    }
}
