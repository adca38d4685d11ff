//! An archive in a folder.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{ArchiveStorage, IsStopping, Upload};
use crate::error::Error;

/// The suffix of an unfinished file's name.
const UNFINISHED: &str = ".part";

/// A folder.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Uses the folder at `root`, independent of later changes of the working directory.
    pub(super) fn open(root: &Path) -> Result<Self, Error> {
        let root = std::path::absolute(root);
        Ok(Self { root: root.map_err(Error::io("find", "the folder of the archive"))? })
    }

    /// Fails if the folder does not exist: its disk may be missing.
    fn check_root(&self) -> io::Result<()> {
        match fs::metadata(&self.root) {
            Ok(metadata) if metadata.is_dir() => Ok(()),
            Ok(_) => Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("there is no folder {}; it is awaited, not made", self.root.display()),
            )),
            Err(error) => Err(error),
        }
    }

    /// Creates the folders of a file below the root.
    fn make_folders(&self, path: &str) -> io::Result<()> {
        self.check_root()?;
        let mut folder = self.root.clone();
        for part in Path::new(path).parent().into_iter().flatten() {
            folder.push(part);
            match fs::create_dir(&folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Makes the directory entries of a file durable: its folder and those around it in the
    /// archive.
    fn sync_around(&self, file: &Path) -> io::Result<()> {
        let mut around =
            file.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.root));
        around.try_for_each(|folder| File::open(folder)?.sync_all())
    }
}

/// The path of a file while it is unfinished.
fn unfinished(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(UNFINISHED);
    name.into()
}

impl ArchiveStorage for Folder {
    fn begin<'a>(&self, path: &str, _: IsStopping<'a>) -> io::Result<Box<dyn Upload + 'a>> {
        self.make_folders(path)?;
        let place = self.root.join(path);
        if place.try_exists()? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let part = unfinished(&place);
        let file = File::create(&part)?;
        Ok(Box::new(Begun { root: Self { root: self.root.clone() }, file, part, place }))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        // On a missing disk nothing can be removed.
        self.check_root()?;
        let place = self.root.join(path);
        for file in [unfinished(&place), place.clone()] {
            match fs::remove_file(&file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        match place.parent().is_some_and(Path::exists) {
            true => self.sync_around(&place),
            false => Ok(()),
        }
    }
}

/// A file that is being written.
struct Begun {
    root: Folder,
    file: File,
    part: PathBuf,
    place: PathBuf,
}

impl Write for Begun {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Upload for Begun {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.part, &self.place)?;
        self.root.sync_around(&self.place)
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        // A finished file has been renamed, so the removal finds nothing.
        let _ = fs::remove_file(&self.part);
    }
}
