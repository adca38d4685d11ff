//! The binary from outside: started, queried, filled, killed, as a person or a script would.

// `cfg(test)` on each module: clippy allows `unwrap` in test modules only.
#[cfg(test)]
mod before;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod cluster;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod downgrade;
#[cfg(test)]
mod duckdb;
#[cfg(test)]
mod expected_rows;
#[cfg(test)]
mod fairness;
#[cfg(test)]
mod flags;
#[cfg(test)]
mod frozen;
#[cfg(test)]
mod full;
#[cfg(test)]
mod functions;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod import;
#[cfg(test)]
mod import_detect;
#[cfg(test)]
mod import_formats;
#[cfg(test)]
mod import_json;
#[cfg(test)]
mod import_text;
#[cfg(test)]
mod import_times;
#[cfg(test)]
mod log;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod moved_batches;
#[cfg(test)]
mod postgres;
#[cfg(test)]
mod postgres_clients;
#[cfg(test)]
mod python_client;
#[cfg(test)]
mod query;
#[cfg(test)]
mod restart;
#[cfg(test)]
mod rollover;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod shutdown;
#[cfg(test)]
mod start;
#[cfg(test)]
mod terminal;
