//! Space that is set aside, or given back to the system.

pub(crate) mod allocator;
pub(crate) mod disk_reserve;
