//! Random lives of a store on a simulated disk that loses power, or is killed, at any operation,
//! with and without memory of its own.
//!
//! A model holds the acknowledged batches. After each crash the store is opened again and must hold
//! exactly these batches. A change that was running must be there completely or not at all, and no
//! row may be there twice. A failing seed is printed; `CRASH_SEED=n cargo test -p hadal-store
//! crash` runs that seed alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::*;
use crate::LostBlock;
use crate::change::RememberedBatch;
use crate::disk::simulated::{Random, World};
use hadal_types::Micros;

const SEEDS: u64 = 400;
const SIZES: Sizes = Sizes {
    segment_bytes: 8 * 4_096,
    log_file_bytes: 1_500,
    manifest_bytes_min: 400,
    reserve_bytes: 2_500,
};

/// The content that must be there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Model {
    /// Number to table, and the batches whose rows the block holds.
    blocks: BTreeMap<u64, (TableName, Vec<u64>)>,
    /// Sequence to table and batch: acknowledged, in no block.
    frames: BTreeMap<u64, (TableName, u64)>,
    remembered: BTreeMap<TableName, Vec<u64>>,
    settings: BTreeMap<TableName, Vec<u8>>,
}

/// The outcomes of tickets that were not examined yet.
type Outcomes = Arc<Mutex<Vec<(Sequence, Result<(), Error>)>>>;

struct Life {
    world: World,
    mode: Mode,
    preopened: Successor,
    random: Random,
    store: Store,
    model: Model,
    /// Appended, not acknowledged: may be there after a crash.
    pending: BTreeMap<u64, (TableName, u64)>,
    outcomes: Outcomes,
    readers: Vec<(StoredBlock, Vec<u64>)>,
    next_batch: u64,
    /// The content if the change that failed with the power went through.
    alternative: Option<Model>,
}

fn table(number: usize) -> TableName {
    TableName::new(&format!("table-{number}")).expect("a name")
}

fn batch_id(batch: u64) -> BatchId {
    BatchId::new(&format!("batch-{batch}")).expect("an id")
}

fn batch_bytes(batch: u64) -> Vec<u8> {
    let mut random = Random::new(batch);
    let filler = (0..random.below(300)).map(|_| b"abcdefg"[random.below(7)]);
    batch.to_le_bytes().into_iter().chain(filler).collect()
}

fn block_bytes(batches: &[u64]) -> Vec<u8> {
    batches.iter().flat_map(|&batch| [batch_bytes(batch), vec![0xFF; 2_000]].concat()).collect()
}

/// How a store is opened in one run.
#[derive(Clone, Copy)]
struct Mode {
    has_memory: bool,
}

/// The state that a successor preopened before the end of a life, if there was one.
type Successor = Option<(Folders, Preopened)>;

fn folders(world: &World, mode: Mode) -> Folders {
    if mode.has_memory { world.folders_with_memory() } else { world.folders() }
}

fn open(world: &World, mode: Mode, preopened: Successor) -> Result<(Store, Recovery), Error> {
    let (folders, preopened) = match preopened {
        Some((folders, preopened)) => (folders, Some(preopened)),
        None => (folders(world, mode), None),
    };
    Store::open_with(&folders, SIZES, Durability::Sync, false, preopened, OpenContext::default())
}

/// Restores all blocks that wait; fails if the power does.
fn bring_all_back(store: &Store, recovery: &mut Recovery) -> Result<(), LostBlock> {
    for table in recovery.tables.values_mut() {
        for block in std::mem::take(&mut table.waiting) {
            table.blocks.extend(store.restore(block)?);
        }
    }
    Ok(())
}

impl Life {
    fn append(&mut self) {
        let (table, batch) = (table(self.random.below(3)), self.next_batch);
        self.next_batch += 1;
        let appended = self.store.append(&table, &batch_id(batch), &batch_bytes(batch));
        let Ok(ticket) = appended else { return };
        let sequence = ticket.sequence();
        self.pending.insert(sequence.0, (table, batch));
        let outcomes = Arc::clone(&self.outcomes);
        ticket.then(move |result| outcomes.lock().push((sequence, result)));
    }

