//! The connections: how many at once, and how long one may take to say that it speaks HTTP/2.

use std::future::Future;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tokio_stream::Stream;
use tonic::transport::server::TcpIncoming;

use super::Limits;
use super::activity::Activity;
use super::outbox::Outbox;

/// What each HTTP/2 connection begins with: `PRI * HTTP/2.0` and on.
const PREFACE_BYTES: usize = 24;

/// How long to wait after an error of the listener: while the process has no descriptor left it fails at once, again
/// and again.
const PAUSE: Duration = Duration::from_millis(50);

/// Accepts connections as long as there is a place for them, and closes the others at once.
pub(super) struct Connections {
    incoming: TcpIncoming,
    places: Arc<Semaphore>,
    preface: Duration,
    pause: Option<Pin<Box<Sleep>>>,
    full: bool,
}

impl Connections {
    pub(super) fn new(incoming: TcpIncoming, limits: &Limits) -> Self {
        let places = Arc::new(Semaphore::new(limits.max_connections));
        Self { incoming, places, preface: limits.preface, pause: None, full: false }
    }
}

impl Stream for Connections {
    type Item = Connection;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(context));
                self.pause = None;
            }
            let stream = match ready!(Pin::new(&mut self.incoming).poll_next(context)) {
                Some(Ok(stream)) => stream,
                Some(Err(error)) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a connection could not be accepted");
                    self.pause = Some(Box::pin(sleep(PAUSE)));
                    continue;
                }
                None => return Poll::Ready(None),
            };
            let place = Arc::clone(&self.places).try_acquire_owned();
            let was_full = std::mem::replace(&mut self.full, place.is_err());
            match place {
                Ok(place) => {
                    let preface = Some(Preface { missing: PREFACE_BYTES, timer: Box::pin(sleep(self.preface)) });
                    let activity = Activity::default();
                    let (stream, out) = stream.into_split();
                    let outbox = Outbox::new(out, activity.clone());
                    return Poll::Ready(Some(Connection { stream, outbox, preface, activity, _place: place }));
                }
                Err(_) if was_full => {}
                Err(_) => tracing::warn!("as many connections as may be: others are closed at once"),
            }
        }
    }
}

struct Preface {
    missing: usize,
    timer: Pin<Box<Sleep>>,
}

/// A connection with its place among the others.
pub(super) struct Connection {
    stream: OwnedReadHalf,
    outbox: Outbox,
    preface: Option<Preface>,
    activity: Activity,
    _place: OwnedSemaphorePermit,
}

impl Connection {
    pub(super) const fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Where its bytes go: to be sent whenever its task has been polled.
    pub(super) const fn outbox(&self) -> &Outbox {
        &self.outbox
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, into);
        let came = into.filled().len().saturating_sub(before);
        if came > 0 {
            self.activity.moves();
        }
        if let Some(preface) = &mut self.preface {
            preface.missing = preface.missing.saturating_sub(came);
            if preface.missing == 0 {
                self.preface = None;
            } else if preface.timer.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(Error::from(ErrorKind::TimedOut)));
            }
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        self.outbox.take(context, &[IoSlice::new(bytes)])
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.outbox.flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.outbox.shutdown(context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        self.outbox.take(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}
