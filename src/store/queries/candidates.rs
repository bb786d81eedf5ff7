//! Held candidates.

use sqlx::{query, query_scalar};
use uuid::Uuid;

use super::{Connection, Row, columns, owners};
use crate::memory::{Candidate, CandidateId, Time};
use crate::store::fault::{Fault, Stop};
use crate::store::rows::CandidateRow;
use crate::store::{CandidatePage, Range, Reach};

macro_rules! after {
    ($and:literal) => {
        concat!(
            "SELECT ",
            candidate_columns!("value"),
            " FROM candidates WHERE tenant = $1 AND owner = $2 AND (create_time, candidate_id) > ($3, $4)",
            " AND lapse_time > $5",
            $and,
            " ORDER BY create_time, candidate_id",
            at_most!("$6")
        )
    };
}

/// One candidate with its value.
pub(in crate::store) async fn one(
    connection: &mut Connection,
    reach: &Reach,
    id: CandidateId,
    now: Time,
) -> Result<Option<Candidate>, Fault> {
    const SQL: &str = concat!(
        "SELECT ",
        candidate_columns!("value"),
        " FROM candidates WHERE tenant = $1 AND owner IN ($2, '') AND candidate_id = $3 AND lapse_time > $4"
    );
    let row = query(SQL)
        .bind(reach.tenant.as_str())
        .bind(reach.subject.as_str())
        .bind(id.0)
        .bind(now.micros())
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(columns::candidate).transpose()
}

/// A page of candidates with their values. Reads a page of each owner and merges them, so that a page costs the same
/// however far on it lies.
pub(in crate::store) async fn page(
    connection: &mut Connection,
    reach: &Reach,
    range: &Range,
    after: Option<(Time, CandidateId)>,
    limit: u32,
    now: Time,
) -> Result<CandidatePage, Fault> {
    let (after_time, after_id) = after.map_or((i64::MIN, Uuid::nil()), |(time, id)| (time.micros(), id.0));
    let mut rows: Vec<Row> = Vec::new();
    for owner in owners(reach, range) {
        let select = match range {
            Range::One(..) => query(after!(" AND project = $7 AND task = $8")),
            Range::Owner(_) | Range::All => query(after!("")),
        };
        let select = select
            .bind(reach.tenant.as_str())
            .bind(owner)
            .bind(after_time)
            .bind(after_id)
            .bind(now.micros())
            .bind(i64::from(limit) + 1);
        let select = match range {
            Range::One(_, level) => select.bind(level.project()).bind(level.task()),
            Range::Owner(_) | Range::All => select,
        };
        rows.extend(select.fetch_all(&mut *connection).await?);
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    let mut candidates: Vec<Candidate> = rows.iter().map(columns::candidate).collect::<Result<_, _>>()?;
    candidates.sort_by_key(|candidate| (candidate.create_time, candidate.id));
    candidates.truncate(limit);
    Ok(CandidatePage { candidates, more })
}

/// Whether it still waits.
pub(super) async fn waits(
    connection: &mut Connection,
    tenant: &str,
    subject: &str,
    id: CandidateId,
) -> Result<bool, Fault> {
    const SQL: &str =
        "SELECT create_time FROM candidates WHERE tenant = $1 AND owner IN ($2, '') AND candidate_id = $3";
    let found: Option<i64> = query_scalar(SQL).bind(tenant).bind(subject).bind(id.0).fetch_optional(connection).await?;
    Ok(found.is_some())
}

pub(super) async fn insert(connection: &mut Connection, candidate: &Candidate) -> Result<(), Fault> {
    const SQL: &str = concat!(
        "INSERT INTO candidates (",
        candidate_columns!("value"),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, \
         $23, $24, $25, $26, $27)"
    );
    let row = CandidateRow::of(candidate);
    super::change::bind_fact(query(SQL), row.fact)
        .bind(row.candidate_id)
        .bind(row.reasons)
        .bind(row.lapse_time)
        .execute(connection)
        .await?;
    Ok(())
}

/// The row goes, and its text with it. On SQLite copies that earlier page splits left in unused parts of pages, which
/// `secure_delete` does not reach, stay until the file is compacted.
pub(super) async fn erase(
    connection: &mut Connection,
    tenant: &str,
    subject: &str,
    id: CandidateId,
) -> Result<(), Stop> {
    const SQL: &str = "DELETE FROM candidates WHERE tenant = $1 AND owner IN ($2, '') AND candidate_id = $3";
    let done = query(SQL).bind(tenant).bind(subject).bind(id.0).execute(connection).await?;
    if done.rows_affected() == 0 { Err(Stop::Contended) } else { Ok(()) }
}
