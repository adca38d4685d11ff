//! Calls of user functions over columns: in batches of rows, or once per dictionary entry.

use std::rc::Rc;

use hadal_encoding::Bitmap;
use hadal_query::{EvalError, ScalarUdf, UdfCall, UdfColumn, UdfValues};
use hadal_types::limits::{FUNCTION_BATCH_BYTES, FUNCTION_BATCH_ROWS};
use hadal_types::{FunctionDefinition, FunctionType, Value};

use crate::column::column_values::{Coded, ColumnValues, Doubles, Entries, RowValues, Truths};
use crate::column::selection::Selection;
use crate::scan_memory::{Interrupt, ScanMemory};

/// Bytes of a number and its null, in an argument or a result.
const NUMBER_BYTES: usize = 9;

/// Calls a function that takes columns, for the selected rows; the others are null.
pub(crate) fn call_columns<'a>(
    function: &dyn ScalarUdf,
    definition: &FunctionDefinition,
    arguments: &[ColumnValues<'a>],
    selection: &Selection,
    memory: &ScanMemory<'_>,
) -> Result<ColumnValues<'a>, Interrupt> {
    let caller = Caller { function, definition, memory };
    if !memory.is_splitting()
        && let Some((index, coded)) = only_coded(arguments)
    {
        let used = used_codes(coded, selection);
        if used.len() <= selection.count() {
            return caller.per_entry(index, coded, &used, arguments);
        }
    }
    let mut rows = Vec::with_capacity(selection.count());
    selection.for_each(|row| rows.push(row));
    let width = NUMBER_BYTES * (arguments.len() + 1) + size_of::<Value>();
    memory.compute(rows.len().saturating_mul(width))?;
    let mut results = Results::new(definition.returns, selection, memory.is_splitting());
    for batch in rows.chunks(FUNCTION_BATCH_ROWS) {
        let input = |argument: usize, row: usize| arguments[argument].value(row);
        let doubles = |argument: usize, rows: &[usize]| doubles_of(&arguments[argument], rows);
        caller.batch(batch, &doubles, &input, &mut |rows, column| {
            results.put(rows, column);
            memory.compute(text_bytes(column))
        })?;
    }
    Ok(results.into_values())
}

/// The doubles of an argument in some rows, if there is a quick form of them.
type Quick<'f> = &'f dyn Fn(usize, &[usize]) -> Option<Vec<f64>>;

/// Takes the results of some rows.
type Put<'p> = &'p mut dyn FnMut(&[usize], &UdfColumn) -> Result<(), Interrupt>;

struct Caller<'c> {
    function: &'c dyn ScalarUdf,
    definition: &'c FunctionDefinition,
    memory: &'c ScanMemory<'c>,
}

impl Caller<'_> {
    /// Calls the function for `rows`, in halves if their strings are too long for one message.
    fn batch(
        &self,
        rows: &[usize],
        quick: Quick<'_>,
        input: &dyn Fn(usize, usize) -> Value,
        put: Put<'_>,
    ) -> Result<(), Interrupt> {
        let mut columns = Vec::with_capacity(self.definition.parameters.len());
        for (index, parameter) in self.definition.parameters.iter().enumerate() {
            if parameter.value_type == FunctionType::Number
                && let Some(numbers) = quick(index, rows)
            {
                columns.push(UdfColumn { values: UdfValues::Numbers(numbers), nulls: Vec::new() });
                continue;
            }
            let mut column = UdfColumn::with_capacity(parameter.value_type, rows.len());
            for &row in rows {
                column.push(&input(index, row));
                if text_bytes(&column) > FUNCTION_BATCH_BYTES && rows.len() > 1 {
                    let (first, second) = rows.split_at(rows.len() / 2);
                    self.batch(first, quick, input, put)?;
                    return self.batch(second, quick, input, put);
                }
            }
            columns.push(column);
        }
        self.memory.go_on()?;
        let is_cancelled = || self.memory.go_on().is_err();
        let call = UdfCall { deadline: self.memory.deadline(), is_cancelled: &is_cancelled };
        let called = self.function.call_rows(rows.len(), &columns, &call);
        let column = called.map_err(|error| match self.memory.go_on() {
            Ok(()) => Interrupt::from(EvalError::from(error)),
            Err(cancelled) => cancelled,
        })?;
        put(rows, &column)
    }

    /// Calls the function once for each entry that is used; the others are null.
    fn per_entry<'a>(
        &self,
        index: usize,
        coded: &Coded<'a>,
        used: &[usize],
        arguments: &[ColumnValues<'a>],
    ) -> Result<ColumnValues<'a>, Interrupt> {
        let count = coded.entries.len();
        self.memory.compute(count.saturating_mul(size_of::<Value>()))?;
        let mut entries = vec![Value::Null; count];
        let input = |argument: usize, code: usize| match &arguments[argument] {
            _ if argument == index => coded.entries.value(code),
            // All others are constant.
            other => other.value(0),
        };
        for batch in used.chunks(FUNCTION_BATCH_ROWS) {
            self.batch(batch, &|_, _| None, &input, &mut |codes, column| {
                for (place, &code) in codes.iter().enumerate() {
                    entries[code] = column.value(place);
                }
                self.memory.compute(text_bytes(column))
            })?;
        }
        let codes = Rc::clone(&coded.codes);
        Ok(ColumnValues::Coded(Coded { codes, entries: Entries::Values(Rc::new(entries)) }))
    }
}

