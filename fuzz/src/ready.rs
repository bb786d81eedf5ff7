//! Futures that wait for nothing: no runtime is needed, and none slows the fuzzer down.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// How often a future may ask to be polled again.
const MOST_POLLS: usize = 1000;

/// What a future comes to that has all it needs.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..MOST_POLLS {
        if let Poll::Ready(outcome) = future.as_mut().poll(&mut context) {
            return outcome;
        }
    }
    panic!("it waits for something")
}
