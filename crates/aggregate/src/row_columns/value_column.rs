//! One column of raw rows, in the cheapest form that holds its values.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::mem;

use hadal_types::{Decimal, Micros, Number, Value};

use crate::row_columns::sparse_column::SparseColumn;
use crate::row_columns::typed_values::TypedValues;
use crate::sort_order::SortDirection;

/// The values of one column, by row.
#[derive(Clone, Debug)]
pub enum ValueColumn {
    /// Truth values.
    Truths(TypedValues<bool>),
    /// Mantissas of decimals, and their digits after the point.
    Decimals(TypedValues<i64>, u8),
    /// Finite doubles.
    Doubles(TypedValues<f64>),
    /// Points in time, in microseconds.
    Times(TypedValues<i64>),
    /// A code per row, and a value per code. Either the value or the code ([`u32::MAX`]) is null.
    Coded(Vec<u32>, Vec<Value>),
    /// Values of any kind, without the nulls.
    Sparse(SparseColumn),
}

/// A column with values in fewer than one row in this many is stored without its nulls.
pub const SPARSE_PART: usize = 8;

/// The approximate bytes of one value in a [`SparseRow`](crate::SparseRow).
const VALUE_BYTES: usize = size_of::<u16>() + size_of::<Value>();

impl ValueColumn {
    /// `rows` nulls.
    #[must_use]
    pub fn nulls(rows: usize) -> Self {
        Self::Sparse(SparseColumn::nulls(rows))
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Truths(truths) => truths.len(),
            Self::Decimals(numbers, _) | Self::Times(numbers) => numbers.len(),
            Self::Doubles(numbers) => numbers.len(),
            Self::Coded(codes, _) => codes.len(),
            Self::Sparse(values) => values.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row's value; borrowed if it is stored as a value.
    #[must_use]
    pub fn get(&self, row: usize) -> Cow<'_, Value> {
        Cow::Owned(match self {
            Self::Truths(truths) => truths.get(row).map_or(Value::Null, Value::Bool),
            Self::Decimals(mantissas, scale) => {
                mantissas.get(row).map_or(Value::Null, |mantissa| decimal(mantissa, *scale))
            }
            Self::Doubles(doubles) => {
                let number = doubles.get(row).and_then(Number::from_f64);
                number.map_or(Value::Null, Value::Number)
            }
            Self::Times(times) => {
                times.get(row).map_or(Value::Null, |time| Value::Time(Micros(time)))
            }
            Self::Coded(codes, values) => {
                let value = codes.get(row).and_then(|code| values.get(*code as usize));
                return value.map_or(Cow::Owned(Value::Null), Cow::Borrowed);
            }
            Self::Sparse(values) => return Cow::Borrowed(values.get(row)),
        })
    }

    /// The row's value.
    #[must_use]
    pub fn value(&self, row: usize) -> Value {
        self.get(row).into_owned()
    }

    /// Sets the value of a row beyond all rows so far; the rows in between are null.
    pub(crate) fn put(&mut self, row: usize, value: Value) {
        if !matches!(self, Self::Sparse(_)) {
            *self = Self::Sparse(mem::replace(self, Self::nulls(0)).into_sparse());
        }
        if let Self::Sparse(values) = self {
            values.put(row, value);
        }
    }

    /// Calls `visit` with each row that has a value, in ascending order.
    pub(crate) fn for_each_value(&self, mut visit: impl FnMut(usize, Value)) {
        if let Self::Sparse(values) = self {
            return values.entries().for_each(|(row, value)| visit(row, value.clone()));
        }
        for row in 0..self.len() {
            let value = self.value(row);
            if !value.is_null() {
                visit(row, value);
            }
        }
    }

    /// Compares the values of two rows.
    pub(crate) fn cmp(&self, left: u32, right: u32, direction: SortDirection) -> Ordering {
        let (left, right) = (left as usize, right as usize);
        let by_null = |left: bool, right: bool| match (left, right) {
            (true, true) => Ordering::Equal,
            (is_null, _) if is_null == direction.nulls_first => Ordering::Less,
            _ => Ordering::Greater,
        };
        let directed = |order: Ordering| if direction.descending { order.reverse() } else { order };
        match self {
            Self::Truths(truths) => match (truths.get(left), truths.get(right)) {
                (Some(left), Some(right)) => directed(left.cmp(&right)),
                (left, right) => by_null(left.is_none(), right.is_none()),
            },
            Self::Decimals(numbers, _) | Self::Times(numbers) => {
                match (numbers.get(left), numbers.get(right)) {
                    (Some(left), Some(right)) => directed(left.cmp(&right)),
                    (left, right) => by_null(left.is_none(), right.is_none()),
                }
            }
            Self::Doubles(doubles) => match (doubles.get(left), doubles.get(right)) {
                (Some(left), Some(right)) => {
                    directed(left.partial_cmp(&right).unwrap_or(Ordering::Equal))
                }
                (left, right) => by_null(left.is_none(), right.is_none()),
            },
            Self::Coded(codes, _) if codes.get(left) == codes.get(right) => Ordering::Equal,
            Self::Coded(..) | Self::Sparse(_) => direction.cmp(&self.get(left), &self.get(right)),
        }
    }

