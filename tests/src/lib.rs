//! Black-box suites and their base: the oracle, and random rows and queries for it.

pub mod engine;
pub mod generate;
pub mod oracle;
pub mod session;
