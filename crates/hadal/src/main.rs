//! `hadal`: one program that runs, fills and queries a Hadal database.
//!
//! `commands` has one file per command. Commands that need a server use HTTP through `client`, even
//! if they have just started the server themselves. `process` assembles the database.

mod answer_formats;
mod archive;
mod args;
mod cli;
mod client;
mod commands;
mod demo;
mod error;
mod function_worker;
mod input;
mod output;
mod process;
mod render;
mod terminal_escape;
mod upload;

use std::process::ExitCode;

use clap::Parser;

/// mimalloc returns memory to the system sooner than the standard allocator, and serves each thread
/// separately.
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
