//! Counts the process's own memory. The excess over the shares of queries and fresh batches is
//! taken from the share of row blocks, so that all memory together stays below the ceiling.
//!
//! Twenty times a second the system is asked for the process's own memory, without files and tmpfs.
//! The figure includes memory that Hadal does not count: ids of strings, bodies being parsed,
//! memory kept by the allocator. On an excess, free memory is returned to the system at once. For
//! the remaining excess, the room of row blocks shrinks from the next second on, even below zero,
//! and the leaf reacts to memory pressure. Row blocks get the room back slowly, because a process
//! that needed much memory may need it again.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use hadal_frontend::MemoryUse;
use hadal_leaf::FreshBytes;
use hadal_store::give_free_memory_back;
use hadal_types::{MemoryPool, MemoryReservation};

use crate::process::memory::Shares;

/// The interval at which the system is asked.
const INTERVAL: Duration = Duration::from_millis(50);
/// The number of intervals after which room is taken from row blocks or given back: one second.
const TAKEN_EACH: u32 = 20;

/// The divisor of the surplus that is given back each time: half of it within twenty seconds.
const GIVEN_BACK: usize = 32;

/// The users of this process's memory.
#[derive(Clone, Debug)]
pub(crate) struct Memories {
    pub(crate) shares: Shares,
    pub(crate) queries: Arc<MemoryPool>,
    pub(crate) fresh: Arc<FreshBytes>,
    /// The room that row blocks in memory share, if blocks are kept in memory.
    pub(crate) room: Option<Arc<MemoryPool>>,
    /// Bytes of that room taken by the process's own memory.
    pub(crate) taken: Arc<AtomicUsize>,
}

impl Memories {
    /// The memory in use at this moment.
    pub(crate) fn used(&self) -> MemoryUse {
        let (taken, shares) = (self.taken.load(Ordering::SeqCst), self.shares);
        let held = self.room.as_ref().map_or(0, |room| room.reserved());
        MemoryUse {
            max: shares.all(),
            row_blocks: held.saturating_sub(taken) as u64,
            row_blocks_max: shares.blocks.saturating_sub(taken) as u64,
            heap: heap_bytes().unwrap_or(0),
            queries: self.queries.reserved() as u64,
            fresh: self.fresh.held(),
        }
    }
}

/// Until it is dropped, takes the process's excess over its shares from row blocks, and returns
/// free memory to the system.
#[derive(Debug)]
pub(crate) struct HeapWatch {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl HeapWatch {
    /// Starts the watch.
    pub(crate) fn start(memories: &Memories) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (is_at_end, memories) = (Arc::clone(&is_over), memories.clone());
        let watch = move || {
            let mut held = memories.room.as_ref().map(|room| room.reservation());
            for look in (0..TAKEN_EACH).cycle() {
                if is_at_end.load(Ordering::SeqCst) {
                    break;
                }
                let overdrawn = free_and_look(&memories.shares, look == 0);
                if let (Some(held), Some(overdrawn), 0) = (&mut held, overdrawn, look) {
                    take(held, overdrawn);
                    memories.taken.store(held.bytes(), Ordering::SeqCst);
                }
                std::thread::park_timeout(INTERVAL);
            }
        };
        let thread = std::thread::Builder::new().name("hadal-memory".to_owned()).spawn(watch);
        // A process that cannot start this thread has worse problems.
        Self { is_over, thread: thread.ok() }
    }
}

impl Drop for HeapWatch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The join fails only for a thread that panicked.
            let _ = thread.join();
        }
    }
}

/// Returns the bytes by which the process's own memory exceeds its shares, after free memory was
/// returned to the system. Returns `None` if the system does not report it. Below the shares, freed
/// memory is kept for a second: the next query with many groups then runs a quarter faster.
fn free_and_look(shares: &Shares, give_old_back: bool) -> Option<u64> {
    let overdrawn = shares.overdrawn(heap_bytes()?);
    if overdrawn == 0 {
        if give_old_back {
            give_free_memory_back(false);
        }
        return Some(0);
    }
    give_free_memory_back(true);
    Some(shares.overdrawn(heap_bytes()?))
}

