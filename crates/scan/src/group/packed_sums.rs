//! Sums several columns at once, packed into 64-bit words.
//!
//! The sum of at most 65,536 numbers of 32 bits takes at most 48 bits, and mostly far fewer. Sums
//! that are known to fit share a 64-bit word, a *lane*. A row then costs as many additions as there
//! are lanes.

use std::borrow::Cow;

use hadal_encoding::{
    Bitmap,
    kernels::{self, Addend},
};

/// The number of lanes per pass.
const LANES_AT_ONCE: usize = 4;

/// A column to sum, with one number per row.
pub(crate) struct Column<'c> {
    /// `None`: each number is 1.
    pub(crate) steps: Option<Cow<'c, [u32]>>,
    /// An upper bound of the numbers.
    pub(crate) most: u32,
    /// The rows that count; `None`: all.
    pub(crate) valid: Option<Cow<'c, Bitmap>>,
}

/// The position of a column's sum.
#[derive(Clone, Copy)]
struct SumPosition {
    /// The index of the column.
    column: usize,
    lane: usize,
    shift: u32,
    /// The maximum number of bits of the sum.
    bits: u32,
}

/// Returns the sums of each column in each of `space` cells; `cells` has the cell of each row.
pub(crate) fn sums(cells: &[u32], space: usize, columns: &[Column<'_>]) -> Vec<Vec<u64>> {
    let (positions, lanes) = positions(columns, cells.len() as u64);
    let mut sums = vec![Vec::new(); columns.len()];
    for first in (0..lanes).step_by(LANES_AT_ONCE) {
        let here = positions.iter().filter_map(|position| {
            let lane = position.lane.checked_sub(first).filter(|lane| *lane < LANES_AT_ONCE)?;
            Some(SumPosition { lane, ..*position })
        });
        let here: Vec<SumPosition> = here.collect();
        let lane_sums = match lanes - first {
            1 => added::<1>(cells, space, columns, &here),
            2 => added::<2>(cells, space, columns, &here),
            3 => added::<3>(cells, space, columns, &here),
            _ => added::<LANES_AT_ONCE>(cells, space, columns, &here),
        };
        here.iter()
            .zip(lane_sums)
            .for_each(|(position, column_sums)| sums[position.column] = column_sums);
    }
    // Columns of zeros only have no lane.
    sums.iter_mut().for_each(|sums| sums.resize(space, 0));
    sums
}

/// Sums the columns at these positions, in N lanes.
fn added<const N: usize>(
    cells: &[u32],
    space: usize,
    columns: &[Column<'_>],
    positions: &[SumPosition],
) -> Vec<Vec<u64>> {
    let addend = |position: &SumPosition| Addend {
        values: columns[position.column].steps.as_deref(),
        words: columns[position.column].valid.as_deref().map(Bitmap::words),
        lane: position.lane,
        shift: position.shift,
    };
    let addends: Vec<Addend<'_>> = positions.iter().map(addend).collect();
    let mut words = vec![[0; N]; space];
    kernels::add_lanes_by(cells, &addends, &mut words);
    let sums = |position: &SumPosition| {
        let mask = u64::MAX >> (u64::BITS - position.bits);
        words.iter().map(|words| words[position.lane] >> position.shift & mask).collect()
    };
    positions.iter().map(sums).collect()
}

/// Assigns lanes to the columns that are not all zero, for `rows` rows; also returns the number of
/// lanes. The largest sums come first, each in the first lane with enough free bits.
fn positions(columns: &[Column<'_>], rows: u64) -> (Vec<SumPosition>, usize) {
    let bits = |most: u32| u64::BITS - u64::from(most).saturating_mul(rows).leading_zeros();
    let all = (0..).zip(columns).map(|(column, input)| (column, bits(input.most)));
    let mut all: Vec<(usize, u32)> = all.filter(|(_, bits)| *bits > 0).collect();
    all.sort_by_key(|(_, bits)| std::cmp::Reverse(*bits));
    let mut taken: Vec<u32> = Vec::new();
    let position = |(column, bits): (usize, u32)| {
        let lane = taken.iter().position(|taken| taken + bits <= u64::BITS);
        let lane = lane.unwrap_or(taken.len());
        taken.resize(taken.len().max(lane + 1), 0);
        let shift = taken[lane];
        taken[lane] += bits;
        SumPosition { column, lane, shift, bits }
    };
    let positions = all.into_iter().map(position).collect();
    (positions, taken.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::column::bitmaps::bits;

    proptest! {
        #[test]
        fn columns_beside_each_other_are_like_columns_on_their_own(
            rows in prop::collection::vec((0u32..9, any::<[u32; 3]>()), 0..600),
            shapes in prop::collection::vec((0usize..4, 0u32..33, any::<bool>()), 0..14),
            is_one in any::<bool>(),
        ) {
            let space = 9;
            let cells: Vec<u32> = rows.iter().map(|row| if is_one { 4 } else { row.0 }).collect();
            let columns = shapes.iter().map(|&(of, less, has_nulls)| {
                let step = |row: &(u32, [u32; 3])| {
                    // Includes the largest possible number.
                    let wide = if row.1[0].is_multiple_of(3) { u32::MAX } else { row.1[of % 3] };
                    wide.checked_shr(less).unwrap_or(0)
                };
                let steps: Option<Vec<u32>> = (of < 3).then(|| rows.iter().map(step).collect());
                let largest = |steps: &Vec<u32>| steps.iter().copied().max().unwrap_or(0);
                let most = steps.as_ref().map_or(1, largest);
                let steps = steps.map(Cow::Owned);
                let valid = bits(rows.len(), |row| rows[row].1[2] % 3 > 0);
                Column { steps, most, valid: has_nulls.then_some(Cow::Owned(valid)) }
            });
            let columns: Vec<Column<'_>> = columns.collect();
            let expected: Vec<Vec<u64>> = columns.iter().map(|column| {
                let mut sums = vec![0; space];
                for (row, &cell) in cells.iter().enumerate() {
                    if column.valid.as_ref().is_none_or(|valid| valid.get(row)) {
                        let step = column.steps.as_ref().map_or(1, |steps| steps[row]);
                        sums[cell as usize] += u64::from(step);
                    }
                }
                sums
            }).collect();
            prop_assert_eq!(sums(&cells, space, &columns), expected);
        }
    }
}