    fn step_log(&mut self) {
        self.store.step_log();
        for (sequence, result) in std::mem::take(&mut *self.outcomes.lock()) {
            match (result, self.pending.get(&sequence.0).cloned()) {
                (Ok(()), Some(frame)) => {
                    self.pending.remove(&sequence.0);
                    self.model.frames.insert(sequence.0, frame);
                }
                // Refused because the disk is full: it must never appear.
                (Err(Error::Full(_)), _) => drop(self.pending.remove(&sequence.0)),
                // A dropped table's frame, or its outcome is unknown.
                (_, _) => {}
            }
        }
    }

    /// Moves some frames, and perhaps some blocks, of one table into one new block.
    fn merge(&mut self) {
        let table = table(self.random.below(3));
        let random = &mut self.random;
        let frames = self.model.frames.iter().filter(|(_, (of, _))| *of == table);
        let frames: Vec<_> = frames.filter(|_| random.flip()).map(|(&at, f)| (at, f.1)).collect();
        let blocks = self.model.blocks.iter().filter(|(_, (of, _))| *of == table);
        let blocks: Vec<u64> = blocks.filter(|_| random.flip()).map(|(&at, _)| at).collect();
        let mut batches: Vec<u64> = frames.iter().map(|frame| frame.1).collect();
        blocks.iter().for_each(|at| batches.extend(&self.model.blocks[at].1));
        if batches.is_empty() {
            return;
        }
        let Ok(block) = self.store.write_block(&table, 1, block_bytes(&batches)) else { return };
        let remembered = frames.iter().map(|&(_, batch)| RememberedBatch {
            table: table.clone(),
            batch: batch_id(batch),
            content_hash: batch,
            rows: 1,
            time: Micros(0),
        });
        let change = Change {
            removes: blocks.iter().map(|&at| BlockNumber(at)).collect(),
            adds: vec![block.clone()],
            consumed: frames.iter().map(|&(at, _)| Sequence(at)).collect(),
            remembered: remembered.collect(),
            ..Change::default()
        };
        let mut after = self.model.clone();
        blocks.iter().for_each(|at| drop(after.blocks.remove(at)));
        for (at, batch) in frames {
            after.frames.remove(&at);
            after.remembered.entry(table.clone()).or_default().push(batch);
        }
        after.blocks.insert(block.number.0, (table, batches.clone()));
        self.commit(&change, after);
        if self.random.flip() {
            self.readers.push((block, batches));
        }
    }

    fn drop_table(&mut self) {
        let table = table(self.random.below(3));
        let mut after = self.model.clone();
        after.blocks.retain(|_, (of, _)| *of != table);
        after.frames.retain(|_, (of, _)| *of != table);
        after.remembered.remove(&table);
        after.settings.remove(&table);
        if self.commit(&Change { drops: vec![table.clone()], ..Change::default() }, after) {
            self.pending.retain(|_, (of, _)| *of != table);
        }
    }

    fn expire(&mut self) {
        let Some((&at, _)) = self.model.blocks.iter().next() else { return };
        let mut after = self.model.clone();
        after.blocks.remove(&at);
        self.commit(&Change { removes: vec![BlockNumber(at)], ..Change::default() }, after);
    }

    fn set(&mut self) {
        let (table, value) = (table(self.random.below(3)), self.random.bytes(1));
        let mut after = self.model.clone();
        after.settings.insert(table.clone(), value.clone());
        self.commit(&Change { settings: vec![(table, value)], ..Change::default() }, after);
    }

    fn commit(&mut self, change: &Change, after: Model) -> bool {
        let result = self.store.commit(change);
        match &result {
            Ok(()) => self.model = after,
            Err(Error::Full(_)) => {}
            Err(_) => self.alternative = Some(after),
        }
        result.is_ok()
    }

