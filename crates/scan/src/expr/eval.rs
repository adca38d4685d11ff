//! Expressions over one block: each call in the fastest form that its arguments allow.

use std::rc::Rc;

use hadal_encoding::Bitmap;
use hadal_query::{Function, Pattern, eval_scalar};
use hadal_types::{Logical, Value};

use crate::column::bitmaps::filled;
use crate::column::column_values::{
    BlockValues, ByRow, Coded, Doubles, Entries, Mixed, Numbers, Truths,
};
use crate::column::decimals::{Mantissas, Near};
use crate::column::filter_dictionary;
use crate::column::filter_numbers;
use crate::column::lazy_columns::Columns;
use crate::column::selection::Selection;
use crate::expr::arithmetic;
use crate::expr::plan::PlanExpr;
use crate::expr::time_bucket;
use crate::scan_memory::{Computing, Halt, Room};

/// The values of `expr`, right at least for the rows of `selection`. What they take is counted by the
/// [`Room`] of the columns until it is said to have gone.
///
/// # Errors
/// [`Halt`]: then nothing of what was computed is left, nor counted.
pub(crate) fn eval<'a>(
    expr: &PlanExpr,
    columns: &Columns<'_, 'a>,
    selection: &Selection,
) -> Result<BlockValues<'a>, Halt> {
    let room = columns.room();
    let mark = room.mark();
    let values = match expr {
        PlanExpr::Literal(value) => return Ok(BlockValues::Constant(value.clone())),
        PlanExpr::RowInput(input) => columns.input(input, selection),
        PlanExpr::Matches { pattern, text } => matched(pattern, text, columns, selection),
        PlanExpr::Call { function, arguments } => called(*function, arguments, columns, selection),
    };
    // Arguments are gone by now.
    match values {
        Ok(values) => {
            // What is decoded is counted already.
            let is_decoded = matches!(expr, PlanExpr::RowInput(_))
                && !matches!(values, BlockValues::Rows(_) | BlockValues::Truths(_));
            let bytes = if is_decoded { 0 } else { values.bytes() };
            room.settle(mark, bytes).map(|()| values)
        }
        Err(halt) => {
            room.forget(mark);
            Err(halt)
        }
    }
}

fn matched<'a>(
    pattern: &Pattern,
    text: &PlanExpr,
    columns: &Columns<'_, 'a>,
    selection: &Selection,
) -> Result<BlockValues<'a>, Halt> {
    if let PlanExpr::RowInput(input) = text
        && !columns.room().is_sparing()
        && let Some(truths) = columns.matching(input, pattern)?
    {
        return Ok(BlockValues::Truths(truths));
    }
    let text = eval(text, columns, selection)?;
    matches(pattern, &text, selection, columns.room())
}

fn called<'a>(
    function: Function,
    arguments: &[PlanExpr],
    columns: &Columns<'_, 'a>,
    selection: &Selection,
) -> Result<BlockValues<'a>, Halt> {
    if matches!(function, Function::And | Function::Or) {
        return junction(function, arguments, columns, selection).map(BlockValues::Truths);
    }
    // These are of the whole block.
    if !columns.room().is_sparing() {
        if let Some(truths) = compared(function, arguments, columns)? {
            return Ok(BlockValues::Truths(truths));
        }
        if let Some(buckets) = time_bucket::time_buckets(function, arguments, columns)? {
            return Ok(BlockValues::Numbers(buckets));
        }
    }
    let arguments = arguments
        .iter()
        .map(|argument| eval(argument, columns, selection))
        .collect::<Result<Vec<_>, _>>()?;
    apply(function, &arguments, selection, columns.room())
}

/// A comparison of a column with literals, asked of it as it is stored; `None` where it is better
/// asked of decoded values.
fn compared(
    function: Function,
    arguments: &[PlanExpr],
    columns: &Columns<'_, '_>,
) -> Result<Option<Truths>, Halt> {
    let (input, function, literals) = match (arguments, function.mirrored()) {
        ([PlanExpr::Literal(literal), PlanExpr::RowInput(input)], Some(mirrored)) => {
            (input, mirrored, vec![literal])
        }
        ([PlanExpr::RowInput(input), rest @ ..], known)
            if known.is_some() || function == Function::In =>
        {
            let Some(literals) = rest.iter().map(literal).collect::<Option<Vec<_>>>() else {
                return Ok(None);
            };
            (input, function, literals)
        }
        _ => return Ok(None),
    };
    Ok(columns.compared(input, function, &literals)?)
}

fn literal(expr: &PlanExpr) -> Option<&Value> {
    match expr {
        PlanExpr::Literal(value) => Some(value),
        _ => None,
    }
}

