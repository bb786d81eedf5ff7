//! Work that would keep other calls waiting.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Judging fewer memories than this takes about a millisecond at most, and moving it elsewhere would not pay.
const MANY: usize = 1000;

/// Judges so many memories: where they are many, while the other calls of this worker go on elsewhere.
pub(super) fn apart<T>(count: usize, judge: impl FnOnce() -> T) -> T {
    // A runtime of one thread has no elsewhere.
    let elsewhere = || Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if count >= MANY && elsewhere() { tokio::task::block_in_place(judge) } else { judge() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LONG: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn a_runtime_of_one_thread_judges_many_in_place() {
        assert_eq!(apart(MANY, || 7), 7);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn the_only_worker_serves_others_while_many_are_judged() {
        let (judged, waits) = std::sync::mpsc::channel();
        let judge = tokio::spawn(async move { apart(MANY, || waits.recv_timeout(LONG).unwrap()) });
        tokio::task::yield_now().await;
        tokio::spawn(async move { judged.send(7).unwrap() }).await.unwrap();
        assert_eq!(judge.await.unwrap(), 7);
    }
}
