//! A leaf whose power fails, or whose process is killed, at each disk operation. The steps are:
//! accepting batches, merging, revoking, expiry, archiving, sampling, recompressing, moving to disk
//! and back, changing settings, dropping tables, stops and starts.
//!
//! The same life is repeated, and ends one operation later each time, until it ends by itself.
//! After each end every acknowledged row must be present once, in the leaf or in its archive. An
//! operation that was interrupted must have taken effect completely or not at all.

use std::collections::{BTreeMap, BTreeSet};

use hadal_store::disk::simulated::World;
use hadal_store::{Error, Sizes, Store};
use hadal_types::{AgeLimit, SampleFactor, TableSettings, TableStorage};

use super::archive::{Shelf, archived};
use super::*;

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;
const BATCH: i64 = 20;
/// Small, so that files fill up and manifests are rewritten.
const SIZES: Sizes = Sizes {
    segment_bytes: 16 * 4_096,
    log_file_bytes: 4_000,
    manifest_bytes_min: 400,
    reserve_bytes: 0,
};

/// How a life ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    PowerFails,
    Killed,
}

/// A machine, and how leaves are opened on it.
struct Machine {
    world: World,
    has_memory: bool,
    clock: Arc<FixedClock>,
    /// The folder of the archive's notes.
    folder: tempfile::TempDir,
    /// The archive is elsewhere, so it survives.
    archive: Arc<Shelf>,
}

impl Machine {
    fn new(seed: u64, has_memory: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let clock = Arc::new(FixedClock::new(NOW));
        Self { world: World::new(seed), has_memory, clock, folder, archive: Arc::default() }
    }

    fn open(&self) -> Result<Leaf, Error> {
        let folders = match self.has_memory {
            true => self.world.folders_with_memory(),
            false => self.world.folders(),
        };
        let (store, recovery) = Store::open_on(&folders, SIZES)?;
        let config = LeafConfig {
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            archive: Some(Arc::<Shelf>::clone(&self.archive)),
            ..config(Some(self.folder.path()))
        };
        Leaf::start(config, store, recovery)
    }

    /// Opens the leaf and waits until all rows are restored.
    fn open_whole(&self) -> Leaf {
        let leaf = self.open().expect("opens");
        assert_eq!(leaf.recovery_report().lost_blocks, []);
        wait_until_alive(&leaf);
        leaf
    }
}

/// The rows that must be present, and those whose presence is uncertain.
#[derive(Default)]
struct Model {
    /// Keyed by the value of the first row.
    batches: BTreeMap<i64, Presence>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Presence {
    There,
    /// All of its rows or none.
    Unknown,
    /// Any of its rows, as they are removed block by block.
    Going,
    /// All of its rows, or half of them: never a quarter.
    Sampled,
    Gone,
}

/// The power has failed.
struct Down;

/// One life of a leaf.
struct Life<'a> {
    machine: &'a Machine,
    leaf: Option<Leaf>,
    model: Model,
}

/// A batch of table `t`; each row's value is its age in seconds at `NOW`.
fn aged(first: i64) -> Batch {
    let mut builder = BlockBuilder::new(ColumnName::new("time").expect("a name"));
    let column = builder.column(&ColumnName::new("v").expect("a name"), Kind::Number);
    for age in first..first + BATCH {
        builder.push_number(column, Number::integer(age)).expect("taken");
        builder.end_row(Micros(NOW.0 - age * Micros::SECOND));
    }
    let id = id_of(first);
    let block = builder.finish(NOW, Some((&id, 1))).expect("fits");
    let rows = usize::try_from(BATCH).expect("small");
    Batch::encoded(name("t"), id, 1, rows, block)
}

fn id_of(first: i64) -> BatchId {
    BatchId::new(&format!("b{first}")).expect("an id")
}

