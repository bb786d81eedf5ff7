//! Whether the database is as it has to be for the service's promises to hold: asked at start, before anything is
//! served, and found wanting with every fault at once.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sqlx::{PgConnection, query, query_as, query_scalar};

use super::connect::{Pool, Pools};
use super::error::{INSUFFICIENT_PRIVILEGE, INVALID_AUTHORIZATION, meaning, state};
use super::unit::{self, READ, WRITE, Work};
use super::{partitions, queries, schema};
use crate::memory::Time;
use crate::store::fault::Fault;
use crate::store::{Error, OpenError};

/// Further off than this, a replica would judge by another time than the others.
const MOST_CLOCK_OFFSET: Duration = Duration::from_millis(500);
/// How long one look may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The settings that make a commit durable, and the value that would not.
const DURABLE: [(&str, &str); 3] = [("fsync", "off"), ("full_page_writes", "off"), ("synchronous_commit", "off")];

/// The columns that hold text, or what a person could be known by.
const TEXT: [&str; 8] =
    ["value", "tokens", "source_reference", "parent_references", "change_reason", "shown", "receipt", "document"];

/// How it is.
pub(super) enum Verdict {
    /// It will not become fit by waiting.
    Unfit(OpenError),
    /// It may: the server does not answer, or the schema is yet to be migrated.
    NotYet(OpenError),
}

impl From<Verdict> for OpenError {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Unfit(error) | Verdict::NotYet(error) => error,
        }
    }
}

impl From<Fault> for Verdict {
    /// Who is not let in will not be by waiting.
    fn from(fault: Fault) -> Self {
        let refused = state(&fault).is_some_and(|state| state.starts_with(INVALID_AUTHORIZATION));
        if refused { Self::Unfit(fault.into()) } else { Self::NotYet(fault.into()) }
    }
}

/// Everything that can be asked before the first call: schema, settings, roles, tables, the digest key.
pub(super) async fn all(pools: &Pools, key_id: &str, key_file: &Path) -> Result<(), Verdict> {
    let look = async {
        schema(&pools.app).await?;
        let mut faults = Vec::new();
        for (name, pool) in pools.each() {
            let found = unit::run(pool, READ, None, move |connection| Box::pin(role(connection, name))).await?;
            faults.extend(found);
        }
        faults.extend(unit::run(&pools.app, READ, None, |connection| Box::pin(tables(connection))).await?);
        faults.extend(hidden(&pools.app).await?);
        if !faults.is_empty() {
            return Err(Verdict::Unfit(OpenError::Unfit { faults }));
        }
        key(&pools.app, key_id, key_file).await
    };
    tokio::time::timeout(PATIENCE, look)
        .await
        .unwrap_or_else(|late| Err(Verdict::NotYet(OpenError::Database(Box::new(late)))))
}

/// A binary runs on the schema of its own version and on the one after it, so that an upgrade can roll.
async fn schema(pool: &Pool) -> Result<(), Verdict> {
    let found = unit::run(pool, READ, None, |connection| Box::pin(schema::found(connection))).await?;
    let known = schema::known();
    if found < known {
        return Err(Verdict::NotYet(OpenError::SchemaOlder { found, known }));
    }
    if found > known + 1 {
        return Err(Verdict::Unfit(OpenError::SchemaNewer { found, known }));
    }
    Ok(())
}

