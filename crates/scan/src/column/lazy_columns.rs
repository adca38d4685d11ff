//! The columns of one block, decoded on first use and then kept.

use std::cell::RefCell;
use std::rc::Rc;

use hadal_block::{BlockError, BlockView, ColumnData, ColumnView, StringsView, Values as Decoded};
use hadal_encoding::{Bitmap, Buffer, kernels};
use hadal_query::{ColumnRef, Function, Pattern, RowInput};
use hadal_types::{Kind, Logical, Value};
use hashbrown::HashMap;

use crate::column::bitmaps::filled;
use crate::column::column_values::by_row;
use crate::column::column_values::{Coded, ColumnValues, Doubles, Entries, Mixed, Numbers, Truths};
use crate::column::decimals::MantissaColumn;
use crate::column::encoded_filter::EncodedColumn;
use crate::column::interner::BlockContext;
use crate::column::lists::Lists;
use crate::column::random;
use crate::column::selection::Selection;
use crate::column::text_search;
use crate::scan_memory::{Interrupt, ScanMemory};

/// One block, and the columns decoded so far.
pub(crate) struct LazyColumns<'a, 'c> {
    block: &'c BlockView<'a>,
    context: &'c dyn BlockContext<'a>,
    memory: &'c ScanMemory<'c>,
    stored: RefCell<HashMap<usize, Option<Rc<EncodedColumn<'c>>>>>,
    decoded: RefCell<HashMap<usize, ColumnValues<'c>>>,
    /// The rows that values are needed for; `None`: unknown, hence all.
    needed: RefCell<Option<Selection>>,
    /// The columns that were used.
    read: RefCell<Vec<usize>>,
}

impl<'a, 'c> LazyColumns<'a, 'c> {
    /// Columns of `block`, held by `context`. Memory for decoded values is drawn from `memory`.
    pub(crate) fn new(
        block: &'c BlockView<'a>,
        context: &'c dyn BlockContext<'a>,
        memory: &'c ScanMemory<'c>,
    ) -> Self {
        Self {
            block,
            context,
            memory,
            stored: RefCell::default(),
            decoded: RefCell::default(),
            needed: RefCell::default(),
            read: RefCell::default(),
        }
    }

    /// Restricts decoding to `rows` from now on. They must be among the rows before, unless decoded
    /// values were [dropped](Self::drop_decoded).
    pub(crate) fn want(&self, rows: &Selection) {
        *self.needed.borrow_mut() = Some(rows.clone());
    }

    /// The memory that values are drawn from.
    pub(crate) fn memory(&self) -> &'c ScanMemory<'c> {
        self.memory
    }

    /// Drops all decoded columns; each is decoded again on its next use.
    pub(crate) fn drop_decoded(&self) {
        self.stored.borrow_mut().clear();
        self.decoded.borrow_mut().clear();
        self.memory.drop_decoded();
    }

    /// The number of rows of the block.
    pub(crate) fn rows(&self) -> usize {
        self.block.rows()
    }

    /// The encoded bytes of the columns that were used.
    pub(crate) fn bytes_read(&self) -> u64 {
        let read = self.read.borrow();
        read.iter().map(|&index| self.view(index).encoded_bytes() as u64).sum()
    }

