//! One PostgreSQL for the whole test process, and a fresh database with the schema for each who asks.
//!
//! It is the server of `GATE_TEST_POSTGRES`, the URL of a superuser, where that is set; else a private one.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{OnceLock, mpsc};

use recall_gate::gate::{Clock, SystemClock};
use recall_gate::store::Administration;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::held::Held;

/// Who migrates.
pub(crate) const MIGRATOR: &str = "recall_gate_migrator";

/// The superuser that private servers have. Reads past every policy.
pub(crate) const SUPERUSER: &str = "postgres";

/// What only one of all test processes on a server does at a time.
const MAKING_A_TEMPLATE: i64 = 0x7267_7465_6d70_6c61;

/// A database of one test's. Dropped with this, soon.
pub(crate) struct Database {
    name: String,
}

impl Database {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its URL for that user.
    pub(crate) fn url(&self, user: &str) -> String {
        url(user, self.name())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Where nobody drops any more, the process ends, and a private server with it.
        let _ = dropping().send(self.name.clone());
    }
}

/// A fresh database: a copy of one that has the roles' rights and every migration.
pub(crate) async fn database() -> Database {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let template = TEMPLATE.get_or_init(template).await;
    let name = format!("test_{}", unique());
    let mut admin = admin().await;
    run(&mut admin, format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
    // These belong to the database and not to what is in it, so that a copy comes without them.
    let rights = "UPDATE pg_database SET (datdba, datacl) = (SELECT datdba, datacl FROM pg_database WHERE datname = $1) \
                  WHERE datname = $2";
    sqlx::query(rights).bind(template).bind(&name).execute(&mut admin).await.unwrap();
    let settings = "INSERT INTO pg_db_role_setting SELECT copy.oid, setrole, setconfig FROM pg_db_role_setting \
                    JOIN pg_database AS original ON original.oid = setdatabase AND original.datname = $1 \
                    JOIN pg_database AS copy ON copy.datname = $2";
    sqlx::query(settings).bind(template).bind(&name).execute(&mut admin).await.unwrap();
    admin.close().await.unwrap();
    Database { name }
}

/// The URL of the server's superuser, whoever that is.
pub(crate) fn server() -> &'static str {
    static SERVER: OnceLock<(String, Option<Held>)> = OnceLock::new();
    #[expect(clippy::disallowed_methods, reason = "what tests run on is said by their environment")]
    let given = || std::env::var("GATE_TEST_POSTGRES");
    let start = || {
        if let Ok(url) = given() {
            return (url, None);
        }
        let held = Held::start("postgres", &[]);
        (held.said().to_owned(), Some(held))
    };
    &SERVER.get_or_init(start).0
}

/// Where the server listens: a host and a port.
pub(crate) fn address() -> &'static str {
    let (_, address) = server().split_once('@').unwrap();
    address.split_once('/').unwrap().0
}

/// The same server, by another user and database.
fn url(user: &str, database: &str) -> String {
    format!("postgres://{user}@{}/{database}", address())
}

async fn admin() -> PgConnection {
    PgConnection::connect(server()).await.unwrap()
}

/// Runs what no statement has parameters for: names, which are made here.
async fn run(connection: &mut PgConnection, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.unwrap();
}

#[expect(clippy::disallowed_methods, reason = "tests make names that nobody else has")]
fn unique() -> String {
    Uuid::now_v7().simple().to_string()
}

/// The database that is copied, made by the first who asks a server for it.
async fn template() -> String {
    let name = format!("template_{:016x}", content());
    let mut admin = admin().await;
    sqlx::query("SELECT pg_advisory_lock($1)").bind(MAKING_A_TEMPLATE).execute(&mut admin).await.unwrap();
    let there = sqlx::query("SELECT 1 FROM pg_database WHERE datname = $1").bind(&name);
    if there.fetch_optional(&mut admin).await.unwrap().is_none() {
        // A draft may be there of one who ended half way.
        let draft = format!("draft_{name}");
        run(&mut admin, format!("DROP DATABASE IF EXISTS {draft}")).await;
        run(&mut admin, format!("CREATE DATABASE {draft}")).await;
        let (server, _) = server().rsplit_once('/').unwrap();
        roles(&format!("{server}/{draft}"));
        migrate(&url(MIGRATOR, &draft)).await;
        run(&mut admin, format!("ALTER DATABASE {draft} ALLOW_CONNECTIONS false")).await;
        run(&mut admin, format!("ALTER DATABASE {draft} RENAME TO {name}")).await;
    }
    admin.close().await.unwrap();
    name
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn migrations() -> PathBuf {
    root().join("src/store/migrations/postgres")
}

/// Stands for what the template is made of.
fn content() -> u64 {
    let mut files: Vec<_> = std::fs::read_dir(migrations()).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files.push(root().join(ROLES));
    let mut content = DefaultHasher::new();
    for file in files {
        std::fs::read(&file).unwrap().hash(&mut content);
    }
    content.finish()
}

/// The folder of PostgreSQL's programs.
pub(crate) fn programs() -> PathBuf {
    let script = root().join("tests/postgres");
    let programs = Command::new(script).arg("--bin").output().unwrap();
    PathBuf::from(String::from_utf8(programs.stdout).unwrap().trim_end())
}

/// Runs the roles' file on a database as an operator does, by the URL of a superuser.
pub(crate) fn roles(url: &str) {
    let mut command = Command::new(programs().join("psql"));
    command.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--file"]).arg(root().join(ROLES));
    let done = command.arg(url).output().unwrap();
    assert!(done.status.success(), "{ROLES}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Who may connect.
const ROLES: &str = "deploy/postgres/roles.sql";

async fn migrate(url: &str) {
    let mut database = Administration::open(url).await.unwrap();
    database.migrate(SystemClock.now()).await.unwrap();
    database.close().await;
}

/// The thread that drops databases, because nothing can be awaited while a value is dropped.
fn dropping() -> &'static mpsc::Sender<String> {
    static DROPPING: OnceLock<mpsc::Sender<String>> = OnceLock::new();
    DROPPING.get_or_init(|| {
        let (sender, names) = mpsc::channel::<String>();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            for name in names {
                runtime.block_on(async {
                    let mut admin = admin().await;
                    run(&mut admin, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
                });
            }
        });
        sender
    })
}
