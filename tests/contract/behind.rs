//! What promises look at and change behind the service's back.

use sqlx::{Decode, Postgres, Sqlite, Type};

use crate::backdoor::Backdoor;

impl Backdoor {
    /// The one column of what a statement answers. `$1` is `bound`.
    pub(crate) async fn column<T>(&mut self, sql: &'static str, bound: &str) -> Vec<T>
    where
        T: Send + Unpin + Type<Sqlite> + Type<Postgres>,
        T: for<'r> Decode<'r, Sqlite> + for<'r> Decode<'r, Postgres>,
    {
        match (self, sql.contains("$1")) {
            (Self::Sqlite(at), true) => sqlx::query_scalar(sql).bind(bound).fetch_all(at).await,
            (Self::Sqlite(at), false) => sqlx::query_scalar(sql).fetch_all(at).await,
            (Self::Postgres(at), true) => sqlx::query_scalar(sql).bind(bound).fetch_all(at).await,
            (Self::Postgres(at), false) => sqlx::query_scalar(sql).fetch_all(at).await,
        }
        .unwrap()
    }

    /// Runs a statement about `bound`, `$1`; how many rows it changed.
    pub(crate) async fn execute(&mut self, sql: &'static str, bound: &str) -> u64 {
        match self {
            Self::Sqlite(at) => sqlx::query(sql).bind(bound).execute(at).await.unwrap().rows_affected(),
            Self::Postgres(at) => sqlx::query(sql).bind(bound).execute(at).await.unwrap().rows_affected(),
        }
    }
}
