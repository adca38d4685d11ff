//! The builder's state of one column part: its values and their rows. Until the block is finished,
//! memory is proportional to the values, not to the rows.

mod strings;

use hadal_encoding::Bitmap;
use hadal_types::{ColumnName, Decimal, Kind, Logical, Number};

use crate::encode::{Dense, DenseValues};
use crate::interner::{ListInterner, StringInterner};
use crate::scale::unit;

use self::strings::StringPart;

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

/// The rows that have a value, ascending: rows 0 to `first` - 1, then `others`.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    first: u32,
    others: Vec<u32>,
}

/// The values of these rows.
#[derive(Debug)]
pub(crate) enum PartValues {
    Numbers(NumberPart),
    Strings(StringPart),
    Lists { codes: Vec<u32>, lists: ListInterner, elements: StringInterner },
}

/// Numbers, stored at one scale while that is possible; and whether all are truths.
#[derive(Debug)]
pub(crate) struct NumberPart {
    store: NumberStore,
    /// The number of values that are not truths.
    plain: usize,
    last_is_plain: bool,
}

#[derive(Debug)]
enum NumberStore {
    Scaled { mantissas: Vec<i64>, scale: u8 },
    Mixed(Vec<Number>),
}

impl Rows {
    #[inline]
    pub(crate) fn push(&mut self, row: u32) {
        if self.others.is_empty() && self.first == row {
            self.first += 1;
        } else {
            self.others.push(row);
        }
    }

    fn pop(&mut self) {
        if self.others.pop().is_none() {
            self.first -= 1;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.first as usize + self.others.len()
    }

    fn clear(&mut self) {
        self.first = 0;
        self.others.clear();
    }

    /// The rows, in the order of their values.
    fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.first).chain(self.others.iter().copied())
    }

    /// One bit per row of the block, at the row's position; `None` if all rows have a value.
    fn validity(&self, rows: usize, positions: Option<&[u32]>) -> Option<Bitmap> {
        if self.len() == rows {
            return None;
        }
        let mut words = vec![0; rows.div_ceil(64)];
        let mut set = |position: u32| words[position as usize / 64] |= 1 << (position % 64);
        match positions {
            None => self.iter().for_each(set),
            Some(positions) => self.iter().for_each(|row| set(positions[row as usize])),
        }
        Some(Bitmap::from_words(words, rows))
    }

    /// Puts the value of each row at the row's position.
    fn spread<T: Copy + Default>(
        &self,
        values: &[T],
        rows: usize,
        positions: Option<&[u32]>,
    ) -> Vec<T> {
        let (first, others) = values.split_at(self.first as usize);
        let mut spread = Vec::with_capacity(rows);
        let Some(positions) = positions else {
            spread.extend_from_slice(first);
            spread.resize(rows, T::default());
            for (&row, &value) in self.others.iter().zip(others) {
                spread[row as usize] = value;
            }
            return spread;
        };
        spread.resize(rows, T::default());
        for (row, &value) in self.iter().zip(values) {
            spread[positions[row as usize] as usize] = value;
        }
        spread
    }
}

impl Part {
    pub(crate) fn new(name: ColumnName, kind: Kind, name_index: usize) -> Self {
        let values = match kind {
            Kind::Number => PartValues::Numbers(NumberPart::new()),
            Kind::String => PartValues::Strings(StringPart::default()),
            Kind::Set | Kind::Vector => PartValues::Lists {
                codes: Vec::new(),
                lists: ListInterner::default(),
                elements: StringInterner::default(),
            },
        };
        Self { name, kind, name_index, rows: Rows::default(), values }
    }

    /// Drops the last value.
    pub(crate) fn pop(&mut self) {
        self.rows.pop();
        match &mut self.values {
            PartValues::Numbers(numbers) => numbers.pop(),
            PartValues::Strings(strings) => strings.pop(),
            PartValues::Lists { codes, .. } => drop(codes.pop()),
        }
    }

    /// Interns the strings that are still pending. Must be called before [`Self::dense`].
    pub(crate) fn intern_pending(&mut self) {
        if let PartValues::Strings(strings) = &mut self.values {
            strings.intern_pending();
        }
    }

    /// Drops all values but keeps the memory for as many again. A part without values frees its
    /// memory.
    pub(crate) fn clear(&mut self) {
        if self.rows.len() == 0 {
            *self = Self::new(self.name.clone(), self.kind, self.name_index);
            return;
        }
        self.rows.clear();
        match &mut self.values {
            PartValues::Numbers(numbers) => numbers.clear(),
            PartValues::Strings(strings) => strings.clear(),
            PartValues::Lists { codes, lists, elements } => {
                codes.clear();
                lists.clear();
                elements.clear();
            }
        }
    }

