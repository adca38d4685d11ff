//! Where a table's row blocks are read from.

use std::fmt;
use std::str::FromStr;

/// Where a table's row blocks are read from, on a leaf that keeps row blocks in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableStorage {
    /// From memory, as far as it has room.
    #[default]
    Memory,
    /// From disk, through the system's page cache: they take none of the leaf's memory.
    Mmap,
}

impl fmt::Display for TableStorage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Memory => "memory",
            Self::Mmap => "mmap",
        })
    }
}

impl FromStr for TableStorage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "memory" => Ok(Self::Memory),
            "mmap" => Ok(Self::Mmap),
            _ => Err(format!("{text:?} is neither; write memory or mmap")),
        }
    }
}
