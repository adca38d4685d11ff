//! The commands, one file per command.

pub(crate) mod acknowledge;
pub(crate) mod aggregator;
pub(crate) mod cluster;
pub(crate) mod demo;
pub(crate) mod drop;
pub(crate) mod explain;
pub(crate) mod forget;
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod leaf;
pub(crate) mod log;
pub(crate) mod open;
pub(crate) mod query;
pub(crate) mod revoke;
pub(crate) mod rollover;
pub(crate) mod serve;
pub(crate) mod settings;
pub(crate) mod status;
pub(crate) mod stop;
