//! What all handlers share: who calls, and that a unit of work is never cut in half.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tonic::{Request, Response, Status};
use tracing::Instrument;

use super::status;
use crate::gate::{Deadline, Error};
use crate::identity::{AuthError, Caller};

/// The work of a call ended without an answer. What it panicked with stays out: it may hold text.
#[derive(Debug, thiserror::Error)]
#[error("the work of a call panicked")]
struct Panicked;

/// Does the work of one call, to its end even where the caller goes away, and answers with its outcome.
///
/// Decision: tonic drops a handler's future at any await when the call is cancelled or its connection breaks, and a
/// transaction dropped between two statements is neither done nor undone. So work that is dropped goes on in a task of
/// its own. A panic in it ends this call and no other. What the layers put beside the request lives as long as the
/// work: its place among the calls at once is not free before. A [`Deadline`] there ends what of the work has not begun
/// by then.
pub(super) async fn call<Q, R, W>(request: Request<Q>, work: impl FnOnce(Caller, Q) -> W) -> Result<Response<R>, Status>
where
    R: Send + 'static,
    W: Future<Output = Result<R, Error>> + Send + 'static,
{
    let (_, mut extensions, message) = request.into_parts();
    let Some(caller) = extensions.remove::<Caller>() else { return Err(status::unauthenticated(AuthError::Missing)) };
    // In a box before anything stands around it: each move of the whole work costs more than the box.
    let work = Box::pin(work(caller, message));
    let work = Deadline::scope(extensions.get::<Deadline>().copied(), work);
    let beside = async move {
        let outcome = work.await;
        drop(extensions);
        outcome
    };
    match ToItsEnd(Some(Box::pin(beside))).await {
        Ok(reply) => Ok(Response::new(reply)),
        Err(error) => Err(status::of(&error)),
    }
}

/// Work that goes on in a task of its own where this is dropped before it is done.
struct ToItsEnd<W: Future<Output: Send> + Send + 'static>(Option<Pin<Box<W>>>);

impl<R, W> Future for ToItsEnd<W>
where
    R: Send,
    W: Future<Output = Result<R, Error>> + Send + 'static,
{
    type Output = Result<R, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Work that panicked, or is done, is not there to go on.
        let Some(mut work) = self.0.take() else { return Poll::Ready(Err(Error::Internal(Box::new(Panicked)))) };
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        let polled = polled.unwrap_or_else(|_| Poll::Ready(Err(Error::Internal(Box::new(Panicked)))));
        if polled.is_pending() {
            self.0 = Some(work);
        }
        polled
    }
}

impl<W: Future<Output: Send> + Send + 'static> Drop for ToItsEnd<W> {
    fn drop(&mut self) {
        if let (Some(work), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(work.in_current_span());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::sync::{Notify, oneshot};
    use tonic::Code;

    use super::*;

    fn request() -> Request<()> {
        let mut request = Request::new(());
        request.extensions_mut().insert(Caller::development().unwrap());
        request
    }

    #[tokio::test]
    async fn i01_a_request_without_a_verified_caller_is_refused_before_any_work() {
        let status = call(Request::new(()), |_, ()| async { Ok(()) }).await.unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated);
    }

    #[tokio::test]
    async fn work_goes_on_to_its_end_when_the_call_is_dropped() {
        let (done, finished) = oneshot::channel();
        let (started, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (started_too, go_on_too) = (Arc::clone(&started), Arc::clone(&go_on));
        let handler = call(request(), |_, ()| async move {
            started_too.notify_one();
            go_on_too.notified().await;
            done.send(()).unwrap();
            Ok(())
        });
        tokio::select! {
            _ = handler => panic!("the work has not been let go on"),
            () = started.notified() => {}
        }
        go_on.notify_one();
        tokio::time::timeout(Duration::from_secs(5), finished).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn what_stands_beside_the_request_lives_until_the_work_is_done() {
        let (place, go_on) = (Arc::new(()), Arc::new(Notify::new()));
        let (kept, go_on_too) = (Arc::downgrade(&place), Arc::clone(&go_on));
        let mut request = request();
        request.extensions_mut().insert(place);
        let (started, begun) = oneshot::channel();
        let handler = call(request, |_, ()| async move {
            started.send(()).unwrap();
            go_on_too.notified().await;
            Ok(())
        });
        tokio::select! {
            _ = handler => panic!("the work has not been let go on"),
            begun = begun => begun.unwrap(),
        }
        assert!(kept.upgrade().is_some(), "the call is gone, its work is not");
        go_on.notify_one();
        let freed = async {
            while kept.upgrade().is_some() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(5), freed).await.unwrap();
    }

    #[tokio::test]
    async fn a_panic_is_answered_internal_and_says_nothing_of_what_it_was() {
        let status = call(request(), |_, ()| async { if true { panic!("zq7canary") } else { Ok(()) } }).await;
        let status = status.unwrap_err();
        assert_eq!(status.code(), Code::Internal);
        assert!(!format!("{status:?}").contains("zq7canary"));
    }
}
