//! Losses, until a person acknowledges them: `spec/segments.md`, section 6.
//!
//! The traces of a loss soon disappear from the folder: no record names a missing log file any
//! more, and a damaged log file is removed with its frames. So a start writes losses down before it
//! changes the folder, in a separate file, which earlier versions ignore.

use std::collections::BTreeMap;
use std::sync::Arc;

use hadal_types::Micros;
use hadal_types::limits::LOST_BLOCKS_NOTED_MAX;
use parking_lot::Mutex;

use crate::disk::Disk;
use crate::error::Error;
use crate::frame::{Draft, HEADER_BYTES, LOSSES, first};
use crate::ids::BlockNumber;
use crate::log::{self, LogLoss};
use crate::manifest::Reader;
use crate::sequence_set::SequenceSet;

/// The file name.
pub(crate) const NAME: &str = "losses";
/// Its name while it is written.
const NEW_NAME: &str = "losses.new";
/// The name of an unreadable one.
const DAMAGED_NAME: &str = "losses.damaged";
const BYTES_MAX: u64 = 1 << 26;

/// A loss with an unknown number of rows and unknown tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// When it was found.
    pub found: Micros,
    /// The loss, in words that follow the name of the leaf. File paths are relative to the leaf's
    /// folder.
    pub what: String,
}

/// The loss of something as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TotalLoss {
    /// A leaf's whole content is gone.
    Folder,
    /// The record of losses was unreadable.
    Record,
}

impl TotalLoss {
    const ALL: [(Self, u8); 2] = [(Self::Folder, 1), (Self::Record, 2)];

    fn code(self) -> u8 {
        Self::ALL.into_iter().find(|(loss, _)| *loss == self).map_or(0, |(_, code)| code)
    }

    fn of_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, other)| *other == code).map(|(loss, _)| loss)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entries {
    /// By the number of the log file.
    log: BTreeMap<u64, (LogLoss, Micros)>,
    total_losses: BTreeMap<TotalLoss, Micros>,
    /// When blocks were found to be lost. The manifest and the segments say which blocks are lost.
    blocks: BTreeMap<BlockNumber, Micros>,
}

/// The record of losses of one store.
#[derive(Debug)]
pub(crate) struct Losses {
    /// `None` for a store that keeps nothing.
    disk: Option<Arc<dyn Disk>>,
    salt: u64,
    entries: Mutex<(Entries, bool)>,
}

impl Losses {
    /// The record of a store that keeps nothing, and can lose nothing.
    pub(crate) fn none() -> Self {
        Self { disk: None, salt: 0, entries: Mutex::default() }
    }

    /// Opens the record in a folder. An unreadable one is put aside, which is itself a loss.
    pub(crate) fn open(disk: Arc<dyn Disk>, salt: u64, now: Micros) -> Result<Self, Error> {
        let failed = |action| {
            let path = disk.path_of(NAME);
            move |error| Error::io(action, &path, error)
        };
        let names = disk.list().map_err(failed("look for"))?;
        let mut entries = Entries::default();
        let mut is_unsaved = false;
        if names.iter().any(|name| name == NAME) {
            let bytes = disk.read(NAME, BYTES_MAX).map_err(failed("read"))?;
            match decode(salt, &bytes) {
                Some(read) => entries = read,
                None => {
                    disk.rename(NAME, DAMAGED_NAME).map_err(failed("rename"))?;
                    entries.total_losses.insert(TotalLoss::Record, now);
                    is_unsaved = true;
                }
            }
        }
        Ok(Self { disk: Some(disk), salt, entries: Mutex::new((entries, is_unsaved)) })
    }

    /// The numbers of log files with losses.
    pub(crate) fn log_files(&self) -> Vec<u64> {
        self.entries.lock().0.log.keys().copied().collect()
    }

    /// Notes the losses that a start found. A loss that is known already keeps the time when it was
    /// first found. Returns whether they are on disk.
    pub(crate) fn note(
        &self,
        log: &BTreeMap<u64, LogLoss>,
        total_losses: &[TotalLoss],
        now: Micros,
    ) -> bool {
        self.change(|entries| {
            for (number, loss) in log {
                let time = entries.log.get(number).map_or(now, |(_, time)| *time);
                entries.log.insert(*number, (loss.clone(), time));
            }
            for total_loss in total_losses {
                entries.total_losses.entry(*total_loss).or_insert(now);
            }
        })
    }

    /// Notes lost blocks, and forgets those that are not in the store any more.
    pub(crate) fn note_blocks(
        &self,
        lost: impl Iterator<Item = BlockNumber>,
        has: impl Fn(BlockNumber) -> bool,
        now: Micros,
    ) -> bool {
        self.change(|entries| {
            entries.blocks.retain(|number, _| has(*number));
            for number in lost.take(LOST_BLOCKS_NOTED_MAX.saturating_sub(entries.blocks.len())) {
                entries.blocks.entry(number).or_insert(now);
            }
        })
    }

