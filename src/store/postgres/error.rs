//! What PostgreSQL's answers mean.

use std::borrow::Cow;

use sqlx::error::DatabaseError;

use crate::store::fault::Fault;
use crate::store::{CommitError, Error};

const SERIALIZATION_FAILURE: &str = "40001";
const DEADLOCK_DETECTED: &str = "40P01";
pub(super) const QUERY_CANCELED: &str = "57014";
const UNIQUE_VIOLATION: &str = "23505";
const CHECK_VIOLATION: &str = "23514";
/// The class of states in which a role is not let in.
pub(super) const INVALID_AUTHORIZATION: &str = "28";
pub(super) const INSUFFICIENT_PRIVILEGE: &str = "42501";
pub(super) const UNDEFINED_TABLE: &str = "42P01";

/// Classes of states that say that a statement or a row is wrong: a defect, or a database that somebody has changed.
const DEFECTS: [&str; 6] = ["21", "22", "23", "2F", "42", "XX"];

/// The store is closed.
#[derive(Debug, thiserror::Error)]
#[error("the store is closed")]
struct Closed;

/// For a call that found the store closed.
pub(super) fn closed() -> Error {
    Error::Unavailable(Box::new(Closed))
}

/// The state that the database gave with an error.
pub(super) fn state(fault: &Fault) -> Option<String> {
    match fault {
        Fault::Sql(sqlx::Error::Database(error)) => code(error.as_ref()),
        Fault::Sql(_) | Fault::Stored(_) | Fault::OutOfTime => None,
    }
}

fn code(error: &dyn DatabaseError) -> Option<String> {
    error.code().map(Cow::into_owned)
}

/// The database has undone the transaction so that another could go on: the same again may succeed.
pub(super) fn is_transient(fault: &Fault) -> bool {
    let Some(state) = state(fault) else { return false };
    [SERIALIZATION_FAILURE, DEADLOCK_DETECTED].contains(&state.as_str()) || was_repartitioned(fault)
}

/// While a row was on its way into the default partition, one was made that it belongs to. What the rows of a table have
/// to fulfil by themselves has a name.
fn was_repartitioned(fault: &Fault) -> bool {
    let Fault::Sql(sqlx::Error::Database(error)) = fault else { return false };
    code(error.as_ref()).as_deref() == Some(CHECK_VIOLATION) && error.constraint().is_none()
}

/// Why a read, or a whole group, failed.
pub(super) fn meaning(fault: Fault) -> Error {
    let defect = match &fault {
        Fault::OutOfTime => return Error::OutOfTime,
        Fault::Stored(_) => true,
        Fault::Sql(sqlx::Error::Database(error)) => {
            code(error.as_ref()).is_some_and(|state| DEFECTS.iter().any(|class| state.starts_with(class)))
        }
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

/// Why a change was not committed.
pub(super) fn refusal(fault: Fault) -> CommitError {
    if state(&fault).as_deref() == Some(UNIQUE_VIOLATION) || is_transient(&fault) {
        return CommitError::Contended;
    }
    meaning(fault).into()
}
