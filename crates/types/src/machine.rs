//! The name of a machine.

use std::fmt;
use std::sync::Arc;

/// The name of a machine, unique in its cluster. The leaves of a machine are named after it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MachineName(pub Arc<str>);

impl fmt::Display for MachineName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
