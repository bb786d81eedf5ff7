//! What kept a run from going faster: the server, or whoever called it.

use std::time::Duration;

/// A generator this busy, of all it could be, has no more to give.
const BUSY: f64 = 0.9;
/// Calls that are sent this late, and this part of their latency, are late by the generator's fault.
const LATE: Duration = Duration::from_millis(5);

/// What a run looked like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// Processors that this machine has.
    pub(super) processors: f64,
    /// Processors that the generator kept busy; `None` where that is not known.
    pub(super) generator: Option<f64>,
    /// Processors that the server kept busy, where it runs on this machine.
    pub(super) server: Option<f64>,
    /// How late calls were sent, at the 99th percentile.
    pub(super) late: Duration,
    /// How long calls took, at the 99th percentile.
    pub(super) latency: Duration,
    /// Calls that were never sent, since too many were under way.
    pub(super) unsent: u64,
}

/// Who was the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Limit {
    /// The server, its disk or its database; or nobody, where a rate was kept.
    Server,
    /// Server and generator shared the processors and used all of them: on a machine of its own the server does more.
    SharedMachine,
    /// The generator: the server could do more.
    Generator,
}

impl Limit {
    pub(super) fn of(seen: &Seen) -> Self {
        let generator = seen.generator.unwrap_or_default();
        let all = generator + seen.server.unwrap_or_default();
        if generator >= BUSY * seen.processors {
            return Self::Generator;
        }
        if seen.server.is_some() && all >= BUSY * seen.processors {
            return Self::SharedMachine;
        }
        // Late where nothing was short of processors: its own pace did not hold.
        if seen.late >= LATE && seen.late * 2 >= seen.latency && seen.unsent == 0 {
            return Self::Generator;
        }
        Self::Server
    }

    pub(super) const fn says(self) -> &'static str {
        match self {
            Self::Server => "the server, its disk or its database, or the rate that was asked for",
            Self::SharedMachine => {
                "the machine: server and load generator shared all its processors, and the server alone does more"
            }
            Self::Generator => "the LOAD GENERATOR, not the server: the server can do more",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Seen = Seen {
        processors: 4.0,
        generator: Some(1.0),
        server: Some(1.5),
        late: Duration::from_micros(80),
        latency: Duration::from_millis(3),
        unsent: 0,
    };

    #[test]
    fn it_says_when_the_generator_and_not_the_server_was_the_limit() {
        assert_eq!(Limit::of(&QUIET), Limit::Server);
        assert_eq!(Limit::of(&Seen { generator: Some(3.7), server: None, ..QUIET }), Limit::Generator);
        assert_eq!(Limit::of(&Seen { generator: Some(3.7), server: Some(0.2), ..QUIET }), Limit::Generator);
        assert_eq!(Limit::of(&Seen { generator: Some(1.9), server: Some(2.0), ..QUIET }), Limit::SharedMachine);
        let late = Seen { late: Duration::from_millis(8), latency: Duration::from_millis(10), ..QUIET };
        assert_eq!(Limit::of(&late), Limit::Generator);
        // Late since the answers did not come back: that is the server's doing.
        assert_eq!(Limit::of(&Seen { unsent: 3, ..late }), Limit::Server);
        assert_eq!(Limit::of(&Seen { latency: Duration::from_millis(100), ..late }), Limit::Server);
        assert_eq!(Limit::of(&Seen { generator: None, server: None, ..QUIET }), Limit::Server);
    }
}
