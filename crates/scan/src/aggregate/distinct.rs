//! Distinct values, for all groups of a block.
//!
//! Each value is hashed once per block. Its hash, or its register in a sketch, is then looked up by
//! the row's code. Rows are sorted by group first: the sketches of some hundred groups exceed the
//! L1 and L2 caches, and a row changes one byte of one sketch. Without sorting, updating the
//! sketches took nearly twice as long.

use std::borrow::Cow;

use hadal_aggregate::accumulate::{
    DISTINCT_REGISTER_BITS, DistinctRegisters, hash_text, hash_value,
};
use hadal_aggregate::{Groups, State};
use hadal_encoding::{Bitmap, kernels};

use crate::column::column_values::{Coded, ColumnValues, Entries, Numbers};
use crate::column::decimals::{DictionaryMantissas, MantissaColumn};
use crate::group::grouped_rows::GroupedRows;
use crate::group::key_hashes::hash_mantissas;

/// The values of a block for which distinct values are counted.
#[derive(Clone, Copy)]
pub(crate) enum DistinctValues<'v> {
    /// Decimals.
    Numbers(&'v Numbers),
    /// Values by code.
    Coded(&'v Coded<'v>),
}

impl<'v> DistinctValues<'v> {
    /// `None` if the values have no form with one code per value or row.
    pub(crate) fn of(values: &'v ColumnValues<'_>) -> Option<Self> {
        match values {
            ColumnValues::Numbers(numbers) if numbers.is_plain() => Some(Self::Numbers(numbers)),
            ColumnValues::Coded(coded) => Some(Self::Coded(coded)),
            _ => None,
        }
    }
}

/// Adds the selected rows' values to measure `measure` of all groups. `used_groups` has the group
/// number in this block and the group index of each group.
pub(crate) fn add(
    values: DistinctValues<'_>,
    groups: &mut Groups,
    measure: usize,
    used_groups: &[(usize, u32)],
    rows: &GroupedRows<'_>,
) {
    let HashedRows { group_numbers, codes, hashes } = match values {
        DistinctValues::Numbers(numbers) => HashedRows::of_numbers(numbers, rows),
        DistinctValues::Coded(coded) => HashedRows::of_codes(coded, rows),
    };
    let are_repeated = hashes.len() < codes.len();
    let states = groups.states_mut(measure);
    let mut sketches = Sketches::new(states, used_groups, rows.space);
    let few = match sketches.all.is_empty() {
        true => (group_numbers, codes),
        false => {
            let mut ranked = vec![0; hashes.len()];
            kernels::register_ranks(&hashes, DISTINCT_REGISTER_BITS, &mut ranked);
            let (numbers, codes) = sketches.add(&group_numbers, &codes, &ranked);
            (Cow::Owned(numbers), Cow::Owned(codes))
        }
    };
    if few.0.is_empty() {
        return;
    }
    let runs = Runs::new(&few.0, few.1.iter().copied(), rows.space);
    // The last group that had the value, by code; empty where rows mostly have codes of their own.
    let mut last_group = vec![u32::MAX; if are_repeated { hashes.len() } else { 0 }];
    for &(number, group_index) in used_groups {
        let State::Distinct(distinct) = &mut states[group_index as usize] else { continue };
        for &code in runs.of(number) {
            let group = to_u32(number);
            let last = last_group.get_mut(code as usize);
            if last.is_none_or(|last| std::mem::replace(last, group) != group) {
                distinct.add_hash(hashes[code as usize]);
            }
        }
    }
}

/// A group that keeps plain hashes, or that has no index.
const NO_SKETCH: u32 = u32::MAX;

/// The groups of a block whose state is a sketch already.
struct Sketches<'s> {
    all: Vec<DistinctRegisters<'s>>,
    /// The index in `all` by group number, or [`NO_SKETCH`].
    by_number: Vec<u32>,
}

impl<'s> Sketches<'s> {
    fn new(mut states: &'s mut [State], used_groups: &[(usize, u32)], space: usize) -> Self {
        let mut by_place: Vec<(u32, usize)> =
            used_groups.iter().map(|entry| (entry.1, entry.0)).collect();
        by_place.sort_unstable();
        let (mut all, mut by_number) = (Vec::new(), vec![NO_SKETCH; space]);
        let mut passed = 0;
        for numbers in by_place.chunk_by(|left, right| left.0 == right.0) {
            let group_index = numbers[0].0 as usize;
            let Some((state, rest)) = states.split_at_mut(group_index - passed).1.split_first_mut()
            else {
                break;
            };
            (states, passed) = (rest, group_index + 1);
            let State::Distinct(distinct) = state else { continue };
            let Some(registers) = distinct.registers() else { continue };
            numbers.iter().for_each(|&(_, number)| by_number[number] = to_u32(all.len()));
            all.push(registers);
        }
        Self { all, by_number }
    }

