//! Which blocks to merge next: a pure function of their properties.
//!
//! Blocks of similar size are merged sixteen at a time. So a row is copied at most about five times
//! on its way from a one-row batch to a large block. Blocks whose batches are *settled* (too old to
//! be revoked) are regrouped by day and time; before that they keep arrival order.
//!
//! A block is large if it has more than half of the maximum rows. Large blocks wait until they are
//! settled. If a settled large block is in time order and overlaps few other blocks in time, its
//! rows are not encoded again: only its batch ids are dropped. So rows that come in large batches,
//! roughly by time, are encoded once.

use std::collections::BTreeMap;

use hadal_block::MergeOrder;
use hadal_types::{Micros, limits};

use crate::table::block::has_many_rows;

/// Blocks of one tier that are merged; also the ratio of sizes between tiers.
const TIER_BLOCKS: usize = 16;
/// The maximum rows of one merge.
const MERGE_ROWS_MAX: usize = 8 * limits::BLOCK_ROWS_MAX;
/// The age in seconds at which settled blocks are regrouped, however few they are.
const REGROUP_SECONDS: i64 = 600;

/// The properties of a block that the choice depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) rows: usize,
    /// Bytes without any encoding.
    pub(crate) bytes: u64,
    pub(crate) has_batches: bool,
    pub(crate) created_at: Micros,
    /// The first and the last time.
    pub(crate) times: (Micros, Micros),
    /// Whether it is large, and its rows are of one day and in time order.
    pub(crate) is_in_order: bool,
}

/// What a merge does with its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MergeKind {
    /// Merges them into blocks with all of their rows in this order.
    Merge(MergeOrder),
    /// Writes each block again without batches.
    Settle,
}

/// A merge to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MergePlan {
    /// Indices of the blocks, ascending.
    pub(crate) inputs: Vec<usize>,
    pub(crate) kind: MergeKind,
}

/// Returns the next merge, or `None` when none is due. It takes at most `bytes_max` raw bytes of
/// blocks, or one block.
pub(crate) fn plan_merge(blocks: &[Candidate], now: Micros, bytes_max: u64) -> Option<MergePlan> {
    let settled = settled(blocks, now);
    settle(&settled, blocks, bytes_max)
        .or_else(|| regroup(&settled, blocks, now, bytes_max))
        .or_else(|| of_one_tier(blocks, true, MergeOrder::Arrival, bytes_max))
        .or_else(|| of_one_tier(blocks, false, MergeOrder::Time, bytes_max))
}

/// Whether a block is large enough to stay alone. Two smaller blocks always fit into one merge.
fn is_large(block: &Candidate, bytes_max: u64) -> bool {
    has_many_rows(block.rows) || block.bytes > bytes_max / 2
}

fn age_seconds(block: &Candidate, now: Micros) -> i64 {
    now.seconds_since(block.created_at)
}

/// Blocks whose batches can no longer be revoked.
fn settled(blocks: &[Candidate], now: Micros) -> Vec<usize> {
    let is_settled = |block: &Candidate| {
        block.has_batches && age_seconds(block, now) >= limits::BATCH_SETTLED_SECONDS
    };
    (0..blocks.len()).filter(|&index| is_settled(&blocks[index])).collect()
}

/// Settled blocks that regrouping would hardly change: at the middle of each one's time range there
/// is at most one other.
fn settle(settled: &[usize], blocks: &[Candidate], bytes_max: u64) -> Option<MergePlan> {
    let middle = |block: &Candidate| {
        let (Micros(from), Micros(to)) = block.times;
        Micros(from + (to - from) / 2)
    };
    let has = |block: &Candidate, time| (block.times.0..=block.times.1).contains(&time);
    let stands_alone = |index: &&usize| {
        let time = middle(&blocks[**index]);
        let all = settled.iter().filter(|&&other| has(&blocks[other], time));
        blocks[**index].is_in_order && all.take(3).count() <= 2
    };
    let alone: Vec<usize> = settled.iter().filter(stands_alone).copied().collect();
    let inputs = first_of(&alone, blocks, bytes_max);
    (!inputs.is_empty()).then_some(MergePlan { inputs, kind: MergeKind::Settle })
}

