//! The machine's resources, and how much of them this process may use.

use std::os::fd::RawFd;

use hadal_types::limits::{CONNECTIONS_MAX, FILES_PER_LEAF, FILES_PER_SEGMENT, FILES_RESERVED};
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit, umask};

use crate::error::Error;

/// The expected number of open files, for which the file table has room from the start: two per
/// segment, for half a terabyte of segments, and connections.
const FILES_EXPECTED: u64 = 16_384;

/// The number of processors that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Whether this process runs as root.
pub(crate) fn is_root() -> bool {
    geteuid().is_root()
}

/// Makes files and folders that this process creates from now on private to its user.
pub(crate) fn keep_files_private() {
    umask(Mode::RWXG | Mode::RWXO);
}

/// Raises the limit of open files to its maximum. Returns the limit, or `None` without a limit. To
/// be called before there are threads.
pub(crate) fn raise_file_limit() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let files = match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        Err(_) => current,
    };
    make_room_for_files(files);
    files
}

/// Makes the system allocate this process's file table at its final size. Whenever a process with
/// threads needs a larger one, an open call waits until no processor uses the old table (Linux,
/// `expand_fdtable`). That took 13 ms at the 256th file of a start, as long as all its other work.
fn make_room_for_files(files: Option<u64>) {
    let last = files.unwrap_or(u64::MAX).saturating_sub(1).min(FILES_EXPECTED);
    let Ok(last) = RawFd::try_from(last) else { return };
    // If this fails, a later open call takes longer.
    drop(rustix::io::fcntl_dupfd_cloexec(std::io::stderr(), last));
}

/// The objects for which a server keeps files open, besides connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holdings {
    /// Leaves with a folder.
    pub(crate) leaves: usize,
    /// Segments of all leaves.
    pub(crate) segments: usize,
}

impl Holdings {
    /// Returns the number of simultaneous connections under a limit of open files. The other files
    /// are reserved for the rest of the process, which could otherwise neither answer nor store
    /// what it gets.
    ///
    /// # Errors
    /// If not one connection is left.
    pub(crate) fn connections_max(self, files: Option<u64>) -> Result<usize, Error> {
        let Self { leaves, segments } = self;
        let reserved = FILES_RESERVED + leaves * FILES_PER_LEAF + segments * FILES_PER_SEGMENT;
        let limit = files.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX);
        match limit.saturating_sub(reserved) {
            0 => Err(Error::Server(format!(
                "the limit of open files is {limit}, and this server needs at least {least}: \
                 {FILES_RESERVED} for itself, {FILES_PER_LEAF} for each of {leaves} leaves, \
                 {FILES_PER_SEGMENT} for each of {segments} segment files, and one for a connection; raise \
                 the limit (ulimit -n 65536 in the shell, LimitNOFILE=65536 in the systemd unit), and start \
                 it again",
                least = reserved + 1
            ))),
            left => Ok(left.min(CONNECTIONS_MAX)),
        }
    }
}

/// Whether blocks may be answered from their zone maps. `HADAL_ZONE_ANSWERS=off` in the environment
/// turns this off, to measure the cost of reading the blocks.
pub(crate) fn zone_answers() -> bool {
    std::env::var("HADAL_ZONE_ANSWERS").map_or(true, |word| word != "off")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_to_the_rest() {
        for (files, connections) in [
            (None, 1_024),
            (Some(u64::MAX), 1_024),
            (Some(1_024 + 128), 1_024),
            (Some(1_024 + 127), 1_023),
            (Some(1_024), 896),
            (Some(129), 1),
        ] {
            let left = Holdings::default().connections_max(files).expect("enough");
            assert_eq!(left, connections, "{files:?}");
        }
    }

    #[test]
    fn a_server_that_would_run_out_of_files_is_refused() {
        let holdings = Holdings { leaves: 3, segments: 100 };
        let needed = FILES_RESERVED + 3 * FILES_PER_LEAF + 100 * FILES_PER_SEGMENT;
        assert_eq!(holdings.connections_max(Some(needed as u64 + 1)).expect("enough"), 1);
        for limit in [0, 24, needed as u64] {
            let error = holdings.connections_max(Some(limit)).expect_err("too few").to_string();
            assert!(error.contains(&format!("open files is {limit},")), "{error}");
            assert!(error.contains(&format!("at least {}:", needed + 1)), "{error}");
            assert!(error.contains("ulimit -n") && error.contains("LimitNOFILE="), "{error}");
        }
    }
}
