//! Filters encoded columns: conditions on packed integers and on codes are evaluated to bits
//! without decoding values. Only the values of selected rows are decoded.

use std::cell::OnceCell;
use std::rc::Rc;

use hadal_block::{BlockError, CodedNumbers, ColumnView, NumbersView, Zone};
use hadal_encoding::{Bitmap, Buffer, EncodingError, IntsView, StringDictionary, ints, kernels};
use hadal_query::{Function, Pattern};
use hadal_types::{Logical, Value};

use crate::column::bitmaps::filled;
use crate::column::column_values::{Coded, ColumnValues, Entries, Numbers, Truths};
use crate::column::decimals::{
    COMPARED_MAX, DictionaryMantissas, FrameOfReference, MantissaColumn,
};
use crate::column::filter_dictionary;
use crate::column::filter_numbers;

/// An encoded column with one integer or code per row that has a value.
pub(crate) struct EncodedColumn<'a> {
    column: &'a ColumnView<'a>,
    values: Values<'a>,
    valid: Option<Rc<Bitmap>>,
    /// Whether the streams leave out rows without a value.
    is_compact: bool,
}

enum Values<'a> {
    /// Integers of one scale, without a base.
    Numbers(NumbersView<'a>),
    Strings(EncodedStrings<'a>),
}

/// Strings by code.
struct EncodedStrings<'a> {
    codes: IntsView<'a>,
    /// The number of entries.
    count: usize,
    /// Decoded on first use.
    entries: OnceCell<Rc<StringDictionary<'a>>>,
}

impl<'a> EncodedStrings<'a> {
    fn entries(&self, column: &'a ColumnView<'a>) -> Result<&Rc<StringDictionary<'a>>, BlockError> {
        if let Some(entries) = self.entries.get() {
            return Ok(entries);
        }
        let entries = Rc::new(column.string_entries()?);
        Ok(self.entries.get_or_init(|| entries))
    }
}

impl<'a> EncodedColumn<'a> {
    /// Returns `None` for columns in any other encoding.
    pub(crate) fn new(column: &'a ColumnView<'a>) -> Result<Option<Self>, BlockError> {
        let is_compact = column.is_compact();
        if let Some(view) = column.numbers()?.filter(|view| view.base == 0) {
            let valid = view.validity.clone().map(Rc::new);
            let values = Values::Numbers(view);
            return Ok(Some(Self { column, values, valid, is_compact }));
        }
        if column.holds_texts() {
            return Ok(None);
        }
        let Some((codes, count)) = column.string_codes()? else { return Ok(None) };
        let entries = OnceCell::new();
        let values = Values::Strings(EncodedStrings { codes, count, entries });
        let valid = column.validity()?.map(Rc::new);
        Ok(Some(Self { column, values, valid, is_compact }))
    }

    /// Which rows have a value; `None`: all.
    pub(crate) fn valid(&self) -> Option<&Rc<Bitmap>> {
        self.valid.as_ref()
    }

    /// Whether the stream leaves out rows, so that its vectors are not those of the rows.
    pub(crate) fn omits_rows(&self) -> bool {
        self.is_compact && self.valid.is_some()
    }

    /// The integer stream and its scale; `None` for strings.
    pub(crate) fn integers(&self) -> Option<(&IntsView<'a>, u8)> {
        match &self.values {
            Values::Numbers(view) => Some((&view.integers, view.scale)),
            Values::Strings(_) => None,
        }
    }

    /// The integer of each row as a code, if they are stored as a dictionary; codes of rows without
    /// a value are arbitrary.
    pub(crate) fn coded_integers(&self) -> Result<Option<CodedNumbers>, BlockError> {
        let Values::Numbers(view) = &self.values else { return Ok(None) };
        view.coded(None).map_err(|error| self.column.corrupt(error))
    }

    /// Compares the values with the literals, row by row; `logical` is the meaning of the values.
    /// `None` if the values must be decoded instead.
    pub(crate) fn compared(
        &self,
        logical: Logical,
        function: Function,
        literals: &[&Value],
    ) -> Result<Option<Truths>, BlockError> {
        let matching = match (&self.values, literals) {
            (Values::Numbers(_), literals) if function == Function::In => {
                return self.are_in(logical, literals);
            }
            (Values::Numbers(view), [literal]) => {
                let integers = &view.integers;
                let between = |from, to| match self.column.zone() {
                    Zone::Decimals { min, max, .. } if to < min || max < from => {
                        filled(integers.len(), false)
                    }
                    Zone::Decimals { min, max, .. } if from <= min && max <= to => {
                        filled(integers.len(), true)
                    }
                    _ => integers.between(from, to),
                };
                let kind = (logical, view.scale);
                filter_numbers::mantissas(integers.len(), between, kind, function, literal)
            }
            (Values::Numbers(_), _) => None,
            (Values::Strings(strings), literals) => {
                let set =
                    filter_dictionary::compared(strings.entries(self.column)?, function, literals);
                set.map(|set| strings.codes.in_set(&set))
            }
        };
        Ok(matching.map(|matching| self.truths(matching)))
    }

