//! The statements of a recall by themselves, for measurements.

use std::sync::LazyLock;

use sqlx::{query, query_as};

use super::shape::Shape;
use super::{Connection, ids, ledger};
use crate::store::Reach;
use crate::store::bare::{Asked, Body, Row};
use crate::store::fault::Fault;

pub(in crate::store) use ledger::APPEND;
/// A recall's view by ids. Its other parameters are not in use.
pub(in crate::store) fn view() -> &'static str {
    Shape::BY_IDS.text().unwrap_or_default()
}

/// Reads what a recall judges, and makes nothing of it; how many rows.
pub(in crate::store) async fn read(connection: &mut Connection, asked: &Asked) -> Result<usize, Fault> {
    let rows = query(view())
        .bind(asked.reach.tenant.as_str())
        .bind(asked.reach.subject.as_str())
        .bind(asked.project.as_str())
        .bind("")
        .bind(ids(asked.ids.iter().map(|id| id.0)))
        .bind("[]")
        .bind(asked.now.micros())
        .bind("")
        .bind("")
        .bind(i64::MAX)
        .fetch_all(connection)
        .await?;
    Ok(rows.len())
}

/// Appends one decision.
pub(in crate::store) async fn append(connection: &mut Connection, row: &Row, body: &Body) -> Result<(), Fault> {
    query(APPEND)
        .bind(row.tenant.as_str())
        .bind(row.subject.as_str())
        .bind(row.decide_time.micros())
        .bind(row.decision_id)
        .bind("Recall")
        .bind("")
        .bind(body.key_id.as_str())
        .bind(body.bytes.as_slice())
        .execute(connection)
        .await?;
    Ok(())
}

/// What the newest decision of a recall about a subject holds.
pub(in crate::store) async fn body(connection: &mut Connection, reach: &Reach) -> Result<Option<Body>, Fault> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let [before, after] = visible!();
        [before, NEWEST, after].concat()
    });
    const NEWEST: &str = concat!(
        "SELECT key_id, body FROM decisions WHERE tenant = ",
        tenant!(),
        " AND owner = ",
        subject!(),
        " AND method = 'Recall' ORDER BY decide_time DESC LIMIT 1"
    );
    let found: Option<(String, Vec<u8>)> = query_as(SQL.as_str())
        .bind(reach.tenant.as_str())
        .bind(reach.subject.as_str())
        .fetch_optional(connection)
        .await?;
    Ok(found.map(|(key_id, bytes)| Body { key_id, bytes }))
}
