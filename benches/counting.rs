//! Counts the instructions of a workload, under Valgrind: of all threads, the kernel's not among them.

use std::fs::read_to_string;
use std::process::Command;

use crate::workload::Workload;

/// Enough for the count of one to be steady, and soon done: under Valgrind all takes some twenty times as long.
const ITERATIONS: u64 = 200;

/// Instructions of one iteration: the middle one where it is counted several times.
pub(crate) fn per_iteration(workload: Workload) -> u64 {
    let mut counts: Vec<u64> = (0..workload.counted_times()).map(|_| count(workload)).collect();
    counts.sort_unstable();
    *counts.get(counts.len() / 2).expect("a count")
}

/// What comes before the first iteration and after the last is not counted.
fn count(workload: Workload) -> u64 {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let counts = folder.path().join("counts");
    let process = Command::new("valgrind")
        .args(["--command-line-only=yes", "--tool=callgrind", "--dump-before=counted::workload::mark"])
        .arg(format!("--callgrind-out-file={}", counts.display()))
        .arg(std::env::current_exe().expect("this program"))
        .args([workload.name(), &ITERATIONS.to_string()])
        .output()
        .expect("Valgrind is installed");
    let said = String::from_utf8_lossy(&process.stderr);
    assert!(process.status.success(), "{said}");
    // The first part ends at the first mark, the second at the second.
    let part =
        read_to_string(counts.with_extension("2")).unwrap_or_else(|error| panic!("no second part: {error}: {said}"));
    let total = part.lines().find_map(|line| line.strip_prefix("totals: ")).expect("a total");
    total.trim().parse::<u64>().expect("a number") / ITERATIONS
}
