//! `recall-gate bench`: loads memories, drives calls, and tells how many were answered, how fast, and at what cost.
//!
//! The service runs in a process of its own, as `serve` starts it, with credentials that are verified and a disk that is
//! synced: nothing is relaxed. What it is compared with runs in the same invocation, driven by the same code.

mod appending;
mod args;
mod caller;
mod compare;
mod dice;
mod direct;
mod drive;
mod echo;
mod find;
mod guest;
mod import;
mod limit;
mod load;
mod mix;
mod place;
mod report;
mod requests;
mod service;
mod stores;
mod tally;
mod usage;
mod wire;
mod world;

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

pub(super) use args::Bench;
pub(super) use echo::BenchEcho;
pub(super) use guest::end_with_input;

use caller::{Caller, Ids, Plan};
use compare::Samples;
use drive::{Calls, Measured, Pace, drive};
use find::Search;
use place::{Kind, Ready};
use report::{Loaded, Report, Run};
use wire::Wire;

use super::signals::Signals;
use super::{Failure, policy};

/// Memories that are there to be corrected and deleted before calls do so.
const STOCK: u32 = 100;

/// Writes the two statements of a recall on PostgreSQL, as a script for pgbench.
pub(super) fn statements(out: &mut impl Write) -> Result<(), Failure> {
    write!(out, "{}", crate::store::bare::pgbench()).map_err(Failure::from)
}

impl Bench {
    /// A signal ends it, and what it has started, and removes its folder.
    pub(super) async fn run(self, out: &mut (impl Write + Send)) -> Result<(), Failure> {
        self.check()?;
        let mut signals = Signals::install().map_err(|error| Failure::because("signals cannot be received", &error))?;
        tokio::select! {
            outcome = self.bench(out) => outcome,
            signal = signals.next() => Err(Failure::failed(format!("ended by {signal}; nothing was measured"))),
        }
    }

    async fn bench(mut self, out: &mut (impl Write + Send)) -> Result<(), Failure> {
        let ready = std::mem::take(&mut self.place).prepare()?;
        let mut report = Report {
            version: env!("CARGO_PKG_VERSION"),
            database: match &ready.kind {
                Kind::Own { settings, .. } => Some(settings.database.to_string()),
                Kind::Target { .. } => None,
            },
            context_cache_mib: match &ready.kind {
                Kind::Own { settings, .. } => Some(settings.context_cache_bytes >> 20),
                Kind::Target { .. } => None,
            },
            target: match &ready.kind {
                Kind::Own { .. } => None,
                Kind::Target { address, .. } => Some(address.clone()),
            },
            world: self.world,
            recall_by: self.recall_by.name(),
            nominations: self.nominations,
            mix: self.mix.to_string(),
            connections: self.connections,
            loaded: None,
            runs: Vec::new(),
            ratios: std::collections::BTreeMap::new(),
            highest_rate: None,
        };
        if let (Kind::Own { settings, policy, .. }, false) = (&ready.kind, self.loaded) {
            let bar = bar("loading", self.world.size());
            let begin = Instant::now();
            let store = stores::open(&settings.database, policy).await?;
            let filled = load::fill(&store, policy, self.world, |loaded| bar.set_position(loaded)).await;
            store.close().await;
            filled?;
            bar.finish_and_clear();
            report.loaded = Some(Loaded::of(self.world.size(), begin.elapsed()));
        }
        if !self.load_only {
            self.measure(&ready, &mut report).await?;
        }
        let written = if self.json { report.json(out) } else { report.table(out) };
        written.map_err(Failure::from)
    }

    async fn measure(&self, ready: &Ready, report: &mut Report) -> Result<(), Failure> {
        let process = ready.start().await?;
        let (address, server) = match (&process, &ready.kind) {
            (Some(process), _) => (process.address.clone(), Some(process.id())),
            (None, Kind::Target { address, process }) => (address.clone(), *process),
            (None, Kind::Own { .. }) => return Err(Failure::failed("no service")),
        };
        let tokens = Arc::new(ready.tokens(&self.world)?);
        let wire = Wire::connect(&address, self.connections).await?;
        let run = direct::run();
        let mut ids = Ids::Made;
        if process.is_none() && !self.loaded {
            let bar = bar("loading", self.world.size());
            let begin = Instant::now();
            let given = import::fill(&wire, &tokens, self.world, run, |loaded| bar.set_position(loaded)).await?;
            bar.finish_and_clear();
            report.loaded = Some(Loaded::of(self.world.size(), begin.elapsed()));
            ids = Ids::Given(given);
        }
        let plan = Plan {
            world: self.world,
            ids,
            mix: self.mix.clone(),
            recall_by: self.recall_by,
            nominations: self.nominations,
            seed: self.seed,
            tokens,
            run,
        };
        let caller = Arc::new(Caller::new(plan, wire));
        caller.check().await?;
        if self.mix.writes() {
            caller.stock(STOCK).await?;
        }
        self.runs(&caller, server, report).await?;
        let samples = match self.baselines() {
            [] => None,
            _ => Some(Samples::of(&caller, self.mix.methods()).await?),
        };
        if let Some(process) = process {
            process.stop().await?;
        }
        if let Some(samples) = samples {
            self.compare(ready, &caller, &samples, run, report).await?;
        }
        Ok(())
    }

    /// The service itself.
    async fn runs(&self, caller: &Arc<Caller>, server: Option<u32>, report: &mut Report) -> Result<(), Failure> {
        const NAME: &str = "recall-gate";
        let measured = self.warmed("recall-gate", caller, self.pace.pace(), server).await?;
        let run = Run::of(NAME, &measured)?;
        if !self.pace.find_rate {
            report.runs.push(run);
            return Ok(());
        }
        let mut search = Search::from(run.answered_per_second);
        report.runs.push(run);
        for _ in 0..find::STEPS {
            let rate = search.next();
            let measured = self.timed("searching", caller, Pace::Open { rate }, self.seconds(), server).await?;
            let mut run = Run::of(NAME, &measured)?;
            let p99 = Duration::from_micros(run.latency_micros.p99);
            let was_kept = find::was_kept(&measured, run.answered_per_second, p99, self.pace.longest());
            search.learn(rate, was_kept);
            run.sustained = Some(was_kept);
            report.runs.push(run);
        }
        report.highest_rate = search.found();
        Ok(())
    }

    /// One run that is not counted, and one that is.
    async fn warmed<C: Calls>(
        &self,
        what: &str,
        calls: &Arc<C>,
        pace: Pace,
        server: Option<u32>,
    ) -> Result<Measured, Failure> {
        if self.warm_up > 0 {
            let warm_up = Duration::from_secs(self.warm_up.into());
            self.timed(&format!("{what}: warming up"), calls, pace, warm_up, server).await?;
        }
        self.timed(what, calls, pace, self.seconds(), server).await
    }

    async fn timed<C: Calls>(
        &self,
        what: &str,
        calls: &Arc<C>,
        pace: Pace,
        duration: Duration,
        server: Option<u32>,
    ) -> Result<Measured, Failure> {
        let bar = bar(what, u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
        let tick = |elapsed: Duration| bar.set_position(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
        let measured = drive(calls, pace, duration, server, tick).await;
        bar.finish_and_clear();
        measured
    }
}

/// A bar on standard error, where that is a terminal.
fn bar(what: &str, length: u64) -> ProgressBar {
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent} % {eta}") {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}