    /// Returns the values of an input, correct at least for the rows of `selection`.
    pub(crate) fn input(
        &self,
        input: &RowInput,
        selection: &Selection,
    ) -> Result<ColumnValues<'c>, Interrupt> {
        match input {
            RowInput::Time => self.part(self.time_index()),
            RowInput::Column(column) => self.column(column, selection),
            RowInput::AnyText(text) => self.any_text(text),
            RowInput::Random(seed) if self.memory.is_splitting() => {
                let value = random::values(self.block, *seed);
                by_row(selection, self.memory, |row| Ok(value(row)))
            }
            RowInput::Random(seed) => Ok(ColumnValues::Numbers(random::numbers(self.block, *seed))),
        }
    }

    fn time_index(&self) -> usize {
        let time = self.block.time_column();
        let is_time =
            |column: &ColumnView<'a>| column.kind() == time.kind() && column.name() == time.name();
        self.block.columns().iter().position(is_time).unwrap_or_default()
    }

    fn column(
        &self,
        column: &ColumnRef,
        selection: &Selection,
    ) -> Result<ColumnValues<'c>, Interrupt> {
        let index = self.find(column.name.as_str(), column.kind);
        if column.kind != Kind::String {
            return index.map_or(Ok(ColumnValues::Constant(Value::Null)), |index| {
                Ok(with_logical(self.part(index)?, column.logical))
            });
        }
        // A string column also shows numbers, as their decimal text.
        match (index, self.find(column.name.as_str(), Kind::Number)) {
            (Some(strings), None) => self.part(strings),
            (None, None) => Ok(ColumnValues::Constant(Value::Null)),
            (strings, Some(numbers)) => {
                let numbers = self.part(numbers)?;
                let strings = strings.map(|strings| self.part(strings)).transpose()?;
                by_row(selection, self.memory, |row| {
                    let text = strings.as_ref().map_or(Value::Null, |strings| strings.value(row));
                    Ok(if text.is_null() { text_of(&numbers.value(row)) } else { text })
                })
            }
        }
    }

    /// The index of the block's column of this name and kind.
    pub(crate) fn find(&self, name: &str, kind: Kind) -> Option<usize> {
        let key = |column: &ColumnView<'a>| {
            column.name().as_str().cmp(name).then(column.kind().cmp(&kind))
        };
        self.block.columns().binary_search_by(key).ok()
    }

    /// The block's column of this index.
    pub(crate) fn view(&self, index: usize) -> &'c ColumnView<'a> {
        &self.block.columns()[index]
    }

    /// Verifies a column before its bytes are used, and counts the column as read.
    pub(crate) fn read(&self, index: usize) -> Result<(), BlockError> {
        let column = self.view(index);
        self.context.check(index, column)?;
        let mut read = self.read.borrow_mut();
        if !read.contains(&index) {
            read.push(index);
        }
        Ok(())
    }

    /// Returns the encoded column; `None` if its encoding can only be decoded.
    pub(crate) fn stored(&self, index: usize) -> Result<Option<Rc<EncodedColumn<'c>>>, BlockError> {
        if let Some(stored) = self.stored.borrow().get(&index) {
            return Ok(stored.clone());
        }
        self.read(index)?;
        let stored = EncodedColumn::new(self.view(index))?.map(Rc::new);
        self.stored.borrow_mut().insert(index, stored.clone());
        Ok(stored)
    }

    /// Decodes the column, or returns the values decoded before.
    pub(crate) fn part(&self, index: usize) -> Result<ColumnValues<'c>, Interrupt> {
        if let Some(values) = self.decoded.borrow().get(&index) {
            return Ok(values.clone());
        }
        let column = self.view(index);
        let needed = self.needed.borrow();
        let chosen = needed.as_ref().and_then(Selection::chosen);
        if let Some(stored) = self.stored(index)?
            && let Some(values) = stored.decoded(logical_of(column), chosen)?
        {
            return self.keep(index, values);
        }
        let is_needed = |rows| needed.as_ref().is_none_or(|needed| needed.has_any(rows));
        self.keep(index, block_values(column.decode_where(&is_needed)?))
    }

    fn keep(&self, index: usize, values: ColumnValues<'c>) -> Result<ColumnValues<'c>, Interrupt> {
        self.memory.keep(values.decoded_bytes())?;
        self.decoded.borrow_mut().insert(index, values.clone());
        Ok(values)
    }

    /// Returns an input's strings as codes of interned ids. `None` if the block's holder has no
    /// ids, or the strings were decoded before.
    pub(crate) fn interned(&self, input: &RowInput) -> Result<Option<Coded<'c>>, BlockError> {
        let Some((index, _)) = self.only_part(input) else { return Ok(None) };
        let column = self.view(index);
        if column.kind() != Kind::String {
            return Ok(None);
        }
        self.read(index)?;
        let Some(interned) = self.context.interned(index, column) else { return Ok(None) };
        let needed = self.needed.borrow();
        let chosen = needed.as_ref().and_then(Selection::chosen);
        let Some(stored) = self.stored(index)? else { return Ok(None) };
        let Some((codes, count)) = stored.string_codes(chosen)? else { return Ok(None) };
        let has_null = stored.valid().is_some();
        let entries = Entries::InternedIds { interned, has_null };
        let fits = entries.len() == count + usize::from(has_null);
        Ok(fits.then(|| Coded { codes: Rc::new(codes), entries }))
    }

    /// Returns an input's strings as templates and numbers, with one code per row; `None` if they
    /// are not stored so.
    pub(crate) fn lifted(&self, input: &RowInput) -> Result<Option<Coded<'c>>, BlockError> {
        let Some((index, _)) = self.only_part(input) else { return Ok(None) };
        let column = self.view(index);
        if !column.holds_texts() {
            return Ok(None);
        }
        self.read(index)?;
        let Some(StringsView::Templates(view)) = column.strings()? else { return Ok(None) };
        let lifted = view.into_lifted().map_err(|error| column.corrupt(error))?;
        let Some(texts) = lifted else { return Ok(None) };
        let valid = column.validity()?;
        let codes: Vec<u32> = (0..).take(texts.len()).collect();
        let codes = match &valid {
            Some(valid) if column.is_compact() => {
                let null_code = u32::try_from(texts.len()).unwrap_or(u32::MAX);
                let mut spread = Buffer::of(self.rows());
                kernels::expand_u32(&codes, valid.words(), null_code, &mut spread);
                spread
            }
            valid => with_null_code(codes, texts.len(), valid.as_ref()),
        };
        let entries = Entries::Lifted { texts: Rc::new(texts), has_null: valid.is_some() };
        Ok(Some(Coded { codes: Rc::new(codes), entries }))
    }

    /// The encoded column of an input, and its numbers' meaning in the query; `None` if decoded
    /// values must be used.
    pub(crate) fn stored_part(
        &self,
        input: &RowInput,
    ) -> Result<Option<(Rc<EncodedColumn<'c>>, Logical)>, BlockError> {
        let Some((index, logical)) = self.only_part(input) else { return Ok(None) };
        Ok(self.stored(index)?.map(|stored| (stored, logical)))
    }

    /// Compares an input with literals; `None` if decoded values must be used.
    pub(crate) fn compared(
        &self,
        input: &RowInput,
        function: Function,
        literals: &[&Value],
    ) -> Result<Option<Truths>, BlockError> {
        let Some((stored, logical)) = self.stored_part(input)? else { return Ok(None) };
        stored.compared(logical, function, literals)
    }

    /// Matches each row's text of an input; `None` if decoded values must be used.
    pub(crate) fn matching(
        &self,
        input: &RowInput,
        pattern: &Pattern,
    ) -> Result<Option<Truths>, BlockError> {
        let Some((index, _)) = self.only_part(input) else { return Ok(None) };
        let column = self.view(index);
        if column.holds_texts() {
            self.read(index)?;
            return text_search::matches(column, pattern);
        }
        self.stored(index)?.map_or(Ok(None), |stored| stored.matching(pattern))
    }

    /// The index of an input's only column, and its numbers' meaning in the query. `None` if the
    /// column was decoded before, or there is more than one.
    fn only_part(&self, input: &RowInput) -> Option<(usize, Logical)> {
        let (index, logical) = match input {
            RowInput::Time => (self.time_index(), Logical::Time),
            RowInput::Column(column) => {
                let name = column.name.as_str();
                // A string column also shows numbers.
                let is_mixed =
                    column.kind == Kind::String && self.find(name, Kind::Number).is_some();
                (self.find(name, column.kind).filter(|_| !is_mixed)?, column.logical)
            }
            RowInput::AnyText(_) | RowInput::Random(_) => return None,
        };
        (!self.decoded.borrow().contains_key(&index)).then_some((index, logical))
    }

    /// Whether any string of each row contains `text`, ignoring case.
    fn any_text(&self, text: &str) -> Result<ColumnValues<'c>, Interrupt> {
        let mut matching = filled(self.rows(), false);
        for (index, column) in self.block.columns().iter().enumerate() {
            if column.kind() == Kind::Number {
                continue;
            }
            if let ColumnValues::Coded(coded) = self.part(index)? {
                let by_code = coded.entries.containing(text);
                matching.or(&coded.truths_by_code(&by_code, &by_code).yes);
            }
        }
        Ok(ColumnValues::Truths(Truths::certain(matching)))
    }

    /// The number of selected rows that have a value in the column.
    pub(crate) fn count_values(
        &self,
        index: usize,
        selection: &Selection,
    ) -> Result<u64, BlockError> {
        let column = &self.block.columns()[index];
        let mut count = 0;
        if selection.count() == self.rows() {
            return Ok((self.rows() - column.null_count()) as u64);
        }
        if selection.count() > 0 {
            self.context.check(index, column)?;
            let validity = column.validity()?;
            let has = |row| validity.as_ref().is_none_or(|validity| validity.get(row));
            selection.for_each(|row| count += u64::from(has(row)));
        }
        Ok(count)
    }
}

