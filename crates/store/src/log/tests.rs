use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use hadal_types::limits::{LOG_QUEUE_BYTES_MAX, LOG_SYNC_MILLIS};

use super::*;
use crate::disk::simulated::{Random, World};
use crate::manifest::State;
use crate::recovery_report::Report;

const SALT: u64 = 7;
const FIRST: &str = "00000001.log";

fn table() -> TableName {
    TableName::new("requests").expect("a name")
}

fn batch(number: usize) -> BatchId {
    BatchId::new(&format!("batch-{number}")).expect("an id")
}

fn bytes(number: usize) -> Vec<u8> {
    format!("rows of batch {number}").into_bytes()
}

fn open(world: &World, with_committer: bool) -> (Log, Replayed, Report) {
    open_as(world, Durability::Sync, with_committer)
}

fn open_as(world: &World, durability: Durability, with_committer: bool) -> (Log, Replayed, Report) {
    let disk = world.folders().log;
    let mut report = Report::default();
    let (state, marks) = (State::default(), LogMarks::new());
    let mut replayed = replay(&*disk, SALT, &state, &marks, &mut report).expect("replayed");
    replayed.apply(&*disk).expect("settled");
    let begun = Box::new(|_, _: &LogMarks| ());
    let log = Log::start(disk, SALT, 10_000, &mut replayed, begun, durability, with_committer);
    (log.expect("started"), replayed, report)
}

fn append(log: &Log, number: usize) -> Ticket {
    log.append(&table(), &batch(number), &bytes(number)).expect("queued")
}

/// A log with frames 0 to 4, each in its own group; returns the file and the ends of the frames.
fn five() -> (World, Vec<u8>, Vec<usize>) {
    let world = World::new(1);
    let (log, ..) = open(&world, false);
    let mut ends = vec![0];
    for number in 0..5 {
        let ticket = append(&log, number);
        log.step();
        ticket.wait().expect("durable");
        ends.push(world.bytes("log", FIRST).len());
    }
    drop(log);
    let file = world.bytes("log", FIRST);
    (world, file, ends)
}

fn numbers(replayed: &Replayed) -> Vec<u64> {
    for (sequence, logged) in &replayed.batches {
        let number = usize::try_from(sequence.0).expect("small");
        assert_eq!((&logged.batch, &logged.bytes), (&batch(number), &bytes(number)));
    }
    replayed.batches.keys().map(|sequence| sequence.0).collect()
}

#[test]
fn one_sync_serves_all_that_wait() {
    const THREADS: usize = 16;
    let world = World::new(1);
    let (log, ..) = open(&world, false);
    let barrier = Barrier::new(THREADS + 1);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let (log, barrier) = (&log, &barrier);
            scope.spawn(move || {
                let ticket = append(log, number);
                barrier.wait();
                ticket.wait().expect("durable");
            });
        }
        barrier.wait();
        log.step();
    });
    assert_eq!(world.machine().syncs, 1);
}

#[test]
fn frames_that_come_during_a_sync_share_the_next() {
    const FRAMES: usize = 64;
    let world = World::new(1);
    world.hold_syncs(true);
    let (log, ..) = open(&world, true);
    let tickets: Vec<Ticket> = (0..FRAMES).map(|number| append(&log, number)).collect();
    world.hold_syncs(false);
    for (number, ticket) in tickets.into_iter().enumerate() {
        assert_eq!(ticket.sequence(), Sequence(number as u64));
        ticket.wait().expect("durable");
    }
    // The first group holds the frames that the committer found, the second the rest.
    assert!(world.machine().syncs <= 2, "{}", world.machine().syncs);
    drop(log);
    world.crash();
    assert_eq!(numbers(&open(&world, false).1).len(), FRAMES);
}

#[test]
fn every_cut_of_the_last_frames_keeps_those_before_it() {
    let (world, file, ends) = five();
    for cut in ends[2]..=file.len() {
        world.set_bytes("log", FIRST, file[..cut].to_vec());
        let (log, replayed, report) = open(&world, false);
        let whole = ends.iter().filter(|&&end| end > 0 && end <= cut).count();
        assert_eq!(numbers(&replayed), (0..whole as u64).collect::<Vec<_>>(), "cut at {cut}");
        assert_eq!(report.log_bytes_cut, (cut - ends[whole]) as u64, "cut at {cut}");
        assert_eq!(report.frames_damaged, 0, "cut at {cut}");
        // The log continues after the cut, and frames written then are read back.
        let ticket = append(&log, whole);
        log.step();
        ticket.wait().expect("durable");
        drop(log);
        world.crash();
        assert_eq!(numbers(&open(&world, false).1).len(), whole + 1, "cut at {cut}");
    }
}

