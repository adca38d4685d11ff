//! One column of all inputs: decoded, mapped to one scale or one dictionary, and concatenated.

use std::borrow::Cow;
use std::hash::Hash;

use hashbrown::HashMap;

use super::{
    Bitmap, BlockError, ColumnData, ColumnName, ColumnView, Decimal, Dense, DenseValues, Inputs,
    Kind, ListInterner, Logical, Number, StringInterner, Values,
};
use crate::scale::unit;

/// One column part over the rows of all inputs.
pub(super) struct Concatenated<'b> {
    name: &'b ColumnName,
    kind: Kind,
    logical: Logical,
    /// Which rows have a value; `None` if all have one.
    validity: Option<Bitmap>,
    values: Joined,
}

enum Joined {
    Decimals { mantissas: Vec<i64>, scale: u8 },
    Numbers(Vec<Number>),
    Strings { codes: Vec<u32>, strings: StringInterner },
    Lists { codes: Vec<u32>, lists: ListInterner, elements: StringInterner },
}

impl<'b> Concatenated<'b> {
    pub(super) fn new(
        inputs: &Inputs<'b, '_>,
        name: &'b ColumnName,
        kind: Kind,
    ) -> Result<Self, BlockError> {
        let mut columns = Vec::with_capacity(inputs.blocks.len());
        for (block, &start) in inputs.blocks.iter().zip(&inputs.starts) {
            if let Some(column) = block.column(name.as_str(), kind) {
                columns.push((start, verified(column)?));
            }
        }
        let validity = join_validity(&columns, inputs);
        let logical = columns.iter().map(|(_, column)| column.logical).reduce(Logical::and);
        let values = match kind {
            Kind::Number => join_numbers(&columns, inputs.rows()),
            Kind::String => join_strings(&columns, inputs.rows()),
            Kind::Set | Kind::Vector => join_lists(&columns, inputs.rows()),
        };
        Ok(Self { name, kind, logical: logical.unwrap_or_default(), validity, values })
    }

    /// The column of these rows, in this order; `None` if none of them has a value.
    pub(super) fn gather(&self, rows: &[u32]) -> Option<Dense<'_>> {
        let validity = self.validity.as_ref().map(|validity| {
            let mut gathered = Bitmap::zeros(rows.len());
            for (position, &row) in rows.iter().enumerate() {
                if validity.get(row as usize) {
                    gathered.set(position);
                }
            }
            gathered
        });
        let count = validity.as_ref().map_or(rows.len(), Bitmap::count_ones);
        let validity = validity.filter(|_| count < rows.len());
        let values = match &self.values {
            Joined::Decimals { mantissas, scale } => {
                DenseValues::Decimals { mantissas: pick(mantissas, rows), scale: *scale }
            }
            Joined::Numbers(numbers) => DenseValues::Numbers(pick(numbers, rows)),
            Joined::Strings { codes, strings } => {
                DenseValues::Strings { codes: pick(codes, rows), strings }
            }
            Joined::Lists { codes, lists, elements } => {
                DenseValues::Lists { codes: pick(codes, rows), lists, elements }
            }
        };
        let (name, kind, logical) = (self.name, self.kind, self.logical);
        (count > 0).then_some(Dense { name, kind, logical, validity, values })
    }

    /// The mantissas of a column that has mantissas in all inputs, such as the time column.
    pub(super) fn into_times(self) -> Vec<i64> {
        match self.values {
            Joined::Decimals { mantissas, .. } => mantissas,
            _ => Vec::new(),
        }
    }
}

