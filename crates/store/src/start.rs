//! When the process began that had a store last: `spec/segments.md`, section 1.
//!
//! Other processes tell two processes of a leaf apart by their starts, and take the higher one for
//! the later one. A clock that was set back must not turn that around.

use std::io::{self, ErrorKind};

use crate::disk::Disk;

/// The file name.
pub(crate) const NAME: &str = "started";
/// Its name while it is written.
const NEW_NAME: &str = "started.new";
/// More than any number has.
const BYTES_MAX: u64 = 64;

/// The start of a process that begins at `now` on the clock, in microseconds since the Unix epoch:
/// later than the start that the folder has a note of. An unreadable note counts as none.
///
/// # Errors
/// As the system reports, except that there is no note.
pub(crate) fn after_last(disk: &dyn Disk, now: u64) -> io::Result<u64> {
    let bytes = match disk.read(NAME, BYTES_MAX) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(now),
        read => read?,
    };
    let last = std::str::from_utf8(&bytes).ok().and_then(|text| text.trim_end().parse().ok());
    Ok(last.map_or(now, |last: u64| now.max(last.saturating_add(1))))
}

/// Notes the start of this process.
///
/// # Errors
/// As the system reports. The note before is then still there, or this one.
pub(crate) fn note(disk: &dyn Disk, started: u64) -> io::Result<()> {
    remove_unfinished(disk)?;
    let noted = write(disk, started);
    if noted.is_err() {
        // If it stays, the next start removes it.
        let _ = remove_unfinished(disk);
    }
    noted
}

fn remove_unfinished(disk: &dyn Disk) -> io::Result<()> {
    match disk.list()?.iter().any(|name| name == NEW_NAME) {
        true => disk.remove(NEW_NAME),
        false => Ok(()),
    }
}

fn write(disk: &dyn Disk, started: u64) -> io::Result<()> {
    let mut file = disk.create(NEW_NAME)?;
    file.append(format!("{started}\n").as_bytes())?;
    file.sync()?;
    disk.rename(NEW_NAME, NAME)?;
    disk.sync_folder()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::simulated::World;

    #[test]
    fn each_start_is_later_than_the_one_before_whatever_the_clock_says() {
        let world = World::new(1);
        let start = |now| {
            let disk = world.folders().root;
            let started = after_last(&*disk, now).expect("readable");
            note(&*disk, started).expect("noted");
            world.crash();
            started
        };
        assert_eq!([5, 9, 9, 3, 100].map(start), [5, 9, 10, 11, 100]);
    }

    #[test]
    fn a_note_that_is_damaged_or_cannot_be_written_is_no_obstacle() {
        let world = World::new(1);
        let disk = world.folders().root;
        note(&*disk, 50).expect("noted");
        world.machine().free_bytes = Some(0);
        assert!(note(&*disk, 60).is_err());
        assert_eq!(disk.list().expect("readable"), [NAME]);
        assert_eq!(after_last(&*disk, 7).expect("readable"), 51);
        world.machine().free_bytes = None;
        for damaged in [&b""[..], b"5x\n", b"\xff", b"99999999999999999999999\n"] {
            world.set_bytes("root", NAME, damaged.to_vec());
            assert_eq!(after_last(&*disk, 7).expect("readable"), 7);
        }
        world.set_bytes("root", NAME, vec![b'1'; 100]);
        assert!(after_last(&*disk, 7).is_err());
        note(&*disk, 8).expect("noted");
        assert_eq!(after_last(&*disk, 7).expect("readable"), 9);
    }
}