    /// Adds the values of `other`. Values that do not fit the form of this column make it one of
    /// single values.
    pub(crate) fn append(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Truths(truths), Self::Truths(more)) => truths.append(&more),
            (Self::Decimals(numbers, scale), Self::Decimals(more, other)) if *scale == other => {
                numbers.append(&more);
            }
            (Self::Doubles(doubles), Self::Doubles(more)) => doubles.append(&more),
            (Self::Times(times), Self::Times(more)) => times.append(&more),
            (Self::Coded(codes, values), Self::Coded(more, others))
                if let Ok(offset) = u32::try_from(values.len()) =>
            {
                codes.extend(more.into_iter().map(|code| code.saturating_add(offset)));
                values.extend(others);
            }
            (Self::Sparse(values), Self::Sparse(more)) => values.append(more),
            (_, other) => {
                let before = mem::replace(self, Self::nulls(0));
                *self = before.joined(other);
            }
        }
    }

    /// The values of this column and of one of another form.
    fn joined(mut self, mut other: Self) -> Self {
        let (rows, more) = (self.len(), other.len());
        match (&mut self, &mut other) {
            (Self::Sparse(nulls), _) if nulls.values().is_empty() && rows <= SPARSE_PART * more => {
                other.pad_before(rows);
                return other;
            }
            (_, Self::Sparse(nulls)) if nulls.values().is_empty() => {
                self.pad(rows + more);
                return self;
            }
            (Self::Decimals(left, scale), Self::Decimals(right, other)) => {
                let both = (*scale).max(*other);
                let left = rescaled(left, both - *scale);
                if let (Some(mut left), Some(right)) = (left, rescaled(right, both - *other)) {
                    left.append(&right);
                    return Self::Decimals(left, both);
                }
            }
            _ => {}
        }
        let mut values = self.into_sparse();
        values.append(other.into_sparse());
        Self::Sparse(values)
    }

    fn into_sparse(self) -> SparseColumn {
        if let Self::Sparse(values) = self {
            return values;
        }
        let mut values = SparseColumn::nulls(0);
        self.for_each_value(|row, value| values.put(row, value));
        values.pad(self.len());
        values
    }

    /// The same values in the form without nulls, if few rows have one.
    #[must_use]
    pub fn or_sparse(self) -> Self {
        let count = match &self {
            Self::Truths(truths) => truths.count(),
            Self::Decimals(numbers, _) | Self::Times(numbers) => numbers.count(),
            Self::Doubles(doubles) => doubles.count(),
            Self::Coded(codes, values) => {
                let is_null: Vec<bool> = values.iter().map(Value::is_null).collect();
                let has = |code: &&u32| is_null.get(**code as usize) == Some(&false);
                codes.iter().filter(has).count()
            }
            Self::Sparse(_) => return self,
        };
        match count.saturating_mul(SPARSE_PART) < self.len() {
            true => Self::Sparse(self.into_sparse()),
            false => self,
        }
    }

    /// The values of these rows, in this order.
    pub(crate) fn gather(&self, rows: &[u32]) -> Self {
        match self {
            Self::Truths(truths) => Self::Truths(truths.gather(rows)),
            Self::Decimals(numbers, scale) => Self::Decimals(numbers.gather(rows), *scale),
            Self::Doubles(doubles) => Self::Doubles(doubles.gather(rows)),
            Self::Times(times) => Self::Times(times.gather(rows)),
            Self::Coded(codes, values) => {
                let code = |row: &u32| codes.get(*row as usize).copied().unwrap_or(u32::MAX);
                let codes: Vec<u32> = rows.iter().map(code).collect();
                match values.len() > codes.len() {
                    true => compacted(codes, values),
                    false => Self::Coded(codes, values.clone()),
                }
            }
            Self::Sparse(values) => Self::Sparse(values.gather(rows)),
        }
    }

    pub(crate) fn truncate(&mut self, rows: usize) {
        match self {
            Self::Truths(truths) => truths.truncate(rows),
            Self::Decimals(numbers, _) | Self::Times(numbers) => numbers.truncate(rows),
            Self::Doubles(doubles) => doubles.truncate(rows),
            Self::Coded(codes, _) => codes.truncate(rows),
            Self::Sparse(values) => values.truncate(rows),
        }
    }

    /// Adds nulls up to `rows` rows.
    pub(crate) fn pad(&mut self, rows: usize) {
        match self {
            Self::Truths(truths) => truths.pad(rows),
            Self::Decimals(numbers, _) | Self::Times(numbers) => numbers.pad(rows),
            Self::Doubles(doubles) => doubles.pad(rows),
            Self::Coded(codes, values) if codes.len() < rows => {
                let null = u32::try_from(values.len()).unwrap_or(u32::MAX);
                values.push(Value::Null);
                codes.resize(rows, null);
            }
            Self::Coded(..) => {}
            Self::Sparse(values) => values.pad(rows),
        }
    }

    /// Adds `rows` nulls before all rows.
    fn pad_before(&mut self, rows: usize) {
        match self {
            Self::Truths(truths) => truths.pad_before(rows),
            Self::Decimals(numbers, _) | Self::Times(numbers) => numbers.pad_before(rows),
            Self::Doubles(doubles) => doubles.pad_before(rows),
            Self::Coded(codes, values) => {
                let null = u32::try_from(values.len()).unwrap_or(u32::MAX);
                values.push(Value::Null);
                let mut padded = vec![null; rows];
                padded.append(codes);
                *codes = padded;
            }
            Self::Sparse(values) => {
                let mut padded = SparseColumn::nulls(rows);
                padded.append(mem::take(values));
                *values = padded;
            }
        }
    }

    /// Approximate bytes of one row's value as a value of its own.
    pub(crate) fn bytes_of(&self, row: usize) -> usize {
        match self {
            Self::Coded(..) | Self::Sparse(_) => VALUE_BYTES + self.get(row).heap_bytes(),
            _ => VALUE_BYTES,
        }
    }

    /// Approximate bytes of all values as values of their own.
    pub(crate) fn bytes_of_values(&self) -> usize {
        match self {
            Self::Sparse(_) => self.bytes(),
            Self::Coded(codes, values) => {
                let heap: Vec<usize> = values.iter().map(Value::heap_bytes).collect();
                let of = |code: &u32| heap.get(*code as usize).copied().unwrap_or(0);
                codes.len() * VALUE_BYTES + codes.iter().map(of).sum::<usize>()
            }
            _ => self.len() * VALUE_BYTES,
        }
    }

    /// Approximate bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        let values = match self {
            Self::Coded(_, values) => values.as_slice(),
            Self::Sparse(values) => values.values(),
            _ => &[],
        };
        self.flat_bytes() + values.iter().map(Value::heap_bytes).sum::<usize>()
    }

    /// Approximate bytes of a copy, which shares texts and lists.
    pub(crate) fn flat_bytes(&self) -> usize {
        match self {
            Self::Truths(truths) => truths.bytes(),
            Self::Decimals(numbers, _) | Self::Times(numbers) => numbers.bytes(),
            Self::Doubles(doubles) => doubles.bytes(),
            Self::Coded(codes, values) => {
                size_of_val(codes.as_slice()) + size_of_val(values.as_slice())
            }
            Self::Sparse(values) => values.flat_bytes(),
        }
    }
}

