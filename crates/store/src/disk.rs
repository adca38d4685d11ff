//! The interface to the disk: the operations on a folder that the store needs, so that a test can
//! replace it.
//!
//! A [`Disk`] is one flat folder with two kinds of files. Files like log and manifest are only
//! appended to. Segment files have a fixed length, are written in place and read through a mapping.
//! Written bytes are durable after the file's `sync`; the existence and name of a file are durable
//! after `sync_folder`. Until then, a power loss may undo any part of these writes and changes.
//!
//! [`Folder`] is the real disk. The tests have a simulated disk that counts operations, tears
//! writes and forgets unsynced bytes.

mod folder;
mod mapping;
mod sigbus;
#[cfg(any(test, feature = "simulated"))]
pub mod simulated;
mod written;

use std::fmt::Debug;
use std::io;

pub use folder::Folder;

/// The identity of a file among all that the machine has at one time, and its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    /// The file system.
    pub device: u64,
    /// The file's number there; another file may get it once nobody has this one open.
    pub number: u64,
    /// Its length in bytes.
    pub length: u64,
}

/// One flat folder of files.
pub trait Disk: Debug + Send + Sync {
    /// The full path of a file of this folder, for messages.
    fn path_of(&self, name: &str) -> String;

    /// The names of all files, in any order.
    ///
    /// # Errors
    /// As the system says.
    fn list(&self) -> io::Result<Vec<String>>;

    /// All bytes of a file of at most `bytes_max`.
    ///
    /// # Errors
    /// As the system reports; also if it is not a file, or larger.
    fn read(&self, name: &str, bytes_max: u64) -> io::Result<Vec<u8>>;

    /// The bytes of a file that follow this beginning; `None` if it begins otherwise. The whole
    /// file has at most `bytes_max`.
    ///
    /// # Errors
    /// As [`Disk::read`].
    fn read_after(
        &self,
        name: &str,
        beginning: &[u8],
        bytes_max: u64,
    ) -> io::Result<Option<Vec<u8>>> {
        let bytes = self.read(name, bytes_max)?;
        Ok(bytes.strip_prefix(beginning).map(<[u8]>::to_vec))
    }

    /// The identity of the file with this name. A link is not followed.
    ///
    /// # Errors
    /// As the system reports; also if there is none.
    fn identity(&self, name: &str) -> io::Result<FileIdentity>;

    /// Makes an empty file to append to.
    ///
    /// # Errors
    /// As the system reports; also if a file has that name.
    fn create(&self, name: &str) -> io::Result<Box<dyn AppendFile>>;

    /// Opens a file to append to.
    ///
    /// # Errors
    /// As the system reports; also if there is no such file.
    fn open(&self, name: &str) -> io::Result<Box<dyn AppendFile>>;

    /// Makes a segment file of `length` bytes, all of it a hole. It is not mapped.
    ///
    /// # Errors
    /// As the system reports; also if a file has that name.
    fn create_segment(&self, name: &str, length: u64) -> io::Result<Box<dyn SegmentFile>>;

    /// Opens a segment file. It is not mapped.
    ///
    /// # Errors
    /// As the system reports; also if there is no such file.
    fn open_segment(&self, name: &str) -> io::Result<Box<dyn SegmentFile>>;

    /// Gives a file another name; a file that had that name is replaced.
    ///
    /// # Errors
    /// As the system says.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// As the system says.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes the names of the folder's files durable.
    ///
    /// # Errors
    /// As the system says.
    fn sync_folder(&self) -> io::Result<()>;

    /// Gives up the lock on the folder, if it has one: another process may lock it from now on.
    ///
    /// # Errors
    /// As the system says.
    fn unlock(&self) -> io::Result<()>;
}

/// A file that is only appended to.
pub trait AppendFile: Debug + Send {
    /// Adds bytes at the end. After a failure any part of them may be there.
    ///
    /// # Errors
    /// As the system says.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Reserves disk for `bytes` from `offset` on, for later appends.
    ///
    /// # Errors
    /// As the system reports; also if the disk is full (a part may then be reserved), or if the
    /// file system cannot reserve.
    fn set_aside(&mut self, offset: u64, bytes: u64) -> io::Result<()>;

    /// Gives back the disk of a range, which then reads as zeros. Needs no sync.
    ///
    /// # Errors
    /// As the system says.
    fn punch(&mut self, offset: u64, length: u64) -> io::Result<()>;

    /// Cuts the file to its first `length` bytes; reserved disk may be lost.
    ///
    /// # Errors
    /// As the system says.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Makes the file's bytes and length durable. After a failure it is unknown which are.
    ///
    /// # Errors
    /// As the system says.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file of fixed length that is written in place.
pub trait SegmentFile: Debug + Send + Sync {
    /// The file's length in bytes.
    fn length(&self) -> u64;

    /// The identity of the file, and its current length.
    ///
    /// # Errors
    /// As the system says.
    fn identity(&self) -> io::Result<FileIdentity>;

    /// Bytes of disk or memory that the file takes, without holes.
    ///
    /// # Errors
    /// As the system says.
    fn allocated(&self) -> io::Result<u64>;

    /// Allocates a range and writes it. No bytes of it may be borrowed.
    ///
    /// # Errors
    /// As the system says; a full file system is an error here, never a signal later.
    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Maps the file, unless it is mapped, so that its bytes can be borrowed.
    ///
    /// # Errors
    /// As the system says.
    fn map(&self) -> io::Result<()>;

    /// The bytes of a range that was written; `None` outside of the file and while it is not
    /// mapped.
    fn bytes(&self, offset: u64, length: usize) -> Option<&[u8]>;

    /// The number of pages that could not be read through the mapping so far: they are zeros since.
    fn faults(&self) -> u64;

    /// Copies the bytes of a range that was written. The file need not be mapped.
    ///
    /// # Errors
    /// As the system reports; also if the file is shorter.
    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Whether part of a range was never written, or was given back. May also be true for a range
    /// that was written since the first call.
    ///
    /// # Errors
    /// As the system says.
    fn has_hole(&self, offset: u64, length: u64) -> io::Result<bool>;

    /// Announces to the system that a range will soon be read, so that the read need not wait. Only
    /// advice.
    fn expect(&self, offset: u64, length: u64);

    /// Announces that a synced range will not be read soon, so that its cache takes no
    /// memory. Only advice: nothing depends on it.
    fn forget(&self, offset: u64, length: u64);

    /// The same for a range that was read through the mapping and is not used any more.
    fn forget_mapped(&self, offset: u64, length: u64);

    /// Gives the range's memory back; it reads as zeros. No bytes of it may be borrowed.
    ///
    /// # Errors
    /// As the system says.
    fn punch(&self, offset: u64, length: u64) -> io::Result<()>;

    /// Makes everything written so far durable.
    ///
    /// # Errors
    /// As the system says.
    fn sync(&self) -> io::Result<()>;
}
