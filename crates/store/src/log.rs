//! The write-ahead log: every acknowledged batch, until its rows are in merged blocks.
//!
//! *Group commit*: appending puts a frame into a queue and returns a [`Ticket`]. One committer
//! thread takes all queued frames, writes them, syncs once, and resolves their tickets. The queue
//! fills during a sync, so a slower disk gets larger groups. With [`Durability::Async`] tickets are
//! resolved once the frames are written; the sync follows within a second. The format, and the
//! behaviour after failures, are in `spec/wal.md`.
//!
//! The log also knows which of its frames are *live*: appended and not consumed. A file without
//! live frames is removed.

mod body;
mod committer;
mod hole_punch;
mod loss;
mod queue;
mod replay;
mod ticket;
mod writer;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use hadal_types::{BatchId, TableName};
use parking_lot::{Condvar, Mutex};

use crate::disk::Disk;
use crate::error::Error;
use crate::ids::Sequence;
use crate::log_marks::LogMarks;
use crate::options::Durability;
use crate::sequence_set::SequenceSet;
use committer::CloseAtEnd;
use hole_punch::LogFile;
pub(crate) use loss::LogLoss;
use queue::{Live, Queue, Waiting};
pub(crate) use replay::{Replayed, replay};
pub use ticket::Ticket;
use ticket::ticket;
use writer::Writer;

/// The file name of log file `number`.
pub(crate) fn file_name(number: u64) -> String {
    format!("{number:08}.log")
}

/// The number in a log file's name.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    let number = name.strip_suffix(".log")?.parse().ok()?;
    (file_name(number) == name).then_some(number)
}

/// Called with the number of a log file once its first frames are durable, before their tickets are
/// resolved, and with how far each file is durable.
pub(crate) type Begun = Box<dyn Fn(u64, &LogMarks) + Send + Sync>;

/// The parts of the log that all threads share.
struct SharedLog {
    disk: Arc<dyn Disk>,
    salt: u64,
    begun: Begun,
    durability: Durability,
    queue: Mutex<Queue>,
    changed: Condvar,
    writer: Mutex<Writer>,
}

/// The log of one store.
pub(crate) struct Log {
    shared: Arc<SharedLog>,
    committer: Mutex<Option<JoinHandle<()>>>,
}

impl Log {
    /// Continues a replayed log. Without a committer, [`Log::step`] does its work.
    pub(crate) fn start(
        disk: Arc<dyn Disk>,
        salt: u64,
        file_bytes: u64,
        replayed: &mut Replayed,
        begun: Begun,
        durability: Durability,
        with_committer: bool,
    ) -> Result<Self, Error> {
        let writer =
            Writer::new(Arc::clone(&disk), file_bytes, replayed.resume.take(), replayed.next_file);
        let queue = Queue {
            waiting: Vec::new(),
            bytes: 0,
            next_sequence: replayed.next_sequence,
            is_closed: false,
            failure: None,
            live: std::mem::take(&mut replayed.live),
            files: std::mem::take(&mut replayed.files),
            void: std::mem::take(&mut replayed.unwritten),
            is_short: false,
            current: writer.current(),
        };
        let shared = Arc::new(SharedLog {
            disk,
            salt,
            begun,
            durability,
            queue: Mutex::new(queue),
            changed: Condvar::new(),
            writer: Mutex::new(writer),
        });
        let log = Self { shared: Arc::clone(&shared), committer: Mutex::default() };
        if with_committer {
            let thread = Builder::new().name("hadal-log".to_owned()).spawn(move || {
                let _closing = CloseAtEnd(&shared);
                while shared.commit_group() {}
            });
            let failed =
                |error| Error::io("start the committer of", &log.shared.disk.path_of(""), error);
            *log.committer.lock() = Some(thread.map_err(failed)?);
        }
        Ok(log)
    }

    /// Whether a failure makes the log refuse batches.
    pub(crate) fn has_failed(&self) -> bool {
        self.shared.queue.lock().failure.is_some()
    }

    /// Puts a batch into the queue. Does not wait for the disk.
    pub(crate) fn append(
        &self,
        table: &TableName,
        batch: &BatchId,
        bytes: &[u8],
    ) -> Result<Ticket, Error> {
        let draft = body::encode(self.shared.salt, table, batch, bytes)?;
        let mut queue = self.shared.queue.lock();
        queue.check(draft.length())?;
        let sequence = Sequence(queue.next_sequence);
        queue.next_sequence += 1;
        queue.bytes += draft.length();
        queue.live.insert(sequence, Live { table: table.clone(), at: None });
        let (ticket, promise) = ticket(sequence);
        queue.waiting.push(Waiting { sequence, draft, promise });
        drop(queue);
        self.shared.changed.notify_one();
        Ok(ticket)
    }

    /// The live frames of a table, including those that still wait for the disk.
    pub(crate) fn live_of(&self, table: &TableName) -> Vec<Sequence> {
        let queue = self.shared.queue.lock();
        let of_table = queue.live.iter().filter(|(_, live)| live.table == *table);
        of_table.map(|(&sequence, _)| sequence).collect()
    }

