//! What came of it: a table for people, JSON for machines.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use super::Failure;
use super::drive::{Measured, Pace};
use super::limit::{Limit, Seen};
use super::tally::Quantiles;
use super::world::World;

/// One run.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    name: &'static str,
    /// Calls at once, of a closed loop.
    in_flight: Option<u32>,
    /// Calls a second that were asked for, of an open loop.
    rate: Option<f64>,
    seconds: f64,
    /// All calls that were sent: those that were answered well, and the errors.
    calls: u64,
    answered: u64,
    pub(super) answered_per_second: f64,
    /// Microseconds from the intended start to the whole answer.
    pub(super) latency_micros: Quantiles,
    by_method: BTreeMap<&'static str, OfMethod>,
    pub(super) errors: BTreeMap<&'static str, u64>,
    pub(super) unsent: u64,
    /// Microseconds from the intended start until it was sent.
    sent_late_micros: Quantiles,
    server: Option<Spent>,
    generator: Option<Spent>,
    limit: Limit,
    /// Of a search for the highest rate: whether this one was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sustained: Option<bool>,
}

#[derive(Debug, Serialize)]
struct OfMethod {
    answered: u64,
    latency_micros: Quantiles,
}

/// What a process used during a run.
#[derive(Debug, Serialize)]
struct Spent {
    /// Processors that were busy with it, on average.
    processors: f64,
    cpu_micros_per_call: f64,
    resident_bytes: u64,
    peak_resident_bytes: u64,
}

impl Run {
    pub(super) fn of(name: &'static str, measured: &Measured) -> Result<Self, Failure> {
        let seconds = measured.elapsed.as_secs_f64();
        let answered = measured.tally.answered_count();
        let errors = measured.tally.errors().clone();
        let calls = answered + errors.values().sum::<u64>();
        let spent = |used: super::usage::Usage| Spent {
            processors: used.cpu.as_secs_f64() / seconds,
            cpu_micros_per_call: used.cpu.as_secs_f64() * 1e6 / float(calls.max(1)),
            resident_bytes: used.resident_bytes,
            peak_resident_bytes: used.peak_bytes,
        };
        let (server, generator) = (measured.server.map(spent), measured.generator.map(spent));
        let (latency_micros, late) = (measured.tally.latency()?, measured.tally.late());
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let limit = Limit::of(&Seen {
            processors: f64::from(u32::try_from(processors).unwrap_or(1)),
            generator: generator.as_ref().map(|spent| spent.processors),
            server: server.as_ref().map(|spent| spent.processors),
            late: Duration::from_micros(late.p99),
            latency: Duration::from_micros(latency_micros.p99),
            unsent: measured.unsent,
        });
        let by_method = measured.tally.by_method();
        let by_method = by_method
            .into_iter()
            .map(|(name, (answered, latency_micros))| (name, OfMethod { answered, latency_micros }))
            .collect();
        let (in_flight, rate) = match measured.pace {
            Pace::Closed { in_flight } => (Some(in_flight), None),
            Pace::Open { rate } => (None, Some(rate)),
        };
        Ok(Self {
            name,
            in_flight,
            rate,
            seconds,
            calls,
            answered,
            answered_per_second: float(answered) / seconds,
            latency_micros,
            by_method,
            errors,
            unsent: measured.unsent,
            sent_late_micros: late,
            server,
            generator,
            limit,
            sustained: None,
        })
    }

    fn pace(&self) -> String {
        match (self.in_flight, self.rate) {
            (Some(in_flight), _) => format!("{in_flight} at once"),
            (None, Some(rate)) => format!("{rate:.0} a second"),
            (None, None) => String::new(),
        }
    }
}

/// How long it took to load the memories.
#[derive(Debug, Serialize)]
pub(super) struct Loaded {
    memories: u64,
    seconds: f64,
    per_second: f64,
}

impl Loaded {
    pub(super) fn of(memories: u64, took: Duration) -> Self {
        let seconds = took.as_secs_f64();
        Self { memories, seconds, per_second: float(memories) / seconds }
    }
}

