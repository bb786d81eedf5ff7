//! How the database is reached: a pool for each role.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions, PgSslMode};

use crate::store::OpenError;

/// How long a unit of work waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a connection lives: so that replicas spread again after a failover.
const MAX_LIFETIME: Duration = Duration::from_mins(30);
/// How long a connection may lie idle.
const IDLE_TIMEOUT: Duration = Duration::from_mins(5);
/// Connections of the feeder and the worker, which do one thing at a time.
const FEW: u32 = 2;

/// The role of the service where an address names none.
const APP: &str = "recall_gate_app";
const LEDGER: &str = "recall_gate_ledger";
const FEEDER: &str = "recall_gate_feeder";
const WORKER: &str = "recall_gate_worker";
/// The role that owns the tables.
pub(super) const MIGRATOR: &str = "recall_gate_migrator";

/// How a PostgreSQL database is opened. Four roles, so that what reads no text cannot.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    /// Where the service reads and writes memories: `postgres://role:password@host:port/database`.
    pub app: String,
    /// Where it appends decisions of reads.
    pub ledger: String,
    /// Where it numbers the feed.
    pub feeder: String,
    /// Where it removes what is over.
    pub worker: String,
    /// The file of the digest key, the same on every replica.
    pub digest_key: PathBuf,
    /// The most connections of the service's own role that read for recalls, and as many again for everything else, at
    /// least one each; the other roles have few.
    pub connections: u32,
    /// A pooler in transaction mode lies between: nothing of a session outlives a transaction.
    pub transaction_pooler: bool,
}

impl fmt::Debug for PostgresOptions {
    /// Without the addresses: they hold passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("connections", &self.connections)
            .field("transaction_pooler", &self.transaction_pooler)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for PostgresOptions {
    /// Which database, and as whom.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(app) = parse(&self.app) else { return f.write_str("PostgreSQL") };
        let database = app.get_database().unwrap_or_default();
        write!(f, "postgres://{}@{}:{}/{database}", app.get_username(), app.get_host(), app.get_port())
    }
}

impl PostgresOptions {
    /// The four roles of deploy/postgres/roles.sql at one address. A user that the address names stands for the
    /// service's own role; a password that it has goes for all four.
    ///
    /// # Errors
    /// Where the address cannot be read.
    pub fn new(address: &str, digest_key: impl Into<PathBuf>) -> Result<Self, OpenError> {
        let options = Self {
            app: with_default_user(address, APP),
            ledger: with_user(address, LEDGER),
            feeder: with_user(address, FEEDER),
            worker: with_user(address, WORKER),
            digest_key: digest_key.into(),
            connections: 16,
            transaction_pooler: false,
        };
        for each in [&options.app, &options.ledger, &options.feeder, &options.worker] {
            parse(each)?;
        }
        Ok(options)
    }
}

impl PostgresOptions {
    /// A role logs in to another host without the certificate of that being checked.
    pub(super) fn may_be_read_on_the_way(&self) -> bool {
        [&self.app, &self.ledger, &self.feeder, &self.worker].into_iter().any(|address| {
            parse(address).is_ok_and(|options| {
                let checked = matches!(options.get_ssl_mode(), PgSslMode::VerifyCa | PgSslMode::VerifyFull);
                let host = options.get_host();
                let loopback = host.starts_with("127.") || ["localhost", "::1", "[::1]"].contains(&host);
                let here = loopback || host.starts_with('/') || options.get_socket().is_some();
                !checked && !here
            })
        })
    }
}

/// What stands before `@`, and after it.
fn authority(address: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = address.split_once("://")?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (before, _) = rest.split_at(end);
    match before.rfind('@') {
        Some(at) => rest.split_at_checked(at).map(|(who, host)| (scheme, who, host.trim_start_matches('@'))),
        None => Some((scheme, "", rest)),
    }
}

fn url_user(address: &str) -> Option<&str> {
    let (_, who, host) = authority(address)?;
    query_user(host).or_else(|| who.split(':').next()).filter(|user| !user.is_empty())
}

/// The user that stands among the parameters, and then counts.
fn query_user(host: &str) -> Option<&str> {
    let (_, parameters) = host.split_once('?')?;
    parameters.split('&').filter_map(|parameter| parameter.strip_prefix("user=")).next_back()
}

fn with_user(address: &str, user: &str) -> String {
    let Some((scheme, who, host)) = authority(address) else { return address.to_owned() };
    // Without a host, as that of a socket is, nobody can stand before it.
    if host.starts_with('/') && who.is_empty() || query_user(host).is_some() {
        let joint = if host.contains('?') { '&' } else { '?' };
        return format!("{address}{joint}user={user}");
    }
    match who.split_once(':') {
        Some((_, password)) => format!("{scheme}://{user}:{password}@{host}"),
        None => format!("{scheme}://{user}@{host}"),
    }
}

/// The address, with this user where it names none.
pub(super) fn with_default_user(address: &str, user: &str) -> String {
    with_user(address, url_user(address).unwrap_or(user))
}

/// An address that cannot be read is not repeated: it may hold a password.
fn parse(address: &str) -> Result<PgConnectOptions, OpenError> {
    PgConnectOptions::from_str(address).map_err(|_| OpenError::Address)
}

