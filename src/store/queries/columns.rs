//! Rows of the engine by the places of their columns, which are those of `memory_with!` and `candidate_columns!`.
//!
//! Decision: by place and not by name. A recall reads hundreds of columns, and to look each of them up costs more than
//! to read it. What reads them stands beside what names them, and a test of the contract writes and reads every field.

use sqlx::{Decode, Row as _, Type};

use super::{Db, Row};
use crate::memory::{Candidate, Memory};
use crate::store::fault::Fault;
use crate::store::rows::{CandidateRow, FactRow, MemoryRow};

/// How many columns a memory has.
pub(super) const OF_MEMORY: usize = 32;

macro_rules! fact_columns {
    () => {
        "tenant, owner, project, task, key, kind, source_kind, source_reference, parents, parent_references, \
         lineage_trust, evidence, confidence, sensitivity, consent, consent_purposes, purposes, observe_time, \
         valid_from_time, expire_time, create_time, author, change_reason"
    };
}

macro_rules! memory_columns {
    ($value:literal) => {
        concat!(
            fact_columns!(),
            ", ",
            $value,
            ", memory_id, version, value_version, state, value_chars, update_time, confirm_time"
        )
    };
}

/// The columns of a memory with what is read of its text.
macro_rules! memory_with {
    (value, tokens) => {
        concat!(memory_columns!("value"), ", tokens")
    };
    (value) => {
        concat!(memory_columns!("value"), ", CAST(NULL AS bytea) AS tokens")
    };
    (tokens) => {
        concat!(memory_columns!("CAST(NULL AS text) AS value"), ", tokens")
    };
    () => {
        concat!(memory_columns!("CAST(NULL AS text) AS value"), ", CAST(NULL AS bytea) AS tokens")
    };
}

macro_rules! candidate_columns {
    ($value:literal) => {
        concat!(fact_columns!(), ", ", $value, ", candidate_id, reasons, lapse_time")
    };
}

/// The columns of a row, from the first.
struct Columns<'r> {
    row: &'r Row,
    at: usize,
}

impl<'r> Columns<'r> {
    const fn of(row: &'r Row) -> Self {
        Self { row, at: 0 }
    }

    fn next<T: Decode<'r, Db> + Type<Db>>(&mut self) -> Result<T, sqlx::Error> {
        let column = self.row.try_get(self.at);
        self.at += 1;
        column
    }

    fn text(&mut self) -> Result<&'r str, sqlx::Error> {
        self.next()
    }

    fn fact(&mut self) -> Result<FactRow<'r>, sqlx::Error> {
        // The fields are read in the order in which they are written here.
        Ok(FactRow {
            tenant: self.next()?,
            owner: self.next()?,
            project: self.next()?,
            task: self.next()?,
            key: self.next()?,
            kind: self.next()?,
            source_kind: self.next()?,
            source_reference: self.next()?,
            parents: self.text()?.into(),
            parent_references: self.text()?.into(),
            lineage_trust: self.next()?,
            evidence: self.next()?,
            confidence: self.next()?,
            sensitivity: self.next()?,
            consent: self.next()?,
            consent_purposes: self.text()?.into(),
            purposes: self.text()?.into(),
            observe_time: self.next()?,
            valid_from_time: self.next()?,
            expire_time: self.next()?,
            create_time: self.next()?,
            author: self.next()?,
            change_reason: self.next()?,
            value: self.next()?,
        })
    }
}

/// The columns of `memory_with!`.
pub(super) fn memory_row(row: &Row) -> Result<MemoryRow<'_>, sqlx::Error> {
    let mut columns = Columns::of(row);
    Ok(MemoryRow {
        fact: columns.fact()?,
        memory_id: columns.next()?,
        version: columns.next()?,
        value_version: columns.next()?,
        state: columns.next()?,
        value_chars: columns.next()?,
        update_time: columns.next()?,
        confirm_time: columns.next()?,
        tokens: columns.next()?,
    })
}

/// A memory by the columns of `memory_with!`.
pub(in crate::store) fn memory(row: &Row) -> Result<Memory, Fault> {
    memory_row(row)?.read()
}

/// A candidate by those of `candidate_columns!`.
pub(super) fn candidate(row: &Row) -> Result<Candidate, Fault> {
    let mut columns = Columns::of(row);
    CandidateRow {
        fact: columns.fact()?,
        candidate_id: columns.next()?,
        reasons: columns.text()?.into(),
        lapse_time: columns.next()?,
    }
    .read()
}
