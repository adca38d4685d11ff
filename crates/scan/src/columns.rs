//! The columns of one block, decoded when first asked for and then kept.

use std::cell::RefCell;
use std::rc::Rc;

use hadal_block::{
    BlockError, BlockView, CodedNumbers, ColumnData, ColumnView, NearNumbers, Values as Decoded,
};
use hadal_encoding::{Bitmap, ints, kernels};
use hadal_query::{ColumnRef, Input, Pattern};
use hadal_types::{Kind, Logical, Value};
use hashbrown::HashMap;

use crate::bits::filled;
use crate::lists::Lists;
use crate::mantissas::{ByCode, Mantissas, Near};
use crate::selection::Selection;
use crate::texts;
use crate::values::{BlockValues, Coded, Doubles, Entries, Mixed, Numbers, Truths};

/// One block, and what has been decoded of it so far.
pub(crate) struct Columns<'a, 'c> {
    block: &'c BlockView<'a>,
    check: &'c dyn Fn(usize, &ColumnView<'a>) -> Result<(), BlockError>,
    decoded: RefCell<HashMap<usize, BlockValues<'a>>>,
    /// The rows that are asked for, when they are known to be few.
    wanted: RefCell<Option<Selection>>,
    bytes_read: RefCell<u64>,
}

impl<'a, 'c> Columns<'a, 'c> {
    /// The columns of `block`; `check` is called with each column and its index before a value
    /// of it is used.
    pub(crate) fn new(
        block: &'c BlockView<'a>,
        check: &'c dyn Fn(usize, &ColumnView<'a>) -> Result<(), BlockError>,
    ) -> Self {
        Self {
            block,
            check,
            decoded: RefCell::default(),
            wanted: RefCell::default(),
            bytes_read: RefCell::default(),
        }
    }

    /// Says that from now on values are asked of these rows only.
    pub(crate) fn want(&self, rows: &Selection) {
        *self.wanted.borrow_mut() = Some(rows.clone());
    }

    /// Rows in the block.
    pub(crate) fn rows(&self) -> usize {
        self.block.rows()
    }

    /// Encoded bytes of the columns that were decoded.
    pub(crate) fn bytes_read(&self) -> u64 {
        *self.bytes_read.borrow()
    }

    /// The values of an input, by row.
    pub(crate) fn input(&self, input: &Input) -> Result<BlockValues<'a>, BlockError> {
        match input {
            Input::Time => self.part(self.time_index()),
            Input::Column(column) => self.column(column),
            Input::AnyText(text) => self.any_text(text),
        }
    }

    fn time_index(&self) -> usize {
        let time = self.block.time_column();
        let is_time =
            |column: &ColumnView<'a>| column.kind() == time.kind() && column.name() == time.name();
        self.block.columns().iter().position(is_time).unwrap_or_default()
    }

    fn column(&self, column: &ColumnRef) -> Result<BlockValues<'a>, BlockError> {
        let own = self.find(column.name.as_str(), column.kind);
        if column.kind != Kind::String {
            return own.map_or(Ok(BlockValues::Constant(Value::Null)), |index| {
                Ok(with_logical(self.part(index)?, column.logical))
            });
        }
        // A string question sees numbers too, as their decimal text.
        match (own, self.find(column.name.as_str(), Kind::Number)) {
            (Some(strings), None) => self.part(strings),
            (None, None) => Ok(BlockValues::Constant(Value::Null)),
            (strings, Some(numbers)) => {
                let texts = as_texts(&self.part(numbers)?, self.rows());
                let Some(strings) = strings else { return Ok(texts) };
                Ok(first_of(&self.part(strings)?, &texts, self.rows()))
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
    pub(crate) fn view(&self, index: usize) -> &ColumnView<'a> {
        &self.block.columns()[index]
    }

    /// Says that a column's bytes are about to be used as they are.
    pub(crate) fn read(&self, index: usize) -> Result<(), BlockError> {
        let column = self.view(index);
        (self.check)(index, column)?;
        *self.bytes_read.borrow_mut() += column.encoded_bytes() as u64;
        Ok(())
    }

    /// Decodes the block's column of this index.
    pub(crate) fn part(&self, index: usize) -> Result<BlockValues<'a>, BlockError> {
        if let Some(values) = self.decoded.borrow().get(&index) {
            return Ok(values.clone());
        }
        let column = &self.block.columns()[index];
        (self.check)(index, column)?;
        if let Some(numbers) = near_numbers(column)? {
            return Ok(self.keep(index, BlockValues::Numbers(numbers)));
        }
        let wanted = self.wanted.borrow();
        let is_wanted = |rows| wanted.as_ref().is_none_or(|wanted| wanted.has_any(rows));
        Ok(self.keep(index, block_values(column.decode_where(&is_wanted)?)))
    }

    fn keep(&self, index: usize, values: BlockValues<'a>) -> BlockValues<'a> {
        *self.bytes_read.borrow_mut() += self.block.columns()[index].encoded_bytes() as u64;
        self.decoded.borrow_mut().insert(index, values.clone());
        values
    }

    /// Whether each row's text of an input matches; `None` where that is better asked of its values.
    pub(crate) fn texts_matching(
        &self,
        input: &Input,
        pattern: &Pattern,
    ) -> Result<Option<Truths>, BlockError> {
        let Input::Column(asked) = input else { return Ok(None) };
        let name = asked.name.as_str();
        if asked.kind != Kind::String || self.find(name, Kind::Number).is_some() {
            return Ok(None);
        }
        let Some(index) = self.find(name, Kind::String) else { return Ok(None) };
        if self.decoded.borrow().contains_key(&index) {
            return Ok(None);
        }
        let column = self.view(index);
        if !column.holds_texts() {
            return Ok(None);
        }
        self.read(index)?;
        texts::matches(column, pattern)
    }

    /// Whether any string of each row contains `text`, upper and lower case being the same.
    fn any_text(&self, text: &str) -> Result<BlockValues<'a>, BlockError> {
        let mut found = filled(self.rows(), false);
        for (index, column) in self.block.columns().iter().enumerate() {
            if column.kind() == Kind::Number {
                continue;
            }
            if let BlockValues::Coded(coded) = self.part(index)? {
                let by_code = coded.entries.containing(text);
                found.or(&coded.truths_by_code(&by_code, &by_code).yes);
            }
        }
        Ok(BlockValues::Truths(Truths::certain(found)))
    }

    /// How many of the selected rows have a value in the block's column of this index.
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
            (self.check)(index, column)?;
            let validity = column.validity()?;
            let has = |row| validity.as_ref().is_none_or(|validity| validity.get(row));
            selection.for_each(|row| count += u64::from(has(row)));
        }
        Ok(count)
    }
}

