//! The merged columns of a table's blocks, updated as blocks are added and removed. So a table with
//! thousands of columns and many small blocks is not examined again for each batch.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use hadal_types::{ColumnName, ColumnPart, ColumnSchema, Kind, Logical};

use crate::table::block::{Block, BlockColumn};

/// The meanings that numbers may have.
const LOGICALS: [Logical; 3] = [Logical::Plain, Logical::Bool, Logical::Time];

/// The columns of some blocks.
#[derive(Debug, Default)]
pub(crate) struct MergedSchema(BTreeMap<(ColumnName, Kind), Part>);

/// One part of a column, over all blocks that have it.
#[derive(Debug, Default)]
struct Part {
    rows: u64,
    /// The number of blocks that give its numbers each meaning of [`LOGICALS`].
    blocks: [u64; LOGICALS.len()],
}

impl MergedSchema {
    pub(crate) fn of(blocks: &[Arc<Block>]) -> Self {
        let mut columns = Self::default();
        blocks.iter().for_each(|block| columns.add(&block.columns));
        columns
    }

    /// Adds the columns of a new block.
    pub(crate) fn add(&mut self, block: &[BlockColumn]) {
        for BlockColumn { name, kind, logical, rows, .. } in block {
            let part = self.0.entry((name.clone(), *kind)).or_default();
            part.rows += rows;
            part.blocks[index(*logical)] += 1;
        }
    }

    /// Subtracts the columns of a block that was added before.
    pub(crate) fn remove(&mut self, block: &[BlockColumn]) {
        for BlockColumn { name, kind, logical, rows, .. } in block {
            let Entry::Occupied(mut entry) = self.0.entry((name.clone(), *kind)) else { continue };
            let part = entry.get_mut();
            part.rows = part.rows.saturating_sub(*rows);
            let blocks = &mut part.blocks[index(*logical)];
            *blocks = blocks.saturating_sub(1);
            if part.blocks.iter().all(|&blocks| blocks == 0) {
                entry.remove();
            }
        }
    }

    /// The columns by name, their parts by kind.
    pub(crate) fn schemas(&self) -> Vec<ColumnSchema> {
        let mut columns: Vec<ColumnSchema> = Vec::new();
        for ((name, kind), part) in &self.0 {
            let part = ColumnPart { kind: *kind, logical: part.logical(), rows: part.rows };
            match columns.last_mut() {
                Some(column) if column.name == *name => column.parts.push(part),
                _ => columns.push(ColumnSchema { name: name.clone(), parts: vec![part] }),
            }
        }
        columns
    }
}

impl Part {
    fn logical(&self) -> Logical {
        let said = LOGICALS.into_iter().zip(self.blocks).filter(|(_, blocks)| *blocks > 0);
        said.map(|(logical, _)| logical).reduce(Logical::and).unwrap_or_default()
    }
}

fn index(logical: Logical) -> usize {
    LOGICALS.iter().position(|&other| other == logical).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator of pseudo-random numbers.
    struct Random(u64);

    impl Random {
        fn below(&mut self, most: u64) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from((self.0 >> 33) % most).expect("small")
        }

        fn column(&mut self) -> BlockColumn {
            BlockColumn {
                name: ColumnName::new(&format!("c{}", self.below(3))).expect("a name"),
                kind: Kind::ALL[self.below(2)],
                logical: LOGICALS[self.below(3)],
                rows: self.below(5) as u64,
                bytes: 0,
            }
        }
    }

    #[test]
    fn columns_of_blocks_that_are_left_are_as_if_the_others_had_not_come() {
        for seed in 0..500 {
            let mut random = Random(seed);
            let (mut kept, mut all) = (MergedSchema::default(), MergedSchema::default());
            let blocks: Vec<Vec<BlockColumn>> = (0..random.below(8))
                .map(|_| (0..random.below(5)).map(|_| random.column()).collect())
                .collect();
            blocks.iter().for_each(|block| all.add(block));
            let mut rows = 0;
            for block in &blocks {
                if random.below(2) == 0 {
                    kept.add(block);
                    rows += block.iter().map(|column| column.rows).sum::<u64>();
                } else {
                    all.remove(block);
                }
            }
            assert_eq!(all.schemas(), kept.schemas(), "seed {seed}");
            let parts = all.schemas().into_iter().flat_map(|column| column.parts);
            assert_eq!(parts.map(|part| part.rows).sum::<u64>(), rows, "seed {seed}");
        }
    }
}
