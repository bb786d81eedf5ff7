//! The `recall-gate` program.

use std::process::ExitCode;

/// Decision: not the allocator that comes with Linux. A call makes and frees hundreds of small values, across threads.
/// This one gives back in time what a flood of calls has taken, which is why it is not another of the fast ones.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    recall_gate::cli::main(std::env::args_os(), &mut std::io::stdout(), &mut std::io::stderr())
}