    fn read(&mut self) {
        for (block, batches) in &self.readers {
            assert_eq!(*block.bytes, block_bytes(batches), "block {} changed", block.number);
        }
        if self.readers.len() > 3 {
            let at = self.random.below(self.readers.len());
            self.readers.swap_remove(at);
        }
    }

    /// A successor preopens the store: in vain if the power fails.
    fn look(&mut self) {
        let folders = folders(&self.world, self.mode);
        let preopened = Preopened::find(folders.clone(), SIZES).ok();
        self.preopened = preopened.map(|preopened| (folders, preopened));
    }

    fn act(&mut self) {
        if self.random.below(30) == 0 {
            self.look();
        }
        match self.random.below(20) {
            0..8 => self.append(),
            8..13 => self.step_log(),
            13..16 => self.merge(),
            16 => self.expire(),
            17 => self.set(),
            18 => {
                self.read();
                self.store.give_back();
            }
            _ if self.random.below(4) == 0 => self.drop_table(),
            _ => {
                let free_bytes = self.random.flip().then(|| self.random.below(3_000));
                self.world.machine().free_bytes = free_bytes;
            }
        }
    }
}

/// The content of a recovery, with every byte compared.
fn observed(recovery: &Recovery) -> Model {
    let mut model = Model::default();
    for (table, content) in &recovery.tables {
        for frame in &content.frames {
            let batch = u64::from_le_bytes(frame.bytes[..8].try_into().expect("eight bytes"));
            assert_eq!(frame.batch, batch_id(batch));
            assert_eq!(*frame.bytes, batch_bytes(batch));
            model.frames.insert(frame.sequence.0, (table.clone(), batch));
        }
        let ids: Vec<u64> = content.remembered.iter().map(|batch| batch.content_hash).collect();
        if !ids.is_empty() {
            model.remembered.insert(table.clone(), ids);
        }
        model.settings.extend(content.settings.clone().map(|bytes| (table.clone(), bytes)));
    }
    model
}

/// Compares a recovery with the content that must and that may be there; returns its content.
fn verify(
    recovery: &Recovery,
    candidates: &[Model],
    pending: &BTreeMap<u64, (TableName, u64)>,
) -> Model {
    let report = &recovery.report;
    assert_eq!(report.lost_blocks, []);
    assert_eq!(report.log_files_lost, [""; 0]);
    assert_eq!(report.frames_repeated, 0);
    let content = observed(recovery);
    let blocks: BTreeMap<u64, &StoredBlock> = (recovery.tables.values())
        .flat_map(|table| &table.blocks)
        .map(|block| (block.number.0, block))
        .collect();
    let fits = |model: &&Model| {
        let is_late =
            |at: &u64, frame| !model.frames.contains_key(at) && pending.get(at) == Some(frame);
        model.blocks.keys().eq(blocks.keys())
            && model.remembered == content.remembered
            && model.settings == content.settings
            && model.frames.iter().all(|(at, frame)| content.frames.get(at) == Some(frame))
            && content
                .frames
                .iter()
                .all(|(at, frame)| model.frames.contains_key(at) || is_late(at, frame))
    };
    let model = candidates.iter().find(fits);
    let model =
        model.unwrap_or_else(|| panic!("{content:#?}\n{blocks:?}\nis none of {candidates:#?}"));
    for (at, (table, batches)) in &model.blocks {
        assert_eq!(blocks[at].table, *table);
        assert_eq!(*blocks[at].bytes, block_bytes(batches), "block {at}");
    }
    let mut batches: Vec<u64> = content.frames.values().map(|frame| frame.1).collect();
    batches.extend(model.blocks.values().flat_map(|(_, batches)| batches));
    let distinct: BTreeSet<u64> = batches.iter().copied().collect();
    assert_eq!(distinct.len(), batches.len(), "a batch is there twice");
    Model { frames: content.frames, ..model.clone() }
}

