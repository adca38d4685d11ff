use hadal_types::{BatchId, Micros, TableName};

use super::*;
use crate::block_record::BlockRecord;
use crate::change::{DroppedRows, RememberedBatch};
use crate::checksum::Checksum;
use crate::disk::simulated::World;
use crate::ids::BlockNumber;
use crate::segment::layout::BlockLocation;
use crate::segment::layout::PAGE;
use crate::sequence_set::SequenceSet;

const SALT: u64 = 7;

pub(super) fn open(world: &World, bytes_min: u64) -> Result<Opened, Error> {
    Manifest::open(world.folders().root, SALT, bytes_min, None).map(|(opened, _)| opened)
}

/// Gives the manifest these bytes, and removes its copy.
pub(super) fn set_alone(world: &World, bytes: Vec<u8>) {
    // There may be no copy.
    drop(world.folders().root.remove(copy::NAME));
    world.set_bytes("root", NAME, bytes);
}

fn table() -> TableName {
    TableName::new("requests").expect("a name")
}

fn checksum(number: u64) -> Checksum {
    Checksum::of(SALT, &number.to_le_bytes())
}

pub(super) fn add(number: u64) -> Record {
    let location = BlockLocation { segment: 1, offset: PAGE * (number + 1), length: 100 };
    let adds = vec![BlockRecord {
        number: BlockNumber(number),
        table: table(),
        rows: 3,
        location,
        checksum: checksum(number),
    }];
    let mut consumed = SequenceSet::default();
    consumed.insert(number, number);
    Record { adds, consumed, ..Record::default() }
}

fn remember(number: u32, time: i64) -> RememberedBatch {
    RememberedBatch {
        table: table(),
        batch: BatchId::new(&format!("batch-{number}")).expect("an id"),
        content_hash: u64::from(number),
        rows: number,
        time: Micros(time),
    }
}

fn dropped(rows: u64) -> DroppedRows {
    DroppedRows { rows, bytes: 10 * rows, until: Micros(i64::try_from(rows).expect("small")) }
}

pub(super) fn numbers(state: &State) -> Vec<u64> {
    state.blocks.keys().map(|number| number.0).collect()
}

/// A manifest of a head and five records; returns the file and the ends of its frames.
pub(super) fn five() -> (World, Vec<u8>, Vec<usize>) {
    let world = World::new(1);
    let (mut manifest, ..) = open(&world, 1 << 20).expect("opened");
    let mut ends = vec![world.bytes("root", NAME).len()];
    for number in 0..5 {
        manifest.append(&add(number)).expect("durable");
        ends.push(world.bytes("root", NAME).len());
    }
    let file = world.bytes("root", NAME);
    // A new manifest already has one record of its own.
    (world, file, ends)
}

#[test]
fn every_cut_of_the_last_records_keeps_those_before_it() {
    let (world, file, ends) = five();
    for cut in ends[2]..=file.len() {
        set_alone(&world, file[..cut].to_vec());
        let (mut manifest, state, torn) = open(&world, 1 << 20).expect("opened");
        let whole = ends[1..].iter().filter(|&&end| end <= cut).count();
        assert_eq!(numbers(&state), (0..whole as u64).collect::<Vec<_>>(), "cut at {cut}");
        assert_eq!(torn, (cut - ends[whole]) as u64, "cut at {cut}");
        manifest.append(&add(99)).expect("durable");
        world.crash();
        let (_, state, torn) = open(&world, 1 << 20).expect("opened");
        assert_eq!((state.blocks.len(), torn), (whole + 1, 0), "cut at {cut}");
    }
}

#[test]
fn every_flipped_bit_before_the_last_record_is_refused() {
    let (world, file, ends) = five();
    for bit in 0..ends[4] * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        set_alone(&world, damaged);
        let error = open(&world, 1 << 20).expect_err("corrupt");
        assert!(matches!(error, Error::Corrupt { .. }), "bit {bit}: {error}");
    }
    // In the last record a flip looks like a torn write: cut, and counted.
    for bit in ends[4] * 8..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        set_alone(&world, damaged);
        let (_, state, torn) = open(&world, 1 << 20).expect("opened");
        assert_eq!((numbers(&state), torn), (vec![0, 1, 2, 3], (ends[5] - ends[4]) as u64));
    }
}

/// Opens a manifest that was preopened when it had these bytes.
fn open_after(world: &World, bytes: &[u8]) -> Result<Opened, Error> {
    let now = world.bytes("root", NAME);
    set_alone(world, bytes.to_vec());
    let preopened = ManifestSnapshot::read(&*world.folders().root).expect("read");
    set_alone(world, now);
    Manifest::open(world.folders().root, SALT, 1 << 20, Some(preopened)).map(|(opened, _)| opened)
}