/// Takes `bytes` of the room, free or not. If that is less than before, a part of the difference is
/// given back.
fn take(held: &mut MemoryReservation, bytes: u64) {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let spare = held.bytes().saturating_sub(bytes);
    held.overdraw(bytes.saturating_add(spare - spare.div_ceil(GIVEN_BACK)));
}

/// Returns the bytes of the process's own memory, or `None` if the system does not report it.
fn heap_bytes() -> Option<u64> {
    anonymous(&fs::read_to_string("/proc/self/status").ok()?)
}

/// `RssAnon` of `/proc/self/status`, in bytes.
fn anonymous(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::process::Command;
    use std::time::Instant;

    use hadal_types::limits::MEMORY_BYTES_MIN;

    use super::*;

    /// The variable that is set in a process started for one test.
    const ALONE: &str = "HADAL_TEST_ALONE";

    /// Returns true in a process that runs only the test `name`. Otherwise runs the test in such a
    /// process and passes its failure on. For tests that measure the whole process, where other
    /// tests use memory.
    fn runs_alone(name: &str) -> bool {
        if env::var_os(ALONE).is_some() {
            return true;
        }
        let tests = env::current_exe().expect("the program of these tests");
        let module = module_path!().split_once("::").expect("a crate and a module").1;
        let name = format!("{module}::{name}");
        let ran = Command::new(tests)
            .args(["--exact", &name, "--nocapture"])
            .env(ALONE, "1")
            .output()
            .expect("started");
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
        assert!(said.contains("1 passed"), "no test is called {name}: {said}");
        false
    }

    #[test]
    fn the_system_says_how_much_it_is() {
        assert_eq!(anonymous("VmRSS:\t 5 kB\nRssAnon:\t     1234 kB\n"), Some(1_234 << 10));
        assert_eq!(anonymous("VmRSS: 5 kB\n"), None);
        let some = vec![1u8; 64 << 20];
        let bytes = heap_bytes().expect("told");
        assert!(bytes >= some.len() as u64, "{bytes}");
    }

    #[test]
    fn memory_that_is_free_goes_back_to_the_system() {
        if !runs_alone("memory_that_is_free_goes_back_to_the_system") {
            return;
        }
        let (start, before) = (Instant::now(), heap_bytes().expect("told"));
        let some: Vec<Vec<u8>> = (0..8).map(|_| vec![1u8; 16 << 20]).collect();
        assert!(heap_bytes().expect("told") > before + (100 << 20));
        drop(some);
        while heap_bytes().expect("told") > before + (64 << 20) {
            give_free_memory_back(false);
            assert!(start.elapsed() < Duration::from_mins(1), "it is kept");
            std::thread::yield_now();
        }
    }

    #[test]
    fn beyond_the_shares_nothing_that_is_free_is_kept() {
        if !runs_alone("beyond_the_shares_nothing_that_is_free_is_kept") {
            return;
        }
        let shares = Shares::of(MEMORY_BYTES_MIN);
        let beyond = shares.queries + (64 << 20);
        let some: Vec<Vec<u8>> = (0..beyond >> 20).map(|_| vec![1u8; 1 << 20]).collect();
        assert!(free_and_look(&shares, false).expect("told") > 0);
        drop(some);
        assert_eq!(free_and_look(&shares, false), Some(0));
    }

    #[test]
    fn what_is_beyond_the_shares_is_taken_from_row_blocks() {
        let room = MemoryPool::new(1_000);
        let (mut blocks, mut held) = (room.reservation(), room.reservation());
        blocks.resize(700).expect("free");
        take(&mut held, 200);
        assert_eq!((held.bytes(), room.reserved()), (200, 900));
        take(&mut held, 840);
        assert_eq!((held.bytes(), room.reserved()), (840, 1_540), "more than is free");
        take(&mut held, 200);
        assert_eq!(held.bytes(), 200 + 640 - 640 / GIVEN_BACK, "a part of it is free again");
        for _ in 0..200 {
            take(&mut held, 0);
        }
        assert_eq!((held.bytes(), room.reserved()), (0, 700), "and all of it in the end");
    }
}
