//! The real folder: files are opened beneath a descriptor, never by a path that could be swapped.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use parking_lot::Mutex;
use rustix::fs::{
    Advice, AtFlags, CWD, Dir, FallocateFlags, FileType, FlockOperation, Mode, OFlags, Stat,
};
use rustix::io::Errno;

use super::mapping::Mapping;
use super::written::Written;
use super::{AppendFile, Disk, FileIdentity, SegmentFile};
use crate::error::Error;

/// A folder of the file system. Files in it are made with mode 0600, and symbolic links in it are
/// not followed.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    folder: OwnedFd,
}

impl Folder {
    /// Opens the folder at `path`, and makes it (mode 0700) and the folders above it if they are
    /// missing. Locks it for as long as the returned value lives.
    ///
    /// # Errors
    /// [`Error::InUse`] if another process holds the lock; [`Error::Io`] for all else.
    pub(crate) fn open_locked(path: &Path) -> Result<Self, Error> {
        let shown = path.display().to_string();
        let failed = |source| Error::io("open data folder", &shown, source);
        let named = path.ancestors().filter(|above| !above.as_os_str().is_empty());
        let missing = named.take_while(|above| !above.exists()).count();
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = |at: &Path| rustix::fs::openat(CWD, at, flags, Mode::empty());
        let folder = open(path).map_err(|errno| failed(errno.into()))?;
        match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => return Err(Error::InUse(shown)),
            locked => locked.map_err(|errno| failed(errno.into()))?,
        }
        // Each folder that was made must be durable in the one above it.
        let whole = path.canonicalize().map_err(failed)?;
        for above in whole.ancestors().skip(1).take(missing) {
            let above = open(above).map_err(|errno| failed(errno.into()))?;
            rustix::fs::fsync(above).map_err(|errno| failed(errno.into()))?;
        }
        Ok(Self { path: path.to_owned(), folder })
    }

    /// Opens an existing folder that may belong to another process: only to read it.
    pub(crate) fn unlocked(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
        Ok(Self { path: path.to_owned(), folder })
    }

    /// Locks the folder for as long as this value lives. `false` if its path has another folder by
    /// now.
    ///
    /// # Errors
    /// [`Error::InUse`] if another process holds the lock and `waits` is false; [`Error::Io`] for
    /// all else.
    pub(crate) fn lock(&self, waits: bool) -> Result<bool, Error> {
        let shown = self.path.display().to_string();
        let failed = |errno: Errno| Error::io("lock folder", &shown, errno.into());
        loop {
            match rustix::fs::flock(&self.folder, exclusive(waits)) {
                Err(Errno::WOULDBLOCK) => return Err(Error::InUse(shown)),
                Err(Errno::INTR) => {}
                locked => break locked.map_err(failed)?,
            }
        }
        let locked = rustix::fs::fstat(&self.folder).map_err(failed)?;
        let is_same = rustix::fs::statat(CWD, &self.path, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|at| (at.st_dev, at.st_ino) == (locked.st_dev, locked.st_ino));
        if !is_same {
            self.unlock().map_err(|error| Error::io("unlock folder", &shown, error))?;
        }
        Ok(is_same)
    }

    /// Whether the folder belongs to this user, and nobody else has rights to it.
    pub(crate) fn is_private(&self) -> bool {
        rustix::fs::fstat(&self.folder).is_ok_and(|stat| is_private(&stat))
    }

    /// The folder's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the folder at `path`, and makes it (mode 0700) if it is missing. Locks it for as long
    /// as the returned value lives. `None` if another process holds the lock and `waits` is false.
    /// The parent folder may belong to anyone.
    ///
    /// # Errors
    /// [`Error::Foreign`] if the folder belongs to another user, or others have rights to it;
    /// [`Error::Io`], also if `path` is a symbolic link.
    pub(crate) fn open_private(path: &Path, waits: bool) -> Result<Option<Self>, Error> {
        let shown = path.display().to_string();
        let failed = |errno: Errno| Error::io("open folder", &shown, errno.into());
        loop {
            match rustix::fs::mkdirat(CWD, path, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(failed(errno)),
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let folder = match rustix::fs::openat(CWD, path, flags, Mode::empty()) {
                // Its previous holder has just removed it.
                Err(Errno::NOENT) => continue,
                opened => opened.map_err(failed)?,
            };
            let stat = rustix::fs::fstat(&folder).map_err(failed)?;
            if !is_private(&stat) {
                return Err(Error::Foreign(shown));
            }
            match rustix::fs::flock(&folder, exclusive(waits)) {
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(Errno::INTR) => continue,
                locked => locked.map_err(failed)?,
            }
            let is_same = |at: Stat| (at.st_dev, at.st_ino) == (stat.st_dev, stat.st_ino);
            if rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(is_same) {
                return Ok(Some(Self { path: path.to_owned(), folder }));
            }
        }
    }

    /// Opens the folder `name` in this one, and makes it (mode 0700) if it is missing.
    ///
    /// # Errors
    /// [`Error::Io`], also if `name` is a symbolic link.
    pub fn within(&self, name: &str) -> Result<Self, Error> {
        let failed = |errno: Errno| Error::io("open folder", &self.path_of(name), errno.into());
        match rustix::fs::mkdirat(&self.folder, name, Mode::RWXU) {
            Ok(()) => rustix::fs::fsync(&self.folder).map_err(failed)?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(failed(errno)),
        }
        self.there(name).map_err(failed)
    }

    /// Opens the existing folder `name` in this one.
    pub(crate) fn there(&self, name: &str) -> rustix::io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(&self.folder, name, flags, Mode::empty())?;
        Ok(Self { path: self.path.join(name), folder })
    }

    fn file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        // Opening a pipe waits for its other end without NONBLOCK, which does not affect a file.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match rustix::fs::openat(&self.folder, name, flags, Mode::RUSR | Mode::WUSR) {
            Err(Errno::LOOP) => return Err(no_file("it is a link, and links are not followed")),
            Err(Errno::ISDIR | Errno::NXIO) => return Err(no_file(NO_FILE)),
            file => file?,
        };
        match FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) {
            FileType::RegularFile => Ok(File::from(file)),
            _ => Err(no_file(NO_FILE)),
        }
    }
}

