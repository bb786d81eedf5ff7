//! One PgBouncer in transaction mode before the tests' PostgreSQL, for the whole test process.

use std::sync::OnceLock;

use crate::held::Held;
use crate::postgres;

/// Its port on the loopback address. It believes every user that the roles' file makes, and `postgres`.
pub(crate) fn port() -> u16 {
    static POOLER: OnceLock<Held> = OnceLock::new();
    let (_, server) = postgres::address().rsplit_once(':').unwrap();
    POOLER.get_or_init(|| Held::start("pgbouncer", &[server])).said().parse().unwrap()
}