fn matches<'a>(
    pattern: &Pattern,
    text: &BlockValues<'a>,
    selection: &Selection,
    room: &Room<'_>,
) -> Result<BlockValues<'a>, Halt> {
    let matches = |value: &Value| match value {
        Value::String(text) => Value::Bool(pattern.matches(text)),
        _ => Value::Null,
    };
    if let BlockValues::Coded(coded) = text {
        if let Some(truths) = filter_dictionary::matches(coded, pattern) {
            return Ok(BlockValues::Truths(truths));
        }
        return Ok(BlockValues::Coded(coded.map(room, |entry| Ok(matches(&entry)))?));
    }
    by_row(selection, room, |row| Ok(matches(&text.value(row))))
}

fn apply<'a>(
    function: Function,
    arguments: &[BlockValues<'a>],
    selection: &Selection,
    room: &Room<'_>,
) -> Result<BlockValues<'a>, Halt> {
    if !room.is_sparing() {
        if let Some(values) = whole(function, arguments, selection.block_rows()) {
            return Ok(values);
        }
        if let Some(values) = per_entry(function, arguments, room)? {
            return Ok(values);
        }
    }
    by_row(selection, room, |row| {
        let values: Vec<Value> = arguments.iter().map(|values| values.value(row)).collect();
        Ok(eval_scalar(function, &values)?)
    })
}

/// The forms that work on whole columns.
fn whole<'a>(
    function: Function,
    arguments: &[BlockValues<'a>],
    rows: usize,
) -> Option<BlockValues<'a>> {
    match function {
        Function::Not => {
            return match arguments {
                [BlockValues::Truths(truths)] => Some(BlockValues::Truths(truths.negated())),
                _ => None,
            };
        }
        Function::IsNull => return is_null(arguments.first()?, rows).map(BlockValues::Truths),
        Function::Case => {
            let [condition, value] = arguments else { return None };
            return only_where(condition, value, rows);
        }
        Function::Negate => {
            let [BlockValues::Numbers(numbers)] = arguments else { return None };
            return arithmetic::negate(numbers).map(BlockValues::Numbers);
        }
        _ => {}
    }
    let (first, rest) = arguments.split_first()?;
    if let Some(literals) = constants(rest) {
        return with_literals(function, first, &literals);
    }
    match arguments {
        [BlockValues::Constant(literal), BlockValues::Numbers(numbers)] => function
            .mirrored()
            .and_then(|mirrored| filter_numbers::numbers(numbers, mirrored, literal))
            .map(BlockValues::Truths)
            .or_else(|| {
                arithmetic::of_literal(literal, function, numbers).map(BlockValues::Numbers)
            }),
        _ => None,
    }
}

fn constants<'v>(values: &'v [BlockValues<'_>]) -> Option<Vec<&'v Value>> {
    values
        .iter()
        .map(|value| match value {
            BlockValues::Constant(value) => Some(value),
            _ => None,
        })
        .collect()
}

fn with_literals<'a>(
    function: Function,
    values: &BlockValues<'a>,
    literals: &[&Value],
) -> Option<BlockValues<'a>> {
    match (values, literals) {
        (BlockValues::Numbers(numbers), [literal]) => {
            filter_numbers::numbers(numbers, function, literal).map(BlockValues::Truths).or_else(
                || arithmetic::with_literal(numbers, function, literals).map(BlockValues::Numbers),
            )
        }
        (BlockValues::Numbers(numbers), _) => {
            arithmetic::with_literal(numbers, function, literals).map(BlockValues::Numbers)
        }
        (BlockValues::Doubles(doubles), [literal]) => {
            filter_numbers::doubles(doubles, function, literal).map(BlockValues::Truths)
        }
        (BlockValues::Mixed(mixed), [literal]) => {
            filter_numbers::mixed(mixed, function, literal).map(BlockValues::Truths)
        }
        (BlockValues::Coded(coded), literals) if function == Function::In => {
            filter_dictionary::is_in(coded, literals).map(BlockValues::Truths)
        }
        (BlockValues::Coded(coded), [literal]) => {
            filter_dictionary::compare(coded, function, literal).map(BlockValues::Truths)
        }
        _ => None,
    }
}

