//! When the work of a call is of no use any more.
//!
//! Decision: it goes with the task that does the call's work, as its span does, and is no argument of each use case and
//! each method of the store, all of which would only hand it on. A store asks for it as a unit of work begins. The
//! cost: who spawns a task between the call and the store has to hand it on there.

use std::future::Future;

use tokio::time::{Instant, timeout_at};

use super::Error;

tokio::task_local! {
    static CURRENT: Option<Deadline>;
}

/// The instant after which nobody waits for the outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(pub Instant);

impl Deadline {
    /// Does the work of a call that has to be answered by then; `None`: whenever.
    pub async fn scope<T>(deadline: Option<Self>, work: impl Future<Output = T>) -> T {
        CURRENT.scope(deadline, work).await
    }

    /// Of the call whose work this task does; `None`: there is none, or nobody has set an end to it.
    #[must_use]
    pub fn current() -> Option<Self> {
        CURRENT.try_with(|deadline| *deadline).ok().flatten()
    }

    /// The time until then; `None`: it has passed.
    #[must_use]
    pub fn left(self) -> Option<std::time::Duration> {
        self.0.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// It has passed.
    #[must_use]
    pub fn is_over(self) -> bool {
        Instant::now() >= self.0
    }
}

/// Waits for something as long as there is time; what is dropped then must leave nothing half done.
pub(super) async fn in_time<T>(deadline: Option<Deadline>, wait: impl Future<Output = T>) -> Result<T, Error> {
    match deadline {
        None => Ok(wait.await),
        Some(deadline) if deadline.is_over() => Err(Error::OutOfTime),
        Some(Deadline(end)) => timeout_at(end, wait).await.map_err(|_| Error::OutOfTime),
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::time::Duration;

    use super::*;

    fn within(time: Duration) -> Deadline {
        Deadline(Instant::now() + time)
    }

    #[tokio::test]
    async fn work_knows_its_own_deadline_and_no_other() {
        let (over, later) = (within(Duration::ZERO), within(Duration::from_hours(1)));
        assert_eq!(Deadline::current(), None);
        let inner = async { (Deadline::current(), Deadline::scope(None, async { Deadline::current() }).await) };
        assert_eq!(Deadline::scope(Some(later), inner).await, (Some(later), None));
        assert_eq!((Deadline::current(), over.is_over(), later.is_over()), (None, true, false));
    }

    #[tokio::test]
    async fn waiting_ends_with_the_time_and_does_not_begin_after_it() {
        let soon = Some(within(Duration::from_millis(5)));
        assert!(matches!(in_time(soon, pending::<()>()).await, Err(Error::OutOfTime)));
        assert!(matches!(in_time(soon, ready(7)).await, Err(Error::OutOfTime)));
        for ample in [None, Some(within(Duration::from_hours(1)))] {
            assert!(matches!(in_time(ample, ready(7)).await, Ok(7)));
        }
    }
}
