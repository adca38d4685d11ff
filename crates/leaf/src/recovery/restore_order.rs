//! The order in which blocks are restored.

use std::collections::HashMap;
use std::ops::Range;

use hadal_store::BlockNumber;

/// The window: within this many bytes of blocks written one after the other, blocks of one segment
/// are restored together.
const TOGETHER_BYTES: u64 = 256 << 20;

/// Where a block is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockPosition {
    pub(super) number: BlockNumber,
    pub(super) segment: u32,
    pub(super) range: Range<u64>,
}

/// Sorts blocks that are then restored from the last to the first. The newest come first, but
/// within each window segment by segment, in file order. Allocation is first-fit, so blocks
/// adjacent in time are scattered over segments. Reading them in time order would take longer, and
/// threads would wait for each other.
pub(super) fn order<T>(blocks: &mut [T], position: impl Fn(&T) -> BlockPosition) {
    blocks.sort_by_cached_key(|block| position(block).number);
    let mut rest = blocks;
    while let Some((last, before)) = rest.split_last() {
        let mut bytes = length(&position(last));
        let is_apart = |block: &T| {
            bytes += length(&position(block));
            bytes > TOGETHER_BYTES
        };
        let first = before.iter().rposition(is_apart).map_or(0, |apart| apart + 1);
        let (earlier, together) = rest.split_at_mut(first);
        let in_segment = |block: &T| {
            let BlockPosition { segment, number, .. } = position(block);
            (segment, number)
        };
        // A segment ranks by its newest block.
        let newest: HashMap<u32, BlockNumber> = together.iter().map(in_segment).collect();
        together.sort_by_cached_key(|block| {
            let BlockPosition { segment, range, .. } = position(block);
            (newest.get(&segment).copied(), range.start)
        });
        rest = earlier;
    }
}

fn length(position: &BlockPosition) -> u64 {
    position.range.end.saturating_sub(position.range.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn block(number: u64, segment: u32, offset: u64, length: u64) -> BlockPosition {
        BlockPosition {
            number: BlockNumber(number),
            segment,
            range: offset * MIB..(offset + length) * MIB,
        }
    }

    /// The numbers in the order in which blocks are restored.
    fn brought_back(mut blocks: Vec<BlockPosition>) -> Vec<u64> {
        order(&mut blocks, Clone::clone);
        blocks.iter().rev().map(|block| block.number.0).collect()
    }

    #[test]
    fn those_of_one_segment_come_together_from_its_end_to_its_beginning() {
        let blocks = vec![
            block(5, 2, 20, 10),
            block(1, 1, 0, 10),
            block(2, 2, 0, 10),
            block(3, 1, 10, 10),
            block(4, 2, 10, 10),
            // Allocated in a gap near the start.
            block(6, 1, 5, 1),
        ];
        assert_eq!(brought_back(blocks), [3, 6, 1, 5, 4, 2]);
    }

    #[test]
    fn what_was_written_long_before_comes_later_wherever_it_lies() {
        // Every other block is in the same segment as the first.
        let blocks = (0..100).map(|at| block(at, if at % 2 == 0 { 0 } else { 1 }, at * 10, 10));
        let numbers = brought_back(blocks.collect());
        assert_eq!(numbers[..13], std::array::from_fn::<u64, 13, _>(|at| 99 - 2 * at as u64));
        assert_eq!(numbers[13..25], std::array::from_fn::<u64, 12, _>(|at| 98 - 2 * at as u64));
        assert_eq!(numbers[25], 74);
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..100));
    }

    #[test]
    fn blocks_larger_than_what_comes_together_come_alone() {
        let large = TOGETHER_BYTES / MIB + 1;
        let blocks = (0..4).map(|at| block(at, 1, (4 - at) * large, large));
        assert_eq!(brought_back(blocks.collect()), [3, 2, 1, 0]);
        assert!(brought_back(Vec::new()).is_empty());
    }
}