/// AND or OR: each argument is forgotten before the next one is looked at, however many there are.
fn junction(
    function: Function,
    arguments: &[PlanExpr],
    columns: &Columns<'_, '_>,
    selection: &Selection,
) -> Result<Truths, Halt> {
    let (rows, room) = (columns.rows(), columns.room());
    let is_and = function == Function::And;
    let mut yes = filled(rows, is_and);
    let mut possible = filled(rows, is_and);
    for argument in arguments {
        let mark = room.mark();
        let truths = eval(argument, columns, selection)?.truths(rows);
        room.forget(mark);
        if is_and {
            yes.and(&truths.yes);
            possible.and(&truths.possible);
        } else {
            yes.or(&truths.yes);
            possible.or(&truths.possible);
        }
    }
    Ok(Truths { yes: Rc::new(yes), possible: Rc::new(possible) })
}

/// The value where the condition is true, null elsewhere: what FILTER makes of an argument.
fn only_where<'a>(
    condition: &BlockValues<'_>,
    value: &BlockValues<'a>,
    rows: usize,
) -> Option<BlockValues<'a>> {
    let only = |valid: Option<&Rc<Bitmap>>| {
        let mut yes = (*condition.truths(rows).yes).clone();
        valid.into_iter().for_each(|valid| yes.and(valid));
        Some(Rc::new(yes))
    };
    Some(match value {
        BlockValues::Constant(Value::Number(number)) => {
            let (from, scale) = number.to_stored()?;
            let (mantissas, logical) = (Mantissas::Near(Near::same(from, rows)), Logical::Plain);
            BlockValues::Numbers(Numbers { mantissas, scale, logical, valid: only(None) })
        }
        BlockValues::Numbers(numbers) => {
            let valid = only(numbers.valid.as_ref());
            BlockValues::Numbers(Numbers { valid, ..numbers.clone() })
        }
        BlockValues::Doubles(doubles) => {
            let valid = only(doubles.valid.as_ref());
            BlockValues::Doubles(Doubles { valid, ..doubles.clone() })
        }
        _ => return None,
    })
}

fn is_null(values: &BlockValues<'_>, rows: usize) -> Option<Truths> {
    let without = |valid: Option<&Rc<Bitmap>>| {
        let mut null = valid.map_or_else(|| filled(rows, true), |valid| (**valid).clone());
        null.not();
        Some(Truths::certain(null))
    };
    match values {
        BlockValues::Numbers(numbers) => without(numbers.valid.as_ref()),
        BlockValues::Doubles(doubles) | BlockValues::Mixed(Mixed { doubles, .. }) => {
            without(doubles.valid.as_ref())
        }
        _ => None,
    }
}

/// Where all arguments but one are constant, and that one has codes: once per code.
fn per_entry<'a>(
    function: Function,
    arguments: &[BlockValues<'a>],
    room: &Room<'_>,
) -> Result<Option<BlockValues<'a>>, Halt> {
    let mut coded = None;
    for (index, argument) in arguments.iter().enumerate() {
        match argument {
            BlockValues::Constant(_) => {}
            BlockValues::Coded(values) if coded.is_none() => coded = Some((index, values)),
            _ => return Ok(None),
        }
    }
    let Some((index, coded)) = coded else { return Ok(None) };
    let mut values: Vec<Value> = arguments
        .iter()
        .map(|argument| match argument {
            BlockValues::Constant(value) => value.clone(),
            _ => Value::Null,
        })
        .collect();
    let mapped = coded.map(room, |entry| {
        values[index] = entry;
        Ok(eval_scalar(function, &values)?)
    });
    Ok(Some(BlockValues::Coded(mapped?)))
}

impl<'a> Coded<'a> {
    /// The same codes with another value for each.
    fn map(
        &self,
        room: &Room<'_>,
        mut function: impl FnMut(Value) -> Result<Value, Halt>,
    ) -> Result<Coded<'a>, Halt> {
        let mut computing = Computing::new(room, self.entries.len())?;
        let mut entries = Vec::with_capacity(self.entries.len());
        for code in 0..self.entries.len() {
            let value = function(self.entries.value(code))?;
            computing.add(&value)?;
            entries.push(value);
        }
        let codes = Rc::clone(&self.codes);
        Ok(Coded { codes, entries: Entries::Values(Rc::new(entries)) })
    }
}

/// A value for each of the selected rows.
pub(crate) fn by_row<'a>(
    selection: &Selection,
    room: &Room<'_>,
    value: impl Fn(usize) -> Result<Value, Halt>,
) -> Result<BlockValues<'a>, Halt> {
    let rows = selection.span();
    let mut computing = Computing::new(room, rows.len())?;
    let mut values = vec![Value::Null; rows.len()];
    selection.try_for_each(|row| {
        let value = value(row)?;
        computing.add(&value)?;
        values[row - rows.start] = value;
        Ok::<(), Halt>(())
    })?;
    Ok(BlockValues::Rows(Rc::new(ByRow { first: rows.start, values })))
}
