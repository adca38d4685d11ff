//! Changes that a client requests: a batch is accepted or revoked, a table is configured or
//! dropped.

pub(crate) mod accept;
pub(crate) mod configure;
pub(crate) mod disk_full_log;
pub(crate) mod drop_table;
pub(crate) mod revoke;
