//! Hashes of the selected rows' group keys: the same key has the same hash in every block.

use std::ops::Range;

use hadal_aggregate::accumulate::{INTEGER_SALT, hash_decimal, hash_text, hash_value};
use hadal_encoding::kernels;
use hadal_types::Value;

use crate::column::column_values::{ColumnValues, Entries, Numbers};
use crate::column::decimals::MantissaColumn;
use crate::column::selection::Selection;

/// The number of hashes that fit the L1 cache beside their rows.
const HASHED_AT_ONCE: usize = 1_024;

/// Hashes mantissas of numbers of this scale, as [`hash_decimal`] does.
pub(crate) fn hash_mantissas(mantissas: &[i64], scale: u8, hashes: &mut [u64]) {
    if scale == 0 {
        kernels::hash_i64(mantissas, INTEGER_SALT, hashes);
    } else {
        let all = hashes.iter_mut().zip(mantissas);
        all.for_each(|(hash, &mantissa)| *hash = hash_decimal(mantissa, scale));
    }
}

/// Calls `visit` with some of the selected rows and the hashes of their keys, until it was called
/// with all.
pub(crate) fn for_each_hash(
    keys: &[ColumnValues<'_>],
    selection: &Selection,
    mut visit: impl FnMut(&[u32], &[u64]),
) {
    let columns: Vec<HashedColumn<'_>> = keys.iter().map(HashedColumn::new).collect();
    let (mut hashes, mut more) = ([0; HASHED_AT_ONCE], [0; HASHED_AT_ONCE]);
    for rows in selection.to_rows().chunks(HASHED_AT_ONCE) {
        let (hashes, more) = (&mut hashes[..rows.len()], &mut more[..rows.len()]);
        hashes.fill(0);
        for (index, column) in columns.iter().enumerate() {
            match index {
                0 => column.hash(rows, hashes),
                _ => {
                    column.hash(rows, more);
                    let both = hashes.iter_mut().zip(&*more);
                    both.for_each(|(hash, more)| *hash = combined(*hash, *more));
                }
            }
        }
        visit(rows, hashes);
    }
}

/// The hash of two keys; their order counts.
fn combined(hash: u64, other: u64) -> u64 {
    hash.rotate_left(23).wrapping_add(other).wrapping_mul(INTEGER_SALT)
}

/// A key, prepared for hashing.
enum HashedColumn<'k> {
    /// All rows have the same hash.
    Constant(u64),
    /// A code per row, and a hash per code.
    ByCode { codes: &'k [u32], hashes: Vec<u64> },
    /// Numbers, and the hash of rows without one.
    Numbers { numbers: &'k Numbers, null: u64 },
    /// Values that are hashed one by one.
    Values(&'k ColumnValues<'k>),
}

impl<'k> HashedColumn<'k> {
    fn new(values: &'k ColumnValues<'_>) -> Self {
        match values {
            ColumnValues::Constant(value) => Self::Constant(hash_value(value)),
            ColumnValues::Coded(coded) => {
                Self::ByCode { codes: &coded.codes, hashes: entry_hashes(&coded.entries) }
            }
            ColumnValues::Numbers(numbers) if numbers.is_plain() => {
                Self::Numbers { numbers, null: hash_value(&Value::Null) }
            }
            values => Self::Values(values),
        }
    }

    /// Sets the hashes of these rows.
    fn hash(&self, rows: &[u32], hashes: &mut [u64]) {
        match self {
            Self::Constant(hash) => hashes.fill(*hash),
            Self::ByCode { codes, hashes: by_code } => {
                let all = hashes.iter_mut().zip(rows);
                all.for_each(|(hash, &row)| *hash = by_code[codes[row as usize] as usize]);
            }
            Self::Numbers { numbers, null } => {
                hash_numbers(numbers, rows, hashes);
                if let Some(valid) = &numbers.valid {
                    let all = hashes.iter_mut().zip(rows);
                    let nulls = all.filter(|(_, row)| !valid.get(**row as usize));
                    nulls.for_each(|(hash, _)| *hash = *null);
                }
            }
            Self::Values(values) => {
                let all = hashes.iter_mut().zip(rows);
                all.for_each(|(hash, &row)| *hash = hash_value(&values.value(row as usize)));
            }
        }
    }
}

fn hash_numbers(numbers: &Numbers, rows: &[u32], hashes: &mut [u64]) {
    let (first, last) = (rows.first().copied(), rows.last().copied());
    if let (MantissaColumn::Plain(values), Some(first), Some(last)) =
        (&numbers.mantissas, first, last)
    {
        let span: Range<usize> = first as usize..last as usize + 1;
        if span.len() == rows.len() {
            return hash_mantissas(&values[span], numbers.scale, hashes);
        }
    }
    let mut mantissas = [0; HASHED_AT_ONCE];
    let mantissas = &mut mantissas[..rows.len()];
    let all = mantissas.iter_mut().zip(rows);
    match &numbers.mantissas {
        MantissaColumn::Plain(values) => {
            all.for_each(|(mantissa, &row)| *mantissa = values[row as usize]);
        }
        MantissaColumn::FrameOfReference(reference) => {
            all.for_each(|(mantissa, &row)| *mantissa = reference.get(row as usize));
        }
        MantissaColumn::Dictionary(coded) => all.for_each(|(mantissa, &row)| {
            *mantissa = coded.values[coded.codes[row as usize] as usize];
        }),
    }
    hash_mantissas(mantissas, numbers.scale, hashes);
}

/// The hash of each code's value.
fn entry_hashes(entries: &Entries<'_>) -> Vec<u64> {
    let hash_of = |code| hash_value(&entries.value(code));
    match entries {
        Entries::Strings { dictionary, has_null } => {
            let mut hashes: Vec<u64> = dictionary.iter().map(hash_text).collect();
            hashes.extend(has_null.then(|| hash_value(&Value::Null)));
            hashes
        }
        Entries::InternedIds { interned, has_null } => interned.interner.with(|texts| {
            let text = |id: &u32| hash_text(texts.get(*id).unwrap_or_default());
            let mut hashes: Vec<u64> = interned.ids.iter().map(text).collect();
            hashes.extend(has_null.then(|| hash_value(&Value::Null)));
            hashes
        }),
        entries => (0..entries.len()).map(hash_of).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use hadal_types::Logical;
    use proptest::prelude::*;

    use super::*;
    use crate::column::bitmaps::bits;
    use crate::column::decimals::DictionaryMantissas;

    fn hashes_of(keys: &[ColumnValues<'_>], selection: &Selection) -> Vec<u64> {
        let mut all = Vec::new();
        for_each_hash(keys, selection, |_, hashes| all.extend_from_slice(hashes));
        all
    }

    fn forms(values: &[i64]) -> [MantissaColumn; 3] {
        let codes = (0..values.len()).map(|row| u32::try_from(row).expect("few")).collect();
        [
            MantissaColumn::Plain(Rc::new(values.to_vec())),
            MantissaColumn::new(values.to_vec()),
            MantissaColumn::Dictionary(DictionaryMantissas {
                codes: Rc::new(codes),
                values: Rc::new(values.to_vec()),
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn hashes_are_of_the_value_and_not_of_its_form(
            values in prop::collection::vec(-3_000i64..3_000, 1..3_000),
            scale in 0u8..3, has_nulls in any::<bool>(), is_part in any::<bool>(),
        ) {
            let rows = values.len();
            let valid = has_nulls.then(|| Rc::new(bits(rows, |row| row % 7 != 3)));
            let mut selection = Selection::all(rows);
            if is_part {
                selection.narrow(&bits(rows, |row| row % 5 < 3));
            }
            for mantissas in forms(&values) {
                let numbers =
                    Numbers { mantissas, scale, logical: Logical::Plain, valid: valid.clone() };
                let key = ColumnValues::Numbers(numbers.clone());
                let truth = selection.to_rows().iter().map(|&row| match numbers.has(row as usize) {
                    true => hash_value(&numbers.value_of(values[row as usize])),
                    false => hash_value(&Value::Null),
                });
                prop_assert_eq!(hashes_of(&[key], &selection), truth.collect::<Vec<u64>>());
            }
        }
    }

    #[test]
    fn keys_in_another_order_have_another_hash() {
        let key = |text: &str| ColumnValues::Constant(Value::string(text));
        let all = Selection::all(3);
        let hashes = hashes_of(&[key("a"), key("b")], &all);
        assert_eq!(hashes, vec![hashes[0]; 3]);
        assert_ne!(hashes, hashes_of(&[key("b"), key("a")], &all));
    }
}
