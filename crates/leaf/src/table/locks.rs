//! The locks of the list of blocks. Its tests under random schedules replace this module.

pub(crate) use std::sync::{Arc, RwLock};