    /// The tables that have live frames in files other than the last `last_files`.
    pub(crate) fn tables_before(&self, last_files: usize) -> BTreeSet<TableName> {
        let queue = self.shared.queue.lock();
        let Some(newest) = queue.files.keys().nth_back(last_files).copied() else {
            return BTreeSet::new();
        };
        let is_in_these = |live: &&Live| live.at.as_ref().is_some_and(|(file, _)| *file <= newest);
        // Files are ordered as their sequences are.
        let before = queue.live.values().take_while(is_in_these);
        before.map(|live| live.table.clone()).collect()
    }

    /// The lowest live sequence: every frame below it is consumed or gone.
    pub(crate) fn live_from(&self) -> Sequence {
        let queue = self.shared.queue.lock();
        queue.live.keys().next().copied().unwrap_or(Sequence(queue.next_sequence))
    }

    /// The sequence of the next frame.
    pub(crate) fn next_sequence(&self) -> Sequence {
        Sequence(self.shared.queue.lock().next_sequence)
    }

    /// The files that are needed once these frames are consumed: those with a live frame, and the
    /// file that is written to.
    pub(crate) fn needed(&self, consumed: &SequenceSet) -> BTreeSet<u64> {
        let queue = self.shared.queue.lock();
        let mut files: BTreeMap<u64, u64> =
            queue.files.iter().map(|(&number, file)| (number, file.live)).collect();
        for (first, last) in consumed.iter() {
            for (_, frame) in queue.live.range(Sequence(first)..=Sequence(last)) {
                if let Some(live) = frame.at.as_ref().and_then(|at| files.get_mut(&at.0)) {
                    *live = live.saturating_sub(1);
                }
            }
        }
        files.retain(|&file, live| *live > 0 || Some(file) == queue.current);
        files.into_keys().collect()
    }

    /// Sequences of frames that did not fit on the disk and that no change has recorded as consumed
    /// yet. Unrecorded, they would count as lost once the disk of their neighbours is given back.
    pub(crate) fn void(&self) -> SequenceSet {
        self.shared.queue.lock().void.clone()
    }

    /// Drops consumed frames, and removes the files that are not `needed`. Returns the number of
    /// files that could not be removed; the next call tries them again.
    pub(crate) fn consume(&self, consumed: &SequenceSet, needed: &BTreeSet<u64>) -> u64 {
        let mut queue = self.shared.queue.lock();
        for (first, last) in consumed.iter() {
            queue.void.remove_all(first, last);
            let range = Sequence(first)..=Sequence(last);
            let gone: Vec<Sequence> = queue.live.range(range).map(|(&at, _)| at).collect();
            gone.into_iter().for_each(|sequence| queue.forget(sequence));
        }
        let is_empty =
            |(number, file): &(&u64, &LogFile)| file.live == 0 && !needed.contains(number);
        let empty: Vec<u64> = queue.files.iter().filter(is_empty).map(|(&file, _)| file).collect();
        let mut failures = 0;
        for file in empty {
            match self.shared.disk.remove(&file_name(file)) {
                Ok(()) => drop(queue.files.remove(&file)),
                Err(_) => failures += 1,
            }
        }
        failures
    }

    /// Stops writing to the current file if none of its frames is needed any more and the file is
    /// large enough to matter. The next frame begins another file, and the next change removes this
    /// one. Returns whether it stopped.
    pub(crate) fn leave_spent(&self) -> bool {
        let mut writer = self.shared.writer.lock();
        let mut queue = self.shared.queue.lock();
        let current = queue.current.and_then(|number| queue.files.get(&number));
        let is_spent =
            current.is_some_and(|file| file.live == 0) && queue.bytes == 0 && !queue.is_closed;
        if !is_spent || !writer.leave() {
            return false;
        }
        queue.current = None;
        true
    }

    /// How far each log file is durable.
    pub(crate) fn marks(&self) -> LogMarks {
        self.shared.queue.lock().marks()
    }

    /// The number of log files, and of live frames.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let queue = self.shared.queue.lock();
        (queue.files.len() as u64, queue.live.len() as u64)
    }

    /// Commits one group, if any waits. Replaces the committer in tests.
    #[cfg(test)]
    pub(crate) fn step(&self) {
        if !self.shared.queue.lock().waiting.is_empty() {
            self.shared.commit_group();
        }
    }

    /// Writes the waiting frames, then stops. Fails if the log was poisoned.
    pub(crate) fn close(&self) -> Result<(), Error> {
        self.shared.queue.lock().is_closed = true;
        self.shared.changed.notify_one();
        let committer = self.committer.lock().take();
        let died = committer.is_some_and(|thread| thread.join().is_err());
        if died {
            Err(Error::Closed)
        } else {
            self.shared.queue.lock().failure.clone().map_or(Ok(()), Err)
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // All tickets are resolved by now, with the failure if there was one.
        drop(self.close());
    }
}

#[cfg(test)]
mod tests;
