//! The life of a server process: how it opens, hands over, keeps to its memory, and stops.

pub(crate) mod damage;
pub(crate) mod engine;
pub(crate) mod file_permissions;
pub(crate) mod handover;
pub(crate) mod heap;
pub(crate) mod memory;
pub(crate) mod service;
pub(crate) mod shutdown;
pub(crate) mod system;
pub(crate) mod token;
