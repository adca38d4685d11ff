//! Functions of a time zone over whole columns of times. Rows between two changes of the offset, or
//! within one bucket, are computed without the time zone's data; rows are mostly in time order.

use std::cell::Cell;

use hadal_query::{CalendarBuckets, CalendarFunction, Function, TimeZone};
use hadal_types::{Logical, Micros, Value};

use crate::column::column_values::Numbers;
use crate::expr::arithmetic;

/// Applies `function` to times and literals; `None` if there is no fast form.
pub(crate) fn with_literals(
    numbers: &Numbers,
    function: Function,
    literals: &[&Value],
) -> Option<Numbers> {
    if numbers.logical != Logical::Time {
        return None;
    }
    match (function, literals) {
        (Function::Calendar(CalendarFunction::WallClock), [Value::String(zone)]) => {
            wall_clocks(numbers, &TimeZone::named(zone)?)
        }
        (Function::Calendar(CalendarFunction::Bucket), literals) => {
            let arguments: Vec<Value> = literals.iter().copied().cloned().collect();
            buckets(numbers, &CalendarBuckets::of_arguments(&arguments)?)
        }
        _ => None,
    }
}

fn wall_clocks(times: &Numbers, zone: &TimeZone) -> Option<Numbers> {
    let cached = Cell::new((0, Micros(0), Micros(0)));
    arithmetic::map(times, 0, Logical::Time, |time| {
        let (mut offset, from, to) = cached.get();
        if !(from.0..to.0).contains(&time) {
            let range = zone.offset_range(Micros(time));
            cached.set(range);
            offset = range.0;
        }
        Micros(time.checked_add(offset)?).in_range().map(|wall| wall.0)
    })
}

fn buckets(times: &Numbers, buckets: &CalendarBuckets) -> Option<Numbers> {
    let cached = Cell::new((Micros(0), Micros(0), Micros(0)));
    arithmetic::map(times, 0, Logical::Time, |time| {
        let (start, from, to) = cached.get();
        if (from.0..to.0).contains(&time) {
            return Some(start.0);
        }
        let bucket = buckets.start_and_validity(Micros(time))?;
        cached.set(bucket);
        Some(bucket.0.0)
    })
}

#[cfg(test)]
mod tests {
    use hadal_query::eval_scalar;

    use super::*;
    use crate::column::decimals::MantissaColumn;

    #[test]
    fn whole_columns_have_the_values_of_single_rows() {
        // Around both changes of 2026 in Berlin, forward and backward in time.
        let around = |second: i64| (-200..200).map(move |n| (second + n * 1_297) * Micros::SECOND);
        let mut times: Vec<i64> = around(1_774_746_000).chain(around(1_792_890_000)).collect();
        times.extend(times.clone().into_iter().rev().step_by(7));
        let numbers = Numbers {
            mantissas: MantissaColumn::new(times.clone()),
            scale: 0,
            logical: Logical::Time,
            valid: None,
        };
        let zone = Value::string("Europe/Berlin");
        let hour = 3_600 * Micros::SECOND;
        let bucket = |months, micros| {
            let literals = vec![Value::integer(months), Value::integer(micros), zone.clone()];
            (CalendarFunction::Bucket, literals)
        };
        let mut calls = vec![(CalendarFunction::WallClock, vec![zone.clone()])];
        calls.extend([bucket(0, hour), bucket(0, 3 * hour), bucket(0, 24 * hour), bucket(3, 0)]);
        for (function, literals) in calls {
            let function = Function::Calendar(function);
            let fast = with_literals(&numbers, function, &literals.iter().collect::<Vec<_>>());
            let fast = fast.expect("a fast form");
            for (row, &time) in times.iter().enumerate() {
                let mut arguments = vec![Value::Time(Micros(time))];
                arguments.extend(literals.iter().cloned());
                let slow = eval_scalar(function, &arguments).expect("a time");
                assert_eq!(fast.value_of(fast.mantissas.get(row)), slow, "{function:?} {time}");
            }
        }
    }
}
