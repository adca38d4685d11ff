//! `hadal-bench`: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    hadal_bench::main()
}