    /// Calls `encode` with the part as a column of `rows` rows, each at its position; without
    /// `positions`, at its number.
    pub(crate) fn dense<R>(
        &self,
        rows: usize,
        positions: Option<&[u32]>,
        encode: impl FnOnce(Dense<'_>) -> R,
    ) -> R {
        let (name, kind) = (&self.name, self.kind);
        let validity = self.rows.validity(rows, positions);
        let mut logical = Logical::Plain;
        let values = match &self.values {
            PartValues::Numbers(numbers) => {
                logical = numbers.logical();
                match &numbers.store {
                    NumberStore::Scaled { mantissas, scale } => DenseValues::Decimals {
                        mantissas: self.rows.spread(mantissas, rows, positions),
                        scale: *scale,
                    },
                    NumberStore::Mixed(numbers) => {
                        let numbers: Vec<Option<Number>> =
                            numbers.iter().copied().map(Some).collect();
                        let spread = self.rows.spread(&numbers, rows, positions);
                        let number = |number: Option<Number>| number.unwrap_or(Number::ZERO);
                        DenseValues::Numbers(spread.into_iter().map(number).collect())
                    }
                }
            }
            PartValues::Strings(strings) => {
                let (codes, strings) = strings.interned();
                DenseValues::Strings { codes: self.rows.spread(codes, rows, positions), strings }
            }
            PartValues::Lists { codes, lists, elements } => DenseValues::Lists {
                codes: self.rows.spread(codes, rows, positions),
                lists,
                elements,
            },
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
            if let Some((mantissa, part_scale)) = number.to_stored()
                && push_scaled(mantissas, scale, mantissa, part_scale).is_some()
            {
                return;
            }
            // Still exact: whether doubles are needed is decided when all rows are known.
            let decimal = |&mantissa: &i64| {
                Decimal::new(mantissa.into(), *scale).map_or(Number::ZERO, Number::from)
            };
            self.store = NumberStore::Mixed(mantissas.iter().map(decimal).collect());
        }
        if let NumberStore::Mixed(numbers) = &mut self.store {
            numbers.push(number);
        }
    }

    /// Pushes the number mantissa × 10^−scale, in lowest terms.
    #[inline]
    pub(crate) fn push_decimal(&mut self, mantissa: i64, part_scale: u8) {
        if let NumberStore::Scaled { mantissas, scale } = &mut self.store
            && push_scaled(mantissas, scale, mantissa, part_scale).is_some()
        {
            self.last_is_plain = true;
            self.plain += 1;
            return;
        }
        let decimal = Decimal::new(mantissa.into(), part_scale);
        self.push(decimal.map_or(Number::ZERO, Number::from), true);
    }

    fn pop(&mut self) {
        self.plain -= usize::from(self.last_is_plain);
        match &mut self.store {
            NumberStore::Scaled { mantissas, .. } => drop(mantissas.pop()),
            NumberStore::Mixed(numbers) => drop(numbers.pop()),
        }
    }

    fn clear(&mut self) {
        let mantissas = match &mut self.store {
            NumberStore::Scaled { mantissas, .. } => std::mem::take(mantissas),
            NumberStore::Mixed(_) => Vec::new(),
        };
        *self = Self::new();
        if let NumberStore::Scaled { mantissas: kept, .. } = &mut self.store {
            *kept = mantissas;
            kept.clear();
        }
    }

    fn logical(&self) -> Logical {
        if self.plain == 0 { Logical::Bool } else { Logical::Plain }
    }
}

/// Pushes the number, and increases the scale if needed. `None`, without a change, if no scale
/// holds all numbers.
#[inline]
fn push_scaled(
    mantissas: &mut Vec<i64>,
    scale: &mut u8,
    mantissa: i64,
    part_scale: u8,
) -> Option<()> {
    if part_scale == *scale {
        mantissas.push(mantissa);
        return Some(());
    }
    if part_scale < *scale {
        mantissas.push(mantissa.checked_mul(unit(*scale - part_scale)?)?);
        return Some(());
    }
    let up = unit(part_scale - *scale)?;
    if mantissas.iter().any(|mantissa| mantissa.checked_mul(up).is_none()) {
        return None;
    }
    mantissas.iter_mut().for_each(|mantissa| *mantissa *= up);
    mantissas.push(mantissa);
    *scale = part_scale;
    Some(())
}