    /// When a block was found to be lost.
    pub(crate) fn block_found(&self, number: BlockNumber) -> Option<Micros> {
        self.entries.lock().0.blocks.get(&number).copied()
    }

    /// The sequences of the losses that were found before a time, or of all. Forgetting the losses
    /// must consume them. `None` if there is no such loss.
    pub(crate) fn sequences_before(&self, before: Option<Micros>) -> Option<SequenceSet> {
        let entries = &self.entries.lock().0;
        let is_meant = |time: Micros| before.is_none_or(|before| time < before);
        let of_log = entries.log.values().filter(|(_, time)| is_meant(*time));
        let mut all = SequenceSet::default();
        let mut is_some = entries.total_losses.values().any(|time| is_meant(*time));
        for (loss, _) in of_log {
            is_some = true;
            loss.sequences.iter().for_each(|(first, last)| all.insert(first, last));
        }
        is_some.then_some(all)
    }

    /// Forgets the losses found before a time, or all, except blocks; returns whether that is on
    /// disk.
    pub(crate) fn forget_before(&self, before: Option<Micros>) -> bool {
        let is_kept = |time: Micros| before.is_some_and(|before| time >= before);
        self.change(|entries| {
            entries.log.retain(|_, (_, time)| is_kept(*time));
            entries.total_losses.retain(|_, time| is_kept(*time));
        })
    }

    /// The number of losses, without blocks.
    pub(crate) fn count(&self) -> u64 {
        let entries = &self.entries.lock().0;
        (entries.log.len() + entries.total_losses.len()) as u64
    }

    /// All losses but blocks.
    pub(crate) fn list(&self) -> Vec<Loss> {
        let entries = &self.entries.lock().0;
        let of_log = entries.log.iter().map(|(number, (loss, time))| {
            let (file, bytes) = (format!("log/{}", log::file_name(*number)), loss.bytes);
            let what = match loss.is_missing {
                true => format!("LOST: {file} was missing or empty"),
                false if loss.stretches == 1 => {
                    format!("DAMAGED: {bytes} bytes in one place of {file}")
                }
                false => format!("DAMAGED: {bytes} bytes in {} places of {file}", loss.stretches),
            };
            let what = format!("{what}; acknowledged rows may be lost, how many is not known");
            Loss { found: *time, what }
        });
        let of_total_losses = entries.total_losses.iter().map(|(total_loss, time)| {
            let what = match total_loss {
                TotalLoss::Folder => {
                    "LOST: its folder was missing or empty, and all of its rows with it; how many \
                     is not known"
                }
                TotalLoss::Record => {
                    "DAMAGED: its record of losses; what was lost before is not known, nor how \
                     many rows"
                }
            };
            Loss { found: *time, what: what.to_owned() }
        });
        of_log.chain(of_total_losses).collect()
    }

    /// Tries a failed write again.
    pub(crate) fn save(&self) -> bool {
        self.change(|_| {})
    }

    /// Makes a change, and rewrites the file if anything changed; returns whether all is on disk.
    fn change(&self, change: impl FnOnce(&mut Entries)) -> bool {
        let mut guard = self.entries.lock();
        let (entries, is_unsaved) = &mut *guard;
        let before = entries.clone();
        change(entries);
        if let Some(disk) = &self.disk
            && (*is_unsaved || *entries != before)
        {
            *is_unsaved = write(&**disk, self.salt, entries).is_err();
        }
        !*is_unsaved
    }
}

fn write(disk: &dyn Disk, salt: u64, entries: &Entries) -> Result<(), Error> {
    let failed = |error| Error::io("write", &disk.path_of(NAME), error);
    if disk.list().map_err(failed)?.iter().any(|name| name == NEW_NAME) {
        disk.remove(NEW_NAME).map_err(failed)?;
    }
    let mut bytes = vec![0; HEADER_BYTES];
    encode(entries, &mut bytes);
    let length = bytes.len();
    let draft = Draft::new(LOSSES, salt, bytes).ok_or(Error::ChangeSize(length))?;
    let mut file = disk.create(NEW_NAME).map_err(failed)?;
    file.append(&draft.seal(salt, 0)).and_then(|()| file.sync()).map_err(failed)?;
    disk.rename(NEW_NAME, NAME).and_then(|()| disk.sync_folder()).map_err(failed)
}

