//! What a worker gives up before it runs the first line of a function.

use std::collections::BTreeMap;

use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// Address space beyond that of a worker that has just started, in bytes: the engine's memory, and
/// messages and their columns.
const ADDRESS_SPACE_MORE: u64 = 256 << 20;
/// CPU seconds of a worker's life. It ends workers whose process has gone in the middle of a call.
const CPU_SECONDS_MAX: u64 = 3_600;
/// The flag of executable memory, of `mmap` and `mprotect`.
const PROT_EXEC: u64 = 4;

/// Gives up everything that the kernel can take; returns a sentence for each part that it cannot.
pub(super) fn enter() -> Vec<String> {
    let mut notes = Vec::new();
    // Read from a file, so before files are refused.
    let address_space = address_space();
    if address_space.is_none() {
        notes.push("no limit of the address space: its size is not known".to_owned());
    }
    // Before the limits: its rules are a file until they are in force.
    match restrict_access() {
        Ok(RulesetStatus::NotEnforced) => notes.push("no Landlock rules".to_owned()),
        Ok(_) => {}
        Err(error) => notes.push(format!("no Landlock rules: {error}")),
    }
    let limits = [
        (Resource::As, address_space),
        (Resource::Cpu, Some(CPU_SECONDS_MAX)),
        (Resource::Core, Some(0)),
        (Resource::Fsize, Some(0)),
        (Resource::Nproc, Some(0)),
        // Last: nothing can be opened from here on.
        (Resource::Nofile, Some(0)),
    ];
    for (resource, limit) in limits {
        let limit = limit.map(|limit| match getrlimit(resource).maximum {
            Some(maximum) => limit.min(maximum),
            None => limit,
        });
        if let Some(limit) = limit
            && let Err(error) =
                setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })
        {
            notes.push(format!("no limit of {resource:?}: {error}"));
        }
    }
    if let Err(reason) = filter_calls() {
        notes.push(format!("no seccomp filter: {reason}"));
    }
    notes
}

/// The address space in use, and more; `None` if the system does not tell it.
fn address_space() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').next()?.parse().ok()?;
    let page = u64::try_from(rustix::param::page_size()).ok()?;
    pages.checked_mul(page)?.checked_add(ADDRESS_SPACE_MORE)
}

/// Refuses every access to files, TCP ports, and processes and sockets outside, as far as the
/// kernel has such rules. It repeats what the filter of calls refuses, by another part of the
/// kernel.
fn restrict_access() -> Result<RulesetStatus, RulesetError> {
    // Rights that the kernel does not have are left out.
    let rules = Ruleset::default()
        .handle_access(AccessFs::from_all(ABI::V6))?
        .handle_access(AccessNet::from_all(ABI::V6))?
        .scope(Scope::from_all(ABI::V6))?;
    Ok(rules.create()?.restrict_self()?.ruleset)
}

/// Allows memory that is not executable, reading and writing what is open, clocks, and the end.
/// All other calls of the kernel fail; `no_new_privs` is set with the filter.
fn filter_calls() -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let target = std::env::consts::ARCH.try_into();
    let target = target.map_err(|error: seccompiler::BackendError| failed(&error))?;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in ALLOWED {
        rules.insert(call, Vec::new());
    }
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        let is_data =
            SeccompCondition::new(2, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(PROT_EXEC), 0);
        let rule = is_data.and_then(|condition| SeccompRule::new(vec![condition]));
        rules.insert(call, vec![rule.map_err(|error| failed(&error))?]);
    }
    let refuse = u32::try_from(libc::EPERM).unwrap_or(1);
    let filter =
        SeccompFilter::new(rules, SeccompAction::Errno(refuse), SeccompAction::Allow, target);
    let program: Result<BpfProgram, _> = filter.and_then(TryInto::try_into);
    let program = program.map_err(|error| failed(&error))?;
    seccompiler::apply_filter(&program).map_err(|error| failed(&error))
}

/// Calls that a worker needs, whatever their arguments.
const ALLOWED: [i64; 23] = [
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_close,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_sched_yield,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sigaltstack,
    libc::SYS_tgkill,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::TcpListener;

    use super::*;

    /// Landlock's rules hold for one thread, which ends with the test.
    #[test]
    fn neither_files_nor_ports_can_be_opened() {
        let ends = std::thread::spawn(|| {
            assert!(std::fs::File::open("/proc/self/stat").is_ok());
            let status = restrict_access().expect("rules, or none");
            let file = std::fs::File::open("/proc/self/stat").map(drop);
            let port = TcpListener::bind("127.0.0.1:0").map(drop);
            (status, [file, port].map(|opened| opened.map_err(|error| error.kind())))
        });
        let (status, opened) = ends.join().expect("no panic");
        match status {
            RulesetStatus::FullyEnforced => {
                assert_eq!(opened, [Err(ErrorKind::PermissionDenied); 2]);
            }
            // Ports are newer than files.
            RulesetStatus::PartiallyEnforced => {
                assert_eq!(opened[0], Err(ErrorKind::PermissionDenied));
            }
            RulesetStatus::NotEnforced => println!("skipped: needs a kernel with Landlock"),
        }
    }
}