/// Settled blocks that are still in arrival order.
fn regroup(
    settled: &[usize],
    blocks: &[Candidate],
    now: Micros,
    bytes_max: u64,
) -> Option<MergePlan> {
    let inputs = first_of(settled, blocks, bytes_max);
    let rows: usize = inputs.iter().map(|&index| blocks[index].rows).sum();
    let is_all = inputs.len() == settled.len();
    let oldest = inputs.iter().map(|&index| age_seconds(&blocks[index], now)).max()?;
    (!is_all || rows >= limits::BLOCK_ROWS_MAX || oldest >= REGROUP_SECONDS)
        .then_some(MergePlan { inputs, kind: MergeKind::Merge(MergeOrder::Time) })
}

fn of_one_tier(
    blocks: &[Candidate],
    has_batches: bool,
    order: MergeOrder,
    bytes_max: u64,
) -> Option<MergePlan> {
    let mut tiers: BTreeMap<(u32, i64), Vec<usize>> = BTreeMap::new();
    for (index, block) in blocks.iter().enumerate() {
        if block.has_batches == has_batches && !is_large(block, bytes_max) {
            let tier = block.rows.max(1).ilog(TIER_BLOCKS);
            tiers.entry((tier, group(block, order))).or_default().push(index);
        }
    }
    let full = tiers.into_values().find(|indices| indices.len() >= TIER_BLOCKS)?;
    let inputs = first_of(&full, blocks, bytes_max);
    Some(MergePlan { inputs, kind: MergeKind::Merge(order) })
}

/// Only blocks of the same group are merged. In time order a group is a day, or there would be as
/// many outputs as inputs.
fn group(block: &Candidate, order: MergeOrder) -> i64 {
    const DAY: i64 = 86_400 * Micros::SECOND;
    match order {
        MergeOrder::Arrival => 0,
        MergeOrder::Time => block.times.0.0.div_euclid(DAY),
    }
}

