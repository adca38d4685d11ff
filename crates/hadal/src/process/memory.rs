//! The memory of this process, and the source from which rows are read.
//!
//! One *ceiling* limits all memory. Queries and fresh batches have shares of this memory. The row
//! blocks of all leaves have the remaining memory, less the process's excess over these shares
//! (`heap.rs`). Blocks are stored in a tmpfs, where they outlive the process. Blocks that find no
//! room there are read from disk through the page cache. Without a usable tmpfs, all blocks are
//! read from disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hadal_store::MemoryConfig;
use hadal_types::MemoryPool;
use hadal_types::limits::{
    FRESH_BYTES_MAX, MEMORY_BYTES_MIN, QUERIES_BYTES_MAX, SCAN_FREE_BYTES, SMALL_QUERIES_BYTES,
    SMALL_QUERIES_PART, SMALL_QUERY_BYTES_MAX, TABLE_BYTES_MAX, TMPFS_BYTES_MIN,
};

use crate::args::{MemoryArgs, Storage};
use crate::error::Error;
use crate::output;

/// The type that `statfs` reports for a tmpfs: `TMPFS_MAGIC` of linux/magic.h.
const TMPFS_MAGIC: i64 = 0x0102_1994;

/// The shares of the process's memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// All queries together.
    pub(crate) queries: usize,
    /// All batches that are not in a segment yet.
    pub(crate) fresh: u64,
    /// All row blocks in segments.
    pub(crate) blocks: usize,
}

impl Shares {
    /// Divides a ceiling. Queries get a quarter and fresh batches an eighth, neither more than its
    /// usual limit; row blocks get the rest.
    pub(crate) fn of(ceiling: u64) -> Self {
        let queries = ceiling.div_euclid(4).min(QUERIES_BYTES_MAX as u64);
        let fresh = ceiling.div_euclid(8).min(FRESH_BYTES_MAX);
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Self { queries: size(queries), fresh, blocks: size(ceiling - queries - fresh) }
    }

    /// Returns the memory pool of all queries, a part of it reserved for small ones. Memory that
    /// `threads` scan threads use without a reservation is deducted.
    pub(crate) fn query_budget(self, threads: usize) -> Arc<MemoryPool> {
        let free = threads.saturating_mul(SCAN_FREE_BYTES).min(self.queries / 4);
        let queries = self.queries - free;
        let small = SMALL_QUERIES_BYTES.min(queries / SMALL_QUERIES_PART);
        MemoryPool::with_small_share(queries, small, SMALL_QUERY_BYTES_MAX)
    }

    /// The ceiling: the sum of the shares, in bytes.
    pub(crate) fn all(self) -> u64 {
        (self.queries as u64).saturating_add(self.fresh).saturating_add(self.blocks as u64)
    }

    /// The default limit of a table's bytes: half of the ceiling in whole gibibytes, so that the
    /// number is readable. It is never below the usual limit, even if memory is small.
    fn table_bytes_max(self) -> u64 {
        let half = self.all() / 2;
        (half - half % (1 << 30)).max(TABLE_BYTES_MAX)
    }

    /// The bytes by which `heap` exceeds the shares of queries and fresh batches.
    pub(crate) fn overdrawn(self, heap: u64) -> u64 {
        heap.saturating_sub((self.queries as u64).saturating_add(self.fresh))
    }
}

/// The memory settings of this process.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub(crate) shares: Shares,
    /// The default limit of a table's bytes over all leaves.
    pub(crate) table_bytes_max: u64,
    /// The memory from which row blocks are read; `None` means that they are read from disk.
    pub(crate) config: Option<MemoryConfig>,
    /// The tmpfs in which memory of earlier processes is freed, if there is one.
    pub(crate) tmpfs: Option<PathBuf>,
}

impl Memory {
    /// The settings of a process that only inspects a folder. It leaves the memory of others as it
    /// is, and drops no rows, since it does not know the size limit of the server.
    pub(crate) fn for_a_look() -> Self {
        let shares = Shares::of(MEMORY_BYTES_MIN);
        Self { shares, table_bytes_max: u64::MAX, config: None, tmpfs: None }
    }

