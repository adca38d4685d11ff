//! Distinct values of numbers, for all groups of a block. This form is used if values hardly repeat
//! within a block: finding duplicates would then cost more than hashing each value.
//!
//! Hashes, and their registers in a sketch, are computed in batches and then sorted by group. The
//! sketches of some hundred groups exceed the L1 and L2 caches, and a row changes one byte of one
//! sketch. Without sorting, updating the sketches took nearly twice as long.

use std::borrow::Cow;

use hadal_aggregate::accumulate::{DISTINCT_REGISTER_BITS, DistinctRegisters, hash_decimal};
use hadal_aggregate::{Groups, State};
use hadal_encoding::kernels;

use crate::column::column_values::Numbers;
use crate::column::decimals::{DictionaryMantissas, MantissaColumn};
use crate::group::grouped_rows::GroupedRows;
use crate::group::key_hashes::hash_mantissas;

/// The number of hashes that fit the L1 cache.
const HASHED_AT_ONCE: usize = 1_024;

/// Adds the selected rows' values to measure `measure` of all groups. `used_groups` has the group
/// number in this block and the group index of each group.
pub(crate) fn add(
    numbers: &Numbers,
    groups: &mut Groups,
    measure: usize,
    used_groups: &[(usize, u32)],
    rows: &GroupedRows<'_>,
) {
    let Coded { group_numbers, codes, values } = Coded::new(numbers, rows);
    let ranked = ranked(&values, numbers.scale);
    let states = groups.states_mut(measure);
    let few = Sketches::new(states, used_groups, rows.space).add(&group_numbers, &codes, &ranked);
    if few.is_empty() {
        return;
    }
    let mut group_indexes = vec![None; rows.space];
    used_groups.iter().for_each(|&(number, group_index)| group_indexes[number] = Some(group_index));
    for (number, code) in few {
        let Some(group_index) = group_indexes[number as usize] else { continue };
        if let State::Distinct(distinct) = &mut states[group_index as usize] {
            distinct.add_hash(hash_decimal(values[code as usize], numbers.scale));
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
    fn add(&mut self, group_numbers: &[u32], codes: &[u32], ranked: &[u32]) -> Vec<(u32, u32)> {
        let runs = Runs::new(group_numbers, codes, ranked, self.by_number.len());
        let mut has_few = false;
        for (number, &sketch) in self.by_number.iter().enumerate() {
            let run = runs.of(number);
            match self.all.get_mut(sketch as usize) {
                Some(registers) => run.iter().for_each(|&ranked| registers.note(ranked)),
                None => has_few |= !run.is_empty(),
            }
        }
        if !has_few {
            return Vec::new();
        }
        let is_few = |number: u32| self.by_number[number as usize] == NO_SKETCH;
        let rows = group_numbers.iter().copied().zip(codes.iter().copied());
        rows.filter(|row| is_few(row.0)).collect()
    }
}

/// The ranks of the rows, sorted by group.
struct Runs {
    /// The end of each group's ranks, by group number.
    ends: Vec<usize>,
    ranked: Vec<u32>,
}

impl Runs {
    /// Sorts the rows' ranks by group with a counting sort. `group_numbers` has the rows' group
    /// numbers, below `space`.
    fn new(group_numbers: &[u32], codes: &[u32], ranked: &[u32], space: usize) -> Self {
        let mut counts = vec![0; space];
        kernels::count_by(group_numbers, &mut counts);
        let mut end = 0;
        let mut start_of = |&count: &u64| {
            let start = end;
            end += usize::try_from(count).unwrap_or(0);
            start
        };
        let mut ends: Vec<usize> = counts.iter().map(&mut start_of).collect();
        let mut sorted = vec![0; codes.len()];
        for (&number, &code) in group_numbers.iter().zip(codes) {
            // The position of the group's next row; after the last row, the end of the group.
            let end = &mut ends[number as usize];
            sorted[*end] = ranked[code as usize];
            *end += 1;
        }
        Self { ends, ranked: sorted }
    }

    fn of(&self, number: usize) -> &[u32] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.ranked[start..self.ends[number]]
    }
}

/// The selected rows that have a value.
struct Coded<'v> {
    /// The group number of each row.
    group_numbers: Cow<'v, [u32]>,
    /// The index of each row's value.
    codes: Cow<'v, [u32]>,
    /// The values, as mantissas.
    values: Cow<'v, [i64]>,
}

impl<'v> Coded<'v> {
    fn new(numbers: &'v Numbers, rows: &'v GroupedRows<'_>) -> Self {
        let mut group_numbers = Cow::Borrowed(rows.numbers);
        let chosen = match &numbers.valid {
            None if rows.selection.count() == rows.selection.block_rows() => None,
            valid => {
                let mut chosen = Vec::with_capacity(rows.numbers.len());
                group_numbers = Cow::Owned(Vec::with_capacity(rows.numbers.len()));
                rows.for_each(valid.as_deref(), |number, row| {
                    group_numbers.to_mut().push(to_u32(number));
                    chosen.push(to_u32(row));
                });
                Some(chosen)
            }
        };
        let (codes, values) = match (&numbers.mantissas, &chosen) {
            (MantissaColumn::Dictionary(DictionaryMantissas { codes, values }), None) => {
                (Cow::Borrowed(&***codes), Cow::Borrowed(values.as_slice()))
            }
            (MantissaColumn::Dictionary(DictionaryMantissas { codes, values }), Some(chosen)) => {
                let codes = chosen.iter().map(|&row| codes[row as usize]).collect();
                (Cow::Owned(codes), Cow::Borrowed(values.as_slice()))
            }
            (MantissaColumn::Plain(mantissas), None) => (
                Cow::Owned((0..to_u32(group_numbers.len())).collect()),
                Cow::Borrowed(mantissas.as_slice()),
            ),
            (mantissas, chosen) => {
                let all = 0..to_u32(group_numbers.len());
                let value = |&row: &u32| mantissas.get(row as usize);
                let values = match chosen {
                    Some(chosen) => chosen.iter().map(value).collect(),
                    None => all.clone().map(|row| value(&row)).collect(),
                };
                (Cow::Owned(all.collect()), Cow::Owned(values))
            }
        };
        Self { group_numbers, codes, values }
    }
}

/// Converts a group number or row; neither exceeds the number of rows of a block.
fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The register and rank of each mantissa's hash in a sketch: register · 256 + rank.
fn ranked(mantissas: &[i64], scale: u8) -> Vec<u32> {
    let mut ranked = vec![0; mantissas.len()];
    let mut hashes = [0; HASHED_AT_ONCE];
    for (ranks, mantissas) in
        ranked.chunks_mut(HASHED_AT_ONCE).zip(mantissas.chunks(HASHED_AT_ONCE))
    {
        let hashes = &mut hashes[..mantissas.len()];
        hash_mantissas(mantissas, scale, hashes);
        kernels::register_ranks(hashes, DISTINCT_REGISTER_BITS, ranks);
    }
    ranked
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
                add(&numbers, &mut batched, 0, &used_groups, &rows);
                prop_assert_eq!(batched.states_mut(0), plain.states_mut(0));
            }
        }
    }
}
