//! The values of an expression for some rows of a block, as a column of raw rows.

use hadal_aggregate::{SPARSE_PART, SparseColumn, TypedValues, ValueColumn};
use hadal_types::{Logical, Value};

use crate::column::column_values::{Coded, ColumnValues, Doubles, Numbers, Truths};
use crate::column::decimals::MantissaColumn;
use crate::scan_memory::Interrupt;

/// Reserves as many more bytes.
type Hold<'h> = dyn FnMut(usize) -> Result<(), Interrupt> + 'h;

/// Gathers the values of `rows`, which are rows of the block, in this order. Reserves memory with
/// `hold` before it is taken, but for single values.
pub(crate) fn gathered(
    values: &ColumnValues<'_>,
    rows: &[u32],
    hold: &mut Hold<'_>,
) -> Result<ValueColumn, Interrupt> {
    let column = match values {
        ColumnValues::Constant(Value::Null) => return Ok(ValueColumn::nulls(rows.len())),
        ColumnValues::Constant(value) => {
            hold(size_of_val(rows) + size_of::<Value>() + value.heap_bytes())?;
            ValueColumn::Coded(vec![0; rows.len()], vec![value.clone()])
        }
        ColumnValues::Numbers(numbers) => {
            let valid = numbers.valid.as_deref();
            if is_sparse(rows, |row| valid.is_none_or(|valid| valid.get(row))) {
                return one_by_one(values, rows, hold);
            }
            hold(rows.len() * (size_of::<i64>() + size_of::<bool>()))?;
            numbers_of(numbers, rows)
        }
        ColumnValues::Doubles(doubles) => {
            if is_sparse(rows, |row| doubles.has(row)) {
                return one_by_one(values, rows, hold);
            }
            hold(rows.len() * (size_of::<f64>() + size_of::<bool>()))?;
            doubles_of(doubles, rows)
        }
        ColumnValues::Truths(truths) => {
            hold(rows.len() * 2 * size_of::<bool>())?;
            truths_of(truths, rows).or_sparse()
        }
        // Building a table of all codes costs more than the values.
        ColumnValues::Coded(coded) if coded.entries.len() / SPARSE_PART <= rows.len() => {
            coded_of(coded, rows, hold)?.or_sparse()
        }
        ColumnValues::Coded(_) | ColumnValues::Mixed(_) | ColumnValues::Rows(_) => {
            return one_by_one(values, rows, hold);
        }
    };
    Ok(column)
}

/// Whether so few rows have a value that nulls are left out.
fn is_sparse(rows: &[u32], has: impl Fn(usize) -> bool) -> bool {
    let count = rows.iter().filter(|row| has(**row as usize)).count();
    count.saturating_mul(SPARSE_PART) < rows.len()
}

fn one_by_one(
    values: &ColumnValues<'_>,
    rows: &[u32],
    hold: &mut Hold<'_>,
) -> Result<ValueColumn, Interrupt> {
    let mut column = SparseColumn::nulls(0);
    for (at, &row) in rows.iter().enumerate() {
        let value = values.value(row as usize);
        if !value.is_null() {
            hold(size_of::<u32>() + size_of::<Value>() + value.heap_bytes())?;
        }
        column.put(at, value);
    }
    Ok(ValueColumn::Sparse(column))
}

fn numbers_of(numbers: &Numbers, rows: &[u32]) -> ValueColumn {
    let mantissas: Vec<i64> = match &numbers.mantissas {
        MantissaColumn::FrameOfReference(reference) => {
            rows.iter().map(|&row| reference.get(row as usize)).collect()
        }
        MantissaColumn::Plain(mantissas) => {
            rows.iter().map(|&row| mantissas[row as usize]).collect()
        }
        mantissas @ MantissaColumn::Dictionary(_) => {
            rows.iter().map(|&row| mantissas.get(row as usize)).collect()
        }
    };
    let valid = numbers.valid.as_deref();
    let valid = valid.map(|valid| rows.iter().map(|&row| valid.get(row as usize)).collect());
    let mantissas = TypedValues::new(mantissas, valid);
    match numbers.logical {
        Logical::Time => ValueColumn::Times(mantissas),
        _ => ValueColumn::Decimals(mantissas, numbers.scale),
    }
}

fn doubles_of(doubles: &Doubles, rows: &[u32]) -> ValueColumn {
    let values: Vec<f64> = rows.iter().map(|&row| doubles.values[row as usize]).collect();
    let has = |(row, value): (&u32, &f64)| value.is_finite() && doubles.has(*row as usize);
    let valid = rows.iter().zip(&values).map(has).collect();
    ValueColumn::Doubles(TypedValues::new(values, Some(valid)))
}

