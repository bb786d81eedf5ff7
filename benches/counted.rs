//! Counts instructions, so that a slower hot path is seen on a machine that others load. `tests/counts` runs it.
//!
//! Without an argument it counts each workload and compares with `benches/counts.toml`; with `--record` it writes that
//! file anew. With a workload's name and a number it does that workload so many times: that is what is counted.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that cannot be set up has nothing to measure"
)]
#![expect(clippy::print_stdout, reason = "it says what it counted")]

mod counting;
mod record;
mod stage;
mod whole;
mod workload;

use std::process::ExitCode;

use record::Record;
use workload::Workload;

fn main() -> ExitCode {
    // `cargo bench` adds one of its own.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => compare(),
        ["--record"] => {
            Record::of(Workload::RECORDED.map(|workload| (workload, counting::per_iteration(workload)))).write();
            ExitCode::SUCCESS
        }
        [name, iterations] => {
            let workload = Workload::named(name).unwrap_or_else(|| panic!("no workload is named `{name}`"));
            workload.run(iterations.parse().expect("a number of iterations"));
            ExitCode::SUCCESS
        }
        other => panic!("what is `{}`?", other.join(" ")),
    }
}

fn compare() -> ExitCode {
    let record = Record::read();
    let mut kept = true;
    for workload in Workload::RECORDED {
        let finding = record.compare(workload, counting::per_iteration(workload));
        println!("{finding}");
        kept &= !finding.is_slower();
    }
    // What is slower is found: all the same, and each memory copied once.
    if !record.compare(Workload::Rank, counting::per_iteration(Workload::RankSlowed)).is_slower() {
        println!("a workload that was slowed down on purpose is not found slower");
        kept = false;
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