/// What speaks against the role of this connection, or against what the server does for it.
async fn role(connection: &mut PgConnection, name: &'static str) -> Result<Vec<String>, Fault> {
    const ABOVE: &str = "SELECT CAST(rolname AS text) FROM pg_roles WHERE (rolsuper OR rolbypassrls) \
                         AND pg_has_role(current_user, oid, 'MEMBER') ORDER BY 1";
    const OWNED: &str = "SELECT CAST(relname AS text) FROM pg_class WHERE relnamespace = 'public'::regnamespace \
                         AND relkind IN ('r', 'p') AND pg_has_role(current_user, relowner, 'MEMBER') ORDER BY 1";
    // Policies add up, so each has to hold to the tenant, and where rows have an owner to the subject, all alone.
    const WIDE: &str = "SELECT DISTINCT tablename || '.' || policyname FROM pg_policies \
                        LEFT JOIN pg_attribute ON attname = 'owner' \
                        AND attrelid = to_regclass(format('%I.%I', schemaname, tablename)) \
                        CROSS JOIN LATERAL unnest(ARRAY[qual, with_check]) AS rule (held) \
                        WHERE schemaname = 'public' AND permissive = 'PERMISSIVE' AND held IS NOT NULL \
                        AND EXISTS (SELECT FROM unnest(roles) AS role (name) \
                        WHERE role.name = 'public' OR pg_has_role(current_user, role.name, 'MEMBER')) \
                        AND (held NOT LIKE '%rg.tenant%' OR held LIKE '% OR %' \
                        OR (attname = 'owner' AND held NOT LIKE '%rg.subject%')) ORDER BY 1";
    const BLIND: &str = "SELECT CAST(relname AS text) FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid \
                         WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition \
                         AND attname = 'tenant' AND has_table_privilege(current_user, pg_class.oid, 'SELECT') \
                         AND NOT EXISTS (SELECT FROM pg_policies CROSS JOIN unnest(roles) AS role (name) \
                         WHERE schemaname = 'public' AND tablename = relname \
                         AND (role.name = 'public' OR pg_has_role(current_user, role.name, 'MEMBER'))) ORDER BY 1";
    const READABLE: &str = "SELECT DISTINCT relname || '.' || attname FROM pg_attribute \
                            JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = 'public'::regnamespace \
                            AND relkind IN ('r', 'p') AND attname = ANY($1) \
                            AND has_column_privilege(current_user, attrelid, attnum, 'SELECT') ORDER BY 1";
    const PARTITIONS: &str = "SELECT CAST(relname AS text) FROM pg_class WHERE relispartition \
                              AND relnamespace = 'public'::regnamespace AND relkind = 'r' \
                              AND has_table_privilege(current_user, oid, 'SELECT, INSERT, UPDATE, DELETE') ORDER BY 1";
    const SETTINGS: &str = "SELECT name, setting FROM pg_settings WHERE name = ANY($1) ORDER BY name";
    let user: String = query_scalar("SELECT CAST(current_user AS text)").fetch_one(&mut *connection).await?;
    let mut faults = Vec::new();
    for above in strings(connection, ABOVE).await? {
        faults
            .push(format!("the {name} role `{user}` is, or may act as, `{above}`, which row-level security binds not"));
    }
    if !faults.is_empty() {
        // Whoever stands above all may do everything else as well.
        return Ok(faults);
    }
    for table in strings(connection, OWNED).await? {
        faults.push(format!("the {name} role `{user}` owns the table `{table}`, or may act as its owner"));
    }
    for table in strings(connection, PARTITIONS).await? {
        faults
            .push(format!("the {name} role `{user}` has rights on the partition `{table}` itself, past its policies"));
    }
    if name == "app" {
        for policy in strings(connection, WIDE).await? {
            faults
                .push(format!("the policy `{policy}` shows the {name} role `{user}` more than one tenant or subject"));
        }
        for table in strings(connection, BLIND).await? {
            faults.push(format!("no policy lets the {name} role `{user}` see its rows of the table `{table}`"));
        }
    } else {
        let columns = TEXT.map(str::to_owned).to_vec();
        let readable: Vec<String> = query_scalar(READABLE).bind(columns).fetch_all(&mut *connection).await?;
        for column in readable {
            faults.push(format!("the {name} role `{user}` can read the text in `{column}`"));
        }
    }
    let names: Vec<String> = DURABLE.iter().map(|(setting, _)| (*setting).to_owned()).collect();
    let settings: Vec<(String, String)> = query_as(SETTINGS).bind(names).fetch_all(connection).await?;
    for (setting, value) in settings {
        if DURABLE.contains(&(&setting, &value)) {
            faults.push(format!(
                "`{setting}` is {value} for the {name} role `{user}`: what is acknowledged could be lost"
            ));
        }
    }
    Ok(faults)
}

async fn strings(connection: &mut PgConnection, sql: &'static str) -> Result<Vec<String>, Fault> {
    Ok(query_scalar(sql).fetch_all(connection).await?)
}

/// The tables that have rows of tenants and do not keep them apart.
async fn tables(connection: &mut PgConnection) -> Result<Vec<String>, Fault> {
    const OPEN: &str = "SELECT CAST(relname AS text) FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid \
                        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition \
                        AND attname = 'tenant' AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY 1";
    let open = strings(connection, OPEN).await?;
    Ok(open.into_iter().map(|table| format!("row-level security is not forced on the table `{table}`")).collect())
}