#[test]
fn what_was_read_before_is_not_read_again_and_all_else_is() {
    let (world, file, ends) = five();
    let (_, expected, _) = open(&world, 1 << 20).expect("opened");
    // Even while its last record was being written.
    for cut in ends[0]..=file.len() {
        let (mut manifest, state, torn) = open_after(&world, &file[..cut]).expect("opened");
        assert_eq!((&state, torn), (&expected, 0), "cut at {cut}");
        let (number, length) = manifest.position();
        assert_eq!((number, length), (7, file.len() as u64));
        manifest.append(&add(99)).expect("durable");
        assert_eq!(open(&world, 1 << 20).expect("opened").1.blocks.len(), 6);
        set_alone(&world, file.clone());
    }
}

#[test]
fn what_was_read_before_is_forgotten_where_it_is_another_manifest() {
    let (world, file, ends) = five();
    let (mut manifest, state, _) = open(&world, 1).expect("opened");
    manifest.compact(&state).expect("compacted");
    let compacted = world.bytes("root", NAME);
    assert_ne!(compacted, file);
    assert_eq!(open_after(&world, &file).expect("opened").1.blocks, state.blocks);
    // Later damage to preopened records is found, too.
    let mut damaged = file.clone();
    damaged[ends[2] + 40] ^= 1;
    set_alone(&world, damaged);
    let error = open_after(&world, &file).expect_err("corrupt");
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
    set_alone(&world, file[..ends[3]].to_vec());
    assert_eq!(numbers(&open_after(&world, &file).expect("opened").1), [0, 1, 2]);
}

#[test]
fn a_missing_record_is_refused() {
    let (world, file, ends) = five();
    set_alone(&world, [&file[..ends[2]], &file[ends[3]..]].concat());
    let error = open(&world, 1 << 20).expect_err("a gap").to_string();
    assert_eq!(
        error,
        "root/manifest is corrupt: record 4: found number 5 instead; there is no copy of it that can be \
         used; see docs/damage.md, \"A damaged manifest\""
    );
}

#[test]
fn another_version_is_refused_by_name() {
    let (world, ..) = five();
    for version in [2, 5] {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes.extend([version, 0, 0, 0, 1, 2, 3]);
        let head = Draft::new(MANIFEST, HEAD_SALT, bytes).expect("short").seal(HEAD_SALT, 0);
        set_alone(&world, head);
        let error = open(&world, 1 << 20).expect_err("another version").to_string();
        let expected =
            format!("root/manifest has format version {version}; this program reads version 4");
        assert_eq!(error, expected);
    }
}

#[test]
fn the_version_before_is_read_and_written_anew() {
    let (world, ..) = five();
    let (_, state, _) = open(&world, 1 << 20).expect("opened");
    // The file of that version: its head says so, and its records have no checksums of blocks.
    let mut before = Vec::new();
    let frames = state.records();
    let mut bytes = head(SALT, &State::default()).expect("short")[HEADER_BYTES..].to_vec();
    bytes[..4].copy_from_slice(&VERSION_BEFORE.to_le_bytes());
    let seal = |body: &[u8], salt, number| {
        let bytes = [&[0; HEADER_BYTES], body].concat();
        Draft::new(MANIFEST, salt, bytes).expect("short").seal(salt, number)
    };
    before.extend(seal(&bytes, HEAD_SALT, 0));
    for (number, record) in (1..).zip(&frames) {
        let mut body = Vec::new();
        record.encode(&mut body);
        for block in &record.adds {
            let sum = block.checksum.to_le_bytes();
            let at = body.windows(8).position(|bytes| bytes == sum).expect("a checksum");
            body.drain(at..at + 8);
        }
        before.extend(seal(&body, SALT, number));
    }
    set_alone(&world, before.clone());
    let (mut manifest, read, torn) = open(&world, 1 << 20).expect("opened");
    let mut expected = state.clone();
    expected.blocks.values_mut().for_each(|block| block.checksum = Checksum::UNKNOWN);
    assert_eq!((&read, torn), (&expected, 0));
    let record = Record { dropped_rows: vec![(table(), dropped(3))], ..Record::default() };
    manifest.append(&record).expect("durable");
    world.crash();
    let (_, read, _) = open(&world, 1 << 20).expect("opened");
    assert_eq!(read.blocks, expected.blocks);
    assert_eq!(read.dropped_rows, [(table(), dropped(3))].into());
    // A full disk leaves it unchanged; it opens once disk is free.
    set_alone(&world, before.clone());
    world.machine().free_bytes = Some(0);
    assert!(matches!(open(&world, 1 << 20), Err(Error::Full(_))));
    assert_eq!(world.bytes("root", NAME), before);
}

