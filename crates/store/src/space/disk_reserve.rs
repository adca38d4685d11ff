//! Disk space that is reserved for operations that free disk space.
//!
//! On a full disk, merges empty the log, and rewriting blocks drops rows, but both write before
//! they remove. So an empty file keeps some disk space allocated. Once a block does not fit, that
//! file is removed. Until the file exists again, no batch is accepted: its space is for blocks
//! alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::disk::Disk;
use crate::error::{Error, is_full};

/// The file's name, in the leaf's folder.
pub(crate) const NAME: &str = "reserve";

/// The disk that one store has reserved.
#[derive(Debug)]
pub(crate) struct Reserve {
    disk: Arc<dyn Disk>,
    bytes: u64,
    is_whole: AtomicBool,
    /// Whether the folder belongs to another process. Held by a writer that uses the reserve, so
    /// that no disk is reserved at that time.
    is_stopped: Mutex<bool>,
}

impl Reserve {
    /// Reserves `bytes`, if they are free; with 0, nothing is ever kept back.
    pub(crate) fn open(disk: Arc<dyn Disk>, bytes: u64) -> Self {
        let reserve = Self {
            disk,
            bytes,
            is_whole: AtomicBool::new(bytes == 0),
            is_stopped: Mutex::default(),
        };
        reserve.restore();
        reserve
    }

    /// Fails while the reserve is in use.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let is_whole = self.is_whole.load(Ordering::Acquire);
        if is_whole { Ok(()) } else { Err(Error::Full(self.disk.path_of(NAME))) }
    }

    /// Writes. If the disk is full, writes once more with the disk of the reserve.
    pub(crate) fn spend<T>(&self, write: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        match write() {
            Err(Error::Full(path)) if self.bytes > 0 => {
                let is_stopped = self.is_stopped.lock();
                if *is_stopped || !self.is_whole.swap(false, Ordering::AcqRel) {
                    return Err(Error::Full(path));
                }
                // If it cannot be removed nothing is gained, and nothing lost.
                drop(self.disk.remove(NAME));
                write()
            }
            written => written,
        }
    }

    /// Leaves the reserve to the next process.
    pub(crate) fn stop(&self) {
        *self.is_stopped.lock() = true;
    }

    /// Reserves disk again after its use, if it is free. Must be called now and then.
    pub(crate) fn restore(&self) {
        let is_stopped = self.is_stopped.lock();
        if *is_stopped || self.is_whole.load(Ordering::Acquire) {
            return;
        }
        let file = self.disk.open(NAME).or_else(|_| self.disk.create(NAME));
        let aside = file.and_then(|mut file| file.set_aside(0, self.bytes));
        if aside.is_err() {
            // A part of it would only be missing elsewhere.
            drop(self.disk.remove(NAME));
        }
        // A file system that cannot reserve, or fails in another way, will report it when written
        // to.
        let is_full = aside.is_err_and(|error| is_full(&error));
        self.is_whole.store(!is_full, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::simulated::World;

    #[test]
    fn what_makes_room_gets_what_was_set_aside_and_nothing_else_does() {
        let world = World::new(1);
        let disk = world.folders().root;
        world.machine().free_bytes = Some(1_000);
        let reserve = Reserve::open(Arc::clone(&disk), 600);
        assert!(reserve.check().is_ok());
        let write = |bytes: usize| {
            let disk = Arc::clone(&disk);
            move || {
                let file = disk.open("blocks").or_else(|_| disk.create("blocks"));
                let written = file.and_then(|mut file| {
                    file.append(&vec![0; bytes]).inspect_err(|_| drop(disk.remove("blocks")))
                });
                written.map_err(|error| Error::io("append to", "blocks", error))
            }
        };
        reserve.spend(write(300)).expect("there is room");
        assert!(reserve.check().is_ok());
        reserve.restore();
        assert_eq!(world.machine().free_bytes, Some(100), "nothing is set aside twice");
        // Nothing stays of a block that does not fit, so the first 300 are removed as well.
        assert!(matches!(reserve.spend(write(1_200)), Err(Error::Full(_))));
        assert!(matches!(reserve.check(), Err(Error::Full(path)) if path == "root/reserve"));
        reserve.spend(write(900)).expect("all is free");
        assert!(matches!(reserve.spend(write(200)), Err(Error::Full(_))), "it was spent");
        reserve.restore();
        assert!(reserve.check().is_ok(), "there is room again");
        let names = world.names("root");
        assert_eq!(names, [NAME]);
        // The next process finds the reserve intact, and the old one does not take it away.
        reserve.spend(write(900)).expect("it is set aside");
        disk.remove("blocks").expect("removed");
        reserve.stop();
        let again = Reserve::open(Arc::clone(&disk), 600);
        assert!(again.check().is_ok());
        world.machine().free_bytes = Some(0);
        reserve.restore();
        assert!(matches!(reserve.spend(write(100)), Err(Error::Full(_))));
        assert_eq!(world.names("root"), [NAME]);
    }

    #[test]
    fn without_any_nothing_is_kept_back() {
        let world = World::new(2);
        world.machine().free_bytes = Some(0);
        let reserve = Reserve::open(world.folders().root, 0);
        assert!(reserve.check().is_ok());
        let full = || Err::<(), _>(Error::Full("it".to_owned()));
        assert!(matches!(reserve.spend(full), Err(Error::Full(_))));
        assert!(reserve.check().is_ok() && world.names("root").is_empty());
    }
}
