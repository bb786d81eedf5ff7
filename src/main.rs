//! The `recall-gate` program.

use std::process::ExitCode;

/// Decision: not the allocator that comes with Linux. A call makes and frees hundreds of small values, across threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    recall_gate::cli::main(std::env::args_os(), &mut std::io::stdout(), &mut std::io::stderr())
}