fn count(out: &mut Vec<u8>, count: usize) {
    out.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn encode(entries: &Entries, out: &mut Vec<u8>) {
    count(out, entries.log.len());
    for (number, (loss, time)) in &entries.log {
        out.extend(number.to_le_bytes());
        out.extend(u32::from(loss.is_missing).to_le_bytes());
        out.extend(loss.stretches.to_le_bytes());
        out.extend(loss.bytes.to_le_bytes());
        out.extend(time.0.to_le_bytes());
        count(out, loss.sequences.range_count());
        for (first, last) in loss.sequences.iter() {
            out.extend(first.to_le_bytes());
            out.extend(last.to_le_bytes());
        }
    }
    count(out, entries.total_losses.len());
    for (total_loss, time) in &entries.total_losses {
        out.extend(u32::from(total_loss.code()).to_le_bytes());
        out.extend(time.0.to_le_bytes());
    }
    count(out, entries.blocks.len());
    for (number, time) in &entries.blocks {
        out.extend(number.0.to_le_bytes());
        out.extend(time.0.to_le_bytes());
    }
}

/// Reads the file; `None` if it breaks a rule of the format.
fn decode(salt: u64, bytes: &[u8]) -> Option<Entries> {
    let frame = first(LOSSES, salt, bytes)?;
    let mut reader = Reader(frame.body);
    let log = reader.list(|reader| {
        let number = reader.u64()?;
        let is_missing = reader.u32()? != 0;
        let (stretches, bytes) = (reader.u32()?, reader.u64()?);
        let time = Micros(reader.i64()?);
        let mut sequences = SequenceSet::default();
        for (first, last) in reader.list(|reader| Some((reader.u64()?, reader.u64()?)))? {
            sequences.insert(first, last);
        }
        Some((number, (LogLoss { is_missing, stretches, bytes, sequences }, time)))
    })?;
    let total_losses = reader.list(|reader| {
        let code = u8::try_from(reader.u32()?).ok()?;
        Some((TotalLoss::of_code(code)?, Micros(reader.i64()?)))
    })?;
    let blocks = reader.list(|reader| Some((BlockNumber(reader.u64()?), Micros(reader.i64()?))))?;
    let is_whole = reader.0.is_empty() && frame.length() == bytes.len();
    is_whole.then(|| Entries {
        log: log.into_iter().collect(),
        total_losses: total_losses.into_iter().collect(),
        blocks: blocks.into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::simulated::World;

    const SALT: u64 = 7;

    fn loss(first: u64, last: u64) -> LogLoss {
        let mut sequences = SequenceSet::default();
        sequences.insert(first, last);
        LogLoss { is_missing: false, stretches: 1, bytes: 40, sequences }
    }

    fn open(world: &World) -> Losses {
        Losses::open(world.folders().root, SALT, Micros(9)).expect("opened")
    }

    #[test]
    fn what_is_lost_stays_told_until_it_is_forgotten() {
        let world = World::new(1);
        let losses = open(&world);
        assert!(losses.note(&[(3, loss(5, 6))].into(), &[TotalLoss::Folder], Micros(1)));
        assert!(losses.note_blocks([BlockNumber(4)].into_iter(), |_| true, Micros(2)));
        world.crash();
        let losses = open(&world);
        // The time of the first finding stays.
        assert!(losses.note(&[(3, loss(5, 8)), (4, loss(9, 9))].into(), &[], Micros(5)));
        let times: Vec<i64> = losses.list().iter().map(|loss| loss.found.0).collect();
        assert_eq!(times, [1, 5, 1]);
        assert_eq!(losses.block_found(BlockNumber(4)), Some(Micros(2)));
        let of_old = losses.sequences_before(Some(Micros(2))).expect("some");
        assert!(of_old.contains_all(5, 8) && !of_old.contains(9));
        assert_eq!(losses.sequences_before(Some(Micros(1))), None);
        assert!(losses.forget_before(Some(Micros(2))));
        world.crash();
        let losses = open(&world);
        assert_eq!(losses.log_files(), [4]);
        assert!(losses.forget_before(None) && losses.list().is_empty());
        world.crash();
        assert!(open(&world).list().is_empty());
    }

    #[test]
    fn an_altered_or_cut_record_is_a_loss_itself() {
        let world = World::new(1);
        assert!(open(&world).note(&[(3, loss(5, 6))].into(), &[], Micros(1)));
        let bytes = world.bytes("root", NAME);
        let mut all = Vec::new();
        for bit in 0..bytes.len() * 8 {
            let mut altered = bytes.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            all.push(altered);
        }
        all.extend((0..bytes.len()).map(|cut| bytes[..cut].to_vec()));
        all.push([&bytes[..], b"x"].concat());
        for altered in all {
            world.set_bytes("root", NAME, altered);
            let losses = open(&world);
            let listed = losses.list();
            assert!(losses.save());
            assert_eq!((listed.len(), listed[0].found), (1, Micros(9)));
            assert!(listed[0].what.contains("record of losses"), "{listed:?}");
        }
    }

    #[test]
    fn what_cannot_be_written_is_told_and_written_later() {
        let world = World::new(1);
        let losses = open(&world);
        world.machine().free_bytes = Some(0);
        assert!(!losses.note(&[(3, loss(5, 6))].into(), &[], Micros(1)));
        assert!(!losses.save() && losses.list().len() == 1);
        world.machine().free_bytes = None;
        assert!(losses.save());
        world.crash();
        assert_eq!(open(&world).list().len(), 1);
    }
}
