//! Group commit: writes, syncs and resolves all waiting frames at once.

use std::time::Duration;

use hadal_types::limits::LOG_SYNC_MILLIS;

use super::SharedLog;
use super::hole_punch::LogFile;
use super::queue::Waiting;
use super::ticket::Promise;
use crate::error::Error;
use crate::ids::Sequence;
use crate::log_marks::LogMarks;
use crate::options::Durability;

/// Where a group was written: the number of the file, the group's offset in it, and whether the
/// whole file is durable.
#[derive(Clone, Copy)]
struct Group {
    number: u64,
    from: u64,
    is_durable: bool,
}

/// Makes sure that no ticket waits for a committer that has ended, for whatever reason.
pub(super) struct CloseAtEnd<'a>(pub(super) &'a SharedLog);

impl Drop for CloseAtEnd<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        queue.is_closed = true;
        let abandoned = std::mem::take(&mut queue.waiting);
        drop(queue);
        drop(abandoned);
    }
}

impl SharedLog {
    /// Waits for frames, and commits all that wait. `false` if the log is closed and all is
    /// durable.
    pub(super) fn commit_group(&self) -> bool {
        let group = self.next_group();
        if group.is_empty() {
            self.sync();
            return false;
        }
        let (mut frames, mut promises) = (Vec::new(), Vec::new());
        for Waiting { sequence, draft, promise } in group {
            frames.push(draft.seal(self.salt, sequence.0));
            promises.push((sequence, promise));
        }
        let result = self.write(&frames);
        if let Some((number, marks)) = self.record_outcome(&promises, &frames, result.as_ref()) {
            (self.begun)(number, &marks);
        }
        for (_, promise) in promises {
            promise.complete(result.clone().map(drop));
        }
        if self.sync_due().is_some_and(|left| left.is_zero()) {
            self.sync();
        }
        true
    }

    /// Waits for frames, and takes all that wait; none if the log is closed. Syncs earlier frames
    /// when their sync is due.
    fn next_group(&self) -> Vec<Waiting> {
        loop {
            let due = self.sync_due();
            if due.is_some_and(|left| left.is_zero()) {
                self.sync();
                continue;
            }
            let mut queue = self.queue.lock();
            if !queue.waiting.is_empty() || queue.is_closed {
                return std::mem::take(&mut queue.waiting);
            }
            match due {
                None => self.changed.wait(&mut queue),
                Some(left) => {
                    self.changed.wait_for(&mut queue, left);
                }
            }
        }
    }

    /// How long written frames may still wait for their sync; `None` if nothing waits.
    pub(super) fn sync_due(&self) -> Option<Duration> {
        let since = self.writer.lock().unsynced()?;
        Some(Duration::from_millis(LOG_SYNC_MILLIS).saturating_sub(since.elapsed()))
    }

    /// Makes all written frames durable. After a failure the log refuses batches.
    pub(super) fn sync(&self) {
        let mut writer = self.writer.lock();
        let synced = writer.sync();
        let mut queue = self.queue.lock();
        match synced {
            // Nothing was written since: writing needs the writer's lock.
            Ok(()) => queue.files.values_mut().for_each(LogFile::note_durable),
            Err(failure) => drop(queue.failure.get_or_insert(failure)),
        }
    }

    /// Writes a group to the current file, or to a new one. The first group of a file is always
    /// synced, because the manifest then expects the file.
    fn write(&self, frames: &[Vec<u8>]) -> Result<Group, Error> {
        let mut writer = self.writer.lock();
        if writer.is_full() {
            let number = writer.rotate()?;
            let mut queue = self.queue.lock();
            queue.current = Some(number);
            // The previous file was synced before the change to this one.
            queue.files.values_mut().for_each(LogFile::note_durable);
        }
        let is_first = {
            let queue = self.queue.lock();
            queue.current.is_none_or(|number| !queue.files.contains_key(&number))
        };
        let is_durable = is_first || self.durability == Durability::Sync;
        let (number, from) = writer.write(frames, is_durable)?;
        Ok(Group { number, from, is_durable })
    }

    /// Records the outcome of a group, before its tickets are resolved. If the group is its file's
    /// first, returns the file's number and how far each file is durable.
    fn record_outcome(
        &self,
        promises: &[(Sequence, Promise)],
        frames: &[Vec<u8>],
        result: Result<&Group, &Error>,
    ) -> Option<(u64, LogMarks)> {
        let mut queue = self.queue.lock();
        let number = result.ok().map(|group| group.number);
        let begun = number.filter(|number| !queue.files.contains_key(number));
        queue.bytes -= frames.iter().map(Vec::len).sum::<usize>();
        let mut next = result.map_or(0, |group| group.from);
        for (&(sequence, _), frame) in promises.iter().zip(frames) {
            let from = next;
            next += frame.len() as u64;
            match result {
                Ok(group) => queue.written(sequence, group.number, from..next),
                Err(_) => queue.forget(sequence),
            }
        }
        match result {
            Err(failure @ Error::Poisoned { .. }) => queue.failure = Some(failure.clone()),
            Err(Error::Full(_)) => {
                queue.is_short = true;
                promises.iter().for_each(|(sequence, _)| queue.void.insert(sequence.0, sequence.0));
            }
            Ok(Group { number, is_durable: true, .. }) => {
                queue.files.get_mut(number).into_iter().for_each(LogFile::note_durable);
            }
            _ => {}
        }
        begun.map(|number| (number, queue.marks()))
    }
}