    /// Adds the rank of each row's code to its group's sketch. Returns the group numbers and codes
    /// of the rows whose groups have no sketch.
    fn add(
        &mut self,
        group_numbers: &[u32],
        codes: &[u32],
        ranked: &[u32],
    ) -> (Vec<u32>, Vec<u32>) {
        let ranks = codes.iter().map(|&code| ranked[code as usize]);
        let runs = Runs::new(group_numbers, ranks, self.by_number.len());
        let mut has_few = false;
        for (number, &sketch) in self.by_number.iter().enumerate() {
            let run = runs.of(number);
            match self.all.get_mut(sketch as usize) {
                Some(registers) => run.iter().for_each(|&ranked| registers.note(ranked)),
                None => has_few |= !run.is_empty(),
            }
        }
        if !has_few {
            return Default::default();
        }
        let is_few = |number: u32| self.by_number[number as usize] == NO_SKETCH;
        let rows = group_numbers.iter().copied().zip(codes.iter().copied());
        rows.filter(|row| is_few(row.0)).unzip()
    }
}

/// The codes or ranks of the rows, sorted by group.
struct Runs {
    /// The end of each group's entries, by group number.
    ends: Vec<usize>,
    sorted: Vec<u32>,
}

impl Runs {
    /// Sorts one entry per row by group with a counting sort. `group_numbers` has the rows' group
    /// numbers, below `space`.
    fn new(group_numbers: &[u32], entries: impl Iterator<Item = u32>, space: usize) -> Self {
        if space == 1 {
            return Self { ends: vec![group_numbers.len()], sorted: entries.collect() };
        }
        let mut counts = vec![0; space];
        kernels::count_by(group_numbers, &mut counts);
        let mut end = 0;
        let mut start_of = |&count: &u64| {
            let start = end;
            end += usize::try_from(count).unwrap_or(0);
            start
        };
        let mut ends: Vec<usize> = counts.iter().map(&mut start_of).collect();
        let mut sorted = vec![0; group_numbers.len()];
        for (&number, entry) in group_numbers.iter().zip(entries) {
            // The position of the group's next row; after the last row, the end of the group.
            let end = &mut ends[number as usize];
            sorted[*end] = entry;
            *end += 1;
        }
        Self { ends, sorted }
    }

    fn of(&self, number: usize) -> &[u32] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.sorted[start..self.ends[number]]
    }
}

/// The selected rows that have a value, and the hash of each value.
struct HashedRows<'v> {
    /// The group number of each row.
    group_numbers: Cow<'v, [u32]>,
    /// The index of the hash of each row's value.
    codes: Cow<'v, [u32]>,
    /// Arbitrary where no row has the code.
    hashes: Vec<u64>,
}

impl<'v> HashedRows<'v> {
    fn of_numbers(numbers: &'v Numbers, rows: &'v GroupedRows<'_>) -> Self {
        let (group_numbers, chosen) = rows_with(numbers.valid.as_deref(), rows);
        let count = group_numbers.len();
        let (codes, mantissas) = match &numbers.mantissas {
            MantissaColumn::Dictionary(DictionaryMantissas { codes, values })
                if values.len() <= count =>
            {
                (codes_of(codes, chosen.as_deref()), Cow::Borrowed(values.as_slice()))
            }
            MantissaColumn::FrameOfReference(reference) if (reference.span as usize) < count => {
                let values = (0..=reference.span).map(|k| reference.value(k)).collect();
                (codes_of(&reference.steps, chosen.as_deref()), Cow::Owned(values))
            }
            mantissas => {
                let values = match (mantissas, &chosen) {
                    (MantissaColumn::Plain(mantissas), None) => Cow::Borrowed(mantissas.as_slice()),
                    (mantissas, None) => (0..count).map(|row| mantissas.get(row)).collect(),
                    (mantissas, Some(chosen)) => {
                        chosen.iter().map(|&row| mantissas.get(row as usize)).collect()
                    }
                };
                (Cow::Owned((0..to_u32(count)).collect()), values)
            }
        };
        let mut hashes = vec![0; mantissas.len()];
        hash_mantissas(&mantissas, numbers.scale, &mut hashes);
        Self { group_numbers, codes, hashes }
    }

    fn of_codes(coded: &'v Coded<'_>, rows: &'v GroupedRows<'_>) -> Self {
        let valid = coded.has_nulls().then(|| coded.valid());
        let (group_numbers, chosen) = rows_with(valid.as_ref(), rows);
        let codes = codes_of(&coded.codes, chosen.as_deref());
        let mut is_used = vec![false; coded.entries.len()];
        codes.iter().for_each(|&code| is_used[code as usize] = true);
        let hash = |(code, is_used): (usize, bool)| match is_used {
            true => hash_of(&coded.entries, code),
            false => 0,
        };
        let hashes = is_used.into_iter().enumerate().map(hash).collect();
        Self { group_numbers, codes, hashes }
    }
}

