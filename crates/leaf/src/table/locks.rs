//! The locks of the list of blocks. Its tests under random schedules replace this module by the
//! locks of shuttle, which has the interface of the standard library.

pub(crate) use std::sync::{Arc, RwLock};