    /// Decides for a process whose rows are kept in files if `has_files`. Reports on standard error
    /// where the result may be unexpected.
    pub(crate) fn decide(args: &MemoryArgs, has_files: bool) -> Result<Self, Error> {
        let tmpfs_bytes = tmpfs_bytes(&args.tmpfs);
        let ceiling = match args.memory_max {
            Some(bytes) if bytes < MEMORY_BYTES_MIN => {
                let (given, least) = (output::bytes(bytes), output::bytes(MEMORY_BYTES_MIN));
                return Err(Error::Usage(format!("--memory-max {given}: at least {least}")));
            }
            Some(bytes) => bytes,
            None => ceiling(&AvailableMemory::here(
                tmpfs_bytes.filter(|_| args.storage != Storage::Mmap),
            )),
        };
        let shares = Shares::of(ceiling);
        let usable = usable(&args.tmpfs, tmpfs_bytes);
        let is_used = match (args.storage, usable) {
            (Storage::Mmap, _) => false,
            _ if !has_files => false,
            (_, Ok(())) => true,
            (Storage::Memory, Err(reason)) => return Err(Error::Usage(reason)),
            (Storage::Auto, Err(reason)) => {
                output::say(&format!("{reason}; so rows are read from disk (--storage mmap)"));
                false
            }
        };
        let tmpfs = args.tmpfs.clone();
        let room = MemoryPool::new(shares.blocks);
        let after_crash = args.after_crash.into();
        let config =
            is_used.then(|| MemoryConfig { tmpfs: tmpfs.clone(), budget: room, after_crash });
        let table_bytes_max = shares.table_bytes_max();
        Ok(Self { shares, table_bytes_max, config, tmpfs: has_files.then_some(tmpfs) })
    }
}

/// The memory that all processes of this machine may take together, in bytes.
pub(crate) fn machine_ceiling(args: &MemoryArgs) -> u64 {
    let tmpfs = tmpfs_bytes(&args.tmpfs).filter(|_| args.storage != Storage::Mmap);
    args.memory_max.unwrap_or_else(|| ceiling(&AvailableMemory::here(tmpfs)))
}

/// The part of the machine's memory that one of its processes may take, of the aggregator and this
/// many leaves.
pub(crate) fn part_of_machine(args: &MemoryArgs, leaves: usize) -> u64 {
    (machine_ceiling(args) / (leaves as u64).saturating_add(1)).max(MEMORY_BYTES_MIN)
}

/// Returns the size of the tmpfs at a path, or `None` if there is none.
fn tmpfs_bytes(path: &Path) -> Option<u64> {
    let stats = rustix::fs::statfs(path).ok()?;
    let size = u64::try_from(stats.f_bsize).unwrap_or(0).saturating_mul(stats.f_blocks);
    (i128::from(stats.f_type) == i128::from(TMPFS_MAGIC)).then_some(size)
}

/// Whether a tmpfs is large enough to be used; the error says why not.
fn usable(path: &Path, bytes: Option<u64>) -> Result<(), String> {
    let path = path.display();
    match bytes {
        None => Err(format!("{path} is not a tmpfs")),
        Some(bytes) if bytes < TMPFS_BYTES_MIN => {
            let (available, least) = (output::bytes(bytes), output::bytes(TMPFS_BYTES_MIN));
            Err(format!("{path} has only {available}, and row blocks in memory want {least}"))
        }
        Some(_) => Ok(()),
    }
}

/// The available memory, in bytes.
#[derive(Debug, Default)]
struct AvailableMemory {
    /// The machine's memory.
    total: Option<u64>,
    /// The lowest limit of the control groups around this process.
    group: Option<u64>,
    /// The size of the tmpfs.
    tmpfs: Option<u64>,
}

impl AvailableMemory {
    fn here(tmpfs: Option<u64>) -> Self {
        let read = |path: &Path| fs::read_to_string(path).ok();
        let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
        Self {
            total: read(Path::new("/proc/meminfo")).and_then(|text| total_memory(&text)),
            group: group_limit(&groups, read),
            tmpfs,
        }
    }
}

/// Returns the minimum of half of the machine's memory, half of the control groups' limit, and 80 %
/// of the tmpfs. It is never below [`MEMORY_BYTES_MIN`], which is also the result if all are
/// unknown.
fn ceiling(available: &AvailableMemory) -> u64 {
    let halves = [available.total, available.group].map(|bytes| bytes.map(|bytes| bytes / 2));
    let tmpfs = available.tmpfs.filter(|bytes| *bytes >= TMPFS_BYTES_MIN);
    let all = halves.into_iter().chain([tmpfs.map(|bytes| bytes / 10 * 8)]).flatten();
    all.min().unwrap_or(0).max(MEMORY_BYTES_MIN)
}

/// `MemTotal` of `/proc/meminfo`, in bytes.
fn total_memory(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1_024)
}

