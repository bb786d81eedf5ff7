//! What can go wrong in a query, before an engine has said what it means.

/// Why a query gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// The driver or the database said so.
    #[error("the database failed")]
    Sql(#[from] sqlx::Error),
    /// The call's deadline passed before the unit of work began.
    #[error("out of time before the work began")]
    OutOfTime,
    /// A row holds what cannot be turned into a value.
    #[error("`{0}` holds what no version of the service writes")]
    Stored(&'static str),
}

/// Why a change was not applied.
#[derive(Debug)]
pub(super) enum Stop {
    /// Something that had to hold does not.
    Contended,
    /// It could not be told.
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<sqlx::Error> for Stop {
    fn from(error: sqlx::Error) -> Self {
        Self::Fault(Fault::Sql(error))
    }
}
