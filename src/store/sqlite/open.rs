//! Opening a database file: lock, schema, digest key, connections.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, query, query_scalar};

use super::readers::Readers;
use super::{decisions, files, queries, writer};
use crate::store::OpenError;
use crate::store::digest::DigestKey;

static MIGRATIONS: Migrator = sqlx::migrate!("src/store/migrations/sqlite");

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const WAL_BYTES_KEPT: &str = "67108864";
/// What the writer keeps of the file: 16 MiB, so that a decision finds the pages that it goes to.
const WRITER_CACHE: &str = "-16384";
/// How many rows a connection reads ahead of whoever takes them: each time that it waits costs two changes of thread.
const ROWS_AHEAD: usize = 512;
/// Of the writer: those of decisions, and the others.
const STATEMENTS_KEPT: usize = decisions::STATEMENTS + 100;

/// How a database is opened.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// Connections that read, at least one.
    pub readers: u32,
    /// The database does not grow beyond that many pages of 4 KiB; what does not fit is answered `Unavailable`, and
    /// reads go on. `None`: until the disk is full.
    pub max_pages: Option<u32>,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { readers: 4, max_pages: None }
    }
}

fn common(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        .pragma("secure_delete", "ON")
        .pragma("temp_store", "MEMORY")
}

/// How the writer connects.
pub(super) fn writing(path: &Path, options: &SqliteOptions) -> SqliteConnectOptions {
    let connect = common(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("journal_size_limit", WAL_BYTES_KEPT)
        .pragma("cache_size", WRITER_CACHE)
        .statement_cache_capacity(STATEMENTS_KEPT);
    match options.max_pages {
        Some(max_pages) => connect.pragma("max_page_count", max_pages.to_string()),
        None => connect,
    }
}

/// How whoever changes nothing connects. Makes no database where there is none.
pub(super) fn reading(path: &Path) -> SqliteConnectOptions {
    common(path).read_only(true).pragma("query_only", "ON").row_buffer_size(ROWS_AHEAD)
}

/// What an open database consists of.
pub(super) struct Opened {
    pub(super) writer: writer::Start,
    pub(super) readers: Readers,
    pub(super) key: DigestKey,
}

/// Opens a database, or makes one.
pub(super) async fn open(path: PathBuf, options: SqliteOptions) -> Result<Opened, OpenError> {
    let lock = blocking({
        let path = path.clone();
        move || {
            let lock = files::lock(&path)?;
            files::make_database(&path)?;
            Ok(lock)
        }
    })
    .await?;
    let connect = writing(&path, &options);
    let mut connection = connect.connect().await?;
    MIGRATIONS.run_direct(None, &mut connection, false).await.or_else(next_is_well).map_err(migration)?;
    let known = queries::key_id(&mut connection).await?;
    let first = known.is_none();
    let key = blocking(move || match known {
        Some(id) => files::existing_key(&path, &id),
        None => files::first_key(&path),
    })
    .await?;
    if first {
        queries::keep_key_id(&mut connection, key.id()).await?;
    }
    let in_place = files::InPlace::of(connect.get_filename())?;
    // From here on the writer waits by itself.
    query("PRAGMA busy_timeout = 0").execute(&mut connection).await?;
    let connect = connect.busy_timeout(Duration::ZERO);
    let readers = Readers::open(reading(connect.get_filename()), in_place.clone(), options.readers).await?;
    Ok(Opened { writer: writer::Start { connection, connect, lock, in_place }, readers, key })
}

/// Whether the database has the schema of this version or of the next, for who must not change it.
pub(super) async fn same_schema(connection: &mut SqliteConnection) -> Result<(), OpenError> {
    let tables: i64 = query_scalar("SELECT count(*) FROM sqlite_schema WHERE name = '_sqlx_migrations'")
        .fetch_one(&mut *connection)
        .await?;
    if tables == 0 {
        return Err(OpenError::SchemaOlder { found: 0, known: known() });
    }
    let found: Option<i64> =
        query_scalar("SELECT max(version) FROM _sqlx_migrations WHERE success").fetch_one(connection).await?;
    let (found, known) = (found.unwrap_or_default(), known());
    match found {
        _ if found < known => Err(OpenError::SchemaOlder { found, known }),
        _ if found > known + 1 => Err(OpenError::SchemaNewer { found, known }),
        _ => Ok(()),
    }
}

fn known() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// A binary runs on the schema of its own version and on the one after it, so that a step back loses nothing.
fn next_is_well(error: MigrateError) -> Result<(), MigrateError> {
    match error {
        MigrateError::VersionMissing(found) if found == known() + 1 => Ok(()),
        error => Err(error),
    }
}

fn migration(error: MigrateError) -> OpenError {
    let known = known();
    match error {
        MigrateError::VersionMissing(found) if found > known => OpenError::SchemaNewer { found, known },
        error => OpenError::Schema(error),
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, OpenError> + Send + 'static,
) -> Result<T, OpenError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| OpenError::Database(Box::new(error)))?
}
