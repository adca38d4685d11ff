//! What changes rows at once, when a client asks: a batch comes in, or is revoked.

pub(crate) mod accept;
pub(crate) mod configure;
pub(crate) mod disk_full_log;
pub(crate) mod drop_table;
pub(crate) mod revoke;
