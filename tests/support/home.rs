//! Where the store of a test lies, on either engine.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recall_gate::store::{Postgres, PostgresOptions, Sqlite, SqliteOptions, Store};
use tempfile::TempDir;

use crate::backdoor::Backdoor;
use crate::postgres::{Database, SUPERUSER, database};

/// The file of PostgreSQL's digest key.
const KEY: &str = "digest-key";

/// An engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

/// A folder, and beside it a database where the engine is PostgreSQL. Both go with it.
pub(crate) struct Home {
    folder: TempDir,
    database: Option<Database>,
}

impl Home {
    /// Where nothing lies yet but the schema.
    pub(crate) async fn of(engine: Engine) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = match engine {
            Engine::Sqlite => None,
            Engine::Postgres => Some(database().await),
        };
        if database.is_some() {
            let mut key = [0; 32];
            aws_lc_rs::rand::fill(&mut key).unwrap();
            let file = folder.path().join(KEY);
            std::fs::write(&file, key).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        Self { folder, database }
    }

    /// Opens the store that lies here.
    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        match &self.database {
            None => Arc::new(Sqlite::open(self.file(), SqliteOptions::default()).await.unwrap()),
            Some(database) => open_postgres(database, &self.folder().join(KEY)).await,
        }
    }

    /// A connection behind the service's back.
    pub(crate) async fn backdoor(&self) -> Backdoor {
        match &self.database {
            None => Backdoor::sqlite(&self.file()).await,
            Some(database) => Backdoor::postgres(&database.url(SUPERUSER)).await,
        }
    }

    /// The folder of SQLite's files, and of PostgreSQL's digest key.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// SQLite's main file.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder().join("memories.db")
    }
}

async fn open_postgres(database: &Database, key: &Path) -> Arc<dyn Store> {
    let mut options = PostgresOptions::new(&database.url("recall_gate_app"), key).unwrap();
    options.connections = 4;
    Arc::new(Postgres::open(options).await.unwrap())
}
