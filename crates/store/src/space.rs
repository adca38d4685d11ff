//! Disk that is reserved, and memory that is given back to the system.

pub(crate) mod allocator;
pub(crate) mod disk_reserve;