impl Life<'_> {
    fn leaf(&self) -> &Leaf {
        self.leaf.as_ref().expect("it lives")
    }

    /// The outcome of a step; any error must come from the power failure.
    fn outcome<T, E: std::fmt::Debug>(&self, result: Result<T, E>) -> Result<T, Down> {
        result.map_err(|error| {
            assert!(self.machine.world.is_down(), "{error:?}");
            Down
        })
    }

    fn unless_down(&self) -> Result<(), Down> {
        if self.machine.world.is_down() { Err(Down) } else { Ok(()) }
    }

    fn mark(&mut self, which: impl Fn(i64) -> bool, presence: Presence) {
        let marked = self
            .model
            .batches
            .iter_mut()
            .filter(|(first, current)| which(**first) && **current != Presence::Gone);
        marked.for_each(|(_, current)| *current = presence);
    }

    async fn accept(&mut self, first: i64) -> Result<(), Down> {
        self.model.batches.insert(first, Presence::Unknown);
        let taken = self.leaf().accept(aged(first)).await;
        assert!(!self.outcome(taken)?.duplicate);
        self.mark(|batch| batch == first, Presence::There);
        Ok(())
    }

    async fn revoke(&mut self, first: i64) -> Result<(), Down> {
        self.mark(|batch| batch == first, Presence::Unknown);
        let revoked =
            self.leaf().apply(TableChange::Revoke { table: name("t"), batch: id_of(first) }).await;
        assert_eq!(self.outcome(revoked)?, BATCH.unsigned_abs());
        self.mark(|batch| batch == first, Presence::Gone);
        Ok(())
    }

    fn merge(&self, seconds: u32) -> Result<(), Down> {
        self.machine.clock.pass(seconds);
        self.leaf().merge_all();
        self.unless_down()
    }

    async fn limit_age(&mut self, seconds: i64) -> Result<(), Down> {
        self.mark(|first| first > seconds, Presence::Going);
        let age = Some(AgeLimit::Seconds(seconds));
        let settings = TableSettings { age, ..TableSettings::default() };
        let set = self.leaf().apply(TableChange::Configure { table: name("t"), settings }).await;
        self.outcome(set)?;
        self.merge(0)?;
        self.mark(|first| first > seconds, Presence::Gone);
        Ok(())
    }

    async fn drop_table(&mut self) -> Result<(), Down> {
        self.mark(|_| true, Presence::Unknown);
        let dropped = self.leaf().apply(TableChange::Drop { table: name("t") }).await;
        self.outcome(dropped)?;
        self.mark(|_| true, Presence::Gone);
        Ok(())
    }

    fn restart(&mut self) -> Result<(), Down> {
        let stopped = self.leaf().stop();
        self.outcome(stopped)?;
        self.leaf = None;
        self.leaf = Some(self.outcome(self.machine.open())?);
        Ok(())
    }

    /// Every operation that changes a leaf's rows.
    async fn live(&mut self) -> Result<(), Down> {
        self.leaf = Some(self.outcome(self.machine.open())?);
        for first in [HOUR, 2 * HOUR, 8 * DAY] {
            self.accept(first).await?;
        }
        self.merge(0)?;
        self.accept(3 * HOUR).await?;
        self.revoke(2 * HOUR).await?;
        self.revoke(3 * HOUR).await?;
        self.accept(9 * DAY).await?;
        // Rows that are ten minutes old are written to a segment.
        self.merge(700)?;
        self.accept(4 * HOUR).await?;
        self.restart()?;
        self.limit_age(7 * DAY).await?;
        self.accept(5 * HOUR).await?;
        self.merge(700)?;
        self.accept(6 * HOUR).await?;
        self.restart()?;
        // Settled blocks are merged by time.
        self.merge(700)?;
        self.limit_age(5 * HOUR - 1).await?;
        self.drop_table().await?;
        self.accept(7 * HOUR).await?;
        self.restart()
    }

    /// The block with the oldest rows.
    fn oldest(&self) -> Arc<Block> {
        let blocks = self.leaf().context.all_tables()[0].snapshot();
        Arc::clone(blocks.iter().min_by_key(|block| block.time_range.0).expect("a block"))
    }

    async fn set(&self, settings: TableSettings) -> Result<(), Down> {
        let set = self.leaf().apply(TableChange::Configure { table: name("t"), settings }).await;
        self.outcome(set)?;
        self.merge(0)
    }

    /// All operations on old rows: they become cold, move to disk and back to memory, and half of
    /// them are removed.
    async fn live_and_grow_old(&mut self) -> Result<(), Down> {
        let old = 8 * DAY;
        self.leaf = Some(self.outcome(self.machine.open())?);
        for first in [HOUR, old] {
            self.accept(first).await?;
        }
        self.merge(700)?;
        let week = Some(AgeLimit::Seconds(7 * DAY));
        let cold = TableSettings { cold_after: week, ..TableSettings::default() };
        assert!(self.oldest().may_be_recompressed());
        self.set(cold.clone()).await?;
        assert!(!self.oldest().may_be_recompressed());
        self.restart()?;
        for (storage, is_in_memory) in [(TableStorage::Mmap, false), (TableStorage::Memory, true)] {
            self.set(TableSettings { storage: Some(storage), ..cold.clone() }).await?;
            // Blocks that may be in memory move there a step later.
            self.merge(61)?;
            assert_eq!(self.oldest().is_in_memory(), is_in_memory && self.machine.has_memory);
        }
        self.accept(2 * HOUR).await?;
        self.mark(|first| first == old, Presence::Sampled);
        let sample_keep = SampleFactor::new(2);
        self.set(TableSettings { sample_after: week, sample_keep, ..cold }).await?;
        self.merge(700)?;
        assert_eq!(self.oldest().rows, usize::try_from(BATCH / 2).expect("small"));
        self.restart()
    }

    /// All operations on an archived table.
    async fn live_with_an_archive(&mut self) -> Result<(), Down> {
        self.leaf = Some(self.outcome(self.machine.open())?);
        let set = self
            .leaf()
            .apply(TableChange::Configure { table: name("t"), settings: archived(2) })
            .await;
        self.outcome(set)?;
        for first in [HOUR, 3 * DAY, 3 * DAY + HOUR, 5 * DAY] {
            self.accept(first).await?;
        }
        self.archive()?;
        self.restart()?;
        for first in [2 * HOUR, 3 * DAY + 2 * HOUR, 9 * DAY] {
            self.accept(first).await?;
        }
        self.archive()?;
        self.restart()
    }

    /// Settles the rows, and archives those that are old enough.
    fn archive(&self) -> Result<(), Down> {
        self.merge(1_000)?;
        self.leaf().archive_all();
        self.unless_down()
    }

    /// Compares the rows of the leaf and the archive with the expected ones.
    async fn check(&mut self, leaf: &Leaf) {
        let (mut values, partial) = values(leaf).await;
        let ((scanned, expected), _) = seen_of(&partial);
        assert_eq!((scanned, expected), (values.len() as u64, values.len() as u64));
        for table in leaf.context.all_tables() {
            assert_eq!(table.bytes(), table.holdings().1, "what is counted is what is there");
        }
        values.extend(self.machine.archive.values());
        let distinct: BTreeSet<i64> = values.iter().copied().collect();
        assert_eq!(distinct.len(), values.len(), "a row is there twice");
        let mut modelled = 0;
        for (first, presence) in &mut self.model.batches {
            let rows = distinct.range(first..&(first + BATCH)).count();
            modelled += rows;
            let all = usize::try_from(BATCH).expect("small");
            let fits = match presence {
                Presence::There => rows == all,
                Presence::Unknown => rows == 0 || rows == all,
                Presence::Going => rows <= all,
                Presence::Sampled => rows == all || rows == all / 2,
                Presence::Gone => rows == 0,
            };
            assert!(fits, "{rows} rows of {first}, which is {presence:?}");
            if *presence == Presence::Unknown {
                *presence = if rows == 0 { Presence::Gone } else { Presence::There };
            }
        }
        assert_eq!(modelled, values.len(), "rows that nobody sent: {values:?}");
    }

    /// Retries of batches that are present add nothing.
    async fn retry(&self, leaf: &Leaf) {
        for (first, presence) in &self.model.batches {
            if *presence == Presence::There {
                let again = leaf.accept(aged(*first)).await;
                assert_eq!(again.map(bare), receipt(20, true, true), "{first}");
            }
        }
    }
}

