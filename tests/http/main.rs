//! The HTTP API from outside: a real server on a free port, used in raw HTTP. Every answer is
//! compared with `spec/openapi.json`.

#![expect(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod answers;
mod catalog;
mod client;
mod cluster;
mod documents;
mod doors;
mod dropped;
mod each_door;
mod events;
mod explain;
mod fakes;
mod formats;
mod functions;
mod hostile;
mod incidents;
mod intervals;
mod journal;
mod limits;
mod log;
mod memory;
mod openapi;
mod outage;
mod query;
mod rollover;
mod schema;
mod server;
mod settings;
mod stopping;
mod stream;
mod tables;
