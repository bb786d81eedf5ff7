//! Counts the instructions of a workload, under Valgrind: of all threads, the kernel's not among them.

use std::path::Path;
use std::process::Command;

use crate::workload::Workload;

/// Instructions of one iteration. What comes before the first and after the last is in both counts, and cancels.
pub(crate) fn per_iteration(workload: Workload) -> u64 {
    let iterations = workload.iterations();
    let more = of(workload, 2 * iterations).checked_sub(of(workload, iterations)).expect("more for more");
    more / u64::from(iterations)
}

/// Instructions of a process that does so many.
fn of(workload: Workload, iterations: u32) -> u64 {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let said = folder.path().join("said");
    let process = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--branch-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(format!("--log-file={}", said.display()))
        .arg(std::env::current_exe().expect("this program"))
        .args([workload.name(), &iterations.to_string()])
        .output()
        .expect("Valgrind is installed");
    let said = read(&said);
    assert!(process.status.success(), "{}{said}", String::from_utf8_lossy(&process.stderr));
    let count = said.lines().find_map(|line| line.split_once("I   refs:")).expect("a count").1;
    count.trim().replace(',', "").parse().expect("a number")
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}