/// How whoever comes once connects.
pub(super) fn once(address: &str) -> Result<PgConnectOptions, OpenError> {
    Ok(parse(address)?.application_name("recall-gate"))
}

/// How those connect who read for recalls. A plan is made once for all values: it goes by the same indexes whatever
/// they are, and to make it takes several times as long as to run it. A pooler may not let settings through.
fn views(options: &PostgresOptions) -> Result<PgConnectOptions, OpenError> {
    let connect = once(&options.app)?;
    if options.transaction_pooler {
        return Ok(connect);
    }
    Ok(connect.options([("plan_cache_mode", "force_generic_plan")]))
}

/// Connections of one role.
#[derive(Clone)]
pub(super) struct Pool {
    pub(super) connections: PgPool,
    pub(super) transaction_pooler: bool,
}

impl Pool {
    fn new(connect: PgConnectOptions, most: u32, transaction_pooler: bool) -> Self {
        let connections = PgPoolOptions::new()
            .max_connections(most.max(1))
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .idle_timeout(IDLE_TIMEOUT)
            .max_lifetime(MAX_LIFETIME)
            .test_before_acquire(false)
            .connect_lazy_with(connect);
        Self { connections, transaction_pooler }
    }
}

/// The pools of the four roles.
pub(super) struct Pools {
    /// Of the service's own role, for transactions.
    pub(super) app: Pool,
    /// Of the same role, for single statements: nobody ever says `BEGIN` on these.
    pub(super) views: Pool,
    pub(super) ledger: Pool,
    pub(super) feeder: Pool,
    pub(super) worker: Pool,
    /// The file that the digest key came from.
    pub(super) digest_key: PathBuf,
}

impl Pools {
    pub(super) fn new(options: &PostgresOptions) -> Result<Self, OpenError> {
        let pool =
            |address: &str, most| Ok::<_, OpenError>(Pool::new(once(address)?, most, options.transaction_pooler));
        Ok(Self {
            app: pool(&options.app, options.connections)?,
            views: Pool::new(views(options)?, options.connections, options.transaction_pooler),
            ledger: pool(&options.ledger, FEW)?,
            feeder: pool(&options.feeder, FEW)?,
            worker: pool(&options.worker, FEW)?,
            digest_key: options.digest_key.clone(),
        })
    }

    /// The roles by what they are called here.
    pub(super) fn each(&self) -> [(&'static str, &Pool); 4] {
        [("app", &self.app), ("ledger", &self.ledger), ("feeder", &self.feeder), ("worker", &self.worker)]
    }

    pub(super) async fn close(&self) {
        self.views.connections.close().await;
        for (_, pool) in self.each() {
            pool.connections.close().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(address: &str) -> Vec<String> {
        let options = PostgresOptions::new(address, "key").unwrap();
        [options.app, options.ledger, options.feeder, options.worker]
            .map(|one| parse(&one).unwrap().get_username().to_owned())
            .to_vec()
    }

    #[test]
    fn an_address_stands_for_four_roles() {
        let roles = [APP, LEDGER, FEEDER, WORKER];
        assert_eq!(users("postgres://db.internal/gate"), roles);
        assert_eq!(users("postgres://:secret@db.internal:5433/gate?sslmode=prefer"), roles);
        assert_eq!(users("postgres://me:se%40cret@db.internal/gate"), ["me", LEDGER, FEEDER, WORKER]);
        assert_eq!(users("postgres:///gate?host=/run/postgresql"), roles);
        assert_eq!(users("postgres://%2Frun%2Fpostgresql/gate"), roles);
        assert_eq!(users("postgres:///gate?host=/run/postgresql&user=me"), ["me", LEDGER, FEEDER, WORKER]);
        assert_eq!(users("postgres://you@db.internal/gate?user=me"), ["me", LEDGER, FEEDER, WORKER]);
    }

    #[test]
    fn who_is_on_another_host_has_to_prove_who_it_is() {
        for (address, open) in [
            ("postgres://db.internal/gate", true),
            ("postgres://db.internal/gate?sslmode=require", true),
            ("postgres://db.internal/gate?sslmode=verify-full", false),
            ("postgres://127.0.0.1/gate", false),
            ("postgres://[::1]/gate", false),
            ("postgres://localhost/gate", false),
        ] {
            assert_eq!(PostgresOptions::new(address, "key").unwrap().may_be_read_on_the_way(), open, "{address}");
        }
    }

    #[test]
    fn a_password_goes_for_all_and_is_shown_nowhere() {
        let options = PostgresOptions::new("postgres://me:hunter2@host/gate", "key").unwrap();
        for address in [&options.app, &options.ledger, &options.feeder, &options.worker] {
            assert!(address.contains(":hunter2@host/gate"), "{address}");
        }
        assert!(!format!("{options:?}").contains("hunter2"));
        let bad = PostgresOptions::new("postgres://me:hunter2@host:port/gate", "key").unwrap_err();
        assert!(!format!("{bad:?} {bad}").contains("hunter2"), "{bad:?}");
    }
}