#[test]
fn every_flipped_bit_in_the_middle_is_reported() {
    let (world, file, ends) = five();
    for bit in ends[1] * 8..ends[4] * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        world.set_bytes("log", FIRST, damaged);
        let (_log, replayed, report) = open(&world, false);
        let hit = ends.iter().filter(|&&end| end <= bit / 8).count() - 1;
        let expected: Vec<u64> = (0..5).filter(|&number| number != hit as u64).collect();
        assert_eq!(numbers(&replayed), expected, "bit {bit}");
        assert_eq!(report.frames_damaged, 1, "bit {bit}");
        assert_eq!(report.damaged_bytes, (ends[hit + 1] - ends[hit]) as u64, "bit {bit}");
        assert_eq!(report.log_bytes_cut, 0, "bit {bit}");
    }
}

#[test]
fn a_repeated_frame_is_passed_over() {
    let (world, file, ends) = five();
    world.set_bytes("log", FIRST, [&file[..], &file[ends[1]..ends[2]]].concat());
    let (_log, replayed, report) = open(&world, false);
    assert_eq!(numbers(&replayed), [0, 1, 2, 3, 4]);
    assert_eq!(report.frames_repeated, 1);
}

#[test]
fn a_full_disk_fails_the_group_and_nothing_else() {
    let world = World::new(1);
    let (log, ..) = open(&world, false);
    let first = append(&log, 0);
    log.step();
    first.wait().expect("durable");
    let length = world.bytes("log", FIRST).len();
    // Disk for one of the two frames, and part of the other.
    world.machine().free_bytes = Some(length + 10);
    let tickets = [append(&log, 1), append(&log, 2)];
    log.step();
    for ticket in tickets {
        let error = ticket.wait().expect_err("no room");
        assert!(matches!(error, Error::Full(_)), "{error}");
        assert_eq!(error.to_string(), "no space left for log/00000001.log");
    }
    assert_eq!(world.bytes("log", FIRST).len(), length);
    world.machine().free_bytes = None;
    let ticket = append(&log, 3);
    log.step();
    ticket.wait().expect("durable again");
    drop(log);
    world.crash();
    let (_log, replayed, report) = open(&world, false);
    assert_eq!(numbers(&replayed), [0, 3]);
    assert_eq!((report.frames_damaged, report.log_bytes_cut), (0, 0));
}

#[test]
fn after_a_failed_sync_nothing_is_acknowledged() {
    let world = World::new(1);
    let (log, ..) = open(&world, false);
    world.machine().fails_sync = true;
    let ticket = append(&log, 0);
    let late = append(&log, 1);
    log.step();
    for ticket in [ticket, late] {
        assert!(matches!(ticket.wait(), Err(Error::Poisoned { .. })));
    }
    world.machine().fails_sync = false;
    let syncs = world.machine().syncs;
    let refused = log.append(&table(), &batch(2), b"rows").expect_err("poisoned");
    assert!(refused.to_string().contains("takes no more writes since"), "{refused}");
    assert_eq!(world.machine().syncs, syncs, "a failed sync was tried again");
}

/// Appends batches, each in its own group; all are acknowledged.
fn taken(log: &Log, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let ticket = append(log, number);
        log.step();
        ticket.wait().expect("taken");
    }
}

#[test]
fn what_is_not_waited_for_outlives_the_process_and_soon_the_machine() {
    for (is_synced, lost) in [(false, true), (true, false)] {
        // The disk decides whether something is lost without a sync.
        let mut has_lost = false;
        for seed in 0..20 {
            let world = World::new(seed);
            let (log, ..) = open_as(&world, Durability::Async, false);
            taken(&log, 0..4);
            // The first group of a file is always synced.
            assert_eq!(world.machine().syncs, 1, "seed {seed}");
            if is_synced {
                log.shared.sync();
                assert!(log.shared.sync_due().is_none());
            } else {
                let due = log.shared.sync_due().expect("something waits");
                assert!(due <= Duration::from_millis(LOG_SYNC_MILLIS));
            }
            world.crash();
            let (_, replayed, _) = open(&world, false);
            let replayed_numbers = numbers(&replayed);
            assert_eq!(replayed_numbers.first(), Some(&0), "seed {seed}");
            has_lost |= replayed_numbers.len() < 4;
        }
        assert_eq!(has_lost, lost);
    }
    let world = World::new(1);
    let (log, ..) = open_as(&world, Durability::Async, false);
    taken(&log, 0..4);
    world.kill();
    drop(log);
    assert_eq!(numbers(&open(&world, false).1), [0, 1, 2, 3]);
}

#[test]
fn a_log_that_is_closed_is_durable() {
    let world = World::new(1);
    let (log, ..) = open_as(&world, Durability::Async, true);
    (0..4).for_each(|number| append(&log, number).wait().expect("taken"));
    log.close().expect("closed");
    world.crash();
    assert_eq!(numbers(&open(&world, false).1), [0, 1, 2, 3]);
}

#[test]
fn a_file_that_is_left_is_durable() {
    let world = World::new(1);
    let (log, ..) = open_as(&world, Durability::Async, false);
    // Files of 10,000 bytes: the last batch goes to a second one.
    let rows = Random::new(2).bytes(6_000);
    for number in 0..3 {
        let ticket = log.append(&table(), &batch(number), &rows).expect("queued");
        log.step();
        ticket.wait().expect("taken");
    }
    assert_eq!(world.names("log").len(), 2);
    world.crash();
    assert_eq!(open(&world, false).1.batches.len(), 3);
}