/// The only argument that is not constant, if it has codes.
fn only_coded<'v, 'a>(arguments: &'v [ColumnValues<'a>]) -> Option<(usize, &'v Coded<'a>)> {
    let mut coded = None;
    for (index, argument) in arguments.iter().enumerate() {
        match argument {
            ColumnValues::Constant(_) => {}
            ColumnValues::Coded(values) if coded.is_none() => coded = Some((index, values)),
            _ => return None,
        }
    }
    coded
}

/// The codes of the selected rows, each once, ascending.
fn used_codes(coded: &Coded<'_>, selection: &Selection) -> Vec<usize> {
    let mut is_used = vec![false; coded.entries.len()];
    selection.for_each(|row| is_used[coded.codes[row] as usize] = true);
    (0..is_used.len()).filter(|&code| is_used[code]).collect()
}

/// The doubles of these rows, if the column has numbers and none of them is null.
fn doubles_of(values: &ColumnValues<'_>, rows: &[usize]) -> Option<Vec<f64>> {
    // Up to here, doubles represent all integers, and all powers of ten up to 10^22.
    const EXACT: u64 = 1 << 53;
    match values {
        ColumnValues::Numbers(numbers) if numbers.is_plain() && numbers.valid.is_none() => {
            // The quotient of two exact doubles is the nearest double of the decimal.
            let unit = 10f64.powi(i32::from(numbers.scale));
            let double = |row: &usize| {
                let mantissa = numbers.mantissas.get(*row);
                (mantissa.unsigned_abs() < EXACT).then(|| mantissa as f64 / unit)
            };
            rows.iter().map(double).collect()
        }
        ColumnValues::Doubles(doubles) if doubles.valid.is_none() => {
            Some(rows.iter().map(|&row| doubles.values[row]).collect())
        }
        _ => None,
    }
}

fn text_bytes(column: &UdfColumn) -> usize {
    match &column.values {
        UdfValues::Strings(strings) => strings.text_bytes(),
        UdfValues::Numbers(_) | UdfValues::Bools(_) => 0,
    }
}

/// The results of one block, by row.
enum Results {
    Numbers { values: Vec<f64>, valid: Bitmap },
    Bools { yes: Bitmap, no: Bitmap },
    Values(RowValues),
}

impl Results {
    fn new(returns: FunctionType, selection: &Selection, is_splitting: bool) -> Self {
        let rows = selection.block_rows();
        match returns {
            FunctionType::Number if !is_splitting => {
                Self::Numbers { values: vec![0.0; rows], valid: Bitmap::zeros(rows) }
            }
            FunctionType::Bool if !is_splitting => {
                Self::Bools { yes: Bitmap::zeros(rows), no: Bitmap::zeros(rows) }
            }
            _ => {
                let span = selection.span();
                Self::Values(RowValues { first: span.start, values: vec![Value::Null; span.len()] })
            }
        }
    }

    fn put(&mut self, rows: &[usize], column: &UdfColumn) {
        for (place, &row) in rows.iter().enumerate() {
            match self {
                Self::Numbers { values, valid } => {
                    if let UdfValues::Numbers(numbers) = &column.values
                        && !column.is_null(place)
                        && numbers[place].is_finite()
                    {
                        // Zero has one sign only.
                        values[row] = numbers[place] + 0.0;
                        valid.set(row);
                    }
                }
                Self::Bools { yes, no } => match column.value(place) {
                    Value::Bool(true) => yes.set(row),
                    Value::Bool(false) => no.set(row),
                    _ => {}
                },
                Self::Values(values) => values.values[row - values.first] = column.value(place),
            }
        }
    }

    fn into_values<'a>(self) -> ColumnValues<'a> {
        match self {
            Self::Numbers { values, valid } => ColumnValues::Doubles(Doubles {
                values: Rc::new(values),
                valid: Some(Rc::new(valid)),
            }),
            Self::Bools { yes, no: mut possible } => {
                possible.not();
                ColumnValues::Truths(Truths { yes: Rc::new(yes), possible: Rc::new(possible) })
            }
            Self::Values(values) => ColumnValues::Rows(Rc::new(values)),
        }
    }
}
