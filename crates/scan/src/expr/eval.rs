//! Evaluates expressions over one block: each call in the fastest form that its arguments allow.

use std::rc::Rc;

use hadal_query::{
    EvalError, Function, Pattern, Regexp, RowInput, ScalarUdf, call_udf, eval_scalar,
};
use hadal_types::Value;

use crate::column::bitmaps::filled;
use crate::column::column_values::{Coded, ColumnValues, Entries, Truths, by_row};
use crate::column::filter_dictionary;
use crate::column::lazy_columns::LazyColumns;
use crate::column::selection::Selection;
use crate::expr::plan::PreparedExpr;
use crate::expr::time_bucket;
use crate::expr::user_call;
use crate::expr::whole_columns;
use crate::scan_memory::{ComputedBytes, Interrupt, ScanMemory};

/// Evaluates `expr`; values are correct at least for the rows of `selection`. Their memory is
/// counted by the [`ScanMemory`] of the columns until the caller releases it.
///
/// # Errors
/// [`Interrupt`]: no computed value remains, nor is one counted.
pub(crate) fn eval<'a>(
    expr: &PreparedExpr,
    columns: &LazyColumns<'_, 'a>,
    selection: &Selection,
) -> Result<ColumnValues<'a>, Interrupt> {
    let memory = columns.memory();
    let mark = memory.mark();
    let values = match expr {
        PreparedExpr::Literal(value) => return Ok(ColumnValues::Constant(value.clone())),
        PreparedExpr::Leaf(input) => columns.input(input, selection),
        PreparedExpr::Matches { pattern, text } => matched(pattern, text, columns, selection),
        PreparedExpr::Regexp { regexp, text } => changed(regexp, text, columns, selection),
        PreparedExpr::Call { function, arguments } => {
            called(*function, arguments, columns, selection)
        }
        PreparedExpr::UserCall { function, arguments } => {
            user_called(&**function, arguments, columns, selection)
        }
    };
    // The arguments have been dropped by now.
    match values {
        Ok(values) => {
            // Decoded columns are counted already.
            let is_column = |input: &RowInput| !matches!(input, RowInput::Random(_));
            let is_decoded = matches!(expr, PreparedExpr::Leaf(input) if is_column(input))
                && !matches!(values, ColumnValues::Rows(_) | ColumnValues::Truths(_));
            let bytes = if is_decoded { 0 } else { values.bytes() };
            memory.replace_computed(mark, bytes).map(|()| values)
        }
        Err(interrupt) => {
            memory.forget(mark);
            Err(interrupt)
        }
    }
}

fn matched<'a>(
    pattern: &Pattern,
    text: &PreparedExpr,
    columns: &LazyColumns<'_, 'a>,
    selection: &Selection,
) -> Result<ColumnValues<'a>, Interrupt> {
    if let PreparedExpr::Leaf(input) = text
        && !columns.memory().is_splitting()
        && let Some(truths) = columns.matching(input, pattern)?
    {
        return Ok(ColumnValues::Truths(truths));
    }
    let text = eval(text, columns, selection)?;
    matches(pattern, &text, selection, columns.memory())
}

/// Applies a regular expression to strings: once per dictionary entry if they have codes.
fn changed<'a>(
    regexp: &Regexp,
    text: &PreparedExpr,
    columns: &LazyColumns<'_, 'a>,
    selection: &Selection,
) -> Result<ColumnValues<'a>, Interrupt> {
    let memory = columns.memory();
    let text = eval(text, columns, selection)?;
    match &text {
        ColumnValues::Coded(coded) if !memory.is_splitting() => {
            Ok(ColumnValues::Coded(coded.map(memory, |entry| Ok(regexp.eval(&entry)?))?))
        }
        _ => by_row(selection, memory, |row| Ok(regexp.eval(&text.value(row))?)),
    }
}

fn called<'a>(
    function: Function,
    arguments: &[PreparedExpr],
    columns: &LazyColumns<'_, 'a>,
    selection: &Selection,
) -> Result<ColumnValues<'a>, Interrupt> {
    if matches!(function, Function::And | Function::Or) {
        return junction(function, arguments, columns, selection).map(ColumnValues::Truths);
    }
    // These forms evaluate the whole block.
    if !columns.memory().is_splitting() {
        if let Some(truths) = compared(function, arguments, columns)? {
            return Ok(ColumnValues::Truths(truths));
        }
        if let Some(buckets) = time_bucket::time_buckets(function, arguments, columns)? {
            return Ok(ColumnValues::Numbers(buckets));
        }
    }
    let arguments = arguments
        .iter()
        .map(|argument| eval(argument, columns, selection))
        .collect::<Result<Vec<_>, _>>()?;
    apply(function, &arguments, selection, columns.memory())
}

