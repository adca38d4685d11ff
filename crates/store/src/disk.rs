//! The seam to the disk: what the store asks of a folder, so that a test can own it.
//!
//! A [`Disk`] is one flat folder. Two kinds of file live on it: files that are only appended to
//! (log, manifest), and segment files, which have a fixed length and are written in place and read
//! through a mapping. What was written is durable after `sync` of the file; that a file is there,
//! or has another name, after `sync_folder`. Until then a power loss may undo any part of it.
//!
//! [`Folder`] is the real one. The tests have a simulated one that counts, tears and forgets.

mod folder;
#[cfg(any(test, feature = "simulated"))]
pub mod simulated;
mod written;

use std::fmt::Debug;
use std::io;

pub use folder::Folder;

/// Which file something is, among all that the machine has at one time, and its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    /// The file system.
    pub device: u64,
    /// The file there; another one may have it once nobody has this one open.
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

    /// All bytes of a file, which has at most so many.
    ///
    /// # Errors
    /// As the system says; also when it is no file, or larger.
    fn read(&self, name: &str, bytes_max: u64) -> io::Result<Vec<u8>>;

    /// The bytes of a file that follow this beginning, of which it has at most so many in all; `None` where
    /// it begins otherwise.
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

    /// Which file has this name. A link is not followed.
    ///
    /// # Errors
    /// As the system says; also when there is none.
    fn identity(&self, name: &str) -> io::Result<FileIdentity>;

    /// Makes an empty file to append to.
    ///
    /// # Errors
    /// As the system says; also when there is a file of that name.
    fn create(&self, name: &str) -> io::Result<Box<dyn AppendFile>>;

    /// Opens a file to append to.
    ///
    /// # Errors
    /// As the system says; also when there is no such file.
    fn open(&self, name: &str) -> io::Result<Box<dyn AppendFile>>;

    /// Makes a segment file of so many bytes, all of it a hole. It is not mapped.
    ///
    /// # Errors
    /// As the system says; also when there is a file of that name.
    fn create_segment(&self, name: &str, length: u64) -> io::Result<Box<dyn SegmentFile>>;

    /// Opens a segment file. It is not mapped.
    ///
    /// # Errors
    /// As the system says; also when there is no such file.
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

    /// Makes durable which files there are.
    ///
    /// # Errors
    /// As the system says.
    fn sync_folder(&self) -> io::Result<()>;

    /// Gives up the lock on the folder, if it has one: it is another process's from now on.
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

    /// Has room for so many bytes from `offset` on set aside for what is appended later.
    ///
    /// # Errors
    /// As the system says: also when there is no room, of which a part may be set aside then, and where
    /// the file system cannot do it.
    fn set_aside(&mut self, offset: u64, bytes: u64) -> io::Result<()>;

    /// Gives back the disk of a range, which reads as zeros then; nothing need be synced.
    ///
    /// # Errors
    /// As the system says.
    fn punch(&mut self, offset: u64, length: u64) -> io::Result<()>;

    /// Cuts the file to its first `length` bytes; what was set aside may go.
    ///
    /// # Errors
    /// As the system says.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Makes the file's bytes and length durable. After a failure nobody knows which are.
    ///
    /// # Errors
    /// As the system says.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file of fixed length that is written in place.
pub trait SegmentFile: Debug + Send + Sync {
    /// The file's length in bytes.
    fn length(&self) -> u64;

    /// Which file it is, and how long it is now.
    ///
    /// # Errors
    /// As the system says.
    fn identity(&self) -> io::Result<FileIdentity>;

    /// Bytes of disk or memory that the file takes, holes left out.
    ///
    /// # Errors
    /// As the system says.
    fn allocated(&self) -> io::Result<u64>;

    /// Allocates a range and writes it. No bytes of it may be borrowed.
    ///
    /// # Errors
    /// As the system says; a full file system is an error here, never a signal later.
    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Maps the file, unless it is, so that its bytes can be borrowed.
    ///
    /// # Errors
    /// As the system says.
    fn map(&self) -> io::Result<()>;

    /// The bytes of a range that was written, `None` outside of the file and while it is not mapped.
    fn bytes(&self, offset: u64, length: usize) -> Option<&[u8]>;

    /// How many pages could not be read through the mapping so far: they are zeros since.
    fn faults(&self) -> u64;

    /// Copies the bytes of a range that was written, which need not be mapped.
    ///
    /// # Errors
    /// As the system says; also when the file is shorter.
    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Whether some of a range was never written, or was given back; perhaps also where it was written
    /// since this was first asked.
    ///
    /// # Errors
    /// As the system says.
    fn has_hole(&self, offset: u64, length: u64) -> io::Result<bool>;

    /// Tells the system that a range is read before long, so that it need not be waited for then. Only
    /// advice.
    fn expect(&self, offset: u64, length: u64);

    /// Tells the system that a range which was synced is not read again before long, so that it
    /// takes no memory. Only advice: nothing depends on it.
    fn forget(&self, offset: u64, length: u64);

    /// The same for a range that was read through the mapping, and is not any more.
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
