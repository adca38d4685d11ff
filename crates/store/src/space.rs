//! Reserves disk space, and returns memory to the system.

pub(crate) mod allocator;
pub(crate) mod disk_reserve;
