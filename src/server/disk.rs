//! The alarm that the disk fills up. It stops nothing: decisions have to go on being recorded, and where there is no
//! room for one, its call fails and says so.

use std::io;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

const EVERY: Duration = Duration::from_mins(1);

/// How long the same alarm is not repeated.
const QUIET: Duration = Duration::from_hours(1);

/// Below this part of the least free space it is urgent.
const URGENT_PART: u64 = 8;

/// How the disk stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ample,
    Low,
    Urgent,
    Unknown,
}

/// Watches a file system, through a probe that says how many bytes are free, for as long as it is polled.
pub(super) async fn watching<P>(probe: P, min_free_bytes: u64)
where
    P: Fn() -> io::Result<u64> + Send + Clone + 'static,
{
    let mut alarm = Alarm::new(min_free_bytes);
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // A file system that does not answer must not hold up callers.
        if let Ok(free) = tokio::task::spawn_blocking(probe.clone()).await {
            alarm.hear(&free, Instant::now());
        }
    }
}

/// Says something when the state changes, and once an hour while it is bad.
struct Alarm {
    min_free_bytes: u64,
    state: State,
    told: Option<Instant>,
}

impl Alarm {
    const fn new(min_free_bytes: u64) -> Self {
        Self { min_free_bytes, state: State::Ample, told: None }
    }

    fn state(&self, free: &io::Result<u64>) -> State {
        match free {
            Err(_) => State::Unknown,
            Ok(free) if *free < self.min_free_bytes / URGENT_PART => State::Urgent,
            Ok(free) if *free < self.min_free_bytes => State::Low,
            Ok(_) => State::Ample,
        }
    }

    fn hear(&mut self, free: &io::Result<u64>, now: Instant) {
        let state = self.state(free);
        let changed = state != self.state;
        let due = state != State::Ample && self.told.is_none_or(|told| now.duration_since(told) >= QUIET);
        if changed || due {
            self.state = state;
            self.told = Some(now);
            self.tell(free);
        }
    }

    fn tell(&self, free: &io::Result<u64>) {
        let (free_bytes, min_free_bytes) = (free.as_ref().copied().unwrap_or_default(), self.min_free_bytes);
        match (self.state, free) {
            (State::Ample, _) => tracing::info!(free_bytes, min_free_bytes, "the disk has room again"),
            (State::Low, _) => tracing::error!(
                free_bytes,
                min_free_bytes,
                "the disk fills up: make room, or keep decisions for less long (`decision_retention_days`)"
            ),
            (State::Urgent, _) => tracing::error!(
                free_bytes,
                min_free_bytes,
                "the disk is nearly full: when it is, no call is answered, because its decision cannot be recorded"
            ),
            (State::Unknown, Err(error)) => {
                tracing::error!(error = error as &dyn std::error::Error, "the disk does not say how much room it has");
            }
            (State::Unknown, Ok(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::telemetry::{Format, Logs, subscriber};

    const MIN: u64 = 800;

    #[derive(Clone, Default)]
    struct Captured(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Captured {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What the alarm logs, one line for each time it is told how much is free, empty where it says nothing.
    fn told(heard: &[(u64, io::Result<u64>)]) -> Vec<String> {
        let mut alarm = Alarm::new(MIN);
        let begin = Instant::now();
        let told = heard.iter().map(|(minutes, free)| {
            let log = Captured::default();
            let writer = log.clone();
            let logs = Logs { format: Format::Text, filter: "info".to_owned() };
            let subscriber = subscriber(&logs, move || writer.clone()).unwrap();
            tracing::subscriber::with_default(subscriber, || {
                alarm.hear(free, begin + Duration::from_mins(*minutes));
            });
            String::from_utf8(log.0.lock().unwrap().clone()).unwrap()
        });
        told.collect()
    }

    fn assert_told(heard: &[(u64, io::Result<u64>)], expected: &[&str]) {
        let told = told(heard);
        assert_eq!(told.len(), expected.len());
        for (line, expected) in told.iter().zip(expected) {
            assert!(line.contains(expected) && line.is_empty() == expected.is_empty(), "{expected:?}: {told:#?}");
        }
    }

    #[test]
    fn a_disk_that_has_room_is_not_mentioned() {
        assert_told(&[(0, Ok(MIN)), (1, Ok(u64::MAX)), (200, Ok(MIN))], &["", "", ""]);
    }

    #[test]
    fn each_change_is_told_once_and_a_bad_state_again_every_hour() {
        assert_told(
            &[
                (0, Ok(MIN - 1)),
                (1, Ok(MIN / 8)),
                (2, Ok(MIN / 8 - 1)),
                (61, Ok(0)),
                (62, Ok(0)),
                (121, Ok(1)),
                (122, Ok(MIN / 2)),
                (123, Ok(MIN)),
                (300, Ok(MIN)),
            ],
            &["fills up", "", "nearly full", "", "ERROR", "", "fills up", "INFO", ""],
        );
    }

    #[test]
    fn a_disk_that_does_not_answer_is_told_as_an_error_and_its_answer_as_relief() {
        let silent = || Err(io::Error::other("gone"));
        assert_told(&[(0, silent()), (1, silent()), (60, silent()), (61, Ok(MIN))], &["gone", "", "ERROR", "INFO"]);
    }

    #[test]
    fn zero_sounds_no_alarm_however_full_the_disk() {
        assert_eq!(Alarm::new(0).state(&Ok(0)), State::Ample);
    }

    #[tokio::test]
    async fn the_probe_is_asked_at_once() {
        let (asked, was_asked) = std::sync::mpsc::channel();
        let watch = tokio::spawn(watching(
            move || {
                asked.send(()).unwrap();
                Ok(0)
            },
            1,
        ));
        tokio::task::spawn_blocking(move || was_asked.recv_timeout(Duration::from_secs(20))).await.unwrap().unwrap();
        watch.abort();
    }
}
