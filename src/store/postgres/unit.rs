//! A unit of work: one transaction, in a task of its own.

use std::future::Future;
use std::pin::Pin;

use sqlx::{Connection, PgConnection, query};

use super::connect::Pool;
use super::error::{QUERY_CANCELED, state};
use crate::memory::TenantId;
use crate::store::deadline::Deadline;
use crate::store::fault::Fault;

/// For reads: one snapshot for all statements.
pub(super) const READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// For writes: each statement sees what was committed before it began.
pub(super) const WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

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
    let millis = left.as_millis().clamp(1, MOST_MILLIS);
    query("SELECT set_config('statement_timeout', $1, true)").bind(millis.to_string()).execute(connection).await?;
    Ok(())
}

/// Runs a unit of work in a transaction. Its task is not ended with whoever waits for it; the deadline of the call that
/// this task works for is kept, by waiting no longer for a connection, and by the database for each statement.
pub(super) async fn run<T: Send + 'static>(
    pool: &Pool,
    begin: &'static str,
    scope: Option<Scope>,
    work: impl for<'c> FnOnce(&'c mut PgConnection) -> Work<'c, T> + Send + 'static,
) -> Result<T, Fault> {
    let pool = pool.clone();
    let deadline = Deadline::current();
    let unit = tokio::spawn(async move {
        let mut connection = match deadline {
            Some(Deadline(end)) => tokio::time::timeout_at(end, pool.connections.acquire()).await,
            None => Ok(pool.connections.acquire().await),
        }
        .map_err(|_| Fault::OutOfTime)??;
        let mut transaction = connection.begin_with(begin).await?;
        let done = async {
            if let Some(deadline) = deadline {
                limit(&mut transaction, deadline).await?;
            }
            if let Some(scope) = scope {
                scope.set(&mut transaction).await?;
            }
            let done = work(&mut transaction).await?;
            pool.forget_statements(&mut transaction).await?;
            Ok(done)
        };
        match done.await {
            Ok(done) => {
                transaction.commit().await?;
                Ok(done)
            }
            Err(fault) => {
                // Whether or not it is heard: the pool asks each connection before it gives it out again.
                let _ = transaction.rollback().await;
                let canceled = state(&fault).as_deref() == Some(QUERY_CANCELED);
                Err(if canceled && deadline.is_some_and(Deadline::is_over) { Fault::OutOfTime } else { fault })
            }
        }
    });
    unit.await.map_err(|_| Fault::Stored("unit of work"))?
}

impl Pool {
    /// Behind a pooler the next transaction may have another connection of the server, where the names of prepared
    /// statements mean nothing, or something else.
    pub(super) async fn forget_statements(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        if self.transaction_pooler { connection.clear_cached_statements().await } else { Ok(()) }
    }
}
