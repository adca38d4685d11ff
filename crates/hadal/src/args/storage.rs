//! The arguments of a process that holds rows.

use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use hadal_leaf::Durability;
use hadal_types::limits::{CLOCK_PROVING_SECONDS, SERVER_STOP_SECONDS_MAX};

use crate::archive::ArchiveLocation;
use crate::args::MemoryArgs;
use crate::error::Error;

/// How rows are kept.
#[derive(Args, Clone, Debug)]
pub(crate) struct StorageArgs {
    #[command(flatten)]
    pub(crate) memory_of: MemoryArgs,
    /// When rows count as taken: once they are on disk, or at once (sync, async: a machine that
    /// loses its power may lose the last second; kill -9 loses nothing)
    #[arg(long, value_enum, default_value_t = WhenTaken::Sync, value_name = "WHEN")]
    durability: WhenTaken,
    /// Where rows of tables that are set so go before they are dropped, as files of Parquet: a
    /// folder that is there, or s3://BUCKET/PREFIX [default: nowhere]
    #[arg(long, env = "HADAL_ARCHIVE", value_name = "PLACE", hide_env_values = true)]
    archive: Option<String>,
    /// Seconds that a stop may take, 180 at most where a successor waits for it; then the process
    /// ends, and the next one recovers as after a crash
    #[arg(long, value_name = "SECONDS", default_value_t = SERVER_STOP_SECONDS_MAX)]
    stop_max: u64,
    /// Seconds for which the clock has to go right after a start, and after a jump, before rows go
    /// for their age
    #[arg(long, value_name = "SECONDS", default_value_t = CLOCK_PROVING_SECONDS)]
    clock_proving: u64,
    /// Let queries call functions in JavaScript, and let clients with the right define them
    #[arg(long, env = "HADAL_ALLOW_FUNCTIONS")]
    allow_functions: bool,
}

impl Default for StorageArgs {
    fn default() -> Self {
        Self {
            memory_of: MemoryArgs::default(),
            durability: WhenTaken::Sync,
            archive: None,
            stop_max: SERVER_STOP_SECONDS_MAX,
            clock_proving: CLOCK_PROVING_SECONDS,
            allow_functions: false,
        }
    }
}

impl StorageArgs {
    /// The default, with this ceiling of memory in bytes.
    pub(crate) fn with_memory(memory_max: u64) -> Self {
        Self { memory_of: MemoryArgs::with_max(memory_max), ..Self::default() }
    }

    /// The default, with or without user functions.
    pub(crate) fn with_functions(allow_functions: bool) -> Self {
        Self { allow_functions, ..Self::default() }
    }

    /// Whether user functions are allowed.
    pub(crate) fn allows_functions(&self) -> bool {
        self.allow_functions
    }

    /// When a batch is acknowledged.
    pub(crate) fn durability(&self) -> Durability {
        self.durability.into()
    }

    /// The archive, if one is given.
    pub(crate) fn archive(&self) -> Result<Option<ArchiveLocation>, Error> {
        location("--archive", self.archive.as_deref())
    }

    /// The time limit of a stop.
    pub(crate) fn stop_max(&self) -> Duration {
        Duration::from_secs(self.stop_max)
    }

    /// How long the clock must run correctly before rows expire.
    pub(crate) fn clock_proving(&self) -> Duration {
        Duration::from_secs(self.clock_proving)
    }

    /// The same arguments for another process, whose memory has this ceiling. The archive is left
    /// out, since command lines are public and its location may have a secret: see
    /// [`Self::secret_variables`].
    pub(crate) fn for_process(&self, memory_max: u64) -> Vec<OsString> {
        let durability = match self.durability {
            WhenTaken::Sync => "sync",
            WhenTaken::Async => "async",
        };
        let mut arguments = self.memory_of.for_process(memory_max);
        arguments.extend(["--durability".into(), durability.into()]);
        arguments.extend(["--stop-max".into(), self.stop_max.to_string().into()]);
        arguments.extend(["--clock-proving".into(), self.clock_proving.to_string().into()]);
        if self.allow_functions {
            arguments.push("--allow-functions".into());
        }
        arguments
    }

    /// Environment variables that complete [`Self::for_process`].
    pub(crate) fn secret_variables(&self) -> Vec<(&'static str, String)> {
        self.archive.iter().map(|archive| ("HADAL_ARCHIVE", archive.clone())).collect()
    }
}

/// When rows count as taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WhenTaken {
    /// Once they are on disk
    Sync,
    /// Once the system has them, which writes them within a second
    Async,
}

impl From<WhenTaken> for Durability {
    fn from(when: WhenTaken) -> Self {
        match when {
            WhenTaken::Sync => Self::Sync,
            WhenTaken::Async => Self::Async,
        }
    }
}

/// Parses the location that an option names. clap does not parse it, because its errors show the
/// text as it is, with a password.
pub(crate) fn location<P: FromStr<Err: fmt::Display>>(
    option: &str,
    text: Option<&str>,
) -> Result<Option<P>, Error> {
    let location = text.map(str::parse).transpose();
    location.map_err(|error| Error::Usage(format!("{option}: {error}")))
}
