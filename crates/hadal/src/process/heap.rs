//! The process's own memory counts as well: what it takes beyond the shares of queries and fresh batches
//! is taken from what row blocks may have, so that all together stay below the ceiling.
//!
//! Who knows is the system: twenty times a second it is asked how much memory the process has of its own,
//! which is what no file and no tmpfs holds. That includes what nobody here counts: ids of strings, bodies
//! that are parsed, what the allocator keeps. Where it is too much, what is free of it goes back at once; for
//! the rest row blocks find less room from the next second on, or less than none, and what `pressure.rs`
//! of the leaf does about that begins. They get it back slowly: who asked for much may ask again.

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

/// How often the system is asked.
const INTERVAL: Duration = Duration::from_millis(50);
/// So often something is taken from row blocks, or given back to them: once a second.
const TAKEN_EACH: u32 = 20;

/// Of what the process needs no more, so large a part is given back each time: a half in twenty seconds.
const GIVEN_BACK: usize = 32;

/// What takes memory here.
#[derive(Clone, Debug)]
pub(crate) struct Memories {
    pub(crate) shares: Shares,
    pub(crate) queries: Arc<MemoryPool>,
    pub(crate) fresh: Arc<FreshBytes>,
    /// What row blocks in memory share, if they are there.
    pub(crate) room: Option<Arc<MemoryPool>>,
    /// Bytes of it that the process's own memory takes.
    pub(crate) taken: Arc<AtomicUsize>,
}

impl Memories {
    /// How much each takes at this moment.
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

/// Keeps what the process takes beyond its shares from row blocks, and has memory that is free given back
/// to the system, until it is dropped.
#[derive(Debug)]
pub(crate) struct HeapWatch {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl HeapWatch {
    /// Watches from now on.
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
        // A process that gets no thread for it has other troubles.
        Self { is_over, thread: thread.ok() }
    }
}

impl Drop for HeapWatch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // One that panicked has nothing left to be waited for.
            let _ = thread.join();
        }
    }
}

/// Bytes that the process has of its own beyond its shares, once what is free of them was given back; `None`
/// where the system does not say. Below its shares it keeps for a second what the next question takes again,
/// which makes that one a quarter faster where it has many groups.
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

/// Takes so many bytes of the room, free or not; where that is less than before, a part of the rest goes
/// back.
fn take(held: &mut MemoryReservation, bytes: u64) {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let spare = held.bytes().saturating_sub(bytes);
    held.overdraw(bytes.saturating_add(spare - spare.div_ceil(GIVEN_BACK)));
}

/// Bytes of memory that the process has of its own; `None` where the system does not say.
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

    /// Set in the process that a test has for itself.
    const ALONE: &str = "HADAL_TEST_ALONE";

    /// True in a process where the test of that name runs alone; else has it run in one, and passes on
    /// whether it failed. For what measures the whole process, where other tests take memory.
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
        let told = heap_bytes().expect("told");
        assert!(told >= some.len() as u64, "{told}");
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
