//! Builds a row block from rows, one value at a time.
//!
//! Rows of a large block are ordered by time, so that a merge can keep the block as it is. Rows of
//! a small block, which will be merged, stay in order of arrival.
//!
//! Columns may appear at any row: earlier rows are null. Strings are interned soon after they
//! arrive, so a repeated string costs a hash and a code. A row counts only when it is ended; until
//! then it can be abandoned without a trace.

use hadal_types::limits::{BLOCK_BYTES_MAX, BLOCK_ROWS_MAX, LIST_ELEMENTS_MAX, STRING_BYTES_MAX};
use hadal_types::{BatchId, ColumnName, Kind, Logical, Micros, Number};
use hashbrown::HashMap;

use crate::assemble::assemble;
use crate::encode::{self, Dense, DenseValues, EncodedColumn, Encoder};
use crate::error::BlockError;
use crate::header::BatchRows;
use crate::part::{Part, PartValues};
use crate::weighted_sums::is_rates;

/// Half of the maximum size of a block, so that the pending row always fits.
const FULL_BYTES: u64 = BLOCK_BYTES_MAX as u64 / 2;

/// Blocks with more rows are ordered by time.
const ORDERED_ROWS_MIN: usize = BLOCK_ROWS_MAX / 2;

/// One part of a column in one builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColumnId(u32);

impl ColumnId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Why a value was refused. The row can continue without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    /// The column already has a value in this row, in this part or another; the time column always
    /// has one.
    #[error("a second value for one column in one row")]
    SecondValue,
    /// The part has another kind.
    #[error("a value of another kind than its column part, which is {0}")]
    Kind(Kind),
    /// The string is too long.
    #[error("a string of {0} bytes; at most {STRING_BYTES_MAX} are allowed")]
    StringTooLong(usize),
    /// The list is too long.
    #[error("a list of {0} elements; at most {LIST_ELEMENTS_MAX} are allowed")]
    ListTooLong(usize),
}

/// Builds one row block.
#[derive(Debug)]
pub struct BlockBuilder {
    time_column: ColumnName,
    times: Vec<i64>,
    names: HashMap<ColumnName, usize>,
    /// Per name: its parts by kind, and the last row with a value, plus one.
    slots: Vec<NameSlot>,
    parts: Vec<Part>,
    /// The parts with a value in the pending row.
    touched: Vec<ColumnId>,
    raw_bytes: u64,
    row_raw_bytes: u64,
    list: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct NameSlot {
    parts: [Option<ColumnId>; Kind::ALL.len()],
    last_row: usize,
}

impl BlockBuilder {
    /// A builder without rows. Each row's time is stored in the column of this name.
    #[must_use]
    pub fn new(time_column: ColumnName) -> Self {
        // Pretends that every row has a value, so that no other value is accepted.
        let slot = NameSlot { last_row: usize::MAX, ..NameSlot::default() };
        Self {
            names: HashMap::from_iter([(time_column.clone(), 0)]),
            time_column,
            times: Vec::new(),
            slots: vec![slot],
            parts: Vec::new(),
            touched: Vec::new(),
            raw_bytes: 0,
            row_raw_bytes: 0,
            list: Vec::new(),
        }
    }

    /// The part of this name and kind. Its id is valid for the builder's lifetime.
    pub fn column(&mut self, name: &ColumnName, kind: Kind) -> ColumnId {
        let index = match self.names.get(name) {
            Some(&index) => index,
            None => {
                self.slots.push(NameSlot::default());
                self.names.insert(name.clone(), self.slots.len() - 1);
                self.slots.len() - 1
            }
        };
        let parts = &mut self.parts;
        *self.slots[index].parts[kind as usize].get_or_insert_with(|| {
            let id = u32::try_from(parts.len()).unwrap_or(u32::MAX);
            parts.push(Part::new(name.clone(), kind, index));
            ColumnId(id)
        })
    }

    /// Adds a number to the row.
    ///
    /// # Errors
    /// [`PushError`]; the row is unchanged.
    pub fn push_number(&mut self, id: ColumnId, number: Number) -> Result<(), PushError> {
        self.push(id, Kind::Number, 8, |values, _| {
            if let PartValues::Numbers(numbers) = values {
                numbers.push(number, true);
            }
        })
    }

    /// Adds the number mantissa × 10^−scale to the row, like [`Self::push_number`]. The scale must
    /// be at most 18, and the mantissa must not end with a zero unless the scale is 0.
    ///
    /// # Errors
    /// [`PushError`]; the row is unchanged.
    #[inline]
    pub fn push_decimal(
        &mut self,
        id: ColumnId,
        mantissa: i64,
        scale: u8,
    ) -> Result<(), PushError> {
        self.push(id, Kind::Number, 8, |values, _| {
            if let PartValues::Numbers(numbers) = values {
                numbers.push_decimal(mantissa, scale);
            }
        })
    }

