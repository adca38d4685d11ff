//! The doors from outside: a real server on a port of its own, spoken to in raw HTTP. Whatever
//! it answers is compared with `spec/openapi.json`.

#![expect(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod answers;
mod catalog;
mod client;
mod doors;
mod dropped;
mod each_door;
mod fakes;
mod hostile;
mod journal;
mod limits;
mod log;
mod memory;
mod openapi;
mod query;
mod schema;
mod server;
mod settings;
mod stopping;
mod stream;
mod tables;
