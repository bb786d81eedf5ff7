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
        let sql = AssertSqlSafe(format!("SELECT CAST(({sql}) AS bigint)"));
        match self {
            Self::Sqlite(at) => sqlx::query_scalar(sql).bind(bound).fetch_one(at).await,
            Self::Postgres(at) => sqlx::query_scalar(sql).bind(bound).fetch_one(at).await,
        }
        .unwrap()
    }
}
