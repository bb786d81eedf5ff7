//! How the memories that are stored fit a policy that is not in force yet.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use super::Failure;
use super::ledger::{inspect, unreadable};
use crate::gate::{Clock, SystemClock};
use crate::memory::{KindName, Memory, MemoryId, Time};
use crate::policy::{Misfit, Policy};

/// Memories that are read at once.
const PAGE: u32 = 500;

/// Examples of each fault. Ids alone: keys and values are text.
const EXAMPLES: usize = 5;

/// What was found.
#[derive(Default)]
struct Report {
    memories: u64,
    misfits: u64,
    rows: BTreeMap<(KindName, Misfit), Row>,
}

#[derive(Default)]
struct Row {
    memories: u64,
    examples: Vec<MemoryId>,
}

/// Tells of the memories in a database that do not fit, and fails where there are any.
pub(super) async fn check(policy: &Policy, database: &Path, out: &mut impl Write) -> Result<(), Failure> {
    let mut inspection = inspect(database).await?;
    let mut report = Report::default();
    let now = SystemClock.now();
    let mut after = None;
    loop {
        let page = inspection.memories(after.as_ref(), PAGE).await.map_err(|error| unreadable(database, &error))?;
        for memory in &page {
            report.add(policy, memory, now);
        }
        match page.into_iter().last() {
            Some(last) => after = Some(last.address),
            None => break,
        }
    }
    inspection.close().await;
    report.tell(out)?;
    if report.misfits == 0 {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "{} of {} stored memories do not fit this policy; it was put nowhere",
        report.misfits, report.memories
    )))
}

impl Report {
    fn add(&mut self, policy: &Policy, memory: &Memory, now: Time) {
        self.memories += 1;
        let misfits = policy.misfits(memory, now);
        self.misfits += u64::from(!misfits.is_empty());
        for misfit in misfits {
            let row = self.rows.entry((memory.kind.clone(), misfit)).or_default();
            row.memories += 1;
            if row.examples.len() < EXAMPLES {
                row.examples.push(memory.id);
            }
        }
    }

    fn tell(&self, out: &mut impl Write) -> io::Result<()> {
        if self.rows.is_empty() {
            return writeln!(out, "all {} stored memories fit it", self.memories);
        }
        writeln!(out, "kind  reason  memories  for example")?;
        for ((kind, misfit), row) in &self.rows {
            let examples: Vec<String> = row.examples.iter().map(ToString::to_string).collect();
            writeln!(out, "{kind}  {}  {}  {}", misfit.name(), row.memories, examples.join(" "))?;
        }
        Ok(())
    }
}