impl Concatenated<'_> {
    /// A number per row that is the same for equal values; 0 for null.
    pub(super) fn identities(&self) -> Vec<u32> {
        let mut identities = match &self.values {
            Joined::Decimals { mantissas, .. } => number_through(mantissas),
            Joined::Numbers(numbers) => number_through(numbers),
            Joined::Strings { codes, .. } | Joined::Lists { codes, .. } => {
                codes.iter().map(|code| code + 1).collect()
            }
        };
        if let Some(validity) = &self.validity {
            let slots = identities.iter_mut().enumerate();
            slots.filter(|(row, _)| !validity.get(*row)).for_each(|(_, slot)| *slot = 0);
        }
        identities
    }

    /// The numbers by row; `None` for a null row, and for all rows of columns of other kinds.
    pub(super) fn numbers(&self) -> impl Iterator<Item = Option<Number>> + '_ {
        (0..self.len()).map(|row| self.number(row))
    }

    /// The strings by row, or the texts of the numbers; `None` for a null row, and for all rows of
    /// list columns.
    pub(super) fn texts(&self) -> impl Iterator<Item = Option<Cow<'_, str>>> + '_ {
        (0..self.len()).map(|row| match &self.values {
            Joined::Strings { codes, strings } => {
                self.has_value(row).then(|| strings.get(codes[row]).into())
            }
            _ => self.number(row).map(|number| number.to_string().into()),
        })
    }

    fn number(&self, row: usize) -> Option<Number> {
        match &self.values {
            _ if !self.has_value(row) => None,
            Joined::Decimals { mantissas, scale } => {
                Decimal::new(mantissas[row].into(), *scale).map(Number::from)
            }
            Joined::Numbers(numbers) => Some(numbers[row]),
            Joined::Strings { .. } | Joined::Lists { .. } => None,
        }
    }

    fn has_value(&self, row: usize) -> bool {
        self.validity.as_ref().is_none_or(|validity| validity.get(row))
    }

    fn len(&self) -> usize {
        match &self.values {
            Joined::Decimals { mantissas, .. } => mantissas.len(),
            Joined::Numbers(numbers) => numbers.len(),
            Joined::Strings { codes, .. } | Joined::Lists { codes, .. } => codes.len(),
        }
    }
}

/// A number for each value, from 1 on, in order of first occurrence.
pub(super) fn number_through<T: Copy + Eq + Hash>(values: &[T]) -> Vec<u32> {
    let mut numbers_of: HashMap<T, u32> = HashMap::new();
    let number = |value: &T| {
        let next = u32::try_from(numbers_of.len() + 1).unwrap_or(u32::MAX);
        *numbers_of.entry(*value).or_insert(next)
    };
    values.iter().map(number).collect()
}

/// The decoded columns of the blocks that have the column, each with the number of its first row.
type Columns<'a> = [(usize, ColumnData<'a>)];

fn verified<'b>(column: &'b ColumnView<'_>) -> Result<ColumnData<'b>, BlockError> {
    column.verify()?;
    column.decode()
}

fn pick<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| values[row as usize]).collect()
}

fn join_validity(columns: &Columns<'_>, inputs: &Inputs<'_, '_>) -> Option<Bitmap> {
    let whole = columns.iter().all(|(_, column)| column.validity.is_none());
    if whole && columns.len() == inputs.blocks.len() {
        return None;
    }
    let mut joined = Bitmap::zeros(inputs.rows());
    for (start, column) in columns {
        match &column.validity {
            Some(validity) => validity.iter_ones().for_each(|row| joined.set(start + row)),
            None => joined.set_range(*start, start + row_count(column)),
        }
    }
    Some(joined)
}

fn row_count(column: &ColumnData<'_>) -> usize {
    match &column.values {
        Values::Decimals { mantissas, .. } => mantissas.len(),
        Values::Doubles(doubles) | Values::Mixed { doubles, .. } => doubles.len(),
        Values::Strings { codes, .. } | Values::Lists { codes, .. } => codes.len(),
    }
}