/// Mantissa × 10^−scale; null if it is out of the range of decimals.
fn decimal(mantissa: i64, scale: u8) -> Value {
    let decimal = Decimal::new(i128::from(mantissa), scale);
    decimal.map_or(Value::Null, |decimal| Value::Number(decimal.into()))
}

/// The mantissas with this many more digits; `None` if one does not fit 64 bits.
fn rescaled(mantissas: &TypedValues<i64>, digits: u8) -> Option<TypedValues<i64>> {
    let factor = 10_i64.checked_pow(digits.into())?;
    let value = |(row, mantissa): (usize, &i64)| match mantissas.get(row) {
        Some(_) => mantissa.checked_mul(factor),
        None => Some(0),
    };
    let values = mantissas.values().iter().enumerate().map(value).collect::<Option<_>>()?;
    Some(TypedValues::new(values, mantissas.valid().map(<[bool]>::to_vec)))
}

/// The column without the values that no row has.
fn compacted(mut codes: Vec<u32>, values: &[Value]) -> ValueColumn {
    let mut kept: Vec<Value> = Vec::new();
    let mut new_codes = vec![u32::MAX; values.len()];
    for code in &mut codes {
        let index = *code as usize;
        *code = match (values.get(index), new_codes.get_mut(index)) {
            (Some(value), Some(new)) => {
                if *new == u32::MAX {
                    *new = u32::try_from(kept.len()).unwrap_or(u32::MAX);
                    kept.push(value.clone());
                }
                *new
            }
            _ => u32::MAX,
        };
    }
    ValueColumn::Coded(codes, kept)
}
