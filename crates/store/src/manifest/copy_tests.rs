//! A damaged manifest, and its copy.

use super::tests::{add, five, numbers, open, set_alone};
use super::*;
use crate::disk::simulated::World;
use crate::log_marks::LogMark;

const ALL: [u64; 5] = [0, 1, 2, 3, 4];

/// Gives a world this manifest and this copy.
fn set(world: &World, manifest: &[u8], copy: &[u8]) {
    world.set_bytes("root", NAME, manifest.to_vec());
    world.set_bytes("root", copy::NAME, copy.to_vec());
}

#[test]
fn flipped_bits_of_a_manifest_are_made_good_by_its_copy() {
    let (world, file, ends) = five();
    let second = world.bytes("root", copy::NAME);
    // One bit of each byte, one at a time.
    for bit in (0..file.len() * 8).step_by(9) {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        set(&world, &damaged, &second);
        let (mut manifest, state, torn) = open(&world, 1 << 20).expect("opened");
        assert_eq!((numbers(&state), torn), (ALL.to_vec(), 0), "bit {bit}");
        let said = manifest.mended().expect("said").to_owned();
        assert!(said.contains("its copy took its place"), "{said}");
        assert_eq!(world.bytes("root", DAMAGED_NAME), damaged);
        // The manifest continues, and so does the copy.
        manifest.append(&add(99)).expect("durable");
        world.crash();
        set_manifest_away(&world);
        let (_, state, _) = open(&world, 1 << 20).expect("opened");
        assert_eq!(state.blocks.len(), 6, "bit {bit}");
    }
    // A cut manifest, at a record's end or elsewhere, and one of zeros are repaired, too.
    for cut in (0..file.len()).step_by(7).chain(ends) {
        if cut < file.len() {
            set(&world, &file[..cut], &second);
            assert_eq!(numbers(&open(&world, 1 << 20).expect("opened").1), ALL, "cut at {cut}");
        }
    }
    set(&world, &vec![0; file.len()], &second);
    assert_eq!(numbers(&open(&world, 1 << 20).expect("opened").1), ALL);
}

fn set_manifest_away(world: &World) {
    world.folders().root.remove(NAME).expect("removed");
}

#[test]
fn a_damaged_copy_is_written_anew() {
    let (world, file, _) = five();
    let second = world.bytes("root", copy::NAME);
    for bit in (0..second.len() * 8).step_by(9) {
        let mut damaged = second.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        set(&world, &file, &damaged);
        let (manifest, state, _) = open(&world, 1 << 20).expect("opened");
        assert_eq!((numbers(&state), manifest.mended()), (ALL.to_vec(), None), "bit {bit}");
        assert_eq!(world.bytes("root", NAME), file);
        assert_eq!(world.bytes("root", copy::NAME), second, "bit {bit}");
    }
}

#[test]
fn where_both_are_damaged_it_is_refused_and_both_stay() {
    let (world, file, ends) = five();
    let mut second = world.bytes("root", copy::NAME);
    let (mut damaged, middle) = (file.clone(), (ends[2] + ends[3]) / 2);
    damaged[middle] ^= 1;
    let end = second.len() / 3;
    second[end] ^= 1;
    set(&world, &damaged, &second);
    let error = open(&world, 1 << 20).expect_err("corrupt").to_string();
    for part in
        ["are damaged and whole records follow", "its copy cannot be used", "docs/damage.md"]
    {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(world.bytes("root", NAME), damaged);
    assert_eq!(world.bytes("root", copy::NAME), second);
    // The same without any copy.
    set_alone(&world, damaged);
    let error = open(&world, 1 << 20).expect_err("corrupt").to_string();
    assert!(error.contains("there is no copy of it that can be used"), "{error}");
}

#[test]
fn a_copy_of_another_time_is_not_taken_for_the_manifest() {
    let (world, ..) = five();
    let old = world.bytes("root", copy::NAME);
    // The previous version writes no copy: here it has made other records, or a shorter file.
    for compacts in [false, true] {
        let (world, file, _) = five();
        set_alone(&world, file);
        let (mut manifest, mut state, _) = open(&world, 1 << 20).expect("opened");
        for number in [7, 8] {
            manifest.append(&add(number)).expect("durable");
            state.apply(&add(number)).expect("it fits");
        }
        if compacts {
            manifest.compact(&state).expect("compacted");
        }
        let file = world.bytes("root", NAME);
        set(&world, &file, &old);
        let (_, state, _) = open(&world, 1 << 20).expect("opened");
        assert_eq!(numbers(&state), [0, 1, 2, 3, 4, 7, 8]);
        if compacts {
            // Its middle is damaged: the missing records are unknown.
            let mut damaged = file.clone();
            let head = first(MANIFEST, HEAD_SALT, &file).expect("a head").length();
            damaged[head + HEADER_BYTES] ^= 1;
            set(&world, &damaged, &old);
            let error = open(&world, 1 << 20).expect_err("corrupt").to_string();
            assert!(error.contains("the copy is of another time"), "{error}");
        }
    }
}

#[test]
fn the_copy_says_how_far_the_log_is_durable_and_no_other_copy_does() {
    let (world, ..) = five();
    let (mut manifest, ..) = open(&world, 1 << 20).expect("opened");
    let marks = LogMarks::from([(3, LogMark { length: 1_000, next_sequence: 8 })]);
    manifest.note_marks(marks.clone());
    manifest.append(&add(7)).expect("durable");
    world.crash();
    let (mut manifest, ..) = open(&world, 1 << 20).expect("opened");
    assert_eq!(manifest.marks(), &marks);
    let second = world.bytes("root", copy::NAME);
    // One record is missing in the copy, because its writer was killed.
    manifest.append(&add(8)).expect("durable");
    let file = world.bytes("root", NAME);
    set(&world, &file, &second);
    let (mut manifest, ..) = open(&world, 1 << 20).expect("opened");
    assert_eq!(manifest.marks(), &marks);
    // Two are missing: their writer may have begun other log files with these numbers.
    manifest.append(&add(9)).expect("durable");
    let file = world.bytes("root", NAME);
    set(&world, &file, &second);
    assert_eq!(open(&world, 1 << 20).expect("opened").0.marks(), &LogMarks::new());
}
