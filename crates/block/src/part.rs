//! What the builder holds of one column part: its values, and which rows they belong to. Memory is
//! proportional to the values, not to the rows, until the block is finished.

use hadal_encoding::Bitmap;
use hadal_types::decimal::power_of_ten;
use hadal_types::{ColumnName, Decimal, Kind, Logical, Number};

use crate::encode::{Dense, DenseValues};
use crate::interner::{ListInterner, StringInterner};

/// One column part while rows are pushed.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: ColumnName,
    pub(crate) kind: Kind,
    /// Index of the name among the builder's names.
    pub(crate) name_index: usize,
    pub(crate) rows: Rows,
    pub(crate) values: PartValues,
}

/// The rows that have a value, ascending.
#[derive(Debug)]
pub(crate) enum Rows {
    /// The first so many.
    Prefix(u32),
    /// These.
    Sparse(Vec<u32>),
}

/// The values of those rows.
#[derive(Debug)]
pub(crate) enum PartValues {
    Numbers(NumberPart),
    Strings { codes: Vec<u32>, strings: StringInterner },
    Lists { codes: Vec<u32>, lists: ListInterner, elements: StringInterner },
}

/// Numbers at one scale for as long as one holds them, and whether all of them are truths.
#[derive(Debug)]
pub(crate) struct NumberPart {
    store: NumberStore,
    /// How many values are not truths.
    plain: usize,
    last_is_plain: bool,
}

#[derive(Debug)]
enum NumberStore {
    Scaled { mantissas: Vec<i64>, scale: u8 },
    Mixed(Vec<Number>),
}

impl Rows {
    pub(crate) fn push(&mut self, row: u32) {
        match self {
            Self::Prefix(count) if *count == row => *count += 1,
            Self::Prefix(count) => *self = Self::Sparse((0..*count).chain([row]).collect()),
            Self::Sparse(rows) => rows.push(row),
        }
    }

    fn pop(&mut self) {
        match self {
            Self::Prefix(count) => *count -= 1,
            Self::Sparse(rows) => {
                rows.pop();
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Prefix(count) => *count as usize,
            Self::Sparse(rows) => rows.len(),
        }
    }

    /// One bit per row of the block; `None` where all have a value.
    fn validity(&self, rows: usize) -> Option<Bitmap> {
        if self.len() == rows {
            return None;
        }
        let mut validity = Bitmap::zeros(rows);
        match self {
            Self::Prefix(count) => validity.set_range(0, *count as usize),
            Self::Sparse(sparse) => sparse.iter().for_each(|&row| validity.set(row as usize)),
        }
        Some(validity)
    }

    /// Puts each value into its row.
    fn spread<T: Copy + Default>(&self, mut values: Vec<T>, rows: usize) -> Vec<T> {
        let Self::Sparse(sparse) = self else {
            values.resize(rows, T::default());
            return values;
        };
        let mut spread = vec![T::default(); rows];
        for (&row, value) in sparse.iter().zip(values) {
            spread[row as usize] = value;
        }
        spread
    }
}

impl Part {
    pub(crate) fn new(name: ColumnName, kind: Kind, name_index: usize) -> Self {
        let (codes, elements) = (Vec::new(), StringInterner::default());
        let values = match kind {
            Kind::Number => PartValues::Numbers(NumberPart::new()),
            Kind::String => PartValues::Strings { codes, strings: elements },
            Kind::Set | Kind::Vector => {
                PartValues::Lists { codes, lists: ListInterner::default(), elements }
            }
        };
        Self { name, kind, name_index, rows: Rows::Prefix(0), values }
    }

    /// Drops the last value.
    pub(crate) fn pop(&mut self) {
        self.rows.pop();
        match &mut self.values {
            PartValues::Numbers(numbers) => numbers.pop(),
            PartValues::Strings { codes, .. } | PartValues::Lists { codes, .. } => {
                codes.pop();
            }
        }
    }

    /// Calls `encode` with the part as a column of `rows` rows.
    pub(crate) fn dense<R>(self, rows: usize, encode: impl FnOnce(Dense<'_>) -> R) -> R {
        let (name, kind) = (&self.name, self.kind);
        let validity = self.rows.validity(rows);
        let mut logical = Logical::Plain;
        let values = match self.values {
            PartValues::Numbers(numbers) => {
                logical = numbers.logical();
                match numbers.store {
                    NumberStore::Scaled { mantissas, scale } => DenseValues::Decimals {
                        mantissas: self.rows.spread(mantissas, rows),
                        scale,
                    },
                    NumberStore::Mixed(numbers) => {
                        let numbers = numbers.into_iter().map(Some).collect();
                        let spread = self.rows.spread(numbers, rows);
                        let number = |number: Option<Number>| number.unwrap_or(Number::ZERO);
                        DenseValues::Numbers(spread.into_iter().map(number).collect())
                    }
                }
            }
            PartValues::Strings { codes, ref strings } => {
                DenseValues::Strings { codes: self.rows.spread(codes, rows), strings }
            }
            PartValues::Lists { codes, ref lists, ref elements } => {
                DenseValues::Lists { codes: self.rows.spread(codes, rows), lists, elements }
            }
        };
        encode(Dense { name, kind, logical, validity, values })
    }
}

impl NumberPart {
    fn new() -> Self {
        let store = NumberStore::Scaled { mantissas: Vec::new(), scale: 0 };
        Self { store, plain: 0, last_is_plain: false }
    }

    pub(crate) fn push(&mut self, number: Number, is_plain: bool) {
        self.last_is_plain = is_plain;
        self.plain += usize::from(is_plain);
        if let NumberStore::Scaled { mantissas, scale } = &mut self.store {
            if push_scaled(mantissas, scale, number).is_some() {
                return;
            }
            // Exact still: whether doubles are needed is known when all rows are.
            let decimal = |&mantissa: &i64| {
                Decimal::new(mantissa.into(), *scale).map_or(Number::ZERO, Number::from)
            };
            self.store = NumberStore::Mixed(mantissas.iter().map(decimal).collect());
        }
        if let NumberStore::Mixed(numbers) = &mut self.store {
            numbers.push(number);
        }
    }

    fn pop(&mut self) {
        self.plain -= usize::from(self.last_is_plain);
        match &mut self.store {
            NumberStore::Scaled { mantissas, .. } => drop(mantissas.pop()),
            NumberStore::Mixed(numbers) => drop(numbers.pop()),
        }
    }

    fn logical(&self) -> Logical {
        if self.plain == 0 { Logical::Bool } else { Logical::Plain }
    }
}

/// Pushes the number at the scale, which grows where needed; `None`, and nothing done, where no
/// scale holds all.
fn push_scaled(mantissas: &mut Vec<i64>, scale: &mut u8, number: Number) -> Option<()> {
    let (mantissa, own_scale) = number.to_stored()?;
    if own_scale == *scale {
        mantissas.push(mantissa);
        return Some(());
    }
    if own_scale < *scale {
        mantissas.push(mantissa.checked_mul(unit(*scale - own_scale)?)?);
        return Some(());
    }
    let up = unit(own_scale - *scale)?;
    if mantissas.iter().any(|own| own.checked_mul(up).is_none()) {
        return None;
    }
    mantissas.iter_mut().for_each(|own| *own *= up);
    mantissas.push(mantissa);
    *scale = own_scale;
    Some(())
}

/// 10^exponent for exponents of 0 to 18.
pub(crate) fn unit(exponent: u8) -> Option<i64> {
    power_of_ten(exponent).and_then(|unit| unit.try_into().ok())
}
