//! The decisions of reads, many in one statement, and where nothing else is to be committed, their whole transaction in
//! one text: each text that the database is sent costs two changes of thread, and all that wait pay for them.

use std::array;
use std::fmt::Write as _;
use std::sync::LazyLock;

use sqlx::query;
use sqlx::sqlite::SqliteConnection;
use uuid::Uuid;

use crate::memory::{SubjectId, Time};
use crate::store::digest::DigestKey;
use crate::store::fault::Fault;
use crate::store::ledger::{self, Sealed};

/// The most rows of a statement. Each number of rows has a statement of its own, which is prepared once.
const MOST: usize = 64;
/// How many statements there are: whoever keeps them prepared needs room for them.
pub(super) const STATEMENTS: usize = 2 * MOST + 2;

const COLUMNS: usize = 8;

/// What stands around the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transaction {
    /// One that has begun: it ends with the last of them.
    Begun,
    /// One of their own.
    Own,
}

/// For each number of rows from 1.
struct Texts {
    whole: [String; MOST],
    last: [String; MOST],
    first: String,
    middle: String,
}

static TEXTS: LazyLock<Texts> = LazyLock::new(|| Texts {
    whole: array::from_fn(|at| text(true, at + 1, true)),
    last: array::from_fn(|at| text(false, at + 1, true)),
    first: text(true, MOST, false),
    middle: text(false, MOST, false),
});

fn text(begins: bool, rows: usize, ends: bool) -> String {
    // One that cannot be appended undoes the group: SQLite then keeps no copy of each page that the statement writes.
    let mut sql = if begins { "BEGIN IMMEDIATE; " } else { "" }.to_owned();
    sql.push_str(
        "INSERT OR ROLLBACK INTO decisions (tenant, owner, decide_time, decision_id, method, outcome, key_id, body) VALUES",
    );
    for row in 0..rows {
        sql.push_str(if row == 0 { " (" } else { ", (" });
        for column in 1..=COLUMNS {
            // Writing to a string cannot fail.
            let _ = write!(sql, "{}${}", if column == 1 { "" } else { ", " }, row * COLUMNS + column);
        }
        sql.push(')');
    }
    sql.push_str(if ends { "; COMMIT" } else { "" });
    sql
}

/// A row of the ledger.
pub(super) struct Decided<'a> {
    pub(super) tenant: &'a str,
    pub(super) owner: &'a str,
    pub(super) decide_time: Time,
    pub(super) decision_id: Uuid,
    pub(super) method: &'static str,
    pub(super) outcome: &'static str,
    pub(super) key_id: &'a str,
    pub(super) body: &'a [u8],
}

impl<'a> Decided<'a> {
    pub(super) fn of(Sealed { change, body }: &'a Sealed, key: &'a DigestKey) -> Self {
        let judgement = &change.judgement;
        Self {
            tenant: judgement.tenant.as_str(),
            owner: judgement.subject.as_ref().map_or("", SubjectId::as_str),
            decide_time: judgement.decide_time,
            decision_id: judgement.decision_id.0,
            method: judgement.method,
            outcome: ledger::outcome(&judgement.disposition),
            key_id: key.id(),
            body,
        }
    }
}

/// Appends the decisions of reads, at least one, and commits.
pub(super) async fn append_and_commit(
    connection: &mut SqliteConnection,
    decided: &[Decided<'_>],
    transaction: Transaction,
) -> Result<(), Fault> {
    let mut begun = transaction == Transaction::Begun;
    let mut chunks = decided.chunks(MOST).peekable();
    while let Some(rows) = chunks.next() {
        let of_so_many = rows.len().checked_sub(1);
        let sql = match (begun, chunks.peek().is_none()) {
            (false, true) => of_so_many.and_then(|at| TEXTS.whole.get(at)),
            (true, true) => of_so_many.and_then(|at| TEXTS.last.get(at)),
            (false, false) => Some(&TEXTS.first),
            (true, false) => Some(&TEXTS.middle),
        };
        let sql = sql.ok_or(Fault::Stored("decisions"))?;
        begun = true;
        let mut statement = query(sql.as_str());
        for row in rows {
            statement = statement
                .bind(row.tenant)
                .bind(row.owner)
                .bind(row.decide_time.micros())
                .bind(row.decision_id)
                .bind(row.method)
                .bind(row.outcome)
                .bind(row.key_id)
                .bind(row.body);
        }
        statement.execute(&mut *connection).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_its_parameters() {
        assert!(text(false, 1, false).ends_with("VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"));
        let whole = text(true, 64, true);
        assert!(whole.starts_with("BEGIN IMMEDIATE; INSERT OR ROLLBACK") && whole.ends_with(", $512); COMMIT"));
    }
}