/// The lowest limit among the control groups (version 1 and 2) of `/proc/self/cgroup` and all
/// groups above them.
fn group_limit(groups: &str, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let mut limits = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        for above in Path::new(group).ancestors() {
            let folder = Path::new(root).join(above.strip_prefix("/").unwrap_or(above));
            limits
                .extend(read(&folder.join(file)).and_then(|text| text.trim().parse::<u64>().ok()));
        }
    }
    limits.into_iter().min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::RowsFrom;

    const GIB: u64 = 1 << 30;

    #[test]
    fn the_ceiling_is_the_least_of_what_there_is() {
        let memory = |total, group, tmpfs| AvailableMemory { total, group, tmpfs };
        for (available, expected) in [
            (memory(Some(24 * GIB), None, Some(24 * GIB)), 12 * GIB),
            (memory(Some(24 * GIB), Some(4 * GIB), Some(24 * GIB)), 2 * GIB),
            (memory(Some(24 * GIB), Some(u64::MAX), Some(10 * GIB)), 8 * GIB / 10 * 10),
            (memory(Some(24 * GIB), None, Some(64 << 20)), 12 * GIB),
            (memory(Some(24 * GIB), None, None), 12 * GIB),
            (memory(None, None, None), MEMORY_BYTES_MIN),
            (memory(Some(100 << 20), None, None), MEMORY_BYTES_MIN),
        ] {
            let bytes = ceiling(&available);
            assert!(bytes.abs_diff(expected) < 100, "{available:?}: {bytes}");
        }
    }

    #[test]
    fn shares_make_up_the_ceiling() {
        for ceiling in [MEMORY_BYTES_MIN, GIB, 12 * GIB, 512 * GIB] {
            let Shares { queries, fresh, blocks } = Shares::of(ceiling);
            assert_eq!(queries as u64 + fresh + blocks as u64, ceiling);
            assert!(blocks as u64 >= ceiling / 2, "{ceiling}");
            assert!(queries <= QUERIES_BYTES_MAX && fresh <= FRESH_BYTES_MAX);
            let shares = Shares::of(ceiling);
            assert_eq!((shares.all(), shares.overdrawn(fresh)), (ceiling, 0));
            assert_eq!(shares.overdrawn(queries as u64 + fresh + 7), 7);
        }
    }

    #[test]
    fn small_queries_find_room_beside_large_ones_whatever_the_ceiling() {
        for ceiling in [MEMORY_BYTES_MIN, 300 << 20, GIB, 12 * GIB, 512 * GIB] {
            let shares = Shares::of(ceiling);
            let budget = shares.query_budget(2);
            let mut large = budget.reservation();
            large.resize(budget.each_max()).expect("room");
            assert!(
                large.grow(1).is_err() && large.bytes() >= budget.bytes_max() / 4 * 3,
                "{ceiling}"
            );
            // Queries at the size limit of small queries, just before they count as large.
            let mut growing: Vec<_> = (0..6).map(|_| budget.reservation()).collect();
            growing
                .iter_mut()
                .for_each(|reservation| reservation.resize(SMALL_QUERY_BYTES_MAX).expect("room"));
            let mut light = budget.reservation();
            assert_eq!(light.resize(SMALL_QUERY_BYTES_MAX / 4), Ok(()), "{ceiling}");
        }
    }

    #[test]
    fn a_table_may_have_half_of_the_ceiling() {
        for (ceiling, bytes) in
            [(MEMORY_BYTES_MIN, GIB), (4 * GIB - 1, GIB), (4 * GIB, 2 * GIB), (13 * GIB, 6 * GIB)]
        {
            assert_eq!(Shares::of(ceiling).table_bytes_max(), bytes, "{ceiling}");
        }
        assert_eq!(Memory::for_a_look().table_bytes_max, u64::MAX);
    }

    #[test]
    fn the_least_group_limit_counts() {
        let read = |path: &Path| {
            let text = match path.to_str()? {
                "/sys/fs/cgroup/a/b/memory.max" => "max\n",
                "/sys/fs/cgroup/a/memory.max" => "2000\n",
                "/sys/fs/cgroup/memory.max" => "5000\n",
                "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes" => "1000\n",
                _ => return None,
            };
            Some(text.to_owned())
        };
        assert_eq!(group_limit("0::/a/b\n", read), Some(2_000));
        assert_eq!(group_limit("0::/\n", read), Some(5_000));
        assert_eq!(group_limit("4:cpu,memory:/docker\n1:cpuset:/x\n0::/a\n", read), Some(1_000));
        assert_eq!(group_limit("nonsense", read), None);
    }

    #[test]
    fn memory_of_the_machine_is_read() {
        assert_eq!(
            total_memory("MemTotal:       24689764 kB\nMemFree: 1 kB\n"),
            Some(25_282_318_336)
        );
        assert_eq!(total_memory("MemFree: 1 kB\n"), None);
        assert!(AvailableMemory::here(None).total.is_some());
    }

    #[test]
    fn only_a_tmpfs_of_some_size_is_used() {
        let scratch = tempfile::tempdir().expect("a folder");
        assert!(usable(scratch.path(), None).expect_err("none").contains("is not a tmpfs"));
        let small = usable(Path::new("/dev/shm"), Some(64 << 20)).expect_err("too small");
        assert_eq!(small, "/dev/shm has only 64.0 MiB, and row blocks in memory want 256.0 MiB");
        let args = MemoryArgs {
            storage: Storage::Memory,
            tmpfs: scratch.path().join("nowhere"),
            after_crash: RowsFrom::Memory,
            memory_max: None,
        };
        assert!(matches!(Memory::decide(&args, true), Err(Error::Usage(_))));
        let args = MemoryArgs { memory_max: Some(1), ..MemoryArgs::default() };
        assert!(matches!(Memory::decide(&args, true), Err(Error::Usage(_))));
    }
}
