//! The note: a file in the leaf's folder with what the leaf is about to write to the archive. After
//! a crash it says which files may have rows that are still in the leaf.
//!
//! The note also names the blocks: once the blocks are gone, the pass was carried out. A pass that
//! failed leaves only its files in the note, for removal. `spec/segments.md`, section 1, has its
//! lines. An altered block number would make a failed pass look carried out, and an altered path
//! would remove another file. So both have checksums, and no path may lead out of the archive. An
//! altered note is put aside and not followed.

use std::fmt::{Display, Write as _};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hadal_store::BlockNumber;
use hadal_types::TableName;
use twox_hash::XxHash3_64;

const NAME: &str = "archiving";
/// The note of a failed pass. It is written before the pass begins.
const UNDONE: &str = "archiving.undone";
const DAMAGED: &str = "archiving.damaged";
/// The start of the line with the checksums: earlier versions know only lines with files and
/// blocks.
const SUMS: &str = "file xxh3-";
/// Larger than a note of the maximum number of blocks and as many files.
const NOTE_BYTES_MAX: u64 = 1 << 30;

/// The files of one pass, and the blocks whose rows they have. Without blocks: files to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) files: Vec<String>,
    pub(super) blocks: Vec<BlockNumber>,
}

impl Note {
    /// Writes the note; it is durable when this returns.
    pub(super) fn keep(&self, folder: &Path) -> io::Result<()> {
        if !self.blocks.is_empty() {
            let undone = Self { files: self.files.clone(), blocks: Vec::new() };
            undone.write(&folder.join(UNDONE))?;
        }
        let new = folder.join(format!("{NAME}.new"));
        self.write(&new)?;
        fs::rename(new, note_path(folder))?;
        File::open(folder)?.sync_all()
    }

    /// Notes that the pass failed: only its files remain, for removal. If this version noted the
    /// pass, that needs no disk space.
    pub(super) fn undo(&mut self, folder: &Path) -> io::Result<()> {
        self.blocks.clear();
        let undone = folder.join(UNDONE);
        if !read_file(&undone).is_ok_and(|note| note.as_ref() == Some(&*self)) {
            return self.keep(folder);
        }
        fs::rename(undone, note_path(folder))?;
        File::open(folder)?.sync_all()
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        remove_if_there(path)?;
        let mut file = File::create_new(path)?;
        file.write_all(self.text().as_bytes())?;
        file.sync_all()
    }

    fn text(&self) -> String {
        let files = lines("file", &self.files);
        let blocks = lines("block", self.blocks.iter().map(|number| number.0));
        format!("{files}{SUMS}{}-{}\n{blocks}end\n", sum(&files), sum(&blocks))
    }

    /// Reads the note in a folder, if there is one.
    ///
    /// # Errors
    /// When it cannot be read, or is damaged.
    pub(super) fn find(folder: &Path) -> io::Result<Option<Self>> {
        read_file(&note_path(folder))
    }

    /// Removes the note of a folder; the removal is durable when this returns.
    pub(super) fn remove(folder: &Path) -> io::Result<()> {
        fs::remove_file(note_path(folder))?;
        remove_if_there(&folder.join(UNDONE))?;
        File::open(folder)?.sync_all()
    }
}

/// Removes the prepared note of a failed pass. A failure to remove it does no harm.
pub(super) fn clear(folder: &Path) {
    drop(remove_if_there(&folder.join(UNDONE)));
}

/// Puts a damaged note aside for a person to examine. Returns its path, which is the old one if the
/// note cannot be moved.
pub(super) fn put_aside(folder: &Path) -> PathBuf {
    let (path, aside) = (note_path(folder), damaged_path(folder));
    let moved = match may_exist(&aside) {
        true => Err(io::ErrorKind::AlreadyExists.into()),
        false => fs::rename(&path, &aside),
    };
    match moved.and_then(|()| File::open(folder)?.sync_all()) {
        Ok(()) => aside,
        Err(error) => {
            tracing::error!(note = %path.display(), %error, "it cannot be put aside");
            path
        }
    }
}

