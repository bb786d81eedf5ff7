//! What was counted before, and how what is counted now compares with it.

use std::collections::BTreeMap;
use std::fmt;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::workload::Workload;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/counts.toml");
const HEAD: &str =
    "# Instructions of one iteration. Written by `tests/counts --record`; docs/performance.md, \"The gate\".\n\n";

/// `benches/counts.toml`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    /// What they were built with.
    rustc: String,
    host: String,
    instructions: BTreeMap<String, u64>,
}

impl Record {
    pub(crate) fn of(counts: impl IntoIterator<Item = (Workload, u64)>) -> Self {
        let instructions = counts.into_iter().map(|(workload, count)| (workload.name().to_owned(), count)).collect();
        let (rustc, host) = compiler();
        Self { rustc, host, instructions }
    }

    pub(crate) fn read() -> Self {
        toml::from_str(&std::fs::read_to_string(FILE).expect("a record")).expect("a record that can be read")
    }

    pub(crate) fn write(&self) {
        let text = format!("{HEAD}{}", toml::to_string(self).expect("a record"));
        std::fs::write(FILE, &text).expect("a record that can be written");
        println!("{text}");
    }

    pub(crate) fn compare(&self, workload: Workload, counted: u64) -> Finding {
        let recorded = self.instructions.get(workload.name()).copied();
        let recorded = recorded.unwrap_or_else(|| panic!("`{}` is not in the record", workload.name()));
        let (rustc, host) = compiler();
        let percent = match (host == self.host, rustc == self.rustc) {
            (true, true) => workload.margin(),
            (true, false) => OF_ANOTHER_COMPILER,
            (false, _) => OF_ANOTHER_HOST,
        };
        Finding { workload, counted, recorded, percent }
    }
}

/// The margin, in per cent, where another release of the compiler built it, and where it is for another architecture.
const OF_ANOTHER_COMPILER: u64 = 10;
const OF_ANOTHER_HOST: u64 = 40;

/// The release of the compiler, and what it builds for: both change the count.
fn compiler() -> (String, String) {
    let said = Command::new("rustc").arg("-vV").output().expect("a compiler").stdout;
    let said = String::from_utf8(said).expect("text");
    let field = |name| said.lines().find_map(|line| line.strip_prefix(name)).expect("a field").to_owned();
    let release = field("release: ");
    let minor = release.rsplit_once('.').map_or(release.as_str(), |(minor, _)| minor);
    (minor.to_owned(), field("host: "))
}

/// One count beside the recorded one.
pub(crate) struct Finding {
    workload: Workload,
    counted: u64,
    recorded: u64,
    percent: u64,
}

impl Finding {
    pub(crate) const fn is_slower(&self) -> bool {
        self.counted * 100 > self.recorded * (100 + self.percent)
    }

    const fn is_faster(&self) -> bool {
        self.counted * 100 < self.recorded * (100 - self.percent)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workload, counted, recorded, percent } = self;
        write!(out, "{}: {counted} instructions, recorded {recorded} ± {percent} %", workload.name())?;
        if self.is_slower() {
            out.write_str(": SLOWER. Where that is its price, `tests/counts --record`, and say why in the commit")
        } else if self.is_faster() {
            out.write_str(": faster; bring the record down with `tests/counts --record`")
        } else {
            Ok(())
        }
    }
}