/// With row-level security off, a query that it would filter fails, unless nothing filters it.
async fn hidden(pool: &Pool) -> Result<Option<String>, Verdict> {
    let asked = unit::run(pool, READ, None, |connection| -> Work<'_, ()> {
        Box::pin(async move {
            query("SET LOCAL row_security = off").execute(&mut *connection).await?;
            query("SELECT memory_id FROM memories LIMIT 1").execute(connection).await?;
            Ok(())
        })
    });
    match asked.await {
        Ok(()) => Ok(Some("row-level security does not filter what the app role reads".to_owned())),
        Err(fault) if state(&fault).as_deref() == Some(INSUFFICIENT_PRIVILEGE) => Ok(None),
        Err(fault) => Err(fault.into()),
    }
}

/// The digests of the database are made with one key; the first service says with which.
async fn key(pool: &Pool, key_id: &str, key_file: &Path) -> Result<(), Verdict> {
    let id = key_id.to_owned();
    let known = unit::run(pool, WRITE, None, move |connection| {
        Box::pin(async move {
            if queries::key_id(connection).await?.is_none() {
                queries::keep_key_id(connection, &id).await?;
            }
            queries::key_id(connection).await
        })
    })
    .await?;
    if known.as_deref() == Some(key_id) {
        return Ok(());
    }
    Err(Verdict::Unfit(OpenError::KeyForeign { path: key_file.to_owned() }))
}

/// Whether a change could be made durable now, and judged by the right time.
pub(super) async fn still(pools: &Pools) -> Result<(), Error> {
    // A commit of the role that writes text: where this server has become a standby, or is full, it fails.
    const TRIAL: &str = "INSERT INTO leases (name, holder, token, expire_time) \
                         VALUES ('trial', '00000000-0000-0000-0000-000000000000', 1, 0) \
                         ON CONFLICT (name) DO UPDATE SET token = leases.token + 1";
    const INSTANT: &str = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)";
    let look = unit::run(&pools.app, WRITE, None, |connection| -> Work<'_, (Option<Duration>, i64)> {
        Box::pin(async move {
            query(TRIAL).execute(&mut *connection).await?;
            let before = now();
            let theirs: i64 = query_scalar(INSTANT).fetch_one(&mut *connection).await?;
            let ahead = partitions::ahead(connection, Time::from_micros(theirs)).await?;
            Ok((offset(before, theirs, now()), ahead))
        })
    });
    let (offset, ahead) = tokio::time::timeout(PATIENCE, look)
        .await
        .map_err(|late| Error::Unavailable(Box::new(late)))?
        .map_err(meaning)?;
    if ahead < partitions::FEWEST_AHEAD {
        tracing::error!(
            weeks = ahead,
            "the decision ledger has few partitions ahead: run `recall-gate migrate`; until then decisions land in the \
             default partition, where retention is slow"
        );
    }
    match offset {
        Some(offset) if offset <= MOST_CLOCK_OFFSET => Ok(()),
        offset => Err(Error::Unavailable(Box::new(ClockOff { millis: offset.map(|offset| offset.as_millis()) }))),
    }
}

#[expect(clippy::disallowed_methods, reason = "the clock of this host is what is looked at, not the time to judge by")]
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// By how much, at least, this host's clock differs from the one that was asked in between.
fn offset(before: Duration, theirs_micros: i64, after: Duration) -> Option<Duration> {
    let theirs = Duration::from_micros(u64::try_from(theirs_micros).ok()?);
    Some(before.saturating_sub(theirs).max(theirs.saturating_sub(after)))
}

/// This host's clock is not the database's.
#[derive(Debug, thiserror::Error)]
#[error("this host's clock is {} ms off the database's, where 500 ms are borne", .millis.unwrap_or_default())]
struct ClockOff {
    millis: Option<u128>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_off_by_what_the_way_there_and_back_cannot_explain() {
        let at = Duration::from_millis;
        for (before, theirs, after, expected) in
            [(1_000, 1_000, 1_000, 0), (1_000, 1_400, 2_000, 0), (1_000, 2_501, 2_000, 501), (1_600, 1_000, 1_700, 600)]
        {
            assert_eq!(offset(at(before), theirs * 1_000, at(after)), Some(at(expected)), "{before} {theirs} {after}");
        }
        assert_eq!(offset(at(0), -1, at(0)), None);
    }
}
