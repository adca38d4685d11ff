//! What becomes of a read that the system cannot serve.
//!
//! A mapped file that somebody made shorter, or a disk that fails, is told to whoever reads by
//! SIGBUS, which ends a process that is not prepared for it. Here the page that could not be read
//! becomes zeros, the [`Watch`] of its mapping counts it, and the reader goes on: with zeros, which
//! no checksum takes for a row block column. So whoever has verified bytes before must not believe
//! that any more once the count has changed, and whoever reads verified bytes looks at the count
//! before and after.
//!
//! Of a file that is cut in the middle of a page, the rest of that page is zeros without a signal: whoever
//! has verified it before does not learn of it.
//!
//! A signal that is about no mapping of these is left to whoever handled it before.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::io;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hadal_types::limits::SEGMENTS_MAPPED_MAX;

/// The watch over one mapping, until it is dropped, which it must be before the mapping is.
#[derive(Debug)]
pub(crate) struct Watch(&'static Slot);

/// A mapping, as the handler sees it: it can do nothing but load and store.
#[derive(Debug)]
struct Slot {
    /// Where it begins; 0 while the slot is free, [`TAKEN`] until it has an end.
    start: AtomicUsize,
    end: AtomicUsize,
    /// Pages that could not be read.
    faults: AtomicU64,
}

/// No mapping begins here.
const TAKEN: usize = 1;

static SLOTS: [Slot; SEGMENTS_MAPPED_MAX] = [const { Slot::new() }; SEGMENTS_MAPPED_MAX];
/// What was done about SIGBUS before, and how long a page is.
static BEFORE: OnceLock<(libc::sigaction, usize)> = OnceLock::new();

impl Slot {
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
    /// When [`SEGMENTS_MAPPED_MAX`] others are watched, or the system takes no handler.
    pub(crate) fn over(addresses: Range<usize>) -> io::Result<Self> {
        handle()?;
        let take = |slot: &&Slot| {
            slot.start.compare_exchange(0, TAKEN, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        };
        let slot = SLOTS.iter().find(take).ok_or_else(|| {
            io::Error::other(format!("{SEGMENTS_MAPPED_MAX} segments are mapped already"))
        })?;
        slot.faults.store(0, Ordering::SeqCst);
        slot.end.store(addresses.end, Ordering::SeqCst);
        slot.start.store(addresses.start, Ordering::SeqCst);
        Ok(Self(slot))
    }

    /// How many pages could not be read so far.
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
    // Known before the handler could ask for it. Another thread may have been here meanwhile; then
    // its handler must not be taken for the one before.
    if BEFORE.set((before, page)).is_err() {
        return Ok(());
    }
    // SAFETY: as above; the handler has the signature that SA_SIGINFO says, does nothing but atomic
    // loads and stores, mmap and sigaction, all of which may be called from a signal handler, and
    // runs on the alternative stack if there is one.
    let set = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_sigbus as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const action, null_mut())
    };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes the page zeros that could not be read, if it is one of a watched mapping; else leaves the
/// signal, which comes again at once, to whoever handled it before.
extern "C" fn on_sigbus(signal: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the system hands over a valid siginfo, which for SIGBUS has an address.
    let address = unsafe { (*info).si_addr() }.addr();
    let Some((before, page)) = BEFORE.get() else { return };
    if let Some(slot) = SLOTS.iter().find(|slot| slot.has(address)) {
        // Counted first: who reads zeros sees the count that goes with them.
        slot.faults.fetch_add(1, Ordering::SeqCst);
        let start = address & !(page - 1);
        let (protection, flags) =
            (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED);
        // SAFETY: the page lies in a mapping of ours, whose owner is reading it and so has not
        // unmapped it; it is only ever read, and what it was cannot be.
        let mapped = unsafe {
            libc::mmap(std::ptr::without_provenance_mut(start), *page, protection, flags, -1, 0)
        };
        if mapped != libc::MAP_FAILED {
            return;
        }
    }
    // SAFETY: what the system gave us as the action before is one.
    unsafe { libc::sigaction(signal, before, null_mut()) };
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use crate::segment::mapping::Mapping;

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
        // Whoever comes to the same place begins at none.
        let again = mapped(&whole);
        assert_eq!((first_of(&again, 7), again.faults()), (8, 0));
    }
}
