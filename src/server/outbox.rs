//! What is to go out on a connection, gathered: hyper hands over each frame of some size by itself, so that an answer took
//! two system calls, and now takes a part of one.
//!
//! Nothing waits for more to come. Where a connection carries several calls, what is handed over while its task is polled
//! goes out when the poll is over, or before, where it is enough. So several answers that are ready together leave
//! together, and the first of many does not wait for the last.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;
use tokio::net::tcp::OwnedWriteHalf;

use super::activity::Activity;

/// So many bytes are worth a system call of their own.
const ENOUGH: usize = 8 << 10;

/// Where a connection's bytes go. Its clones are one.
#[derive(Clone)]
pub(super) struct Outbox(Arc<Mutex<Gathered>>);

struct Gathered {
    stream: OwnedWriteHalf,
    activity: Activity,
    bytes: Vec<u8>,
    /// How many of them have gone.
    gone: usize,
}

impl Outbox {
    pub(super) fn new(stream: OwnedWriteHalf, activity: Activity) -> Self {
        Self(Arc::new(Mutex::new(Gathered { stream, activity, bytes: Vec::new(), gone: 0 })))
    }

    /// Takes bytes; where enough wait already, as soon as they have gone.
    pub(super) fn take(&self, context: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<Result<usize>> {
        let mut gathered = self.gathered();
        if gathered.bytes.len() >= ENOUGH {
            ready!(gathered.send(context))?;
        }
        let mut taken = 0;
        for slice in slices {
            gathered.bytes.extend_from_slice(slice);
            taken += slice.len();
        }
        Poll::Ready(Ok(taken))
    }

    /// Sends what waits, if it is enough; or if there is but one call, whose other side may as well begin to read.
    pub(super) fn flush(&self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let mut gathered = self.gathered();
        let waits = gathered.bytes.len() < ENOUGH && !gathered.activity.is_of_one();
        if waits { Poll::Ready(Ok(())) } else { gathered.send(context) }
    }

    /// Sends all that waits.
    pub(super) fn send(&self, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.gathered().send(context)
    }

    /// Sends all that waits, and ends.
    pub(super) fn shutdown(&self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let mut gathered = self.gathered();
        ready!(gathered.send(context))?;
        Pin::new(&mut gathered.stream).poll_shutdown(context)
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gathered {
    fn send(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        while let Some(rest) = self.bytes.get(self.gone..).filter(|rest| !rest.is_empty()) {
            let sent = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            if sent == 0 {
                return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into()));
            }
            self.gone += sent;
            self.activity.moves();
        }
        // A connection that says nothing keeps no room for it.
        (self.bytes, self.gone) = (Vec::new(), 0);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use tokio::io::AsyncReadExt;
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::timeout;

    use super::*;

    const SHORT: Duration = Duration::from_millis(100);
    const LONG: Duration = Duration::from_secs(30);

    /// An outbox, and who gets what goes out of it.
    async fn pair(activity: &Activity) -> (Outbox, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let other = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (_, out) = listener.accept().await.unwrap().0.into_split();
        (Outbox::new(out, activity.clone()), other)
    }

    async fn take(outbox: &Outbox, bytes: &[u8]) {
        let taken = poll_fn(|context| outbox.take(context, &[IoSlice::new(bytes)])).await.unwrap();
        assert_eq!(taken, bytes.len());
        poll_fn(|context| outbox.flush(context)).await.unwrap();
    }

    async fn read(other: &mut TcpStream, bytes: usize) -> Vec<u8> {
        let mut read = vec![0; bytes];
        timeout(LONG, other.read_exact(&mut read)).await.unwrap().unwrap();
        read
    }

    #[tokio::test]
    async fn little_goes_when_the_poll_is_over_and_all_of_it_together() {
        let activity = Activity::default();
        let (outbox, mut other) = pair(&activity).await;
        let _calls = [activity.begin(), activity.begin()];
        take(&outbox, b"one").await;
        take(&outbox, b"two").await;
        assert!(timeout(SHORT, other.readable()).await.is_err(), "it went by itself");
        poll_fn(|context| outbox.send(context)).await.unwrap();
        assert_eq!(read(&mut other, 6).await, b"onetwo");
    }

    #[tokio::test]
    async fn of_one_call_all_goes_at_once() {
        let activity = Activity::default();
        let (outbox, mut other) = pair(&activity).await;
        let _call = activity.begin();
        take(&outbox, b"one").await;
        assert_eq!(read(&mut other, 3).await, b"one");
    }

    #[tokio::test]
    async fn enough_goes_at_once() {
        let activity = Activity::default();
        let (outbox, mut other) = pair(&activity).await;
        let _calls = [activity.begin(), activity.begin()];
        take(&outbox, &[7; ENOUGH]).await;
        assert_eq!(read(&mut other, ENOUGH).await, [7; ENOUGH]);
    }

    #[tokio::test]
    async fn more_than_the_other_side_takes_waits_and_nothing_of_it_is_lost() {
        const PIECES: usize = 4000;
        let activity = Activity::default();
        let (outbox, mut other) = pair(&activity).await;
        let _calls = [activity.begin(), activity.begin()];
        let piece = |at: usize| [u8::try_from(at % 251).unwrap(); ENOUGH];
        let mut taking = tokio::spawn(async move {
            for at in 0..PIECES {
                take(&outbox, &piece(at)).await;
            }
            poll_fn(|context| outbox.shutdown(context)).await.unwrap();
        });
        assert!(timeout(SHORT, &mut taking).await.is_err(), "the other side takes it all");
        for at in 0..PIECES {
            assert!(read(&mut other, ENOUGH).await == piece(at), "{at}");
        }
        timeout(LONG, taking).await.unwrap().unwrap();
        assert_eq!(other.read(&mut [0]).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn what_waits_goes_before_the_end() {
        let activity = Activity::default();
        let (outbox, mut other) = pair(&activity).await;
        let _calls = [activity.begin(), activity.begin()];
        take(&outbox, b"last").await;
        poll_fn(|context| outbox.shutdown(context)).await.unwrap();
        let mut all = Vec::new();
        timeout(LONG, other.read_to_end(&mut all)).await.unwrap().unwrap();
        assert_eq!(all, b"last");
    }
}
