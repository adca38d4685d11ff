//! What this machine has, and what of it this process may use.

use std::os::fd::RawFd;

use hadal_types::limits::{CONNECTIONS_MAX, FILES_PER_LEAF, FILES_PER_SEGMENT, FILES_RESERVED};
use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit, umask};

use crate::error::Error;

/// Files for which there is room in the table of this process's from the start: two of each segment,
/// half a terabyte of them, and connections.
const FILES_EXPECTED: u64 = 16_384;

/// Processors that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Whether this process may do anything on this machine.
pub(crate) fn is_root() -> bool {
    geteuid().is_root()
}

/// From now on files and folders that this process makes are for its user only.
pub(crate) fn keep_files_private() {
    umask(Mode::RWXG | Mode::RWXO);
}

/// Lets this process open as many files as it may at most; returns how many that is, `None` where
/// there is no limit. To be called before there are threads.
pub(crate) fn raise_file_limit() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let files = match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        Err(_) => current,
    };
    make_room_for_files(files);
    files
}

/// Has the system make the table of this process's files as large as it will be. Whenever a process
/// with threads needs a larger one, whoever opens a file waits until no processor looks at the old one
/// any more (Linux, `expand_fdtable`): 13 ms at the 256th file of a start, as long as all else that
/// it does.
fn make_room_for_files(files: Option<u64>) {
    let last = files.unwrap_or(u64::MAX).saturating_sub(1).min(FILES_EXPECTED);
    let Ok(last) = RawFd::try_from(last) else { return };
    // Without it things take longer, some time.
    drop(rustix::io::fcntl_dupfd_cloexec(std::io::stderr(), last));
}

/// What a server keeps files open for, beside connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holdings {
    /// Leaves that have a folder.
    pub(crate) leaves: usize,
    /// Segments of all of them.
    pub(crate) segments: usize,
}

impl Holdings {
    /// Connections at the same time where so many files may be open: the others are left to the rest of
    /// the process, which without them could neither answer nor keep what it was sent.
    ///
    /// # Errors
    /// Where not one connection is left.
    pub(crate) fn connections_max(self, files: Option<u64>) -> Result<usize, Error> {
        let Self { leaves, segments } = self;
        let own = FILES_RESERVED + leaves * FILES_PER_LEAF + segments * FILES_PER_SEGMENT;
        let limit = files.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX);
        match limit.saturating_sub(own) {
            0 => Err(Error::Server(format!(
                "the limit of open files is {limit}, and this server needs at least {least}: \
                 {FILES_RESERVED} for itself, {FILES_PER_LEAF} for each of {leaves} leaves, \
                 {FILES_PER_SEGMENT} for each of {segments} segment files, and one for a connection; raise \
                 the limit (ulimit -n 65536 in the shell, LimitNOFILE=65536 in the systemd unit), and start \
                 it again",
                least = own + 1
            ))),
            left => Ok(left.min(CONNECTIONS_MAX)),
        }
    }
}

/// Whether blocks may be answered from their zones: yes, but for those who measure what it takes to
/// read them, with `HADAL_ZONE_ANSWERS=off` in the environment.
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
        let own = Holdings { leaves: 3, segments: 100 };
        let needed = FILES_RESERVED + 3 * FILES_PER_LEAF + 100 * FILES_PER_SEGMENT;
        assert_eq!(own.connections_max(Some(needed as u64 + 1)).expect("enough"), 1);
        for limit in [0, 24, needed as u64] {
            let told = own.connections_max(Some(limit)).expect_err("too few").to_string();
            assert!(told.contains(&format!("open files is {limit},")), "{told}");
            assert!(told.contains(&format!("at least {}:", needed + 1)), "{told}");
            assert!(told.contains("ulimit -n") && told.contains("LimitNOFILE="), "{told}");
        }
    }
}
