//! A connection to the database of either engine, behind the service's back.

use std::path::Path;

use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

/// On PostgreSQL a superuser's, whom no policy holds.
pub(crate) enum Backdoor {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Backdoor {
    pub(crate) async fn sqlite(file: &Path) -> Self {
        Self::Sqlite(SqliteConnectOptions::new().filename(file).connect().await.unwrap())
    }

    pub(crate) async fn postgres(url: &str) -> Self {
        Self::Postgres(PgConnection::connect(url).await.unwrap())
    }

    /// The one number that a query answers. `$1` is `bound`.
    pub(crate) async fn number(&mut self, sql: &'static str, bound: &str) -> i64 {
        // The sum of integers is no integer to PostgreSQL.
        let names = sql.contains("$1");
        let sql = AssertSqlSafe(format!("SELECT CAST(({sql}) AS bigint)"));
        match (self, names) {
            (Self::Sqlite(at), true) => sqlx::query_scalar(sql).bind(bound).fetch_one(at).await,
            (Self::Sqlite(at), false) => sqlx::query_scalar(sql).fetch_one(at).await,
            (Self::Postgres(at), true) => sqlx::query_scalar(sql).bind(bound).fetch_one(at).await,
            (Self::Postgres(at), false) => sqlx::query_scalar(sql).fetch_one(at).await,
        }
        .unwrap()
    }

    /// How many readers the server or the log still keeps an old state for.
    pub(crate) async fn open_readers(&mut self) -> i64 {
        match self {
            Self::Sqlite(at) => {
                let checkpoint = sqlx::query_as::<_, (i64, i64, i64)>("PRAGMA wal_checkpoint(TRUNCATE)");
                checkpoint.fetch_one(at).await.unwrap().0
            }
            Self::Postgres(at) => {
                let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                              AND xact_start IS NOT NULL AND pid <> pg_backend_pid()";
                sqlx::query_scalar(others).fetch_one(at).await.unwrap()
            }
        }
    }
}