    /// Whether each number is one of a few literals; `None` for more, and for other types.
    fn are_in(&self, logical: Logical, literals: &[&Value]) -> Result<Option<Truths>, BlockError> {
        let Some((first, rest)) = literals.split_first() else { return Ok(None) };
        if literals.len() > COMPARED_MAX {
            return Ok(None);
        }
        let Some(mut all) = self.compared(logical, Function::Equal, &[first])? else {
            return Ok(None);
        };
        for literal in rest {
            let Some(equal) = self.compared(logical, Function::Equal, &[literal])? else {
                return Ok(None);
            };
            Rc::make_mut(&mut all.yes).or(&equal.yes);
            Rc::make_mut(&mut all.possible).or(&equal.possible);
        }
        Ok(Some(all))
    }

    /// Matches the strings with a pattern; `None` for numbers.
    pub(crate) fn matching(&self, pattern: &Pattern) -> Result<Option<Truths>, BlockError> {
        let Values::Strings(strings) = &self.values else { return Ok(None) };
        let set = filter_dictionary::matching(strings.entries(self.column)?, pattern);
        Ok(Some(self.truths(strings.codes.in_set(&set))))
    }

    /// The code of each row's string and the number of entries; `None` for numbers. Codes are
    /// correct at least for the rows `selected`. Rows without a value have the number of entries as
    /// code.
    pub(crate) fn string_codes(
        &self,
        selected: Option<&Bitmap>,
    ) -> Result<Option<(Buffer, usize)>, BlockError> {
        let Values::Strings(strings) = &self.values else { return Ok(None) };
        let codes = self.codes(&strings.codes, strings.count, selected);
        Ok(Some((codes.map_err(|error| self.column.corrupt(error))?, strings.count)))
    }

    /// Converts truth values by stream position to truth values by row.
    fn truths(&self, matching: Bitmap) -> Truths {
        let valid = self.valid.as_deref();
        let by_row = match valid {
            Some(valid) if self.is_compact => matching.spread_over(valid),
            _ => matching,
        };
        Truths::where_valid(by_row, valid)
    }

    /// The rows whose integer is from `from` to `to`; rows without a value are not.
    pub(crate) fn rows_between(&self, integers: &IntsView<'_>, from: i64, to: i64) -> Bitmap {
        let mut matching = integers.between(from, to);
        match self.valid.as_deref() {
            Some(valid) if self.is_compact => matching.spread_over(valid),
            Some(valid) => {
                matching.and(valid);
                matching
            }
            None => matching,
        }
    }

    /// The stream positions of those `rows` that have a value.
    pub(crate) fn stream_positions(&self, rows: &Bitmap) -> Bitmap {
        match &self.valid {
            Some(valid) if self.is_compact => rows.only_of(valid),
            Some(valid) => {
                let mut positions = rows.clone();
                positions.and(valid);
                positions
            }
            None => rows.clone(),
        }
    }

    /// Decodes the values, correct at least for the rows `selected`; `None` if they need 64-bit
    /// integers.
    pub(crate) fn decoded(
        &self,
        logical: Logical,
        selected: Option<&Bitmap>,
    ) -> Result<Option<ColumnValues<'a>>, BlockError> {
        let valid = self.valid.clone();
        let corrupt = |error| self.column.corrupt(error);
        let view = match &self.values {
            Values::Numbers(view) => view,
            Values::Strings(strings) => {
                let codes = self.codes(&strings.codes, strings.count, selected).map_err(corrupt)?;
                let codes = Rc::new(codes);
                let dictionary = Rc::clone(strings.entries(self.column)?);
                let entries = Entries::Strings { dictionary, has_null: valid.is_some() };
                return Ok(Some(ColumnValues::Coded(Coded { codes, entries })));
            }
        };
        let mantissas = if let Some(reference) = view.integers.frame_of_reference() {
            let steps = Rc::new(view.steps(&reference, selected).map_err(corrupt)?);
            let ints::FrameOfReference { from, step, span } = reference;
            MantissaColumn::FrameOfReference(FrameOfReference { from, step, span, steps })
        } else if let Some(CodedNumbers { values, codes }) =
            view.coded(selected).map_err(corrupt)?
        {
            MantissaColumn::Dictionary(DictionaryMantissas {
                codes: Rc::new(codes),
                values: Rc::new(values),
            })
        } else {
            return Ok(None);
        };
        Ok(Some(ColumnValues::Numbers(Numbers { mantissas, scale: view.scale, logical, valid })))
    }

    /// Returns the codes by row; rows without a value get the code after the last entry.
    fn codes(
        &self,
        stream: &IntsView<'_>,
        limit: usize,
        selected: Option<&Bitmap>,
    ) -> Result<Buffer, EncodingError> {
        let null_code = u32::try_from(limit).unwrap_or(u32::MAX);
        let Some(valid) = &self.valid else { return stream.codes_where(limit, selected) };
        if self.is_compact {
            let selected = selected.map(|selected| selected.only_of(valid));
            let present = stream.codes_where(limit, selected.as_ref())?;
            let mut codes = Buffer::of(valid.len());
            kernels::expand_u32(&present, valid.words(), null_code, &mut codes);
            return Ok(codes);
        }
        let mut codes = stream.codes_where(limit, selected)?;
        kernels::mask_u32(&mut codes, valid.words(), null_code);
        Ok(codes)
    }
}

#[cfg(test)]
mod tests;
