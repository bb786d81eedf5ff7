//! What SQLite's answers mean.

use sqlx::error::{DatabaseError, ErrorKind};

use crate::store::fault::Fault;
use crate::store::{CommitError, Error};

const PRIMARY_MASK: i32 = 0xff;
const SQLITE_ERROR: i32 = 1;
const SQLITE_BUSY: i32 = 5;
const SQLITE_CORRUPT: i32 = 11;
const SQLITE_CONSTRAINT: i32 = 19;
const SQLITE_MISMATCH: i32 = 20;
const SQLITE_NOTADB: i32 = 26;

/// The file or the store is closed.
#[derive(Debug, thiserror::Error)]
#[error("the store is closed")]
pub(super) struct Closed;

/// For a call that found the store closed.
pub(super) fn closed() -> Error {
    Error::Unavailable(Box::new(Closed))
}

fn primary_code(error: &dyn DatabaseError) -> Option<i32> {
    error.code()?.parse::<i32>().ok().map(|code| code & PRIMARY_MASK)
}

/// Somebody outside has held the lock for longer than we wait.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(primary_code) == Some(SQLITE_BUSY)
}

/// Why a read, or a whole group, failed.
pub(super) fn meaning(fault: Fault) -> Error {
    let defect = match &fault {
        Fault::OutOfTime => return Error::OutOfTime,
        Fault::Stored(_) => true,
        Fault::Sql(sqlx::Error::Database(error)) => matches!(
            primary_code(error.as_ref()),
            Some(SQLITE_ERROR | SQLITE_CORRUPT | SQLITE_CONSTRAINT | SQLITE_MISMATCH | SQLITE_NOTADB)
        ),
        Fault::Sql(error) => matches!(
            error,
            sqlx::Error::ColumnDecode { .. }
                | sqlx::Error::Decode(_)
                | sqlx::Error::Encode(_)
                | sqlx::Error::ColumnNotFound(_)
                | sqlx::Error::ColumnIndexOutOfBounds { .. }
                | sqlx::Error::TypeNotFound { .. }
                | sqlx::Error::RowNotFound
        ),
    };
    if defect { Error::Corrupt(Box::new(fault)) } else { Error::Unavailable(Box::new(fault)) }
}

/// What a fault means for one change of a group: the change alone is refused, or the group fails with it.
pub(super) enum Blame {
    /// The change; the rest of the group goes on.
    Change(CommitError),
    /// The connection or the file; the group cannot go on.
    Group(Fault),
}

/// Whose fault it was. SQLite undoes the failed statement alone after a constraint, and nobody knows what after any
/// other error: a full disk undoes the whole transaction.
pub(super) fn blame(fault: Fault) -> Blame {
    let kind = match &fault {
        Fault::Stored(_) => return Blame::Change(CommitError::Store(Error::Corrupt(Box::new(fault)))),
        Fault::Sql(sqlx::Error::Database(error)) if primary_code(error.as_ref()) == Some(SQLITE_CONSTRAINT) => {
            error.kind()
        }
        Fault::Sql(_) | Fault::OutOfTime => return Blame::Group(fault),
    };
    Blame::Change(match kind {
        ErrorKind::UniqueViolation => CommitError::Contended,
        _ => CommitError::Store(Error::Corrupt(Box::new(fault))),
    })
}