    /// Adds a truth to the row: the number 0 or 1. A part with truths only is logically bool.
    ///
    /// # Errors
    /// [`PushError`]; the row is unchanged.
    #[inline]
    pub fn push_bool(&mut self, id: ColumnId, truth: bool) -> Result<(), PushError> {
        self.push(id, Kind::Number, 8, |values, _| {
            if let PartValues::Numbers(numbers) = values {
                numbers.push(Number::integer(truth.into()), false);
            }
        })
    }

    /// Adds a string of at most 64 KiB to the row.
    ///
    /// # Errors
    /// [`PushError`]; the row is unchanged.
    #[inline]
    pub fn push_string(&mut self, id: ColumnId, string: &str) -> Result<(), PushError> {
        if string.len() > STRING_BYTES_MAX {
            return Err(PushError::StringTooLong(string.len()));
        }
        self.push(id, Kind::String, encode::string_raw_bytes(string), |values, _| {
            if let PartValues::Strings(strings) = values {
                strings.push(string);
            }
        })
    }

    /// Adds a set or a vector to the row, depending on the part's kind. It may have at most 4,096
    /// strings of at most 64 KiB each. Sets are sorted and deduplicated.
    ///
    /// # Errors
    /// [`PushError`]; the row is unchanged.
    pub fn push_list(&mut self, id: ColumnId, list: &[&str]) -> Result<(), PushError> {
        let kind = match self.parts[id.index()].kind {
            Kind::Set => Kind::Set,
            _ => Kind::Vector,
        };
        if list.len() > LIST_ELEMENTS_MAX {
            return Err(PushError::ListTooLong(list.len()));
        }
        if let Some(long) = list.iter().find(|element| element.len() > STRING_BYTES_MAX) {
            return Err(PushError::StringTooLong(long.len()));
        }
        let raw_bytes = 4 + list.iter().map(|text| encode::string_raw_bytes(text)).sum::<u64>();
        self.push(id, kind, raw_bytes, |values, buffer| {
            if let PartValues::Lists { codes, lists, elements } = values {
                buffer.clear();
                buffer.extend(list.iter().map(|element| elements.intern(element)));
                if kind == Kind::Set {
                    // By code for now; equal sets have equal code lists.
                    buffer.sort_unstable();
                    buffer.dedup();
                }
                codes.push(lists.intern(buffer));
            }
        })
    }

    #[inline]
    fn push(
        &mut self,
        id: ColumnId,
        kind: Kind,
        raw_bytes: u64,
        add: impl FnOnce(&mut PartValues, &mut Vec<u32>),
    ) -> Result<(), PushError> {
        let part = &mut self.parts[id.index()];
        if part.kind != kind {
            return Err(PushError::Kind(part.kind));
        }
        let (slot, row) = (&mut self.slots[part.name_index], self.times.len());
        if slot.last_row > row {
            return Err(PushError::SecondValue);
        }
        slot.last_row = row + 1;
        part.rows.push(u32::try_from(row).unwrap_or(u32::MAX));
        add(&mut part.values, &mut self.list);
        self.touched.push(id);
        self.row_raw_bytes += raw_bytes;
        Ok(())
    }

    /// Ends the row, which makes it part of the block.
    pub fn end_row(&mut self, time: Micros) {
        self.times.push(time.0);
        self.raw_bytes += self.row_raw_bytes + 8;
        self.row_raw_bytes = 0;
        self.touched.clear();
    }

    /// Drops the pending row.
    pub fn abandon_row(&mut self) {
        for id in self.touched.drain(..) {
            let part = &mut self.parts[id.index()];
            part.pop();
            self.slots[part.name_index].last_row = 0;
        }
        self.row_raw_bytes = 0;
    }

    /// The number of ended rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.times.len()
    }

    /// Bytes of the ended rows' values without any encoding.
    #[must_use]
    pub const fn raw_bytes(&self) -> u64 {
        self.raw_bytes
    }