/// Selects one of the lives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Table {
    Plain,
    Aging,
    Archived,
}

/// Runs the life until this operation; returns false if it ended by itself before.
async fn ends_with(operation: u64, table: Table, has_memory: bool, end: End) -> bool {
    println!("{table:?}: {end:?} at operation {operation}, with memory of its own: {has_memory}");
    let machine = Machine::new(operation, has_memory);
    machine.world.fail_at(operation);
    let mut life = Life { machine: &machine, leaf: None, model: Model::default() };
    let lived = match table {
        Table::Plain => life.live().await,
        Table::Aging => life.live_and_grow_old().await,
        Table::Archived => life.live_with_an_archive().await,
    };
    life.leaf = None;
    match end {
        End::PowerFails => machine.world.crash(),
        End::Killed => machine.world.kill(),
    }
    for round in 0..2 {
        let leaf = machine.open_whole();
        if table == Table::Archived {
            // Half-archived rows are in both places until the pass is resolved.
            machine.clock.pass(1_000);
            leaf.merge_all();
            assert!(leaf.archive_all(), "nothing is in its way");
            assert!(!machine.folder.path().join("archiving").exists());
        }
        life.check(&leaf).await;
        if round == 0 && table != Table::Archived {
            life.retry(&leaf).await;
            machine.clock.pass(700);
            leaf.merge_all();
            life.check(&leaf).await;
        }
        leaf.stop().expect("stops");
    }
    if lived.is_ok() && table == Table::Archived {
        let archived = machine.archive.values();
        assert_eq!(archived.len(), 5 * usize::try_from(BATCH).expect("small"), "{archived:?}");
    }
    lived.is_err()
}

async fn ends_at_each_operation(table: Table) {
    for (has_memory, end) in [
        (true, End::Killed),
        (true, End::PowerFails),
        (false, End::Killed),
        (false, End::PowerFails),
    ] {
        let mut operation = 1;
        while ends_with(operation, table, has_memory, end).await {
            operation += 1;
        }
        assert!(operation > 70, "it ended by itself after {operation} operations");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_it_is_doing_when_it_ends_nothing_is_lost_or_doubled() {
    ends_at_each_operation(Table::Plain).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_becomes_of_old_rows_when_it_ends_nothing_is_done_twice() {
    ends_at_each_operation(Table::Aging).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_it_archives_when_it_ends_each_row_is_in_one_place() {
    ends_at_each_operation(Table::Archived).await;
}
