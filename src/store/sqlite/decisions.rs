//! The decisions of reads, many in one statement.

use std::fmt::Write as _;
use std::sync::LazyLock;

use sqlx::query;
use sqlx::sqlite::SqliteConnection;

use crate::memory::SubjectId;
use crate::store::digest::DigestKey;
use crate::store::fault::Fault;
use crate::store::ledger::{self, Sealed};

/// How many rows a statement appends; each is prepared once.
pub(super) const SIZES: [usize; 4] = [64, 16, 4, 1];

const COLUMNS: usize = 8;

pub(super) static STATEMENTS: LazyLock<[String; SIZES.len()]> = LazyLock::new(|| SIZES.map(statement));

fn statement(rows: usize) -> String {
    let mut sql =
        "INSERT INTO decisions (tenant, owner, decide_time, decision_id, method, outcome, key_id, body) VALUES"
            .to_owned();
    for row in 0..rows {
        sql.push_str(if row == 0 { " (" } else { ", (" });
        for column in 1..=COLUMNS {
            // Writing to a string cannot fail.
            let _ = write!(sql, "{}${}", if column == 1 { "" } else { ", " }, row * COLUMNS + column);
        }
        sql.push(')');
    }
    sql
}

/// Appends the decisions of changes that write nothing.
pub(super) async fn append(
    connection: &mut SqliteConnection,
    key: &DigestKey,
    mut decided: &[&Sealed],
) -> Result<(), Fault> {
    for (size, sql) in SIZES.into_iter().zip(STATEMENTS.iter()) {
        while let Some((rows, rest)) = decided.split_at_checked(size) {
            decided = rest;
            let mut statement = query(sql.as_str());
            for Sealed { change, body } in rows {
                let judgement = &change.judgement;
                statement = statement
                    .bind(judgement.tenant.as_str())
                    .bind(judgement.subject.as_ref().map_or("", SubjectId::as_str))
                    .bind(judgement.decide_time.micros())
                    .bind(judgement.decision_id.0)
                    .bind(judgement.method)
                    .bind(ledger::outcome(&judgement.disposition))
                    .bind(key.id())
                    .bind(body.as_slice());
            }
            statement.execute(&mut *connection).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_its_parameters() {
        assert!(statement(1).ends_with("VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"));
        assert!(statement(64).ends_with(", $512)"));
    }
}