/// Calls a user function: over columns if it has a definition, else once per dictionary entry if
/// only one argument varies, else row by row.
fn user_called<'a>(
    function: &dyn ScalarUdf,
    arguments: &[PreparedExpr],
    columns: &LazyColumns<'_, 'a>,
    selection: &Selection,
) -> Result<ColumnValues<'a>, Interrupt> {
    let memory = columns.memory();
    let arguments = arguments
        .iter()
        .map(|argument| eval(argument, columns, selection))
        .collect::<Result<Vec<_>, _>>()?;
    if let Some(definition) = function.definition() {
        return user_call::call_columns(function, definition, &arguments, selection, memory);
    }
    let call = |values: &[Value]| call_udf(function, values);
    if !memory.is_splitting()
        && let Some(values) = per_entry(&call, &arguments, memory)?
    {
        return Ok(values);
    }
    per_row(&call, &arguments, selection, memory)
}

/// Compares an encoded column with literals; `None` if decoded values must be used.
fn compared(
    function: Function,
    arguments: &[PreparedExpr],
    columns: &LazyColumns<'_, '_>,
) -> Result<Option<Truths>, Interrupt> {
    let (input, function, literals) = match (arguments, function.mirrored()) {
        ([PreparedExpr::Literal(literal), PreparedExpr::Leaf(input)], Some(mirrored)) => {
            (input, mirrored, vec![literal])
        }
        ([PreparedExpr::Leaf(input), rest @ ..], mirrored)
            if mirrored.is_some() || function == Function::In =>
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

fn literal(expr: &PreparedExpr) -> Option<&Value> {
    match expr {
        PreparedExpr::Literal(value) => Some(value),
        _ => None,
    }
}

fn matches<'a>(
    pattern: &Pattern,
    text: &ColumnValues<'a>,
    selection: &Selection,
    memory: &ScanMemory<'_>,
) -> Result<ColumnValues<'a>, Interrupt> {
    let matches = |value: &Value| match value {
        Value::String(text) => Value::Bool(pattern.matches(text)),
        _ => Value::Null,
    };
    if let ColumnValues::Coded(coded) = text {
        if let Some(truths) = filter_dictionary::matches(coded, pattern) {
            return Ok(ColumnValues::Truths(truths));
        }
        return Ok(ColumnValues::Coded(coded.map(memory, |entry| Ok(matches(&entry)))?));
    }
    by_row(selection, memory, |row| Ok(matches(&text.value(row))))
}

fn apply<'a>(
    function: Function,
    arguments: &[ColumnValues<'a>],
    selection: &Selection,
    memory: &ScanMemory<'_>,
) -> Result<ColumnValues<'a>, Interrupt> {
    let call = |values: &[Value]| Ok(eval_scalar(function, values)?);
    if !memory.is_splitting() {
        if let Some(values) = whole_columns::eval(function, arguments, selection.block_rows()) {
            return Ok(values);
        }
        if let Some(values) = per_entry(&call, arguments, memory)? {
            return Ok(values);
        }
    }
    per_row(&call, arguments, selection, memory)
}

/// Row by row: works for any arguments.
fn per_row<'a>(
    call: &impl Fn(&[Value]) -> Result<Value, EvalError>,
    arguments: &[ColumnValues<'a>],
    selection: &Selection,
    memory: &ScanMemory<'_>,
) -> Result<ColumnValues<'a>, Interrupt> {
    by_row(selection, memory, |row| {
        let values: Vec<Value> = arguments.iter().map(|values| values.value(row)).collect();
        Ok(call(&values)?)
    })
}

/// AND or OR. Each argument's values are released before the next one is evaluated, however many
/// there are.
fn junction(
    function: Function,
    arguments: &[PreparedExpr],
    columns: &LazyColumns<'_, '_>,
    selection: &Selection,
) -> Result<Truths, Interrupt> {
    let (rows, memory) = (columns.rows(), columns.memory());
    let is_and = function == Function::And;
    let mut yes = filled(rows, is_and);
    let mut possible = filled(rows, is_and);
    for argument in arguments {
        let mark = memory.mark();
        let truths = eval(argument, columns, selection)?.truths(rows);
        memory.forget(mark);
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

/// Evaluates once per code, if one argument has codes and all others are constant.
fn per_entry<'a>(
    call: &impl Fn(&[Value]) -> Result<Value, EvalError>,
    arguments: &[ColumnValues<'a>],
    memory: &ScanMemory<'_>,
) -> Result<Option<ColumnValues<'a>>, Interrupt> {
    let mut coded = None;
    for (index, argument) in arguments.iter().enumerate() {
        match argument {
            ColumnValues::Constant(_) => {}
            ColumnValues::Coded(values) if coded.is_none() => coded = Some((index, values)),
            _ => return Ok(None),
        }
    }
    let Some((index, coded)) = coded else { return Ok(None) };
    let mut values: Vec<Value> = arguments
        .iter()
        .map(|argument| match argument {
            ColumnValues::Constant(value) => value.clone(),
            _ => Value::Null,
        })
        .collect();
    let mapped = coded.map(memory, |entry| {
        values[index] = entry;
        Ok(call(&values)?)
    });
    Ok(Some(ColumnValues::Coded(mapped?)))
}

impl<'a> Coded<'a> {
    /// Returns the same codes with each entry's value mapped.
    fn map(
        &self,
        memory: &ScanMemory<'_>,
        mut function: impl FnMut(Value) -> Result<Value, Interrupt>,
    ) -> Result<Coded<'a>, Interrupt> {
        let mut computing = ComputedBytes::new(memory, self.entries.len())?;
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