    /// Whether the block must be finished before another row.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.times.len() >= BLOCK_ROWS_MAX || self.raw_bytes >= FULL_BYTES
    }

    /// Makes the block. A pending row is dropped. All rows belong to `batch`, if given: its id and
    /// the hash of its content.
    ///
    /// # Errors
    /// When there are no rows, or more rows, bytes or columns than a block can hold.
    pub fn finish(
        mut self,
        created_at: Micros,
        batch: Option<(&BatchId, u64)>,
    ) -> Result<Vec<u8>, BlockError> {
        self.cut(created_at, batch)
    }

    /// Makes the block like [`Self::finish`], and begins a new one without rows, even after an
    /// error. Columns keep their ids. Columns that had values keep their memory, so that a similar
    /// next block needs no memory from the system.
    ///
    /// # Errors
    /// Those of [`Self::finish`].
    pub fn cut(
        &mut self,
        created_at: Micros,
        batch: Option<(&BatchId, u64)>,
    ) -> Result<Vec<u8>, BlockError> {
        self.abandon_row();
        self.parts.iter_mut().for_each(Part::intern_pending);
        let block = self.block(created_at, batch);
        self.times.clear();
        self.parts.iter_mut().for_each(Part::clear);
        // The slot of the time column stays as it is.
        self.slots.iter_mut().skip(1).for_each(|slot| slot.last_row = 0);
        self.raw_bytes = 0;
        block
    }

    /// Encodes the times and the parts that have values, one after another, with each row at its
    /// position; sorted by name and kind.
    fn encode(&self, positions: Option<&[u32]>) -> Result<Vec<EncodedColumn>, BlockError> {
        let rows = self.times.len();
        let rates = self.parts.iter().find(|part| is_rates(&part.name, part.kind));
        let encoder = |rates: Dense<'_>| Encoder::new(Some(&rates));
        let encoder = rates.map(|rates| rates.dense(rows, positions, encoder));
        let (mut columns, mut encoder) = (Vec::new(), encoder.unwrap_or_default());
        let mut encode = |column: Dense<'_>| encoder.encode(column);
        if rows > 0 {
            let mut times = self.times.clone();
            for (&position, &time) in positions.into_iter().flatten().zip(&self.times) {
                times[position as usize] = time;
            }
            columns.push(encode(Dense {
                name: &self.time_column,
                kind: Kind::Number,
                logical: Logical::Time,
                validity: None,
                values: DenseValues::Decimals { mantissas: times, scale: 0 },
            })?);
        }
        for part in self.parts.iter().filter(|part| part.rows.len() > 0) {
            columns.push(part.dense(rows, positions, &mut encode)?);
        }
        columns.sort_unstable_by(|left, right| left.key().cmp(&right.key()));
        Ok(columns)
    }

    fn block(
        &self,
        created_at: Micros,
        batch: Option<(&BatchId, u64)>,
    ) -> Result<Vec<u8>, BlockError> {
        let rows = self.times.len();
        if rows > BLOCK_ROWS_MAX {
            return Err(BlockError::TooManyRows(rows));
        }
        let of_batch = |(id, content_hash): (&BatchId, u64)| BatchRows {
            id: id.clone(),
            content_hash,
            first_row: 0,
            rows,
        };
        let batches: Vec<BatchRows> = batch.map(of_batch).into_iter().collect();
        let positions = if rows > ORDERED_ROWS_MIN { positions_by_time(&self.times) } else { None };
        let columns = self.encode(positions.as_deref())?;
        assemble(&self.time_column, rows, created_at, &batches, 1, columns)
    }
}

/// The position of each row when sorted by time; `None` if rows are sorted already.
///
/// A radix sort, lowest digit first: times that arrive together differ in few digits.
fn positions_by_time(times: &[i64]) -> Option<Vec<u32>> {
    const DIGIT_BITS: u32 = 11;
    const DIGITS: usize = 1 << DIGIT_BITS;
    if times.is_sorted() {
        return None;
    }
    let (first, last) = (*times.iter().min()?, *times.iter().max()?);
    let offset = |time: i64| time.wrapping_sub(first).cast_unsigned();
    let mut timed: Vec<(u64, u32)> = times.iter().map(|&time| offset(time)).zip(0..).collect();
    let mut sorted = vec![(0, 0); timed.len()];
    for shift in (0..u64::BITS - offset(last).leading_zeros()).step_by(DIGIT_BITS as usize) {
        #[expect(clippy::cast_possible_truncation, reason = "the lowest bits are wanted")]
        let digit = |offset: u64| (offset >> shift) as usize % DIGITS;
        let mut next = [0; DIGITS];
        timed.iter().for_each(|&(offset, _)| next[digit(offset)] += 1);
        let mut start = 0;
        next.iter_mut().for_each(|next| start += std::mem::replace(next, start));
        for &(offset, row) in &timed {
            let next = &mut next[digit(offset)];
            sorted[*next] = (offset, row);
            *next += 1;
        }
        std::mem::swap(&mut timed, &mut sorted);
    }
    let mut positions = vec![0; times.len()];
    for ((_, row), position) in timed.into_iter().zip(0..) {
        positions[row as usize] = position;
    }
    Some(positions)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_are_placed_by_time_and_then_as_they_came(
            times in prop::collection::vec(prop_oneof![
                0..9i64, 0..9_000_000_000i64, any::<i64>(), Just(i64::MIN), Just(i64::MAX),
            ], 0..70),
        ) {
            let mut timed: Vec<(i64, usize)> = times.iter().copied().zip(0..).collect();
            timed.sort_unstable();
            match positions_by_time(&times) {
                None => prop_assert!(times.is_sorted()),
                Some(positions) => {
                    prop_assert_eq!(positions.len(), times.len());
                    for (position, (_, row)) in (0u32..).zip(timed) {
                        prop_assert_eq!(positions[row], position);
                    }
                }
            }
        }
    }
}