#[test]
fn a_sync_that_fails_later_is_told_to_whoever_comes_next() {
    let world = World::new(1);
    let (log, ..) = open_as(&world, Durability::Async, false);
    taken(&log, 0..2);
    world.machine().fails_sync = true;
    log.shared.sync();
    let refused = log.append(&table(), &batch(2), b"rows").expect_err("poisoned");
    assert!(refused.to_string().contains("takes no more writes since"), "{refused}");
}

#[test]
fn a_queue_that_is_full_refuses() {
    let world = World::new(1);
    let (log, ..) = open(&world, false);
    let mut random = Random::new(3);
    let large: Vec<u8> = random.bytes(LOG_QUEUE_BYTES_MAX / 2);
    let ticket = log.append(&table(), &batch(0), &large).expect("queued");
    let refused = log.append(&table(), &batch(1), &large);
    assert!(matches!(refused, Err(Error::Busy(bytes)) if bytes > large.len()));
    log.step();
    ticket.wait().expect("durable");
    log.append(&table(), &batch(1), &large).expect("queued");
}

/// Three files of two frames each.
fn three_files(world: &World) -> Log {
    let (log, ..) = open(world, false);
    let mut random = Random::new(3);
    // Two frames fill a file of 10,000 bytes.
    for number in 0..6 {
        let rows: Vec<u8> = random.bytes(6_000);
        let ticket = log.append(&table(), &batch(number), &rows).expect("queued");
        log.step();
        ticket.wait().expect("durable");
    }
    assert_eq!(world.names("log"), ["00000001.log", "00000002.log", "00000003.log"]);
    log
}

#[test]
fn damage_at_the_end_of_a_file_that_another_follows_is_reported() {
    let world = World::new(1);
    drop(three_files(&world));
    let whole = world.bytes("log", FIRST);
    let replayed_from = |state: &State| {
        let mut report = Report::default();
        let (disk, marks) = (world.folders().log, LogMarks::new());
        let mut replayed = replay(&*disk, SALT, state, &marks, &mut report).expect("replayed");
        replayed.apply(&*disk).expect("settled");
        (replayed.batches.keys().map(|at| at.0).collect::<Vec<_>>(), report)
    };
    let middle = whole.len() / 2 + 1_000;
    let mut flipped = whole.clone();
    flipped[middle] ^= 1;
    for damaged in [flipped, whole[..middle].to_vec(), whole[..whole.len() - 1].to_vec()] {
        world.set_bytes("log", FIRST, damaged.clone());
        for start in ["the first", "the next"] {
            let (frames, report) = replayed_from(&State::default());
            assert_eq!(frames, [0, 2, 3, 4, 5], "{start}");
            assert_eq!((report.frames_damaged, report.log_bytes_cut), (1, 0), "{start}");
            assert_eq!(report.damaged_bytes, (damaged.len() - whole.len() / 2) as u64, "{start}");
        }
        let mut consumed = State::default();
        consumed.consumed.insert(1, 1);
        let (frames, report) = replayed_from(&consumed);
        assert_eq!((frames, report.frames_damaged), (vec![0, 2, 3, 4, 5], 0), "nobody misses it");
    }
    // An empty following file does not show which frames the end held, either.
    for name in ["00000002.log", "00000003.log"] {
        world.set_bytes("log", name, Vec::new());
    }
    world.set_bytes("log", FIRST, whole[..middle].to_vec());
    assert_eq!(replayed_from(&State::default()).1.frames_damaged, 1);
    world.set_bytes("log", FIRST, [&whole[..], b"more"].concat());
    assert_eq!(replayed_from(&State::default()).1.frames_damaged, 1);
}

#[test]
fn files_are_removed_when_all_their_frames_are_consumed() {
    let world = World::new(1);
    let log = three_files(&world);
    let consume = |sequences: [u64; 3]| {
        let consumed = sequences.map(Sequence).into_iter().collect();
        log.consume(&consumed, &log.needed(&consumed))
    };
    assert_eq!(consume([0, 2, 3]), 0);
    assert_eq!(world.names("log"), ["00000001.log", "00000003.log"]);
    assert_eq!(log.live_from(), Sequence(1));
    // The last file is still written to.
    assert_eq!(consume([1, 4, 5]), 0);
    assert_eq!(world.names("log"), ["00000003.log"]);
    assert_eq!((log.counts(), log.live_from()), ((1, 0), Sequence(6)));
}

#[test]
fn a_closed_log_has_written_everything_and_takes_no_more() {
    let world = World::new(1);
    let (log, ..) = open(&world, true);
    let tickets: Vec<Ticket> = (0..10).map(|number| append(&log, number)).collect();
    log.close().expect("closed");
    tickets.into_iter().for_each(|ticket| ticket.wait().expect("durable"));
    assert!(matches!(log.append(&table(), &batch(11), b"rows"), Err(Error::Closed)));
}
