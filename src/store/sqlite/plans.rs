//! How SQLite goes about the statements of views: what decides whether a recall costs the same in a large database.

use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, Row, query, raw_sql};

use super::queries::shape;

#[tokio::test]
async fn a_view_of_any_shape_looks_rows_up_in_indexes_by_tenant_and_owner_or_id() {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
    raw_sql(include_str!("../migrations/sqlite/0001_first.sql")).execute(&mut connection).await.unwrap();
    let by_index = ["(tenant=? AND memory_id=?", "(tenant=? AND owner=? AND project=? AND task=?"];
    let (mut shapes, mut searched) = (0, 0);
    for (shape, text) in shape::all() {
        let plan = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {text}"));
        for step in query(plan).fetch_all(&mut connection).await.unwrap() {
            let step: String = step.get("detail");
            if step.starts_with("SEARCH ") {
                assert!(by_index.iter().any(|columns| step.contains(columns)), "{shape:?}: {step}");
                searched += 1;
            } else if step.starts_with("SCAN ") {
                let small =
                    ["json_each", "nominated", "asked", "held", "everything", "scopes", "place", "CONSTANT ROW"];
                assert!(small.iter().any(|name| step[5..].starts_with(name)), "{shape:?}: {step}");
            }
        }
        shapes += 1;
    }
    assert_eq!((shapes, searched > shapes), (64, true));
}