impl Drop for Folder {
    /// Gives up the lock explicitly: a program that is just being started still has copies of all
    /// descriptors for a moment, and the lock with them.
    fn drop(&mut self) {
        // If that fails, the lock is given up with the last descriptor.
        drop(self.unlock());
    }
}

fn exclusive(waits: bool) -> FlockOperation {
    match waits {
        true => FlockOperation::LockExclusive,
        false => FlockOperation::NonBlockingLockExclusive,
    }
}

/// Whether a file or folder belongs to this user, and nobody else has rights to it.
fn is_private(stat: &Stat) -> bool {
    let others = Mode::RWXG | Mode::RWXO;
    let is_same = stat.st_uid == rustix::process::geteuid().as_raw();
    is_same && !Mode::from_raw_mode(stat.st_mode).intersects(others)
}

fn identity(stat: &Stat) -> FileIdentity {
    // No file has a negative length.
    let length = u64::try_from(stat.st_size).unwrap_or_default();
    FileIdentity { device: stat.st_dev, number: stat.st_ino, length }
}

/// The error for a pipe, a folder or the like with a file's name.
const NO_FILE: &str = "it is no regular file";

fn too_long(length: u64, bytes_max: u64) -> io::Error {
    io::Error::other(format!("it has {length} bytes, and should have at most {bytes_max}"))
}

fn no_file(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

impl Disk for Folder {
    fn path_of(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.retain(|name| name != "." && name != "..");
        Ok(names)
    }

    fn read(&self, name: &str, bytes_max: u64) -> io::Result<Vec<u8>> {
        let file = self.file(name, OFlags::RDONLY)?;
        // The file may be sparse, and so claim a length that no machine has the memory for.
        let length = file.metadata()?.len();
        if length > bytes_max {
            return Err(too_long(length, bytes_max));
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))?;
        file.take(bytes_max).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn read_after(
        &self,
        name: &str,
        beginning: &[u8],
        bytes_max: u64,
    ) -> io::Result<Option<Vec<u8>>> {
        let mut file = self.file(name, OFlags::RDONLY)?;
        // The compared bytes are not kept, and a small part stays in a processor's cache.
        let (mut part, mut beginning) = ([0; 64 << 10], beginning);
        while !beginning.is_empty() {
            let length = beginning.len().min(part.len());
            let read = file.read(&mut part[..length])?;
            match beginning.strip_prefix(&part[..read]) {
                Some(rest) if read > 0 => beginning = rest,
                _ => return Ok(None),
            }
        }
        let length = file.metadata()?.len();
        if length > bytes_max {
            return Err(too_long(length, bytes_max));
        }
        let mut rest = Vec::new();
        file.take(bytes_max).read_to_end(&mut rest)?;
        Ok(Some(rest))
    }

    fn identity(&self, name: &str) -> io::Result<FileIdentity> {
        let stat = rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(identity(&stat))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn AppendFile>> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        Ok(Box::new(Appended(self.file(name, flags)?)))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn AppendFile>> {
        Ok(Box::new(Appended(self.file(name, OFlags::WRONLY | OFlags::APPEND)?)))
    }

    fn create_segment(&self, name: &str, length: u64) -> io::Result<Box<dyn SegmentFile>> {
        let file = self.file(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
        file.set_len(length)?;
        Ok(Box::new(PlacedFile::new(file)?))
    }

    fn open_segment(&self, name: &str) -> io::Result<Box<dyn SegmentFile>> {
        Ok(Box::new(PlacedFile::new(self.file(name, OFlags::RDWR)?)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.folder, from, &self.folder, to)?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.folder, name, AtFlags::empty())?)
    }

    fn sync_folder(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.folder)?)
    }

    fn unlock(&self) -> io::Result<()> {
        Ok(rustix::fs::flock(&self.folder, FlockOperation::Unlock)?)
    }
}