fn logical_of(column: &ColumnView<'_>) -> Logical {
    if column.logical() == Logical::Time { Logical::Time } else { Logical::Plain }
}

fn block_values(data: ColumnData<'_>) -> ColumnValues<'_> {
    let (kind, logical) = (data.kind, data.logical);
    let valid = data.validity.map(Rc::new);
    match data.values {
        Decoded::Decimals { mantissas, scale } => ColumnValues::Numbers(Numbers {
            mantissas: MantissaColumn::new(mantissas),
            scale,
            logical: if logical == Logical::Time { logical } else { Logical::Plain },
            valid,
        }),
        Decoded::Doubles(values) => {
            ColumnValues::Doubles(Doubles { values: Rc::new(values), valid })
        }
        Decoded::Mixed { doubles, exacts } => ColumnValues::Mixed(Mixed {
            doubles: Doubles { values: Rc::new(doubles), valid },
            exacts: Rc::new(exacts),
        }),
        Decoded::Strings { codes, dictionary } => ColumnValues::Coded(Coded {
            codes: Rc::new(with_null_code(codes, dictionary.len(), valid.as_deref())),
            entries: Entries::Strings {
                dictionary: Rc::new(dictionary),
                has_null: valid.is_some(),
            },
        }),
        Decoded::Lists { codes, lists } => {
            let codes = Rc::new(with_null_code(codes, lists.len(), valid.as_deref()));
            let entries = Entries::Lists(Rc::new(Lists::new(lists, kind, valid.is_some())));
            ColumnValues::Coded(Coded { codes, entries })
        }
    }
}

/// Gives rows without a value the code after the last.
fn with_null_code(mut codes: Vec<u32>, null_code: usize, valid: Option<&Bitmap>) -> Buffer {
    if let Some(valid) = valid {
        let null_code = u32::try_from(null_code).unwrap_or(u32::MAX);
        kernels::mask_u32(&mut codes, valid.words(), null_code);
    }
    codes.into()
}

/// Applies the meaning that the root gives the column's numbers, which may be weaker than the
/// block's.
fn with_logical(values: ColumnValues<'_>, logical: Logical) -> ColumnValues<'_> {
    match (values, logical) {
        (ColumnValues::Numbers(numbers), Logical::Bool) => {
            let mut yes = numbers.mantissas.between(0, 0);
            yes.not();
            ColumnValues::Truths(Truths::where_valid(yes, numbers.valid.as_deref()))
        }
        (ColumnValues::Numbers(numbers), _) => {
            ColumnValues::Numbers(Numbers { logical, ..numbers })
        }
        (other, _) => other,
    }
}

fn text_of(number: &Value) -> Value {
    match number {
        Value::Null => Value::Null,
        number => Value::string(&number.to_string()),
    }
}
