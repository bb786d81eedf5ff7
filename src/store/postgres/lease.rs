//! Leases: what only one replica may do at a time, by the database's clock.
//!
//! A holder that has been away for longer than its lease finds another token there. Work is done in a transaction that
//! holds the row's lock with its own token in it, so what an earlier holder still tries is undone, not merely late.

use sqlx::{PgConnection, query_scalar};
use uuid::Uuid;

use crate::store::fault::Fault;

/// How long a lease lasts, in microseconds.
const LEASE_MICROS: i64 = 10_000_000;

/// Proof that a lease was held when it was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token(i64);

/// Takes the lease, or takes it again, in a transaction of its own; `None` where another replica holds it.
pub(super) async fn take(connection: &mut PgConnection, name: &str, holder: Uuid) -> Result<Option<Token>, Fault> {
    const SQL: &str = "\
        INSERT INTO leases (name, holder, token, expire_time)
        SELECT $1, $2, 1, instant + $3 FROM (
            SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) AS instant) AS clock
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expire_time = excluded.expire_time,
            token = leases.token + CASE WHEN leases.holder = excluded.holder THEN 0 ELSE 1 END
        WHERE leases.holder = excluded.holder OR leases.expire_time < excluded.expire_time - $3
        RETURNING token";
    let token: Option<i64> =
        query_scalar(SQL).bind(name).bind(holder).bind(LEASE_MICROS).fetch_optional(connection).await?;
    Ok(token.map(Token))
}

/// Whether the lease is still held under this token. It stays so until the transaction ends.
pub(super) async fn hold(connection: &mut PgConnection, name: &str, token: Token) -> Result<bool, Fault> {
    const SQL: &str = "SELECT token FROM leases WHERE name = $1 AND token = $2 FOR UPDATE";
    let held: Option<i64> = query_scalar(SQL).bind(name).bind(token.0).fetch_optional(connection).await?;
    Ok(held.is_some())
}

/// Gives the lease back, so that the next need not wait until it is over.
pub(super) async fn give_back(connection: &mut PgConnection, name: &str, holder: Uuid) -> Result<(), Fault> {
    sqlx::query("UPDATE leases SET expire_time = 0 WHERE name = $1 AND holder = $2")
        .bind(name)
        .bind(holder)
        .execute(connection)
        .await?;
    Ok(())
}
