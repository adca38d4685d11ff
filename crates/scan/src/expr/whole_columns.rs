//! Functions in their fastest forms, for all rows of a block at once.

use std::rc::Rc;

use hadal_encoding::Bitmap;
use hadal_query::Function;
use hadal_types::{Logical, Value};

use crate::column::bitmaps::filled;
use crate::column::column_values::{Coded, ColumnValues, Doubles, Entries, Mixed, Numbers, Truths};
use crate::column::decimals::{FrameOfReference, MantissaColumn};
use crate::column::filter_dictionary;
use crate::column::filter_numbers;
use crate::expr::arithmetic;
use crate::expr::calendar;

/// Evaluates `function` over whole columns; `None` if there is no such form.
pub(crate) fn eval<'a>(
    function: Function,
    arguments: &[ColumnValues<'a>],
    rows: usize,
) -> Option<ColumnValues<'a>> {
    match function {
        Function::Not => {
            return match arguments {
                [ColumnValues::Truths(truths)] => Some(ColumnValues::Truths(truths.negated())),
                _ => None,
            };
        }
        Function::IsNull => return is_null(arguments.first()?, rows).map(ColumnValues::Truths),
        Function::Case => {
            let only = match arguments {
                [condition, value] => only_where(condition, value, rows),
                _ => None,
            };
            return only.or_else(|| of_branches(arguments, rows).map(ColumnValues::Coded));
        }
        Function::ToNumber => {
            let [value] = arguments else { return None };
            return to_number(value, rows).map(ColumnValues::Numbers);
        }
        Function::Negate => {
            let [ColumnValues::Numbers(numbers)] = arguments else { return None };
            return arithmetic::negate(numbers).map(ColumnValues::Numbers);
        }
        _ => {}
    }
    let (first, rest) = arguments.split_first()?;
    if let Some(literals) = constants(rest) {
        return with_literals(function, first, &literals);
    }
    match arguments {
        [ColumnValues::Constant(literal), ColumnValues::Numbers(numbers)] => function
            .mirrored()
            .and_then(|mirrored| filter_numbers::numbers(numbers, mirrored, literal))
            .map(ColumnValues::Truths)
            .or_else(|| {
                arithmetic::of_literal(literal, function, numbers).map(ColumnValues::Numbers)
            }),
        [ColumnValues::Numbers(left), ColumnValues::Numbers(right)] => {
            filter_numbers::columns(left, function, right).map(ColumnValues::Truths).or_else(|| {
                arithmetic::of_columns(left, function, right).map(ColumnValues::Numbers)
            })
        }
        _ => None,
    }
}

fn constants<'v>(values: &'v [ColumnValues<'_>]) -> Option<Vec<&'v Value>> {
    values
        .iter()
        .map(|value| match value {
            ColumnValues::Constant(value) => Some(value),
            _ => None,
        })
        .collect()
}

fn with_literals<'a>(
    function: Function,
    values: &ColumnValues<'a>,
    literals: &[&Value],
) -> Option<ColumnValues<'a>> {
    match (values, literals) {
        (ColumnValues::Numbers(numbers), literals) if function == Function::In => {
            filter_numbers::are_in(numbers, literals).map(ColumnValues::Truths)
        }
        (ColumnValues::Truths(truths), [Value::Bool(default)])
            if function == Function::Coalesce =>
        {
            let sides = if *default { &truths.possible } else { &truths.yes };
            Some(ColumnValues::Truths(Truths::certain((**sides).clone())))
        }
        (ColumnValues::Numbers(numbers), [literal]) => {
            filter_numbers::numbers(numbers, function, literal).map(ColumnValues::Truths).or_else(
                || {
                    arithmetic::with_literal(numbers, function, literals)
                        .or_else(|| calendar::with_literals(numbers, function, literals))
                        .map(ColumnValues::Numbers)
                },
            )
        }
        (ColumnValues::Numbers(numbers), _) => {
            arithmetic::with_literal(numbers, function, literals)
                .or_else(|| calendar::with_literals(numbers, function, literals))
                .map(ColumnValues::Numbers)
        }
        (ColumnValues::Doubles(doubles), [literal]) => {
            filter_numbers::doubles(doubles, function, literal).map(ColumnValues::Truths)
        }
        (ColumnValues::Mixed(mixed), [literal]) => {
            filter_numbers::mixed(mixed, function, literal).map(ColumnValues::Truths)
        }
        (ColumnValues::Coded(coded), literals) if function == Function::In => {
            filter_dictionary::is_in(coded, literals).map(ColumnValues::Truths)
        }
        (ColumnValues::Coded(coded), [literal]) => {
            filter_dictionary::compare(coded, function, literal).map(ColumnValues::Truths)
        }
        _ => None,
    }
}