/// The numbers of a column where they lie close together or repeat, without a detour over wide ones.
fn near_numbers(column: &ColumnView<'_>) -> Result<Option<Numbers>, BlockError> {
    let Some(numbers) = column.near_numbers()? else { return numbers_by_code(column) };
    let NearNumbers { scale, near: ints::Near { from, step, span }, steps, validity } = numbers;
    let logical = logical_of(column);
    let mantissas = Mantissas::Near(Near { from, step, span, steps: Rc::new(steps) });
    Ok(Some(Numbers { mantissas, scale, logical, valid: validity.map(Rc::new) }))
}

/// Numbers that repeat and lie far apart.
fn numbers_by_code(column: &ColumnView<'_>) -> Result<Option<Numbers>, BlockError> {
    let Some(numbers) = column.coded_numbers()? else { return Ok(None) };
    let CodedNumbers { scale, values, codes, validity } = numbers;
    let coded = ByCode { codes: Rc::new(codes), values: Rc::new(values) };
    Ok(Some(Numbers {
        mantissas: Mantissas::ByCode(coded),
        scale,
        logical: logical_of(column),
        valid: validity.map(Rc::new),
    }))
}

fn logical_of(column: &ColumnView<'_>) -> Logical {
    if column.logical() == Logical::Time { Logical::Time } else { Logical::Plain }
}

fn block_values(data: ColumnData<'_>) -> BlockValues<'_> {
    let (kind, logical) = (data.kind, data.logical);
    let valid = data.validity.map(Rc::new);
    match data.values {
        Decoded::Decimals { mantissas, scale } => BlockValues::Numbers(Numbers {
            mantissas: Mantissas::new(mantissas),
            scale,
            logical: if logical == Logical::Time { logical } else { Logical::Plain },
            valid,
        }),
        Decoded::Doubles(values) => {
            BlockValues::Doubles(Doubles { values: Rc::new(values), valid })
        }
        Decoded::Mixed { doubles, exacts } => BlockValues::Mixed(Mixed {
            doubles: Doubles { values: Rc::new(doubles), valid },
            exacts: Rc::new(exacts),
        }),
        Decoded::Strings { codes, dictionary } => BlockValues::Coded(Coded {
            codes: Rc::new(with_null_code(codes, dictionary.len(), valid.as_deref())),
            entries: Entries::Strings {
                dictionary: Rc::new(dictionary),
                has_null: valid.is_some(),
            },
        }),
        Decoded::Lists { codes, lists } => {
            let codes = Rc::new(with_null_code(codes, lists.len(), valid.as_deref()));
            let entries = Entries::Lists(Rc::new(Lists::new(lists, kind, valid.is_some())));
            BlockValues::Coded(Coded { codes, entries })
        }
    }
}

/// Rows without a value get the code after the last.
fn with_null_code(mut codes: Vec<u32>, null_code: usize, valid: Option<&Bitmap>) -> Vec<u32> {
    if let Some(valid) = valid {
        let null_code = u32::try_from(null_code).unwrap_or(u32::MAX);
        kernels::keep_u32(&mut codes, valid.words(), null_code);
    }
    codes
}

/// What the root says that numbers of this column mean, which may be less than what this block
/// says.
fn with_logical(values: BlockValues<'_>, logical: Logical) -> BlockValues<'_> {
    match (values, logical) {
        (BlockValues::Numbers(numbers), Logical::Bool) => {
            let mut yes = numbers.mantissas.between(0, 0);
            yes.not();
            BlockValues::Truths(Truths::where_valid(yes, numbers.valid.as_deref()))
        }
        (BlockValues::Numbers(numbers), _) => BlockValues::Numbers(Numbers { logical, ..numbers }),
        (other, _) => other,
    }
}

fn as_texts<'a>(values: &BlockValues<'a>, rows: usize) -> BlockValues<'a> {
    let text = |row| match values.value(row) {
        Value::Null => Value::Null,
        value => Value::string(&value.to_string()),
    };
    BlockValues::Rows(Rc::new((0..rows).map(text).collect()))
}

fn first_of<'a>(left: &BlockValues<'a>, right: &BlockValues<'a>, rows: usize) -> BlockValues<'a> {
    let first = |row| match left.value(row) {
        Value::Null => right.value(row),
        value => value,
    };
    BlockValues::Rows(Rc::new((0..rows).map(first).collect()))
}
