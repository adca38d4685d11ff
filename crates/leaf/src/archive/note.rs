//! What a leaf is about to write to the archive, as a file of its folder: so that whoever comes after
//! a crash knows which files may be there of rows that are still in the leaf.
//!
//! It names the blocks as well: where they are gone, the pass was carried out. Once it is known
//! that one came to nothing, only its files are noted, which are to go. The file has a line for
//! each: `file PATH` or `block NUMBER`; and ends with the line `end`.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hadal_store::BlockNumber;

const NAME: &str = "archiving";
/// A note of all blocks that a leaf may have, and as many files, is smaller.
const NOTE_BYTES_MAX: u64 = 1 << 30;

/// The files of one pass, and the blocks whose rows they have; without blocks, files that are to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) files: Vec<String>,
    pub(super) blocks: Vec<BlockNumber>,
}

impl Note {
    /// Writes the note; it is durable when this returns.
    pub(super) fn keep(&self, folder: &Path) -> io::Result<()> {
        let (new, place) = (folder.join(format!("{NAME}.new")), place(folder));
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = File::create_new(&new)?;
        file.write_all(self.text().as_bytes())?;
        file.sync_all()?;
        fs::rename(new, place)?;
        File::open(folder)?.sync_all()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        // A text takes all that is written to it.
        for path in &self.files {
            let _ = writeln!(text, "file {path}");
        }
        for number in &self.blocks {
            let _ = writeln!(text, "block {}", number.0);
        }
        text + "end\n"
    }

    /// The note in a folder, if there is one.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub(super) fn find(folder: &Path) -> io::Result<Option<Self>> {
        let place = place(folder);
        let about = match fs::symlink_metadata(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            about => about?,
        };
        // Nobody writes to a pipe, and what is larger than any note fills the memory.
        if !about.is_file() || about.len() > NOTE_BYTES_MAX {
            return Err(no_note());
        }
        read(&fs::read_to_string(place)?).map(Some).ok_or_else(no_note)
    }

    /// Removes the note of a folder, for good when this returns.
    pub(super) fn remove(folder: &Path) -> io::Result<()> {
        fs::remove_file(place(folder))?;
        File::open(folder)?.sync_all()
    }
}

fn no_note() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is no note of an archive")
}

/// Where the note of a folder is.
pub(super) fn place(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

fn read(text: &str) -> Option<Note> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(Note::find(folder.path()).expect("nothing"), None);
        let note = Note {
            files: vec!["t/2026-11-01/leaf-0-1.parquet".into()],
            blocks: vec![BlockNumber(7)],
        };
        note.keep(folder.path()).expect("kept");
        assert_eq!(Note::find(folder.path()).expect("read"), Some(note));
        Note::remove(folder.path()).expect("removed");
        assert_eq!(Note::find(folder.path()).expect("nothing"), None);
    }

    #[test]
    fn what_is_no_note_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        for text in
            ["", "file a\n", "file\nend\n", "block x\nend\n", "row 1\nend\n", "end\nblock 1\n"]
        {
            fs::write(place(folder.path()), text).expect("written");
            let error = Note::find(folder.path()).expect_err(text);
            assert_eq!(error.to_string(), "it is no note of an archive", "{text}");
        }
        let note = place(folder.path());
        File::options()
            .write(true)
            .open(&note)
            .and_then(|file| file.set_len(1 << 40))
            .expect("cut");
        let huge = Note::find(folder.path()).expect_err("larger than the memory");
        fs::remove_file(&note).expect("there");
        // A link says of itself what a pipe would.
        std::os::unix::fs::symlink("/dev/zero", &note).expect("linked");
        let endless = Note::find(folder.path()).expect_err("without an end");
        assert_eq!(huge.to_string(), endless.to_string());
    }
}