/// The value where the condition is true, null elsewhere: FILTER turns an argument into this.
fn only_where<'a>(
    condition: &ColumnValues<'_>,
    value: &ColumnValues<'a>,
    rows: usize,
) -> Option<ColumnValues<'a>> {
    let only = |valid: Option<&Rc<Bitmap>>| {
        let mut yes = (*condition.truths(rows).yes).clone();
        valid.into_iter().for_each(|valid| yes.and(valid));
        Some(Rc::new(yes))
    };
    Some(match value {
        ColumnValues::Constant(Value::Number(number)) => {
            let (from, scale) = number.to_stored()?;
            let (mantissas, logical) = (
                MantissaColumn::FrameOfReference(FrameOfReference::same(from, rows)),
                Logical::Plain,
            );
            ColumnValues::Numbers(Numbers { mantissas, scale, logical, valid: only(None) })
        }
        ColumnValues::Numbers(numbers) => {
            let valid = only(numbers.valid.as_ref());
            ColumnValues::Numbers(Numbers { valid, ..numbers.clone() })
        }
        ColumnValues::Doubles(doubles) => {
            let valid = only(doubles.valid.as_ref());
            ColumnValues::Doubles(Doubles { valid, ..doubles.clone() })
        }
        _ => return None,
    })
}

/// The branch of a CASE that each row takes, as its code; `None` if a value is not constant.
fn of_branches<'a>(arguments: &[ColumnValues<'a>], rows: usize) -> Option<Coded<'a>> {
    let (branches, rest) = arguments.as_chunks::<2>();
    let default = match rest {
        [ColumnValues::Constant(value)] => value.clone(),
        [] => Value::Null,
        _ => return None,
    };
    let values = branches.iter().map(|[_, value]| match value {
        ColumnValues::Constant(value) => Some(value.clone()),
        _ => None,
    });
    let values = values.chain([Some(default)]).collect::<Option<Vec<Value>>>()?;
    let count = |code: usize| u32::try_from(code).unwrap_or(u32::MAX);
    let mut codes = vec![count(branches.len()); rows];
    // The first condition that is true decides, so it is the last one to be written.
    for (code, [condition, _]) in branches.iter().enumerate().rev() {
        condition.truths(rows).yes.iter_ones().for_each(|row| codes[row] = count(code));
    }
    Some(Coded { codes: Rc::new(codes.into()), entries: Entries::Values(Rc::new(values)) })
}

/// Truth values as 1 and 0, times in seconds since 1970.
fn to_number(values: &ColumnValues<'_>, rows: usize) -> Option<Numbers> {
    match values {
        ColumnValues::Truths(truths) => Some(truths.to_numbers(rows)),
        ColumnValues::Numbers(numbers) if numbers.logical == Logical::Time => {
            Some(Numbers { scale: 6, logical: Logical::Plain, ..numbers.clone() })
        }
        ColumnValues::Numbers(numbers) => Some(numbers.clone()),
        _ => None,
    }
}

fn is_null(values: &ColumnValues<'_>, rows: usize) -> Option<Truths> {
    let without = |valid: Option<&Rc<Bitmap>>| {
        let mut null = valid.map_or_else(|| filled(rows, true), |valid| (**valid).clone());
        null.not();
        Some(Truths::certain(null))
    };
    match values {
        ColumnValues::Numbers(numbers) => without(numbers.valid.as_ref()),
        ColumnValues::Doubles(doubles) | ColumnValues::Mixed(Mixed { doubles, .. }) => {
            without(doubles.valid.as_ref())
        }
        ColumnValues::Truths(truths) => {
            let mut null = truths.yes.as_ref().clone();
            null.not();
            null.and(&truths.possible);
            Some(Truths::certain(null))
        }
        _ => None,
    }
}
