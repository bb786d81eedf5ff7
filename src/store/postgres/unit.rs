//! A unit of work: one transaction, in a task of its own.

use std::future::Future;
use std::pin::Pin;

use sqlx::pool::PoolConnection;
use sqlx::{Connection, Executor, PgConnection, PgPool, Postgres, Row, query, raw_sql};

use super::connect::Pool;
use super::error::{QUERY_CANCELED, state};
use crate::memory::TenantId;
use crate::store::deadline::{Deadline, in_time};
use crate::store::fault::Fault;

/// How a transaction begins.
///
/// Behind a pooler it first forgets what was prepared on its connection of the server: a unit that failed may have left
/// a name there, and whoever came next could not use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Begin {
    direct: &'static str,
    pooled: &'static str,
}

/// For reads: one snapshot for all statements.
pub(super) const READ: Begin = Begin {
    direct: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    pooled: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; DEALLOCATE ALL",
};
/// For writes: each statement sees what was committed before it began.
pub(super) const WRITE: Begin = Begin {
    direct: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    pooled: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; DEALLOCATE ALL",
};

/// The longest timeout that the database takes: 24 days.
const MOST_MILLIS: u128 = (1 << 31) - 1;

pub(super) type Work<'c, T> = Pin<Box<dyn Future<Output = Result<T, Fault>> + Send + 'c>>;

/// Whose rows the database shows for the rest of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scope {
    tenant: String,
    subject: String,
}

impl Scope {
    /// A subject's own rows and the shared ones; with '', the shared ones.
    pub(super) fn of(tenant: &TenantId, subject: &str) -> Self {
        Self { tenant: tenant.as_str().to_owned(), subject: subject.to_owned() }
    }

    /// Tells the database, until the transaction ends.
    pub(super) async fn set(&self, connection: &mut PgConnection) -> Result<(), Fault> {
        query("SELECT set_config('rg.tenant', $1, true), set_config('rg.subject', $2, true)")
            .bind(&self.tenant)
            .bind(&self.subject)
            .execute(connection)
            .await?;
        Ok(())
    }
}

/// Lets no statement of the transaction run for longer than there is time.
async fn limit(connection: &mut PgConnection, deadline: Deadline) -> Result<(), Fault> {
    let left = deadline.left().ok_or(Fault::OutOfTime)?;
    // The next whole one: who is stopped before the deadline was not late.
    let millis = (left.as_millis() + 1).min(MOST_MILLIS);
    query("SELECT set_config('statement_timeout', $1, true)").bind(millis.to_string()).execute(connection).await?;
    Ok(())
}

/// Runs a unit of work in a transaction.
///
/// Whoever waits for a connection may give up, and nothing is begun. Once there is one, the unit is a task of its own
/// that does not end with whoever waits for it. The deadline of the call that this task works for is kept: by waiting
/// no longer than that for a connection, and by the database for each statement.
pub(super) async fn run<T: Send + 'static>(
    pool: &Pool,
    begin: Begin,
    scope: Option<Scope>,
    work: impl for<'c> FnOnce(&'c mut PgConnection) -> Work<'c, T> + Send + 'static,
) -> Result<T, Fault> {
    let deadline = Deadline::current();
    let connection = in_time(deadline, usable(&pool.connections)).await;
    let mut connection = connection.map_err(|_| Fault::OutOfTime)??;
    let transaction_pooler = pool.transaction_pooler;
    let unit = tokio::spawn(async move {
        let begin = if transaction_pooler { begin.pooled } else { begin.direct };
        let mut transaction = connection.begin_with(begin).await?;
        let done = async {
            if let Some(deadline) = deadline {
                limit(&mut transaction, deadline).await?;
            }
            if let Some(scope) = scope {
                scope.set(&mut transaction).await?;
            }
            work(&mut transaction).await
        };
        let mut done = done.await;
        if transaction_pooler {
            // The next transaction may have another connection of the server, where the names of prepared statements
            // mean nothing, or something else; and whoever has this one next may want the same names. A transaction
            // that has failed lets go of them, too.
            let cleared = transaction.clear_cached_statements().await;
            done = done.and_then(|done| cleared.map(|()| done).map_err(Fault::from));
        }
        match done {
            Ok(done) => {
                transaction.commit().await?;
                Ok(done)
            }
            Err(fault) => {
                // Whether or not it is heard: each connection is asked before it is used again.
                let _ = transaction.rollback().await;
                let canceled = state(&fault).as_deref() == Some(QUERY_CANCELED);
                Err(if canceled && deadline.is_some_and(Deadline::is_over) { Fault::OutOfTime } else { fault })
            }
        }
    });
    unit.await.map_err(|_| Fault::Stored("unit of work"))?
}

/// Runs a single statement that wants no transaction around it, in a task of its own, on a pool where nobody says
/// `BEGIN`. The role's own timeout ends it, and the deadline of the call the wait for a connection.
pub(super) async fn run_alone<T: Send + 'static>(
    pool: &Pool,
    work: impl for<'c> FnOnce(&'c mut PgConnection) -> Work<'c, T> + Send + 'static,
) -> Result<T, Fault> {
    if pool.transaction_pooler {
        // Without a transaction, a statement is prepared on one connection of the server and may be run on another.
        return run(pool, READ, None, work).await;
    }
    let connection = in_time(Deadline::current(), pool.connections.acquire()).await;
    let mut connection = connection.map_err(|_| Fault::OutOfTime)??;
    let unit = tokio::spawn(async move {
        let done = work(&mut connection).await;
        if done.is_err() {
            // It may be broken: after the server has started anew, all that were open before are.
            connection.close_on_drop();
        }
        done
    });
    unit.await.map_err(|_| Fault::Stored("unit of work"))?
}

/// A connection that works, and that nobody has left inside a transaction. Others are closed on the way: after the
/// server has started anew, all that were open before.
async fn usable(pool: &PgPool) -> Result<PoolConnection<Postgres>, sqlx::Error> {
    for _ in 0..=pool.options().get_max_connections() {
        let mut connection = pool.acquire().await?;
        // In the simple protocol, which parses, plans and runs at one instant: within a transaction that somebody left
        // open, `now()` is older than the statement.
        let asked = connection.fetch_one(raw_sql("SELECT now() = statement_timestamp()")).await;
        if asked.and_then(|row| row.try_get::<bool, _>(0)).unwrap_or(false) {
            return Ok(connection);
        }
        connection.close_on_drop();
    }
    Err(sqlx::Error::PoolTimedOut)
}
