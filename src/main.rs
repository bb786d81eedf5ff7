//! The `recall-gate` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    recall_gate::cli::main(std::env::args_os(), &mut std::io::stdout(), &mut std::io::stderr())
}