fn join_numbers(columns: &Columns<'_>, rows: usize) -> Joined {
    let scale_of = |column: &ColumnData<'_>| match column.values {
        Values::Decimals { scale, .. } => Some(scale),
        _ => None,
    };
    let scales: Option<Vec<u8>> = columns.iter().map(|(_, column)| scale_of(column)).collect();
    let scale = scales.and_then(|scales| scales.into_iter().max());
    let joined = scale.and_then(|scale| Some((join_decimals(columns, rows, scale)?, scale)));
    if let Some((mantissas, scale)) = joined {
        return Joined::Decimals { mantissas, scale };
    }
    let mut numbers = vec![Number::ZERO; rows];
    for (start, column) in columns {
        for (row, slot) in numbers[*start..*start + row_count(column)].iter_mut().enumerate() {
            *slot = number(column, row).unwrap_or(Number::ZERO);
        }
    }
    Joined::Numbers(numbers)
}

/// All mantissas at this scale, or `None` if one does not fit.
fn join_decimals(columns: &Columns<'_>, rows: usize, scale: u8) -> Option<Vec<i64>> {
    let mut joined = vec![0; rows];
    for (start, column) in columns {
        let Values::Decimals { mantissas, scale: column_scale } = &column.values else {
            return None;
        };
        let up = unit(scale - column_scale)?;
        let slots = &mut joined[*start..*start + mantissas.len()];
        if up == 1 {
            slots.copy_from_slice(mantissas);
            continue;
        }
        for (row, (slot, mantissa)) in slots.iter_mut().zip(mantissas).enumerate() {
            // The placeholder of a null row may be any number, so it need not fit.
            *slot = match mantissa.checked_mul(up) {
                Some(raised) => raised,
                None if column.has_value(row) => return None,
                None => 0,
            };
        }
    }
    Some(joined)
}

fn number(column: &ColumnData<'_>, row: usize) -> Option<Number> {
    match &column.values {
        Values::Decimals { mantissas, scale } => {
            Decimal::new((*mantissas.get(row)?).into(), *scale).map(Number::from)
        }
        Values::Doubles(doubles) => Number::from_f64(*doubles.get(row)?),
        Values::Mixed { doubles, exacts } => Some(exacts.number(row, *doubles.get(row)?)),
        _ => None,
    }
}

fn join_strings(columns: &Columns<'_>, rows: usize) -> Joined {
    let mut joined = vec![0; rows];
    let mut strings = StringInterner::default();
    for (start, column) in columns {
        if let Values::Strings { codes, dictionary } = &column.values {
            // Strings that rarely repeat in one block rarely repeat across blocks.
            let mut map = Vec::with_capacity(dictionary.len());
            if dictionary.len() > codes.len() / 2 {
                strings.add_all(dictionary.text(), &dictionary.offsets()[1..], &mut map);
            } else {
                map.extend(dictionary.iter().map(|string| strings.intern(string)));
            }
            map_codes(codes, &map, &mut joined[*start..]);
        }
    }
    Joined::Strings { codes: joined, strings }
}

fn join_lists(columns: &Columns<'_>, rows: usize) -> Joined {
    let mut joined = vec![0; rows];
    let mut elements = StringInterner::default();
    let mut all_lists = ListInterner::default();
    for (start, column) in columns {
        let Values::Lists { codes, lists } = &column.values else { continue };
        let map: Vec<u32> = lists.elements.iter().map(|string| elements.intern(string)).collect();
        let mut intern = |list: &[u32]| {
            let mut list: Vec<u32> = list.iter().map(|&code| map[code as usize]).collect();
            if column.kind == Kind::Set {
                list.sort_unstable();
            }
            all_lists.intern(&list)
        };
        let list_map: Vec<u32> = lists.lists.iter().map(&mut intern).collect();
        map_codes(codes, &list_map, &mut joined[*start..]);
    }
    Joined::Lists { codes: joined, lists: all_lists, elements }
}

fn map_codes(codes: &[u32], map: &[u32], slots: &mut [u32]) {
    for (slot, &code) in slots.iter_mut().zip(codes) {
        *slot = map[code as usize];
    }
}
