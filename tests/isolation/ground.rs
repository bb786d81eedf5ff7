//! A database of a test's, by its name: as each role, directly, through the pooler or through a wire.

use std::sync::Arc;

use recall_gate::memory::TenantId;
use recall_gate::store::{Change, Expect, Postgres, PostgresOptions, Write};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::backdoor::Backdoor;
use crate::fixture::World;
use crate::home::Engine;
use crate::{pgbouncer, postgres};

/// The role that reads and writes memories.
pub(crate) const APP: &str = "recall_gate_app";

/// A world on PostgreSQL, and where its database is.
pub(crate) struct Ground {
    pub(crate) world: World,
    pub(crate) database: String,
}

impl Ground {
    pub(crate) async fn new() -> Self {
        let world = World::on(Engine::Postgres).await;
        let Backdoor::Postgres(mut connection) = world.backdoor().await else { unreachable!("the engine") };
        let database = sqlx::query_scalar("SELECT CAST(current_database() AS text)");
        let database = database.fetch_one(&mut connection).await.unwrap();
        Self { world, database }
    }

    pub(crate) fn url(&self, user: &str) -> String {
        format!("postgres://{user}@{}/{}", postgres::address(), self.database)
    }

    /// Through PgBouncer.
    pub(crate) fn pooled(&self, user: &str) -> String {
        self.at(user, pgbouncer::port())
    }

    pub(crate) fn at(&self, user: &str, port: u16) -> String {
        format!("postgres://{user}@127.0.0.1:{port}/{}", self.database)
    }

    /// How another store opens it, with so many connections.
    pub(crate) fn options(&self, connections: u32) -> PostgresOptions {
        let key = self.world.directory().join("digest-key");
        PostgresOptions { connections, ..PostgresOptions::new(&self.url(APP), key).unwrap() }
    }

    pub(crate) fn pooled_options(&self, connections: u32) -> PostgresOptions {
        let key = self.world.directory().join("digest-key");
        let options = PostgresOptions::new(&self.pooled(APP), key).unwrap();
        PostgresOptions { connections, transaction_pooler: true, ..options }
    }

    pub(crate) async fn connect(&self, user: &str) -> PgConnection {
        PgConnection::connect(&self.url(user)).await.unwrap()
    }

    /// As the superuser.
    pub(crate) async fn admin(&self) -> PgConnection {
        self.connect(postgres::SUPERUSER).await
    }

    /// Runs statements as the superuser.
    pub(crate) async fn administer(&self, sql: &str) {
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut self.admin().await).await.unwrap();
    }

    /// The one number that a query of the superuser's answers.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let sql = AssertSqlSafe(format!("SELECT CAST(({sql}) AS bigint)"));
        sqlx::query_scalar(sql).fetch_one(&mut self.admin().await).await.unwrap()
    }

    /// Waits until a number is what it should come to be.
    pub(crate) async fn until(&self, sql: &str, wanted: i64) {
        let begin = std::time::Instant::now();
        loop {
            let found = self.number(sql).await;
            if found == wanted {
                return;
            }
            assert!(begin.elapsed() < std::time::Duration::from_mins(1), "{found} and not {wanted}: {sql}");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// Waits until nobody is at work any more: what was dropped half way may have to end first.
    pub(crate) async fn until_quiet(&self) {
        let begin = std::time::Instant::now();
        let (mut backdoor, mut quiet) = (self.world.backdoor().await, 0);
        // The sequencer comes by from time to time, so one look may meet it.
        while quiet < 3 {
            quiet = if backdoor.open_readers().await == 0 { quiet + 1 } else { 0 };
            assert!(begin.elapsed() < std::time::Duration::from_mins(1), "a session stays inside a transaction");
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
}

/// Opens a store.
pub(crate) async fn open(options: PostgresOptions) -> Arc<Postgres> {
    let store = Postgres::open(options).await.unwrap();
    assert!(store.is_ready());
    Arc::new(store)
}

/// The same change, of another tenant.
pub(crate) fn of_tenant(tenant: &TenantId, mut change: Change) -> Change {
    change.tenant = tenant.clone();
    change.judgement.tenant = tenant.clone();
    for write in &mut change.writes {
        match write {
            Write::Memory(memory) => memory.address.tenant = tenant.clone(),
            Write::Candidate(candidate) => candidate.address.tenant = tenant.clone(),
            Write::EraseCandidate(_) | Write::Block { .. } | Write::Unblock(..) => {}
        }
    }
    for expect in &mut change.expect {
        if let Expect::Address(address, _) = expect {
            address.tenant = tenant.clone();
        }
    }
    if let Some((key, _)) = &mut change.replay {
        key.tenant = tenant.clone();
    }
    change
}

/// The SQLSTATE that a statement failed with.
pub(crate) fn state<T: std::fmt::Debug>(result: Result<T, sqlx::Error>) -> String {
    match result {
        Err(sqlx::Error::Database(error)) => error.code().unwrap().into_owned(),
        other => panic!("{other:?}"),
    }
}
