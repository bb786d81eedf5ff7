//! The statements of a recall by themselves: over connections of this process, or as a script for pgbench.

use async_trait::async_trait;
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::query;

use super::error::meaning;
use super::{PostgresOptions, connect, queries};
use crate::store::bare::{self, Asked, Body, Row};
use crate::store::{Error, OpenError, Reach};

pub(in crate::store) struct Bare {
    app: PgPool,
    ledger: PgPool,
}

impl Bare {
    pub(in crate::store) fn new(options: &PostgresOptions) -> Result<Self, OpenError> {
        let pool = |address: &str| {
            let pool = PgPoolOptions::new().max_connections(options.connections.max(1)).test_before_acquire(false);
            Ok::<_, OpenError>(pool.connect_lazy_with(connect::once(address)?))
        };
        Ok(Self { app: pool(&options.app)?, ledger: pool(&options.ledger)? })
    }
}

#[async_trait]
impl bare::Bare for Bare {
    async fn body(&self, reach: &Reach) -> Result<Option<Body>, Error> {
        let mut connection = self.app.acquire().await.map_err(|error| meaning(error.into()))?;
        queries::bare::body(&mut connection, reach).await.map_err(meaning)
    }

    async fn read(&self, asked: &Asked) -> Result<usize, Error> {
        let mut connection = self.app.acquire().await.map_err(|error| meaning(error.into()))?;
        queries::bare::read(&mut connection, asked).await.map_err(meaning)
    }

    async fn append(&self, rows: &[Row], body: &Body) -> Result<(), Error> {
        const GROUP: &str = "INSERT INTO decisions (tenant, owner, decide_time, decision_id, method, outcome, key_id, \
                             body) SELECT tenant, owner, decide_time, decision_id, 'Recall', '', $5, $6 FROM \
                             unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[]) \
                             AS decided (tenant, owner, decide_time, decision_id)";
        let mut connection = self.ledger.acquire().await.map_err(|error| meaning(error.into()))?;
        if let [row] = rows {
            return queries::bare::append(&mut connection, row, body).await.map_err(meaning);
        }
        let appended = query(GROUP)
            .bind(rows.iter().map(|row| row.tenant.as_str()).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| row.subject.as_str()).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| row.decide_time.micros()).collect::<Vec<_>>())
            .bind(rows.iter().map(|row| row.decision_id).collect::<Vec<_>>())
            .bind(body.key_id.as_str())
            .bind(body.bytes.as_slice())
            .execute(&mut *connection)
            .await;
        appended.map(drop).map_err(|error| meaning(error.into()))
    }
}

/// The parameters of the view, in their order, as a recall by ids has them; a name with `:` is a column of the table.
const VIEW: [&str; 10] =
    [":tenant", ":subject", ":project", ":task", ":ids", ":keys", ":now", ":nothing", ":nothing", ":most"];
/// Those of the insert. Ids are of version 7, as the service's are.
const APPEND: [&str; 8] = [
    ":tenant",
    ":subject",
    "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)",
    "CAST(encode(overlay(overlay(uuid_send(gen_random_uuid()) PLACING substring(int8send(CAST(extract(epoch FROM \
     clock_timestamp()) * 1000 AS bigint)) FROM 3) FROM 1 FOR 6) PLACING '\\x70' FROM 7 FOR 1), 'hex') AS uuid)",
    ":method",
    ":nothing",
    ":key_id",
    ":body",
];

/// The script. Each client takes other values after twenty transactions, so that fetching them costs next to nothing.
pub(in crate::store) fn pgbench() -> String {
    let (view, append) = (with(queries::bare::view(), &VIEW), with(queries::bare::APPEND, &APPEND));
    format!(
        "\\if :left = 0\n\\set number random(1, :rows)\nSELECT * FROM recall_gate_pgbench WHERE number = :number \
         \\gset\n\\set left 20\n\\endif\n\\set left :left - 1\n{view};\n{append};\n"
    )
}

/// A statement with words for its parameters. The last come first, since `$1` begins `$10` too.
fn with(sql: &str, words: &[&str]) -> String {
    let words = words.iter().enumerate().rev();
    words.fold(sql.to_owned(), |sql, (before, word)| sql.replace(&format!("${}", before + 1), word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_of_the_script_has_a_word() {
        assert_eq!(with("$1, $11, $2, $1", &["a", "b", "c", "c", "c", "c", "c", "c", "c", "c", "k"]), "a, k, b, a");
        assert!(!pgbench().contains('$'), "{}", pgbench());
    }
}
