//! What the writer is asked to do, and what became of it.

use tokio::sync::oneshot;

use crate::memory::{Judgement, PolicyVersion, Time};
use crate::store::deadline::Deadline;
use crate::store::ledger::Sealed;
use crate::store::{CommitError, Error, Recorded};

/// What the writer is asked to do.
pub(super) enum Order {
    /// All of them or none.
    Commit {
        changes: Vec<Sealed>,
        /// Not to be applied after that.
        deadline: Option<Deadline>,
        answer: Answer<Recordeds, CommitError>,
    },
    KeepPolicy {
        version: PolicyVersion,
        document: String,
        now: Time,
        answer: Answer<(), Error>,
    },
    Erase {
        what: Erase,
        limit: u32,
        answer: Answer<u64, Error>,
    },
    Check(Answer<(), Error>),
    Close(oneshot::Sender<()>),
}

pub(super) type Recordeds = Vec<Recorded<Judgement>>;

/// What is to go.
#[derive(Clone, Copy)]
pub(super) enum Erase {
    /// Candidates and outcomes that are over at that instant.
    Lapsed(Time),
    /// Decisions that were made before that instant.
    Decisions(Time),
}

pub(super) type Answer<T, E> = oneshot::Sender<Result<T, E>>;

/// Changes that were applied together, or refused by themselves.
pub(super) enum Applied {
    Changes(Vec<Sealed>, Answer<Recordeds, CommitError>),
    Refused(CommitError, Answer<Recordeds, CommitError>),
    Policy(Answer<(), Error>),
    Erased(u64, Answer<u64, Error>),
}

impl Applied {
    pub(super) fn committed(self) {
        // An answer nobody waits for any more is dropped: the caller has gone, the change stands.
        match self {
            Self::Changes(changes, answer) => {
                let recorded = changes.into_iter().map(|one| Recorded::after_commit(one.change.judgement));
                drop(answer.send(Ok(recorded.collect())));
            }
            Self::Refused(why, answer) => drop(answer.send(Err(why))),
            Self::Policy(answer) => drop(answer.send(Ok(()))),
            Self::Erased(rows, answer) => drop(answer.send(Ok(rows))),
        }
    }

    pub(super) fn failed(self, why: Error) {
        match self {
            Self::Changes(_, answer) | Self::Refused(_, answer) => drop(answer.send(Err(why.into()))),
            Self::Policy(answer) => drop(answer.send(Err(why))),
            Self::Erased(_, answer) => drop(answer.send(Err(why))),
        }
    }
}

/// Decisions of reads, which write nothing else.
pub(super) struct Read {
    pub(super) changes: Vec<Sealed>,
    pub(super) deadline: Option<Deadline>,
    pub(super) answer: Answer<Recordeds, CommitError>,
}

/// The reads among the orders, and the other orders.
pub(super) fn parted(orders: Vec<Order>) -> (Vec<Read>, impl ExactSizeIterator<Item = Order>) {
    let (mut reads, mut others) = (Vec::new(), Vec::new());
    for order in orders {
        match order {
            Order::Commit { changes, deadline, answer } if changes.iter().all(|one| one.change.is_read()) => {
                reads.push(Read { changes, deadline, answer });
            }
            order => others.push(order),
        }
    }
    (reads, others.into_iter())
}
