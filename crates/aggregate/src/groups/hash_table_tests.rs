//! Counts the slots that are probed when groups come in the order of hashes. The number would grow
//! if groups crowded a part of a table.

use super::*;
use crate::groups::hash_table::tag_of;
use crate::groups::hash_table::tests::probes;

const COUNT: u32 = 60_000;
/// The maximum mean number of probes of a group.
const PROBES_MAX: usize = 60;

/// Strings without templates, in the order of a table that was filled partition by partition.
fn texts(from: u32, count: u32) -> Vec<String> {
    let letter = |digit: u8| char::from(digit - b'0' + b'a');
    let text = |number: u32| number.to_string().bytes().map(letter).collect();
    let mut texts: Vec<String> = (from..from + count).map(text).collect();
    texts.sort_by_key(|text| tag_of(text.as_str()) >> 24);
    texts
}

fn groups(texts: &[String], max: usize) -> Groups {
    let mut groups = Groups::with_max(1, Box::default(), (max, GROUPS_MAX));
    put_in(&mut groups, texts);
    groups
}

fn put_in(groups: &mut Groups, texts: &[String]) {
    let group_indexes = groups.groups_of_strings(texts.iter().map(String::as_str));
    let mut count = WeightedCount::default();
    count.add_row(Weight::ONE);
    group_indexes.into_iter().for_each(|group_index| groups.add_count(group_index, count));
}

fn assert_few(what: &str, (probes, ()): (usize, ()), groups: usize) {
    let mean = probes / groups.max(1);
    assert!(mean < PROBES_MAX, "{what}: {mean} probes for each of {groups} groups");
}

#[test]
fn groups_that_are_kept_are_found_anew_with_few_looks() {
    let mut groups = groups(&texts(0, COUNT), COUNT as usize * 9 / 10);
    assert_few("kept", probes(|| groups.cut_to_limit()), COUNT as usize);
    assert_eq!(groups.len(), COUNT as usize * 9 / 10);
}

#[test]
fn groups_are_merged_with_few_looks_however_many_are_known() {
    for (known, new) in [(90_000, 70_000), (COUNT, COUNT / 3), (3 * COUNT, COUNT)] {
        // The last ones are known, so that few seem to be new.
        let mut left = groups(&texts(0, known), GROUPS_MAX);
        let mut right = groups(&texts(known, new), GROUPS_MAX);
        put_in(&mut right, &texts(0, 17_000));
        let merged = right.len();
        assert_few("merged", probes(|| left.merge(right)), merged);
        assert_eq!(left.len(), (known + new) as usize);
    }
}
