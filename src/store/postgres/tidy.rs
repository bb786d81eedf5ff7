//! Erasing what is over, owner by owner: the role that does it finds rows by columns that hold no text, and may remove
//! those of one owner at a time.

use std::collections::BTreeMap;

use sqlx::{query, query_as};
use uuid::Uuid;

use super::connect::Pool;
use super::unit::{self, READ, Scope, WRITE};
use crate::memory::{TenantId, Time};
use crate::store::fault::Fault;

const LAPSED: &str = "SELECT tenant, owner, candidate_id FROM candidates WHERE lapse_time <= $1 \
                      ORDER BY lapse_time LIMIT $2";
const EXPIRED: &str = "SELECT tenant, owner, request_id FROM idempotency WHERE expire_time <= $1 \
                       ORDER BY expire_time LIMIT $2";
const REMOVE_LAPSED: &str = "DELETE FROM candidates WHERE tenant = $1 AND owner = $2 AND lapse_time <= $3 \
                             AND candidate_id = ANY($4)";
const REMOVE_EXPIRED: &str = "DELETE FROM idempotency WHERE tenant = $1 AND owner = $2 AND expire_time <= $3 \
                              AND request_id = ANY($4)";

/// Candidates that have lapsed, and outcomes that are kept no longer; how many rows went.
pub(super) async fn tidy(pool: &Pool, now: Time, limit: u32) -> Result<u64, Fault> {
    let mut removed = 0;
    for (find, remove) in [(LAPSED, REMOVE_LAPSED), (EXPIRED, REMOVE_EXPIRED)] {
        for ((tenant, owner), ids) in found(pool, find, now, limit).await? {
            let tenant = TenantId::new(tenant).map_err(|_| Fault::Stored("tenant"))?;
            let scope = Scope::of(&tenant, &owner);
            removed += unit::run(pool, WRITE, Some(scope), move |connection| {
                Box::pin(async move {
                    let gone = query(remove).bind(tenant.as_str()).bind(owner).bind(now.micros()).bind(ids);
                    Ok(gone.execute(connection).await?.rows_affected())
                })
            })
            .await?;
        }
    }
    Ok(removed)
}

type ByOwner = BTreeMap<(String, String), Vec<Uuid>>;

async fn found(pool: &Pool, sql: &'static str, now: Time, limit: u32) -> Result<ByOwner, Fault> {
    let found: Vec<(String, String, Uuid)> = unit::run(pool, READ, None, move |connection| {
        Box::pin(
            async move { Ok(query_as(sql).bind(now.micros()).bind(i64::from(limit)).fetch_all(connection).await?) },
        )
    })
    .await?;
    let mut by_owner = ByOwner::new();
    for (tenant, owner, id) in found {
        by_owner.entry((tenant, owner)).or_default().push(id);
    }
    Ok(by_owner)
}