/// Everything.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) version: &'static str,
    pub(super) database: Option<String>,
    pub(super) target: Option<String>,
    /// Memory that contexts may be kept in, of a service that was started for this: with 0 every recall was cold.
    pub(super) context_cache_mib: Option<u64>,
    pub(super) world: World,
    pub(super) recall_by: &'static str,
    pub(super) nominations: u32,
    pub(super) mix: String,
    pub(super) connections: u16,
    pub(super) loaded: Option<Loaded>,
    pub(super) runs: Vec<Run>,
    /// Answers a second of the service, as a part of those of each baseline.
    pub(super) ratios: BTreeMap<&'static str, f64>,
    /// The highest rate that was kept, where it was looked for.
    pub(super) highest_rate: Option<f64>,
}

impl Report {
    pub(super) fn json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    pub(super) fn table(&self, out: &mut impl Write) -> io::Result<()> {
        let world = &self.world;
        writeln!(
            out,
            "{} tenants x {} subjects x {} memories of {} bytes, {} nominated by {}; {}; {} connections",
            world.tenants,
            world.subjects,
            world.memories,
            world.value_bytes,
            self.nominations,
            self.recall_by,
            self.mix,
            self.connections
        )?;
        if let Some(loaded) = &self.loaded {
            let Loaded { memories, seconds, per_second } = loaded;
            writeln!(out, "loaded {memories} memories in {seconds:.1} s, {per_second:.0} a second")?;
        }
        if self.runs.is_empty() {
            return Ok(());
        }
        match self.context_cache_mib {
            Some(0) => writeln!(out, "cold: no context is kept in memory, every recall reads")?,
            Some(mib) => writeln!(out, "warm: contexts are kept in memory, in {mib} MiB")?,
            None => {}
        }
        writeln!(
            out,
            "\n{:<12} {:>16} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8}   CPUs, CPU us a call, MiB now and at most",
            "milliseconds", "", "answered", "a second", "p50", "p90", "p99", "p99.9", "most"
        )?;
        for run in &self.runs {
            write!(
                out,
                "{:<12} {:>16} {:>9} {:>9.0} {}",
                run.name,
                run.pace(),
                run.answered,
                run.answered_per_second,
                row(&run.latency_micros)
            )?;
            match &run.server {
                Some(server) => writeln!(
                    out,
                    "   {:.2}, {:.0}, {} and {}",
                    server.processors,
                    server.cpu_micros_per_call,
                    server.resident_bytes >> 20,
                    server.peak_resident_bytes >> 20
                )?,
                None => writeln!(out)?,
            }
            if run.by_method.len() > 1 {
                for (name, of) in &run.by_method {
                    let what = format!("  {name}");
                    writeln!(out, "{what:<12} {:>16} {:>9} {:>9} {}", "", of.answered, "", row(&of.latency_micros))?;
                }
            }
        }
        writeln!(out)?;
        for run in &self.runs {
            let errors: Vec<String> = run.errors.iter().map(|(code, count)| format!("{count} {code}")).collect();
            let errors = if errors.is_empty() { "none".to_owned() } else { errors.join(", ") };
            write!(out, "{} at {}: errors: {errors}", run.name, run.pace())?;
            if run.unsent > 0 {
                write!(out, ", and {} never sent", run.unsent)?;
            }
            if let Some(sustained) = run.sustained {
                write!(out, "; {}", if sustained { "sustained" } else { "not sustained" })?;
            }
            writeln!(out, "; the limit was {}", run.limit.says())?;
            if let Some(generator) = &run.generator {
                let late = milliseconds(run.sent_late_micros.p99);
                let busy = generator.processors;
                writeln!(out, "  the load generator used {busy:.2} CPUs, and sent 99 % of the calls within {late} ms")?;
            }
        }
        for (baseline, ratio) in &self.ratios {
            writeln!(out, "{:.1} % of the answers a second of `{baseline}`", ratio * 100.0)?;
        }
        if let Some(rate) = self.highest_rate {
            writeln!(out, "highest rate that was kept: {rate:.0} a second")?;
        }
        Ok(())
    }
}

fn row(quantiles: &Quantiles) -> String {
    let Quantiles { p50, p90, p99, p999, max } = *quantiles;
    [p50, p90, p99, p999, max].map(|micros| format!("{:>8}", milliseconds(micros))).join(" ")
}

fn milliseconds(micros: u64) -> String {
    format!("{}.{:02}", micros / 1000, micros % 1000 / 10)
}

#[expect(clippy::cast_precision_loss, reason = "counts of calls are far below 2^53")]
const fn float(count: u64) -> f64 {
    count as f64
}