fn truths_of(truths: &Truths, rows: &[u32]) -> ValueColumn {
    let yes = rows.iter().map(|&row| truths.yes.get(row as usize)).collect();
    let is_null = |row| truths.possible.get(row) && !truths.yes.get(row);
    let valid = rows.iter().map(|&row| !is_null(row as usize)).collect();
    ValueColumn::Truths(TypedValues::new(yes, Some(valid)))
}

/// Only the values of codes that `rows` have are taken.
fn coded_of(
    coded: &Coded<'_>,
    rows: &[u32],
    hold: &mut Hold<'_>,
) -> Result<ValueColumn, Interrupt> {
    hold(size_of_val(rows))?;
    let mut new_codes = vec![u32::MAX; coded.entries.len()];
    let (mut codes, mut values) = (Vec::with_capacity(rows.len()), Vec::new());
    for &row in rows {
        let code = coded.codes[row as usize] as usize;
        if new_codes[code] == u32::MAX {
            let value = coded.entries.value(code);
            hold(size_of::<Value>() + value.heap_bytes())?;
            new_codes[code] = u32::try_from(values.len()).unwrap_or(u32::MAX);
            values.push(value);
        }
        codes.push(new_codes[code]);
    }
    Ok(ValueColumn::Coded(codes, values))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use hadal_encoding::Bitmap;
    use proptest::prelude::*;

    use super::*;
    use crate::column::bitmaps::bits;
    use crate::column::column_values::{Entries, RowValues};

    fn agree(values: &ColumnValues<'_>, rows: &[u32]) {
        let mut bytes = 0;
        let mut hold = |more| {
            bytes += more;
            Ok(())
        };
        let column = gathered(values, rows, &mut hold).expect("memory");
        assert_eq!(column.len(), rows.len());
        for (at, &row) in rows.iter().enumerate() {
            assert_eq!(column.value(at), values.value(row as usize), "row {row}");
        }
        let is_null = (0..rows.len()).all(|row| column.value(row).is_null());
        assert!(bytes > 0 || is_null, "memory is reserved");
    }

    fn bitmap(bits_: &[bool]) -> Bitmap {
        bits(bits_.len(), |row| bits_[row])
    }

    proptest! {
        #[test]
        fn a_gathered_column_has_the_values(
            mantissas in prop::collection::vec(
                prop_oneof![any::<i64>(), -3i64..3, Just(i64::MIN), Just(i64::MAX)], 40,
            ),
            doubles in prop::collection::vec(
                prop_oneof![any::<f64>(), Just(0.0), Just(-0.0), Just(f64::NAN)], 40,
            ),
            has in prop_oneof![
                prop::collection::vec(any::<bool>(), 40),
                prop::collection::vec(prop::bool::weighted(0.02), 40),
            ],
            yes in prop::collection::vec(any::<bool>(), 40),
            codes in prop::collection::vec(0u32..6, 40),
            rows in prop::collection::vec(0u32..40, 0..40),
        ) {
            let texts = ["a", "", "b", "a", "c"].map(Value::string);
            let texts = [&texts[..], &[Value::Null]].concat();
            for valid in [None, Some(Rc::new(bitmap(&has)))] {
                for logical in [Logical::Plain, Logical::Time] {
                    let mantissas = MantissaColumn::new(mantissas.clone());
                    let numbers = Numbers { mantissas, scale: 2, logical, valid: valid.clone() };
                    agree(&ColumnValues::Numbers(numbers), &rows);
                }
                let values = Rc::new(doubles.clone());
                agree(&ColumnValues::Doubles(Doubles { values, valid }), &rows);
            }
            let truths = Truths::where_valid(bitmap(&yes), Some(&bitmap(&has)));
            agree(&ColumnValues::Truths(truths), &rows);
            let all: Vec<Value> = codes.iter().map(|code| texts[*code as usize].clone()).collect();
            let coded = Coded {
                codes: Rc::new(codes.into()),
                entries: Entries::Values(Rc::new(texts)),
            };
            agree(&ColumnValues::Coded(coded), &rows);
            agree(&ColumnValues::Rows(Rc::new(RowValues { first: 3, values: all })), &rows);
            agree(&ColumnValues::Constant(Value::string("x")), &rows);
            agree(&ColumnValues::Constant(Value::Null), &rows);
        }
    }
}
