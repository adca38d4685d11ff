//! The kernel's information on processes: `/proc`, behind a trait so that tests can provide files.

use std::collections::HashMap;
use std::fs;

/// A source of information on processes, with the constants needed to interpret it.
pub(crate) trait ProcFolder: Send {
    /// The processes that run now.
    fn pids(&self) -> Vec<u32>;
    /// Returns a process's file (`stat`, `status`, `io`), or `None` if it may not be read or the
    /// process has ended.
    fn read(&self, pid: u32, file: &str) -> Option<String>;
    /// The name of the user with this id, if it has one.
    fn user_name(&self, uid: u32) -> Option<&str>;
    /// Clock ticks per second, the unit of processor time.
    fn ticks_per_second(&self) -> u64;
    /// Bytes of a page, the unit of resident memory.
    fn page_bytes(&self) -> u64;
}

/// This machine's `/proc`.
pub(crate) struct MachineProcFolder {
    users: HashMap<u32, String>,
}

impl MachineProcFolder {
    /// Opens `/proc`. Returns `None` on machines without it.
    pub(crate) fn open() -> Option<Self> {
        fs::metadata("/proc/self/stat").ok()?;
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let user = |line: &str| {
            let mut fields = line.split(':');
            let (name, uid) = (fields.next()?, fields.nth(1)?);
            Some((uid.parse().ok()?, name.to_owned()))
        };
        Some(Self { users: passwd.lines().filter_map(user).collect() })
    }
}

impl ProcFolder for MachineProcFolder {
    fn pids(&self) -> Vec<u32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut pids: Vec<u32> =
            entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        pids.sort_unstable();
        pids
    }

    fn read(&self, pid: u32, file: &str) -> Option<String> {
        // A command name may be any bytes.
        let bytes = fs::read(format!("/proc/{pid}/{file}")).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn user_name(&self, uid: u32) -> Option<&str> {
        self.users.get(&uid).map(String::as_str)
    }

    fn ticks_per_second(&self) -> u64 {
        rustix::param::clock_ticks_per_second()
    }

    fn page_bytes(&self) -> u64 {
        rustix::param::page_size() as u64
    }
}