#[test]
fn compaction_keeps_the_state_and_the_counters() {
    let world = World::new(1);
    let (mut manifest, mut state, _) = open(&world, 2_000).expect("opened");
    let mut compactions = 0;
    for number in 0..200 {
        let mut record = add(number);
        if number > 1 {
            record.removes = vec![BlockNumber(number - 2)];
        }
        record.settings = vec![(table(), number.to_le_bytes().to_vec())];
        record.remembered = vec![remember(1, i64::try_from(number).expect("small"))];
        record.forget_before = Some(Micros(i64::try_from(number).expect("small") - 3));
        record.dropped_rows = vec![(table(), dropped(number))];
        manifest.append(&record).expect("durable");
        state.apply(&record).expect("it fits");
        if manifest.wants_compaction() {
            manifest.compact(&state).expect("compacted");
            compactions += 1;
        }
    }
    assert!(compactions > 3, "{compactions}");
    let all = DroppedRows { until: Micros(199), ..dropped(199 * 200 / 2) };
    assert_eq!(state.dropped_rows[&table()], all);
    assert_eq!(open(&world, 2_000).expect("opened").1, state);
    // Only the counters are left, which come from the head.
    let removes = vec![BlockNumber(198), BlockNumber(199)];
    let record = Record { removes, drops: vec![table()], ..Record::default() };
    manifest.append(&record).expect("durable");
    state.apply(&record).expect("it fits");
    manifest.compact(&state).expect("compacted");
    let length = world.bytes("root", NAME).len();
    world.crash();
    let (manifest, read, torn) = open(&world, 2_000).expect("opened");
    assert_eq!((&read, torn), (&state, 0));
    assert_eq!((read.next_block, read.next_sequence), (200, 200));
    assert_eq!(manifest.append_file.length(), length as u64);
    assert_eq!(world.names("root"), [NAME, copy::NAME]);
}

#[test]
fn a_full_disk_leaves_the_manifest_as_it_was() {
    let (world, file, _) = five();
    // No disk is kept free for it, or it is used up.
    set_alone(&world, file.clone());
    world.machine().free_bytes = Some(0);
    let (mut manifest, state, _) = open(&world, 1 << 20).expect("opened");
    for free_bytes in [0, 1, 60] {
        world.machine().free_bytes = Some(free_bytes);
        assert!(matches!(manifest.append(&add(9)), Err(Error::Full(_))), "{free_bytes}");
        world.machine().free_bytes = Some(free_bytes);
        assert!(matches!(manifest.compact(&state), Err(Error::Full(_))), "{free_bytes}");
        assert_eq!(world.bytes("root", NAME), file, "{free_bytes}");
        assert_eq!(world.names("root"), [NAME], "{free_bytes}");
    }
    world.machine().free_bytes = None;
    manifest.append(&add(9)).expect("durable");
    world.crash();
    assert_eq!(numbers(&open(&world, 1 << 20).expect("opened").1), [0, 1, 2, 3, 4, 9]);
}

#[test]
fn a_change_that_does_not_fit_changes_nothing() {
    let mut state = State::default();
    state.apply(&add(1)).expect("it fits");
    let before = state.clone();
    let twice = Record { removes: vec![BlockNumber(1); 2], ..Record::default() };
    let unknown = Record { removes: vec![BlockNumber(2)], ..Record::default() };
    for record in [add(1), twice, unknown] {
        assert!(matches!(state.apply(&record), Err(Error::Block(..))));
        assert_eq!(state, before);
    }
}

#[test]
fn batches_are_forgotten_from_the_oldest_entry_on() {
    let mut state = State::default();
    let remembered = vec![remember(1, 10), remember(2, 30), remember(3, 20)];
    state.apply(&Record { remembered, ..Record::default() }).expect("it fits");
    let forget = |time| Record { forget_before: Some(Micros(time)), ..Record::default() };
    state.apply(&forget(25)).expect("it fits");
    let left: Vec<u32> = state.remembered[&table()].iter().map(|batch| batch.rows).collect();
    assert_eq!(left, [2, 3]);
    state.apply(&forget(31)).expect("it fits");
    assert!(state.remembered.is_empty());
}