/// The path of a folder's note.
pub(super) fn note_path(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// The path for a damaged note of a folder.
pub(super) fn damaged_path(folder: &Path) -> PathBuf {
    folder.join(DAMAGED)
}

/// Whether a file of that name exists, or may exist because it cannot be examined.
pub(super) fn may_exist(path: &Path) -> bool {
    !fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn lines<T: Display>(word: &str, values: impl IntoIterator<Item = T>) -> String {
    let mut lines = String::new();
    for value in values {
        // Writing to a string never fails.
        let _ = writeln!(lines, "{word} {value}");
    }
    lines
}

fn sum(lines: &str) -> String {
    format!("{:016x}", XxHash3_64::oneshot(lines.as_bytes()))
}

fn read_file(path: &Path) -> io::Result<Option<Note>> {
    let about = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        about => about?,
    };
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "it is not as it was written");
    // Reading a pipe would wait forever, and a file larger than any note would fill the memory.
    if !about.is_file() || about.len() > NOTE_BYTES_MAX {
        return Err(damaged());
    }
    read(&fs::read_to_string(path)?).map(Some).ok_or_else(damaged)
}

/// Parses a note.
fn read(text: &str) -> Option<Note> {
    let lines = text.strip_suffix("end\n")?;
    let Some((files, rest)) = lines.split_once(SUMS) else { return read_lines(lines) };
    let (sums, blocks) = rest.split_once('\n')?;
    let (of_files, of_blocks) = sums.split_once('-')?;
    // An earlier version that undoes the pass removes the block lines, and leaves the rest.
    let is_intact = of_files == sum(files) && (blocks.is_empty() || of_blocks == sum(blocks));
    let (Note { files, .. }, Note { blocks, .. }) = (read_lines(files)?, read_lines(blocks)?);
    is_intact.then_some(Note { files, blocks })
}

fn read_lines(lines: &str) -> Option<Note> {
    let mut note = Note { files: Vec::new(), blocks: Vec::new() };
    for line in lines.lines() {
        match line.split_once(' ')? {
            ("file", path) if stays_inside(path) => note.files.push(path.to_owned()),
            ("block", number) => note.blocks.push(BlockNumber(number.parse().ok()?)),
            _ => return None,
        }
    }
    Some(note)
}