/// Opens the store; now and then the power fails, or the process is killed, during that.
fn reopen(
    world: &World,
    mode: Mode,
    random: &mut Random,
    mut preopened: Successor,
) -> (Store, Recovery) {
    while random.below(3) == 0 {
        world.machine().power = Some(1 + random.below(20) as u64);
        if let Ok((store, mut recovery)) = open(world, mode, preopened.take()) {
            // A block that was not restored because the power failed is there the next time.
            drop(bring_all_back(&store, &mut recovery));
        }
        end(world, random);
    }
    let (store, mut recovery) = open(world, mode, preopened).expect("opened");
    bring_all_back(&store, &mut recovery).expect("brought back");
    (store, recovery)
}

/// The power fails, or only the process is killed.
fn end(world: &World, random: &mut Random) {
    if random.flip() { world.crash() } else { world.kill() }
}

impl Life {
    /// Acts until the power fails, the process is killed, or the store is stopped: then `true`.
    fn live(&mut self) -> bool {
        let is_long = self.random.below(4) == 0;
        let steps = 1 + self.random.below(if is_long { 300 } else { 60 });
        let stops = self.random.below(3) == 0;
        self.world.machine().power = (!stops).then_some(steps as u64);
        // Far more steps than the power lasts for.
        for step in 0..100_000 {
            if self.world.machine().is_down || (stops && step == steps) {
                break;
            }
            self.act();
            assert!(step < 99_999, "nothing happens any more");
        }
        self.read();
        // Outcomes from before the end still count.
        self.step_log();
        if stops {
            self.readers.clear();
            // A full disk may leave no mark; then the next process verifies everything.
            drop(self.store.stop());
            let refused = self.store.commit(&Change::default());
            assert!(matches!(refused, Err(Error::Closed)), "{refused:?}");
        }
        stops
    }
}

fn run(seed: u64) {
    let world = World::new(seed);
    let mut random = Random::new(seed ^ 0x00c0_ffee);
    let mode = Mode { has_memory: random.flip() };
    if random.flip() {
        world.machine().memory_bytes_max = random.below(20) * 4_096;
    }
    let mut next_batch = 1;
    let mut candidates = vec![Model::default()];
    let (mut pending, mut preopened) = (BTreeMap::new(), None);
    for _ in 0..5 {
        let (store, recovery) = reopen(&world, mode, &mut random, preopened);
        let model = verify(&recovery, &candidates, &pending);
        drop(recovery);
        let mut life = Life {
            world: world.clone(),
            mode,
            preopened: None,
            random,
            store,
            model,
            pending: BTreeMap::new(),
            outcomes: Arc::default(),
            readers: Vec::new(),
            next_batch,
            alternative: None,
        };
        let is_stopped = life.live();
        let Life { store, readers, .. } = life;
        drop((store, readers));
        (random, next_batch, pending) = (life.random, life.next_batch, life.pending);
        preopened = life.preopened;
        candidates = [Some(life.model), life.alternative].into_iter().flatten().collect();
        if is_stopped {
            world.kill();
        } else {
            end(&world, &mut random);
        }
    }
    let (_, recovery) = reopen(&world, mode, &mut random, preopened);
    verify(&recovery, &candidates, &pending);
}

#[test]
fn no_crash_loses_or_doubles_what_was_acknowledged() {
    if let Some(seed) = std::env::var("CRASH_SEED").ok().and_then(|seed| seed.parse().ok()) {
        return run(seed);
    }
    for seed in 0..SEEDS {
        let result = std::panic::catch_unwind(|| run(seed));
        assert!(result.is_ok(), "failed with CRASH_SEED={seed}");
    }
    assert!(
        recovery::ADOPTED.load(Ordering::Relaxed) > SEEDS / 4,
        "what was found early was hardly used"
    );
}
