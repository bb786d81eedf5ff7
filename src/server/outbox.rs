//! What is to go out on a connection, gathered. hyper hands over each frame of some size by itself, so that an answer took
//! two system calls; of a connection that carries several calls it now takes a part of one.
//!
//! Nothing waits for more to come. What is handed over while the connection's task is polled goes out when the poll is
//! over, or before, where it is enough: so the first of many answers does not wait for the last. Where there is but one
//! call, all goes at once.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;
use tokio::net::tcp::OwnedWriteHalf;

use super::activity::Activity;

/// So many bytes are worth a system call of their own.
const ENOUGH: usize = 8 << 10;
/// The most that is gathered; what is more waits where it is.
const MOST: usize = 2 * ENOUGH;

/// Where a connection's bytes go. Its clones are one.
#[derive(Clone)]
pub(super) struct Outbox(Arc<Mutex<Gathered>>);

struct Gathered {
    stream: OwnedWriteHalf,
    activity: Activity,
    bytes: Vec<u8>,
    /// How many of them have gone.
    gone: usize,
    /// Why nothing can go any more.
    failed: Option<ErrorKind>,
}

impl Outbox {
    pub(super) fn new(stream: OwnedWriteHalf, activity: Activity) -> Self {
        Self(Arc::new(Mutex::new(Gathered { stream, activity, bytes: Vec::new(), gone: 0, failed: None })))
    }

    /// Takes bytes, as many as there is room for; where enough wait already, as soon as they have gone.
    pub(super) fn take(&self, context: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<Result<usize>> {
        let mut gathered = self.gathered();
        if gathered.failed.is_some() || gathered.bytes.len() >= ENOUGH {
            ready!(gathered.send(context))?;
        }
        let before = gathered.bytes.len();
        let offered: usize = slices.iter().map(|slice| slice.len()).sum();
        gathered.bytes.reserve(offered.min(MOST - before));
        for slice in slices {
            let fits = slice.len().min(MOST - gathered.bytes.len());
            gathered.bytes.extend_from_slice(slice.get(..fits).unwrap_or_default());
        }
        Poll::Ready(Ok(gathered.bytes.len() - before))
    }

    /// Sends what waits, if it is enough; or if there is but one call, whose other side may as well begin to read.
    pub(super) fn flush(&self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let mut gathered = self.gathered();
        let waits = gathered.failed.is_none() && gathered.bytes.len() < ENOUGH && !gathered.activity.is_of_one();
        if waits { Poll::Ready(Ok(())) } else { gathered.send(context) }
    }

    /// Sends all that waits, when the connection's task has been polled. Where that fails, the connection is told when
    /// it is polled again, which is at once.
    pub(super) fn send(&self, context: &mut Context<'_>) {
        let mut gathered = self.gathered();
        if gathered.failed.is_none() && matches!(gathered.send(context), Poll::Ready(Err(_))) {
            context.waker().wake_by_ref();
        }
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
        if let Some(kind) = self.failed {
            return Poll::Ready(Err(kind.into()));
        }
        let sent = ready!(self.send_all(context));
        self.failed = sent.as_ref().err().map(Error::kind);
        Poll::Ready(sent)
    }

    fn send_all(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        while let Some(rest) = self.bytes.get(self.gone..).filter(|rest| !rest.is_empty()) {
            let sent = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            if sent == 0 {
                return Poll::Ready(Err(ErrorKind::WriteZero.into()));
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

    async fn take(outbox: &Outbox, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let taken = poll_fn(|context| outbox.take(context, &[IoSlice::new(bytes)])).await.unwrap();
            assert!(taken > 0);
            bytes = &bytes[taken..];
        }
        poll_fn(|context| outbox.flush(context)).await.unwrap();
    }

    /// As when the connection's task has been polled.
    async fn send(outbox: &Outbox) {
        poll_fn(|context| {
            outbox.send(context);
            Poll::Ready(())
        })
        .await;
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
        send(&outbox).await;
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
    async fn no_more_is_taken_than_there_is_room_for() {
        let activity = Activity::default();
        let (outbox, _other) = pair(&activity).await;
        let much = vec![7; 1 << 20];
        let slices = [IoSlice::new(&much), IoSlice::new(&much)];
        let taken = poll_fn(|context| outbox.take(context, &slices)).await.unwrap();
        assert_eq!((taken, outbox.gathered().bytes.capacity()), (MOST, MOST));
    }

    #[tokio::test]
    async fn where_nothing_can_go_any_more_whoever_hands_over_is_told() {
        let activity = Activity::default();
        let (outbox, other) = pair(&activity).await;
        let _calls = [activity.begin(), activity.begin()];
        other.set_zero_linger().unwrap();
        drop(other);
        // What comes first may still be taken by the system.
        for _ in 0..3 {
            let _ = poll_fn(|context| outbox.take(context, &[IoSlice::new(b"more")])).await;
            send(&outbox).await;
            tokio::time::sleep(SHORT).await;
        }
        assert!(poll_fn(|context| outbox.take(context, &[IoSlice::new(b"more")])).await.is_err());
        assert!(poll_fn(|context| outbox.flush(context)).await.is_err());
        assert!(poll_fn(|context| outbox.shutdown(context)).await.is_err());
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
