//! Black-box suites, and what they stand on: the oracle and random rows and queries for it.

pub mod engine;
pub mod generate;
pub mod oracle;
pub mod session;
