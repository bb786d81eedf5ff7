//! Drives calls: so many at once, or so many a second whatever becomes of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Failure;
use super::mix::Method;
use super::tally::Tally;
use super::usage::Usage;

/// Calls of an open loop that may be in flight at once; one more is not sent, and is counted.
const MAX_OUT: u32 = 20_000;
/// Tallies that calls are counted in, so that they seldom wait for one another.
const TALLIES: usize = 16;

/// How calls follow one another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Pace {
    /// So many at once: each is followed by the next as soon as it is answered.
    Closed { in_flight: u32 },
    /// So many a second, at even distances.
    Open { rate: f64 },
}

/// Whoever is asked.
pub(super) trait Calls: Send + Sync + 'static {
    /// The number of the next call.
    fn number(&self) -> u64;

    /// Makes the call with that number: what was called, and the code where it was not answered well.
    fn call(&self, number: u64) -> impl Future<Output = (Method, Result<(), &'static str>)> + Send;
}

/// What a run came to.
pub(super) struct Measured {
    pub(super) pace: Pace,
    /// From its begin until the last answer.
    pub(super) elapsed: Duration,
    pub(super) tally: Tally,
    /// What was to be sent and was not, since too many were under way.
    pub(super) unsent: u64,
    /// The server's processor time, and its memory at the end.
    pub(super) server: Option<Usage>,
    /// This process's.
    pub(super) generator: Option<Usage>,
}

/// Counts what becomes of calls.
struct Counting(Vec<Mutex<Tally>>);

impl Counting {
    fn new() -> Result<Self, Failure> {
        (0..TALLIES).map(|_| Tally::new().map(Mutex::new)).collect::<Result<_, _>>().map(Self)
    }

    fn with(&self, number: u64, count: impl FnOnce(&mut Tally)) {
        let turn = usize::try_from(number).unwrap_or_default() % TALLIES;
        if let Some(tally) = self.0.get(turn) {
            count(&mut tally.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn sum(&self) -> Result<Tally, Failure> {
        let mut all = Tally::new()?;
        for tally in &self.0 {
            all.add(&tally.lock().unwrap_or_else(PoisonError::into_inner))?;
        }
        Ok(all)
    }
}

/// Makes calls for that long and waits for their answers. `server` is the process whose use is measured, `tick` is told
/// ten times a second how far it is.
pub(super) async fn drive<C: Calls>(
    caller: &Arc<C>,
    pace: Pace,
    duration: Duration,
    server: Option<u32>,
    tick: impl Fn(Duration),
) -> Result<Measured, Failure> {
    let counting = Arc::new(Counting::new()?);
    let before = (server.and_then(|id| Usage::of(Some(id))), Usage::of(None));
    let begin = Instant::now();
    let running = async {
        match pace {
            Pace::Closed { in_flight } => closed(caller, &counting, in_flight, begin + duration).await.map(|()| 0),
            Pace::Open { rate } => open(caller, &counting, rate, begin, duration).await,
        }
    };
    let ticking = async {
        loop {
            tick(begin.elapsed());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let unsent = tokio::select! {
        unsent = running => unsent?,
        never = ticking => never,
    };
    let elapsed = begin.elapsed();
    let used = |before: Option<Usage>, after: Option<Usage>| {
        before.zip(after).map(|(before, after)| Usage { cpu: after.cpu.saturating_sub(before.cpu), ..after })
    };
    Ok(Measured {
        pace,
        elapsed,
        tally: counting.sum()?,
        unsent,
        server: used(before.0, server.and_then(|id| Usage::of(Some(id)))),
        generator: used(before.1, Usage::of(None)),
    })
}

async fn closed<C: Calls>(
    caller: &Arc<C>,
    counting: &Arc<Counting>,
    in_flight: u32,
    end: Instant,
) -> Result<(), Failure> {
    let mut tasks = JoinSet::new();
    for _ in 0..in_flight {
        let (caller, counting) = (Arc::clone(caller), Arc::clone(counting));
        tasks.spawn(async move {
            loop {
                let intended = Instant::now();
                if intended >= end {
                    break;
                }
                one(caller.as_ref(), &counting, intended).await;
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(|error| Failure::because("a caller broke off", &error))?;
    }
    Ok(())
}

async fn open<C: Calls>(
    caller: &Arc<C>,
    counting: &Arc<Counting>,
    rate: f64,
    begin: Instant,
    duration: Duration,
) -> Result<u64, Failure> {
    let out = Arc::new(Semaphore::new(usize::try_from(MAX_OUT).unwrap_or(usize::MAX)));
    let unsent = Arc::new(AtomicU64::new(0));
    let runtime = tokio::runtime::Handle::current();
    let (caller, counting) = (Arc::clone(caller), Arc::clone(counting));
    let (its_out, its_unsent) = (Arc::clone(&out), Arc::clone(&unsent));
    // A thread of its own: the timers of the runtime count in whole milliseconds.
    let pacing = tokio::task::spawn_blocking(move || {
        for after in schedule(rate, duration) {
            let intended = begin + after;
            std::thread::sleep(intended.saturating_duration_since(Instant::now()));
            let Ok(place) = Arc::clone(&its_out).try_acquire_owned() else {
                its_unsent.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            let (caller, counting) = (Arc::clone(&caller), Arc::clone(&counting));
            runtime.spawn(async move {
                one(caller.as_ref(), &counting, intended).await;
                drop(place);
            });
        }
    });
    pacing.await.map_err(|error| Failure::because("the pace broke off", &error))?;
    // All have been answered when all places are free again.
    let all = out.acquire_many(MAX_OUT).await.map_err(|error| Failure::because("no answers", &error))?;
    drop(all);
    Ok(unsent.load(Ordering::Relaxed))
}

/// When each call is to be sent, counted from the begin: at even distances, the first at once.
fn schedule(rate: f64, duration: Duration) -> impl Iterator<Item = Duration> {
    let distance = 1.0 / rate;
    (0_u32..).map(move |turn| Duration::from_secs_f64(f64::from(turn) * distance)).take_while(move |at| *at < duration)
}

/// Makes one call and counts it. Its time runs from when it was to be sent.
async fn one<C: Calls>(caller: &C, counting: &Counting, intended: Instant) {
    let number = caller.number();
    let late = intended.elapsed();
    let (method, outcome) = caller.call(number).await;
    let took = intended.elapsed();
    counting.with(number, |tally| {
        tally.sent(late);
        match outcome {
            Ok(()) => tally.answered(method, took),
            Err(code) => tally.failed(code),
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_scheduled_at_even_distances_for_as_long_as_it_lasts() {
        let at: Vec<u128> = schedule(4.0, Duration::from_secs(1)).map(|at| at.as_millis()).collect();
        assert_eq!(at, [0, 250, 500, 750]);
        assert_eq!(schedule(1000.0, Duration::from_secs(3)).count(), 3000);
        assert_eq!(schedule(0.5, Duration::from_secs(1)).count(), 1);
    }
}