/// Whether a path has the form that a pass writes; such paths lead only into the archive.
fn stays_inside(path: &str) -> bool {
    let is_name = |part: &str| !["", ".", ".."].contains(&part) && !part.contains(['\\', '\0']);
    match path.split('/').collect::<Vec<_>>()[..] {
        [table, day, file] => {
            let is_file = is_name(file) && file.ends_with(".parquet");
            TableName::new(table).is_ok() && is_name(day) && is_file
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note() -> Note {
        let files = vec!["t/2026-11-01/leaf-0-1.parquet".into(), "t/2026-11-02/l.parquet".into()];
        Note { files, blocks: vec![BlockNumber(7), BlockNumber(1_234)] }
    }

    /// How the program of commit 993032c reads a note.
    fn read_before(text: &str) -> Option<Note> {
        let mut note = Note { files: Vec::new(), blocks: Vec::new() };
        for line in text.strip_suffix("end\n")?.lines() {
            match line.split_once(' ')? {
                ("file", path) => note.files.push(path.to_owned()),
                ("block", number) => note.blocks.push(BlockNumber(number.parse().ok()?)),
                _ => return None,
            }
        }
        Some(note)
    }

    /// How that program writes a note.
    fn text_before(note: &Note) -> String {
        lines("file", &note.files)
            + &lines("block", note.blocks.iter().map(|block| block.0))
            + "end\n"
    }

    #[test]
    fn a_note_is_read_as_it_was_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = || {
            let names = fs::read_dir(folder.path()).expect("read").map(|one| one.expect("read"));
            let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(Note::find(folder.path()).expect("nothing"), None);
        let mut note = note();
        note.keep(folder.path()).expect("kept");
        assert_eq!(Note::find(folder.path()).expect("read").as_ref(), Some(&note));
        assert_eq!(names(), [NAME, UNDONE]);
        note.undo(folder.path()).expect("kept");
        assert!(note.blocks.is_empty());
        assert_eq!(Note::find(folder.path()).expect("read").as_ref(), Some(&note));
        assert_eq!(names(), [NAME], "it is renamed, as that takes no room");
        Note::remove(folder.path()).expect("removed");
        assert_eq!(Note::find(folder.path()).expect("nothing"), None);
        assert!(names().is_empty());
    }

    #[test]
    fn what_was_prepared_for_another_note_is_not_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        note().keep(folder.path()).expect("kept");
        let mut other = Note { files: vec!["u/2026-11-01/a.parquet".into()], ..note() };
        fs::write(note_path(folder.path()), text_before(&other)).expect("written");
        assert_eq!(Note::find(folder.path()).expect("read").as_ref(), Some(&other));
        other.undo(folder.path()).expect("kept");
        assert_eq!(Note::find(folder.path()).expect("read"), Some(other));
    }

    #[test]
    fn the_program_before_follows_a_note_and_leaves_one_that_is_read() {
        let note = note();
        let mut before = read_before(&note.text()).expect("read");
        assert_eq!(before.blocks, note.blocks);
        assert_eq!(before.files[..2], note.files);
        assert!(!before.files[2].contains('/'), "no file of an archive is called so: {before:?}");
        before.blocks.clear();
        let left = read(&text_before(&before)).expect("read");
        assert_eq!(left, Note { blocks: Vec::new(), ..note.clone() });
        assert_eq!(read(&text_before(&note)).expect("read"), note);
    }

    #[test]
    fn a_note_that_was_altered_is_none() {
        let text = note().text();
        let clear = Note { blocks: Vec::new(), ..note() }.text();
        for (text, may_be_other) in [(&text, false), (&clear, true)] {
            for at in 0..text.len() {
                for bit in 0..8 {
                    let mut bytes = text.clone().into_bytes();
                    bytes[at] ^= 1 << bit;
                    let Ok(altered) = String::from_utf8(bytes) else { continue };
                    // Without blocks, the checksum of blocks covers nothing.
                    let note = read(&altered).filter(|note| !may_be_other || note.files.len() != 2);
                    assert_eq!(note, None, "{altered}");
                }
                assert_eq!(read(&text[..at]), None, "{at}");
            }
        }
    }

    #[test]
    fn no_path_leaves_the_archive() {
        let whole = |path: &str| Note { files: vec![path.into()], blocks: Vec::new() }.text();
        assert!(read(&whole("t/2026-11-01/leaf-0-1.parquet")).is_some());
        for path in [
            "/etc/a/b.parquet",
            "../2026-11-01/a.parquet",
            "t/../a.parquet",
            "t/./a.parquet",
            "t//a.parquet",
            "t/2026-11-01/../../a.parquet",
            "t/2026-11-01/a",
            "t/2026-11-01",
            "a.parquet",
            "",
        ] {
            assert_eq!(read(&whole(path)), None, "{path}");
            assert_eq!(read(&format!("file {path}\nend\n")), None, "{path}");
        }
    }

    #[test]
    fn what_is_no_note_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        for text in
            ["", "file a\n", "file\nend\n", "block x\nend\n", "row 1\nend\n", "end\nblock 1\n"]
        {
            fs::write(note_path(folder.path()), text).expect("written");
            let error = Note::find(folder.path()).expect_err(text);
            assert_eq!(error.to_string(), "it is not as it was written", "{text}");
        }
        let note = note_path(folder.path());
        File::options()
            .write(true)
            .open(&note)
            .and_then(|file| file.set_len(1 << 40))
            .expect("cut");
        let huge = Note::find(folder.path()).expect_err("larger than the memory");
        fs::remove_file(&note).expect("there");
        // Like a pipe, a link is not a regular file.
        std::os::unix::fs::symlink("/dev/zero", &note).expect("linked");
        let endless = Note::find(folder.path()).expect_err("without an end");
        assert_eq!(huge.to_string(), endless.to_string());
    }
}
