//! A PostgreSQL database of a test's own, and the folder of the services on it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tempfile::TempDir;
use tonic_health::pb::health_check_response::ServingStatus;

use super::server::Server;
use crate::callers::{channel, request_id};
use crate::database::NONE_OF_THESE;
use crate::load::{until, until_health_says};
use crate::postgres::{self, Database, MIGRATOR, SUPERUSER};
use crate::program::{Ran, Running, address, program, run};

/// The service's own role.
pub(crate) const APP: &str = "recall_gate_app";

const KEY: &str = "digest-key";

/// Writes a digest key.
pub(crate) fn write_key(file: &Path, bytes: &[u8]) {
    std::fs::write(file, bytes).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// A name that nobody else has, for a role.
pub(crate) fn role_name(of: &str) -> String {
    format!("{of}_{}", request_id().replace('-', ""))
}

pub(crate) struct Place {
    folder: TempDir,
    /// Host and port of the server.
    at: String,
    name: String,
    /// Goes with this, where the server stays.
    _database: Option<Database>,
}

impl Place {
    /// With the schema.
    pub(crate) async fn new() -> Self {
        let database = postgres::database().await;
        Self::of(&database.url(SUPERUSER), Some(database))
    }

    /// As an operator has it who has run the roles' file and nothing else.
    pub(crate) async fn bare() -> Self {
        let place = Self::new().await;
        place.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public AUTHORIZATION pg_database_owner").await;
        postgres::roles(&place.url(SUPERUSER));
        place
    }

    /// On a server of its own, with the schema.
    pub(crate) async fn on(server: &Server) -> Self {
        let place = Self::of(&format!("postgres://{SUPERUSER}@{}/gate", server.address()), None);
        let mut admin = PgConnection::connect(server.url()).await.unwrap();
        sqlx::raw_sql("CREATE DATABASE gate").execute(&mut admin).await.unwrap();
        admin.close().await.unwrap();
        postgres::roles(&place.url(SUPERUSER));
        let migrated = place.migrate();
        assert_eq!(migrated.code, Some(0), "{}", migrated.err);
        place
    }

    /// By the URL of its superuser.
    fn of(url: &str, database: Option<Database>) -> Self {
        let (_, at) = url.split_once('@').unwrap();
        let (at, name) = at.split_once('/').unwrap();
        let folder = tempfile::tempdir().unwrap();
        let key = [request_id(), request_id()].concat();
        write_key(&folder.path().join(KEY), &key.as_bytes()[..32]);
        Self { folder, at: at.to_owned(), name: name.to_owned(), _database: database }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn key(&self) -> PathBuf {
        self.path().join(KEY)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn url(&self, who: &str) -> String {
        format!("postgres://{who}@{}/{}", self.at, self.name)
    }

    /// A superuser's connection, whom no policy holds.
    pub(crate) async fn admin(&self) -> PgConnection {
        PgConnection::connect(&self.url(SUPERUSER)).await.unwrap()
    }

    /// Runs statements of a superuser's.
    pub(crate) async fn sql(&self, sql: &str) {
        let mut admin = self.admin().await;
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut admin).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        admin.close().await.unwrap();
    }

    /// The one number that a query answers to a superuser.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let mut admin = self.admin().await;
        let sql = AssertSqlSafe(format!("SELECT CAST(({sql}) AS bigint)"));
        let number = sqlx::query_scalar(sql).fetch_one(&mut admin).await.unwrap();
        admin.close().await.unwrap();
        number
    }

    /// Makes a role that may do what another may.
    pub(crate) async fn role_like(&self, other: &str) -> String {
        let name = role_name("like");
        self.sql(&format!("CREATE ROLE {name} LOGIN IN ROLE {other}")).await;
        name
    }

    /// Starts `serve` on it, with the roles of the roles' file.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Replica {
        self.serve_as(APP, arguments)
    }

    /// The same, with another role of the service's own: its name, perhaps with a password.
    pub(crate) fn serve_as(&self, app: &str, arguments: &[&str]) -> Replica {
        self.serve_at(&self.url(app), arguments)
    }

    /// The same, by another address of the database.
    pub(crate) fn serve_at(&self, url: &str, arguments: &[&str]) -> Replica {
        let mut command = program(self.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--digest-key", KEY, "--database", url]).args(arguments);
        let mut running = Running::spawn(&mut command);
        let address = address(&mut running);
        Replica { running, address }
    }

    /// Starts `serve` on it, which must fail with 1: what it said.
    pub(crate) fn refused_as(&self, app: &str, arguments: &[&str]) -> String {
        let url = self.url(app);
        let start = ["serve", "--listen", "127.0.0.1:0", "--digest-key", KEY, "--database", &url];
        let ran = run(self.path(), &[&start, arguments].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{}", ran.err);
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        ran.err
    }

    /// Runs a command of the tables' owner to its end.
    pub(crate) fn owner(&self, command: &[&str]) -> Ran {
        run(self.path(), &[command, &["--database", &self.url(MIGRATOR)]].concat())
    }

    pub(crate) fn migrate(&self) -> Ran {
        self.owner(&["migrate"])
    }

    /// Whether the ledger has that decision.
    pub(crate) async fn has_decision(&self, decision_id: &str) -> bool {
        self.number(&format!("SELECT count(*) FROM decisions WHERE decision_id = '{decision_id}'")).await == 1
    }

    /// Rows, revisions, feed and ledger must tell of the same changes (I5), once the feed is numbered.
    pub(crate) async fn assert_consistent(&self) {
        until("the feed is numbered", async || {
            self.number("SELECT count(*) FROM feed WHERE position IS NULL").await == 0
        })
        .await;
        for (what, sql) in NONE_OF_THESE {
            assert_eq!(self.number(sql).await, 0, "{what}");
        }
    }
}

/// A running service.
pub(crate) struct Replica {
    pub(crate) running: Running,
    pub(crate) address: String,
}

impl Replica {
    /// Waits until health says that it is serving, or that it is not.
    pub(crate) async fn until_it_is(&self, expected: ServingStatus) {
        until_health_says(&channel(&self.address).await, expected).await;
    }

    /// SIGTERM, and waits for the end: how it ended.
    pub(crate) fn stop(mut self) -> Ran {
        self.running.signal("TERM");
        let code = self.running.wait().code();
        Ran { code, out: self.running.out(), err: self.running.err() }
    }
}