#[derive(Debug)]
struct Appended(File);

impl AppendFile for Appended {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn set_aside(&mut self, offset: u64, bytes: u64) -> io::Result<()> {
        Ok(rustix::fs::fallocate(&self.0, FallocateFlags::KEEP_SIZE, offset, bytes)?)
    }

    fn punch(&mut self, offset: u64, length: u64) -> io::Result<()> {
        let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        unless_unsupported(rustix::fs::fallocate(&self.0, mode, offset, length))
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// A file that is written in place, and mapped on demand.
#[derive(Debug)]
struct PlacedFile {
    file: File,
    length: u64,
    mapping: OnceLock<Mapping>,
    /// The written ranges, once they were needed.
    written: Mutex<Option<Written>>,
}

impl PlacedFile {
    fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file, length, mapping: OnceLock::new(), written: Mutex::new(None) })
    }
}

/// Accepts a file system that cannot allocate ahead or punch holes. A write then reports itself
/// that the disk is full, and the space of removed blocks comes back with the whole segment.
fn unless_unsupported(result: rustix::io::Result<()>) -> io::Result<()> {
    match result {
        Err(Errno::OPNOTSUPP) => Ok(()),
        other => Ok(other?),
    }
}

impl SegmentFile for PlacedFile {
    fn length(&self) -> u64 {
        self.length
    }

    fn identity(&self) -> io::Result<FileIdentity> {
        Ok(identity(&rustix::fs::fstat(&self.file)?))
    }

    fn allocated(&self) -> io::Result<u64> {
        const BLOCK: u64 = 512;
        let blocks = rustix::fs::fstat(&self.file)?.st_blocks;
        Ok(u64::try_from(blocks).unwrap_or_default() * BLOCK)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mode = FallocateFlags::KEEP_SIZE;
        unless_unsupported(rustix::fs::fallocate(&self.file, mode, offset, bytes.len() as u64))?;
        self.file.write_all_at(bytes, offset)
    }

    fn map(&self) -> io::Result<()> {
        if self.mapping.get().is_none() {
            let mapping = Mapping::new(&self.file)?;
            if mapping.length() != self.length {
                return Err(io::Error::other("its length has changed"));
            }
            // Another thread may have mapped it meanwhile; one of the two is enough.
            let _ = self.mapping.set(mapping);
        }
        Ok(())
    }

    fn bytes(&self, offset: u64, length: usize) -> Option<&[u8]> {
        self.mapping.get()?.bytes(offset, length)
    }

    fn faults(&self) -> u64 {
        self.mapping.get().map_or(0, Mapping::faults)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, offset)
    }

    fn has_hole(&self, offset: u64, length: u64) -> io::Result<bool> {
        let mut written = self.written.lock();
        let written = match &mut *written {
            Some(written) => written,
            unknown => unknown.insert(Written::of(&self.file)?),
        };
        Ok(!written.covers(&(offset..offset.saturating_add(length))))
    }

    fn expect(&self, offset: u64, length: u64) {
        // If the advice fails, the reader waits for the disk.
        let _ = rustix::fs::fadvise(&self.file, offset, NonZeroU64::new(length), Advice::WillNeed);
    }

    fn forget(&self, offset: u64, length: u64) {
        let length = NonZeroU64::new(length);
        // If the advice fails, the pages stay cached until the system needs memory.
        let _ = rustix::fs::fadvise(&self.file, offset, length, Advice::DontNeed);
    }

    fn forget_mapped(&self, offset: u64, length: u64) {
        if let Some(mapping) = self.mapping.get() {
            mapping.forget(offset, length);
        }
        self.forget(offset, length);
    }

    fn punch(&self, offset: u64, length: u64) -> io::Result<()> {
        if let Some(written) = &mut *self.written.lock() {
            written.remove(&(offset..offset.saturating_add(length)));
        }
        let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        unless_unsupported(rustix::fs::fallocate(&self.file, mode, offset, length))
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}
