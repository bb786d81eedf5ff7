//! What `recall-gate bench` is told.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::Failure;
use super::drive::Pace;
use super::mix::Mix;
use super::place::Place;
use super::world::World;

/// What the service is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Baseline {
    /// A bare tonic server with the same requests and replies.
    Echo,
    /// The same, which appends a decision of the same size for each recall before it answers.
    EchoInsert,
    /// The two prepared statements of a recall by themselves, each committed by itself.
    Sql,
}

/// How a recall says what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum RecallBy {
    /// It nominates memories by their ids.
    Ids,
    /// It has three words, which most memories hold: they are all ranked.
    Text,
}

impl RecallBy {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ids => "ids",
            Self::Text => "text",
        }
    }
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Bench {
    #[command(flatten, next_help_heading = "What is there")]
    pub(super) world: World,
    #[command(flatten, next_help_heading = "Where")]
    pub(super) place: Place,
    #[command(flatten, next_help_heading = "How fast")]
    pub(super) pace: PaceArgs,
    /// What is called, in shares: `recall`, `capture`, `correct`, `delete`
    #[arg(long, value_name = "METHOD=SHARE,…", default_value = "recall=100")]
    pub(super) mix: Mix,
    /// How recalls say what they are about
    #[arg(long, value_enum, value_name = "HOW", default_value = "ids")]
    pub(super) recall_by: RecallBy,
    /// Memories that each recall nominates by id, of those of one subject, or that it takes of those that its text finds
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(super) nominations: u32,
    /// Connections that the calls are spread over
    #[arg(long, value_name = "NUMBER", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) connections: u16,
    /// Seconds of each run
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(super) duration: u32,
    /// Seconds of calls before each, which are not counted
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=3600))]
    pub(super) warm_up: u32,
    /// Which memories are asked for: another number, others
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(super) seed: u64,
    /// Compare with this, in the same run; may be given several times
    #[arg(long, value_enum, conflicts_with_all = ["rate", "find_rate", "load_only"])]
    baseline: Vec<Baseline>,
    /// Load the memories in bulk and do nothing else
    #[arg(long, requires = "database", conflicts_with_all = ["loaded", "target"])]
    pub(super) load_only: bool,
    /// The memories are there: the same numbers were loaded in bulk before
    #[arg(long)]
    pub(super) loaded: bool,
    /// Print JSON for machines instead of a table for people
    #[arg(long)]
    pub(super) json: bool,
}

/// How calls follow one another.
#[derive(Debug, Args)]
pub(super) struct PaceArgs {
    /// Calls at once: each is followed by the next as soon as it is answered
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(1..=10_000)
    )]
    in_flight: u32,
    /// Calls a second, whatever becomes of them; how long each takes counts from when it was to be sent
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["in_flight", "find_rate"], value_parser = rate)]
    rate: Option<f64>,
    /// Look for the highest rate that is kept: no errors, 99 % of it answered, and within `--max-p99-millis`
    #[arg(long)]
    pub(super) find_rate: bool,
    /// The longest 99th percentile of a rate that is kept
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 50, requires = "find_rate")]
    max_p99_millis: u32,
}

impl PaceArgs {
    pub(super) fn pace(&self) -> Pace {
        self.rate.map_or(Pace::Closed { in_flight: self.in_flight }, |rate| Pace::Open { rate })
    }

    pub(super) fn longest(&self) -> Duration {
        Duration::from_millis(self.max_p99_millis.into())
    }
}

impl Bench {
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.nominations > self.world.memories {
            let why = "`--nominations` must be at most `--memories`: a recall nominates memories of one subject";
            return Err(Failure::Usage(vec![why.to_owned()]));
        }
        let needs_database = self.baseline.iter().any(|one| *one != Baseline::Echo);
        if needs_database && (self.mix.writes() || self.place.is_target()) {
            let why = "`--baseline` other than `echo` is about recalls alone, and about a database within reach";
            return Err(Failure::Usage(vec![why.to_owned()]));
        }
        if self.baseline.contains(&Baseline::Sql) && self.recall_by == RecallBy::Text {
            let why = "`--baseline sql` is about recalls by ids";
            return Err(Failure::Usage(vec![why.to_owned()]));
        }
        Ok(())
    }

    pub(super) fn baselines(&self) -> &[Baseline] {
        &self.baseline
    }

    pub(super) fn seconds(&self) -> Duration {
        Duration::from_secs(self.duration.into())
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| (0.1..=1_000_000.0).contains(rate));
    rate.ok_or_else(|| "must be 0.1 to 1000000".to_owned())
}