/// The first of these blocks, as many as one merge takes, and at least one.
fn first_of(indices: &[usize], blocks: &[Candidate], bytes_max: u64) -> Vec<usize> {
    let (mut rows, mut bytes) = (0, 0u64);
    let fits = |&index: &usize| {
        let is_first = rows == 0;
        rows += blocks[index].rows;
        bytes = bytes.saturating_add(blocks[index].bytes);
        is_first || (rows <= MERGE_ROWS_MAX && bytes <= bytes_max)
    };
    indices.iter().copied().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Micros = Micros(1_000_000 * Micros::SECOND);

    const BY_TIME: MergeKind = MergeKind::Merge(MergeOrder::Time);

    const BYTES_MAX: u64 = 1 << 30;

    fn plan(blocks: &[Candidate]) -> Option<MergePlan> {
        plan_merge(blocks, NOW, BYTES_MAX)
    }

    fn block(rows: usize, age_seconds: i64) -> Candidate {
        Candidate {
            rows,
            bytes: rows as u64 * 100,
            has_batches: true,
            created_at: Micros(NOW.0 - age_seconds * Micros::SECOND),
            times: (NOW, NOW),
            is_in_order: false,
        }
    }

    #[test]
    fn sixteen_of_a_size_are_merged() {
        assert_eq!(plan(&[block(1, 0); 15]), None);
        let mut blocks = vec![block(1, 0); 16];
        blocks.insert(3, block(5_000, 0));
        let plan = plan(&blocks).expect("a merge");
        assert_eq!(plan.kind, MergeKind::Merge(MergeOrder::Arrival));
        assert!(!plan.inputs.contains(&3));
        assert_eq!(plan.inputs.len(), 16);
    }

    #[test]
    fn full_blocks_wait_until_they_are_settled() {
        assert_eq!(plan(&[block(65_536, 119); 40]), None);
        let plan = plan(&[block(65_536, 120); 40]).expect("a merge");
        assert_eq!(plan, MergePlan { inputs: (0..8).collect(), kind: BY_TIME });
    }

    #[test]
    fn large_blocks_are_merged_once() {
        let half = limits::BLOCK_ROWS_MAX / 2;
        assert_eq!(plan(&[block(half + 1, 119); 40]), None);
        assert_eq!(plan(&[block(half, 119); 40]).map(|plan| plan.inputs.len()), Some(16));
        let regrouped = Candidate { has_batches: false, ..block(half + 1, 9_999) };
        assert_eq!(plan(&[regrouped; 40]), None);
    }

    #[test]
    fn settled_blocks_that_stand_alone_are_not_regrouped() {
        let ordered = |from: i64, to: i64, age_seconds| Candidate {
            times: (Micros(from), Micros(to)),
            is_in_order: true,
            ..block(50_000, age_seconds)
        };
        // Each block begins before the previous one ends.
        let chain = |age_seconds| -> Vec<Candidate> {
            (0..20).map(|place| ordered(place * 100, place * 100 + 190, age_seconds)).collect()
        };
        assert_eq!(plan(&chain(119)), None);
        let settling = MergePlan { inputs: (0..10).collect(), kind: MergeKind::Settle };
        assert_eq!(plan(&chain(120)), Some(settling));
        let mut blocks = chain(120);
        // One block is not in order, and many others overlap two of them.
        blocks[0].is_in_order = false;
        blocks.extend([ordered(500, 1_500, 120), ordered(510, 1_500, 120)]);
        let inputs = plan(&blocks).expect("a plan").inputs;
        assert_eq!(inputs, [1, 2, 3, 4, 15, 16, 17, 18, 19]);
        // The rest is regrouped.
        let rest: Vec<Candidate> = (0..blocks.len())
            .filter(|index| !inputs.contains(index))
            .map(|index| Candidate { is_in_order: false, ..blocks[index] })
            .collect();
        assert_eq!(plan(&rest).map(|plan| plan.kind), Some(BY_TIME));
    }

    #[test]
    fn few_settled_rows_wait_for_more_or_for_age() {
        assert_eq!(plan(&[block(10, 300)]), None);
        let plan = plan(&[block(10, 600)]).expect("a merge");
        assert_eq!(plan.kind, BY_TIME);
    }

    #[test]
    fn blocks_in_time_order_are_merged_by_day() {
        let at = |days: i64| Micros(days * 86_400 * Micros::SECOND);
        let day = |days: i64| Candidate {
            has_batches: false,
            times: (at(days), at(days)),
            ..block(100, 9_999)
        };
        let scattered: Vec<Candidate> = (0..32).map(day).collect();
        assert_eq!(plan(&scattered), None);
        let plan = plan(&[day(5); 16]).expect("a merge");
        assert_eq!(plan.kind, BY_TIME);
    }

    #[test]
    fn a_merge_takes_so_many_bytes_or_one_block() {
        let wide = |bytes, age_seconds| Candidate { bytes, ..block(20_000, age_seconds) };
        let inputs = |blocks: &[Candidate]| plan(blocks).map(|plan| plan.inputs.len());
        for (share, taken) in [(16, 16), (8, 8), (2, 2)] {
            assert_eq!(inputs(&[wide(BYTES_MAX / share, 0); 17]), Some(taken.min(17)));
            assert_eq!(inputs(&[wide(BYTES_MAX / share + 1, 120); 17]), Some(taken - 1));
        }
        // More than half full: it waits until it is settled, and then is regrouped alone.
        for bytes in [BYTES_MAX / 2 + 1, BYTES_MAX, 9 * BYTES_MAX] {
            assert_eq!(inputs(&[wide(bytes, 119); 40]), None);
            assert_eq!(inputs(&[wide(bytes, 120); 40]), Some(1));
        }
    }

    #[test]
    fn merging_comes_to_an_end() {
        for bytes in [1, 100, 200_000, 1_500_000, BYTES_MAX] {
            merge_all(bytes);
        }
    }

    /// Simulates merges until none is due, with one-day outputs of rows of `row_bytes` each. Every
    /// merge must leave full blocks, or fewer blocks.
    fn merge_all(row_bytes: u64) {
        let sized = |rows: usize, age_seconds| Candidate {
            bytes: rows as u64 * row_bytes,
            ..block(rows, age_seconds)
        };
        let mut blocks = vec![sized(700, 9_999); 500];
        let mut merges = 0;
        while let Some(plan) = plan(&blocks) {
            let rows: usize = plan.inputs.iter().map(|&index| blocks[index].rows).sum();
            let bytes: u64 = plan.inputs.iter().map(|&index| blocks[index].bytes).sum();
            assert!(bytes <= BYTES_MAX || plan.inputs.len() == 1, "{bytes}");
            let has_batches = plan.kind == MergeKind::Merge(MergeOrder::Arrival);
            blocks = (0..blocks.len())
                .filter(|index| !plan.inputs.contains(index))
                .map(|index| blocks[index])
                .collect();
            let outputs = rows.div_ceil(limits::BLOCK_ROWS_MAX);
            for output in 0..outputs {
                let rows = rows * (output + 1) / outputs - rows * output / outputs;
                blocks.push(Candidate { has_batches, ..sized(rows, 0) });
            }
            merges += 1;
            assert!(merges < 1_000, "merging goes on for ever");
        }
        assert_eq!(blocks.iter().map(|block| block.rows).sum::<usize>(), 350_000);
    }
}
