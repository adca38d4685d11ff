//! The arguments that say how much memory a process may take, and where it has its rows.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hadal_store::AfterCrash;
use hadal_types::settings::parse_bytes;

/// The usual path of a tmpfs on Linux.
const TMPFS_DEFAULT: &str = "/dev/shm";

/// From where rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Storage {
    /// Memory where there is a tmpfs for it, else mmap
    Auto,
    /// A tmpfs, from which the next process has them at once; with a copy on disk
    Memory,
    /// Files on disk, through the system's cache
    Mmap,
}

/// Where rows come from after a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowsFrom {
    /// Memory, where they are verified, and disk where they are not as they were
    #[default]
    Memory,
    /// Disk, all of them
    Disk,
}

impl From<RowsFrom> for AfterCrash {
    fn from(rows: RowsFrom) -> Self {
        match rows {
            RowsFrom::Memory => Self::Memory,
            RowsFrom::Disk => Self::Disk,
        }
    }
}

/// Memory, as the command line has it.
#[derive(Args, Clone, Debug)]
pub(crate) struct MemoryArgs {
    /// Where rows are read from
    #[arg(long, value_enum, default_value_t = Storage::Auto, value_name = "MODE")]
    pub(crate) storage: Storage,
    /// The tmpfs that holds them in memory
    #[arg(long, env = "HADAL_TMPFS", default_value = TMPFS_DEFAULT, value_name = "DIR")]
    pub(crate) tmpfs: PathBuf,
    /// Where rows come from after a crash, where they are kept in memory
    #[arg(long, value_enum, default_value_t = RowsFrom::Memory, value_name = "PLACE")]
    pub(crate) after_crash: RowsFrom,
    /// Memory that all of it may take, such as 8GiB [default: half of what there is]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) memory_max: Option<u64>,
}

impl Default for MemoryArgs {
    fn default() -> Self {
        Self {
            storage: Storage::Auto,
            tmpfs: TMPFS_DEFAULT.into(),
            after_crash: RowsFrom::Memory,
            memory_max: None,
        }
    }
}

impl MemoryArgs {
    /// The default, with this ceiling in bytes.
    pub(crate) fn with_max(memory_max: u64) -> Self {
        Self { memory_max: Some(memory_max), ..Self::default() }
    }

    /// The same arguments for another process, whose memory has this ceiling.
    pub(crate) fn for_process(&self, memory_max: u64) -> Vec<OsString> {
        let name = |value: Option<clap::builder::PossibleValue>| {
            value.map(|value| OsString::from(value.get_name())).unwrap_or_default()
        };
        vec![
            "--storage".into(),
            name(self.storage.to_possible_value()),
            "--tmpfs".into(),
            self.tmpfs.clone().into(),
            "--after-crash".into(),
            name(self.after_crash.to_possible_value()),
            "--memory-max".into(),
            memory_max.to_string().into(),
        ]
    }
}
