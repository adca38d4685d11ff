//! `hadal`: one program that serves, fills and asks a Hadal database.
//!
//! The commands are in `commands`, one file each. Those that need a server talk to it over HTTP
//! through `client`, also when they have just started it themselves. The database proper is put
//! together in `engine`.

mod archive;
mod cli;
mod client;
mod commands;
mod demo;
mod error;
mod input;
mod output;
mod process;
mod render;
mod terminal_escape;
mod upload;

use std::process::ExitCode;

use clap::Parser;

/// Gives memory back to the system sooner than the standard one, and serves threads apart.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let outcome = cli::Cli::parse().command.run();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::say(&format!("error: {error}"));
            ExitCode::from(error.exit_code())
        }
    }
}
