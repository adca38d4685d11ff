//! Locks of the list of blocks; its tests under random schedules replace this module by other locks.

pub(crate) use std::sync::{Arc, RwLock};
