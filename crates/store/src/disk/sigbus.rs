//! Handles reads that the system cannot serve.
//!
//! A mapped file that was truncated, or a failing disk, raises SIGBUS in the reader, which ends an
//! unprepared process. Here the page that could not be read becomes zeros, and the [`Watch`] of its
//! mapping counts it. The reader continues with zeros, which no checksum accepts for a row block
//! column. So bytes that were verified earlier must not be trusted once the count has changed, and
//! a reader of verified bytes compares the count before and after.
//!
//! If a file is cut in the middle of a page, the remaining bytes of that page become zeros without
//! a signal. Code that verified these bytes earlier does not notice.
//!
//! A signal outside of these mappings is left to the previous handler.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::io;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hadal_types::limits::SEGMENTS_MAPPED_MAX;

/// The watch over one mapping. It must be dropped before the mapping.
#[derive(Debug)]
pub(crate) struct Watch(&'static WatchedMapping);

/// A mapping, as the handler sees it: the handler can do nothing but load and store.
#[derive(Debug)]
struct WatchedMapping {
    /// The start of the mapping; 0 while the entry is free, [`TAKEN`] until it has an end.
    start: AtomicUsize,
    end: AtomicUsize,
    /// Pages that could not be read.
    faults: AtomicU64,
}

/// No mapping begins at this address.
const TAKEN: usize = 1;

static MAPPINGS: [WatchedMapping; SEGMENTS_MAPPED_MAX] =
    [const { WatchedMapping::new() }; SEGMENTS_MAPPED_MAX];
/// The previous action for SIGBUS, and the page size in bytes.
static BEFORE: OnceLock<(libc::sigaction, usize)> = OnceLock::new();

impl WatchedMapping {
    const fn new() -> Self {
        let [start, end] = [const { AtomicUsize::new(0) }; 2];
        Self { start, end, faults: AtomicU64::new(0) }
    }

    fn has(&self, address: usize) -> bool {
        let start = self.start.load(Ordering::SeqCst);
        start > TAKEN && (start..self.end.load(Ordering::SeqCst)).contains(&address)
    }
}

impl Watch {
    /// Watches the mapping of these addresses.
    ///
    /// # Errors
    /// If [`SEGMENTS_MAPPED_MAX`] mappings are watched already, or the system refuses the handler.
    pub(crate) fn over(addresses: Range<usize>) -> io::Result<Self> {
        handle()?;
        let take = |slot: &&WatchedMapping| {
            slot.start.compare_exchange(0, TAKEN, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        let slot = MAPPINGS.iter().find(take).ok_or_else(|| {
            io::Error::other(format!("{SEGMENTS_MAPPED_MAX} segments are mapped already"))
        })?;
        slot.faults.store(0, Ordering::SeqCst);
        slot.end.store(addresses.end, Ordering::SeqCst);
        slot.start.store(addresses.start, Ordering::SeqCst);
        Ok(Self(slot))
    }

    /// The number of pages that could not be read so far.
    pub(crate) fn faults(&self) -> u64 {
        self.0.faults.load(Ordering::SeqCst)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.start.store(0, Ordering::SeqCst);
    }
}

/// Handles SIGBUS from now on.
fn handle() -> io::Result<()> {
    if BEFORE.get().is_some() {
        return Ok(());
    }
    // SAFETY: all zeros is a valid sigaction: no flags, an empty mask, the default action.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: `before` may be written to; sysconf has no preconditions.
    let (asked, page) = unsafe {
        (
            libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    let page = usize::try_from(page).map_err(io::Error::other)?;
    if asked != 0 {
        return Err(io::Error::last_os_error());
    }
    // Set before the handler can read it. If another thread was here first, its handler is
    // installed and must not be taken for the previous one.
    if BEFORE.set((before, page)).is_err() {
        return Ok(());
    }
    // SAFETY: as above; the handler has the signature that SA_SIGINFO says. It does nothing but
    // atomic loads and stores, mmap and sigaction, which may all be called from a signal handler.
    // It runs on the alternative stack if there is one.
    let set = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_sigbus as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const action, null_mut())
    };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes the page that could not be read zeros, if it belongs to a watched mapping. Otherwise
/// restores the previous handler; the signal comes again at once.
extern "C" fn on_sigbus(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the system hands over a valid siginfo, which for SIGBUS has an address.
    let address = unsafe { (*info).si_addr() }.addr();
    let Some((before, page)) = BEFORE.get() else { return };
    if let Some(slot) = MAPPINGS.iter().find(|slot| slot.has(address)) {
        // Counted first: a reader that sees zeros also sees the new count.
        slot.faults.fetch_add(1, Ordering::SeqCst);
        let start = address & !(page - 1);
        let (protection, flags) =
            (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
        // SAFETY: the page is in a mapping of ours. Its owner is reading it, and so has not
        // unmapped it. It is only ever read, and its former content cannot be.
        let mapped = unsafe {
            libc::mmap(std::ptr::without_provenance_mut(start), *page, protection, flags, -1, 0)
        };
        if mapped != libc::MAP_FAILED {
            return;
        }
    }
    // SAFETY: the system gave us this action as the previous one, so it is valid.
    unsafe { libc::sigaction(signal, before, null_mut()) };
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use crate::disk::mapping::Mapping;

    fn file(pages: u8) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        (1..=pages).for_each(|page| file.write_all(&[page; 4_096]).expect("written"));
        file
    }

    #[test]
    fn what_cannot_be_read_is_zeros_and_is_counted() {
        let (short, whole) = (file(8), file(8));
        let mapped = |file: &File| Mapping::new(file).expect("mapped");
        let (one, other) = (mapped(&short), mapped(&whole));
        short.set_len(3 * 4_096).expect("shorter");
        let first_of = |mapping: &Mapping, page: u64| {
            mapping.bytes(page * 4_096, 4_096).expect("in the file")[17]
        };
        assert_eq!((first_of(&one, 2), one.faults()), (3, 0));
        assert_eq!((first_of(&one, 5), one.faults()), (0, 1));
        assert_eq!((first_of(&one, 5), one.faults()), (0, 1));
        let threads: Vec<_> = (3..8).map(|page| move |one: &Mapping| first_of(one, page)).collect();
        std::thread::scope(|scope| {
            let one = &one;
            for thread in threads {
                scope.spawn(move || assert_eq!(thread(one), 0));
            }
        });
        assert_eq!(one.faults(), 5);
        assert_eq!((first_of(&other, 5), other.faults()), (6, 0));
        drop(one);
        // A new mapping at the same address starts with no faults.
        let again = mapped(&whole);
        assert_eq!((first_of(&again, 7), again.faults()), (8, 0));
    }
}