/// The group numbers of the selected rows that are in `valid`, and these rows; `None`: all rows of
/// the block.
fn rows_with<'r>(
    valid: Option<&Bitmap>,
    rows: &'r GroupedRows<'_>,
) -> (Cow<'r, [u32]>, Option<Vec<u32>>) {
    if valid.is_none() && rows.selection.count() == rows.selection.block_rows() {
        return (Cow::Borrowed(rows.numbers), None);
    }
    let mut numbers = Vec::with_capacity(rows.numbers.len());
    let mut chosen = Vec::with_capacity(rows.numbers.len());
    rows.for_each(valid, |number, row| {
        numbers.push(to_u32(number));
        chosen.push(to_u32(row));
    });
    (Cow::Owned(numbers), Some(chosen))
}

fn codes_of<'c>(codes: &'c [u32], chosen: Option<&[u32]>) -> Cow<'c, [u32]> {
    match chosen {
        None => Cow::Borrowed(codes),
        Some(chosen) => chosen.iter().map(|&row| codes[row as usize]).collect(),
    }
}

/// The hash of the value of a code, which is not null.
fn hash_of(entries: &Entries<'_>, code: usize) -> u64 {
    match entries {
        Entries::Strings { dictionary, .. } => {
            let text = u32::try_from(code).ok().and_then(|code| dictionary.get(code));
            text.map_or(0, hash_text)
        }
        Entries::Lists(lists) => lists.get(code).map_or(0, hash_value),
        Entries::Values(values) => values.get(code).map_or(0, hash_value),
        entries @ (Entries::InternedIds { .. } | Entries::Lifted { .. }) => {
            hash_value(&entries.value(code))
        }
    }
}

/// Converts a group number or row; neither exceeds the number of rows of a block.
fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use hadal_encoding::Bitmap;
    use hadal_query::{Expr, Measure, Query, QueryKind, StateKind};
    use hadal_types::{Logical, TableName, Value, Weight};
    use proptest::prelude::*;

    use super::*;
    use crate::column::bitmaps::bits;
    use crate::column::selection::Selection;
    use crate::column::weights::Weights;

    fn by_code(values: &[i64]) -> MantissaColumn {
        let codes = (0..values.len()).rev().map(to_u32).collect();
        let values = values.iter().rev().copied().collect();
        MantissaColumn::Dictionary(DictionaryMantissas {
            codes: Rc::new(codes),
            values: Rc::new(values),
        })
    }

    fn mantissas() -> impl Strategy<Value = MantissaColumn> {
        let values = prop_oneof![
            prop::collection::vec(0i64..5_000, 1..4_000),
            prop::collection::vec(any::<i64>(), 1..4_000),
            prop::collection::vec((-2_000i64..2_000).prop_map(|n| n * 1_000), 1..300),
        ];
        (values, 0..3).prop_map(|(values, form)| match form {
            0 => by_code(&values),
            1 => MantissaColumn::Plain(Rc::new(values)),
            _ => MantissaColumn::new(values),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn all_groups_at_once_are_those_added_row_by_row(
            mantissas in mantissas(), scale in prop_oneof![Just(0u8), 0u8..=18],
            has_nulls in any::<bool>(), is_part in any::<bool>(), space in 1usize..5,
            kept in prop_oneof![Just(usize::MAX), 0usize..5],
        ) {
            let rows = mantissas.len();
            let valid = has_nulls.then(|| Rc::new(bits(rows, |row| row % 7 != 3)));
            let numbers = Numbers { mantissas, scale, logical: Logical::Plain, valid };
            let mut selection = Selection::all(rows);
            let chosen = if is_part { bits(rows, |row| row % 5 < 3) } else { Bitmap::ones(rows) };
            selection.narrow(&chosen);
            let of_row = |row: usize| row * row % space;
            let by_row: Vec<u32> =
                selection.to_rows().iter().map(|&row| to_u32(of_row(row as usize))).collect();
            let weights = Weights::One;
            let rows = GroupedRows::new(&selection, &by_row, space, &weights);
            let literal = || Expr::Literal(Value::Null);
            let measures = vec![Measure::new(StateKind::Distinct, literal())];
            let shape = QueryKind::Groups { keys: vec![literal()], measures };
            let query = Query::new(TableName::new("t").expect("a name"), shape);
            let (mut batched, mut plain) = (Groups::new(&query), Groups::new(&query));
            let key = |number: usize| Value::integer(i64::from(to_u32(number)));
            let mut used_groups = Vec::new();
            for number in (0..space).filter(|&number| number != kept) {
                for groups in [&mut batched, &mut plain] {
                    let key = groups.key_mut(0).number_of(&key(number));
                    let group_index = groups.find_or_insert(&[key]).expect("room");
                    used_groups.push((number, group_index));
                }
            }
            used_groups.dedup();
            for row in selection.to_rows().iter().map(|&row| row as usize) {
                if of_row(row) != kept && numbers.has(row) {
                    let value = numbers.value_of(numbers.mantissas.get(row));
                    plain.add_row(&[key(of_row(row))], &[value], Weight::ONE);
                }
            }
            for _ in 0..2 {
                add(DistinctValues::Numbers(&numbers), &mut batched, 0, &used_groups, &rows);
                prop_assert_eq!(batched.states_mut(0), plain.states_mut(0));
            }
        }
    }
}
