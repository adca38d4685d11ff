//! The written ranges of a sparse file, as they were when they were first needed.
//!
//! A file system finds the next hole by examining page after page. If it were asked for each of a
//! thousand blocks of a file, it would examine most of the file a thousand times. So all ranges are
//! read once, and kept. Ranges that are given back later are removed. Ranges that are written later
//! may be missing. So "written" is always true, but "not written" need not be.

use std::fs::File;
use std::io;
use std::ops::Range;

use rustix::fs::SeekFrom;
use rustix::io::Errno;

/// Ranges of a file, in ascending order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Written(Vec<Range<u64>>);

impl Written {
    /// Reads the written ranges of a file. Cost: O(pages of the file).
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let (mut ranges, mut end) = (Vec::new(), 0);
        loop {
            let start = match rustix::fs::seek(file, SeekFrom::Data(end)) {
                // There is no more data.
                Err(Errno::NXIO) => return Ok(Self(ranges)),
                start => start?,
            };
            end = rustix::fs::seek(file, SeekFrom::Hole(start))?;
            ranges.push(start..end);
        }
    }

    /// Whether all of a range was written.
    pub(super) fn covers(&self, range: &Range<u64>) -> bool {
        let after = self.0.partition_point(|written| written.start <= range.start);
        let written = after.checked_sub(1).and_then(|at| self.0.get(at));
        written.is_some_and(|written| range.end <= written.end)
    }

    /// Removes a range that is given back.
    pub(super) fn remove(&mut self, range: &Range<u64>) {
        let left = |written: Range<u64>| {
            let before = written.start..written.end.min(range.start);
            let after = written.start.max(range.end)..written.end;
            [before, after].into_iter().filter(|part| !part.is_empty())
        };
        self.0 = std::mem::take(&mut self.0).into_iter().flat_map(left).collect();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    const PAGE: u64 = 4_096;

    #[test]
    fn what_was_written_is_known_and_what_is_given_back_is_not() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(20 * PAGE).expect("as long");
        assert_eq!(Written::of(&file).expect("told"), Written(vec![]));
        for page in [2, 3, 4, 9] {
            file.write_all_at(&[1; 4_096], page * PAGE).expect("written");
        }
        let mut written = Written::of(&file).expect("told");
        assert_eq!(written, Written(vec![2 * PAGE..5 * PAGE, 9 * PAGE..10 * PAGE]));
        for (from, to, is_covered) in [
            (2, 5, true),
            (3, 4, true),
            (4, 6, false),
            (1, 3, false),
            (9, 10, true),
            (7, 8, false),
            (15, 16, false),
        ] {
            assert_eq!(written.covers(&(from * PAGE..to * PAGE)), is_covered, "{from}..{to}");
        }
        written.remove(&(3 * PAGE..4 * PAGE));
        written.remove(&(8 * PAGE..20 * PAGE));
        assert_eq!(written, Written(vec![2 * PAGE..3 * PAGE, 4 * PAGE..5 * PAGE]));
    }
}
