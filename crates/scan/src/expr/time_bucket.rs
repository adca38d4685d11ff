//! Rounds times down to multiples of a width, on the encoded column. Vectors whose zone is within
//! one bucket are not decoded: if rows are in time order, nearly all vectors are like this.

use hadal_block::BlockError;
use hadal_encoding::{Buffer, IntsView};
use hadal_query::Function;
use hadal_types::{Logical, Value, limits::VECTOR_VALUES};

use crate::column::column_values::Numbers;
use crate::column::decimals::{FloorDivision, FrameOfReference};
use crate::column::lazy_columns::LazyColumns;
use crate::column::wide_division::WideDivision;
use crate::expr::arithmetic;
use crate::expr::plan::PreparedExpr;

/// Returns the buckets of times; `None` if decoded values must be used.
pub(crate) fn time_buckets(
    function: Function,
    arguments: &[PreparedExpr],
    columns: &LazyColumns<'_, '_>,
) -> Result<Option<Numbers>, BlockError> {
    let (Function::TimeBucket, [PreparedExpr::Leaf(input), widths @ ..]) = (function, arguments)
    else {
        return Ok(None);
    };
    let whole = |expr: &PreparedExpr| match expr {
        PreparedExpr::Literal(Value::Number(number)) => number.to_i64(),
        _ => None,
    };
    let (width, origin) = match widths {
        [width] => (whole(width), Some(0)),
        [width, origin] => (whole(width), whole(origin)),
        _ => return Ok(None),
    };
    let (Some(width), Some(origin)) = (width.filter(|&width| width > 0), origin) else {
        return Ok(None);
    };
    let Some((stored, Logical::Time)) = columns.stored_part(input)? else { return Ok(None) };
    let Some((integers, scale, None)) = stored.integers().map(|(i, s)| (i, s, stored.valid()))
    else {
        return Ok(None);
    };
    let Some(quotients) = quotients(integers, width, origin) else { return Ok(None) };
    Ok(arithmetic::buckets(quotients, scale, Logical::Time, (width, origin)))
}

/// Returns (integer − `origin`) / `width`, rounded down, for each integer.
fn quotients(integers: &IntsView<'_>, width: i64, origin: i64) -> Option<FrameOfReference> {
    let Some(reference) = integers.frame_of_reference() else {
        return wide_quotients(integers, width, origin);
    };
    let rule = FloorDivision::new((reference.from, reference.step, reference.span), width, origin)?;
    let of_bound = |bound: i64| {
        let k = bound.checked_sub(reference.from)?.checked_div(reference.step)?;
        rule.of_one(u32::try_from(k).ok()?)
    };
    let mut buckets = Buffer::of(integers.len());
    let mut steps = [0; VECTOR_VALUES];
    for (vector, buckets) in buckets.chunks_mut(VECTOR_VALUES).enumerate() {
        let (min, max) = integers.zone(vector);
        let first = of_bound(min)?;
        if first == of_bound(max)? {
            buckets.fill(first);
        } else {
            let count = integers.decode_steps_vector(&reference, vector, &mut steps).ok()?;
            rule.of(&steps[..count], buckets);
        }
    }
    Some(rule.with(buckets))
}

/// As [`quotients`], for integers that are far apart.
fn wide_quotients(integers: &IntsView<'_>, width: i64, origin: i64) -> Option<FrameOfReference> {
    let zones = || (0..integers.len().div_ceil(VECTOR_VALUES)).map(|vector| integers.zone(vector));
    let first = zones().map(|(min, _)| min).min()?;
    let last = zones().map(|(_, max)| max).max()?;
    let rule = WideDivision::new((first, last), width, origin)?;
    let mut buckets = Buffer::of(integers.len());
    let mut values = [0; VECTOR_VALUES];
    for (vector, buckets) in buckets.chunks_mut(VECTOR_VALUES).enumerate() {
        let (min, max) = integers.zone(vector);
        let first = rule.of_one(min);
        if first == rule.of_one(max) {
            buckets.fill(first);
        } else {
            let count = integers.decode_vector(vector, &mut values);
            rule.of(&values[..count], buckets);
        }
    }
    Some(rule.with(buckets))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use hadal_encoding::ints;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn buckets_are_those_of_decoded_values(
            gaps in prop::collection::vec(prop_oneof![Just(0u32), 0u32..3, 0u32..90], 1..5_000),
            unit in prop_oneof![Just(1i64), Just(1_000_000)], start in any::<i32>(),
            width in prop_oneof![1i64..400, Just(60_000_000), Just(86_400_000_000)],
            origin in -99i64..99, shuffled in any::<bool>(),
        ) {
            let mut value = i64::from(start);
            let step = |gap: &u32| {
                value += i64::from(*gap) * unit;
                value
            };
            let mut values: Vec<i64> = gaps.iter().map(step).collect();
            if shuffled {
                let length = values.len();
                values.rotate_left(length / 3);
            }
            let mut bytes = Vec::new();
            ints::encode(&values, &mut bytes);
            let view = IntsView::parse(&bytes, values.len()).expect("a stream");
            let buckets = quotients(&view, width, origin);
            let Some(reference) = view.frame_of_reference() else {
                let Some(buckets) = buckets else { return Ok(()) };
                for (row, value) in values.iter().enumerate() {
                    prop_assert_eq!(buckets.get(row), (value - origin).div_euclid(width));
                }
                return Ok(());
            };
            let steps = view.steps_where(&reference, None).expect("steps");
            let reference = FrameOfReference {
                from: reference.from, step: reference.step, span: reference.span, steps: Rc::new(steps),
            };
            let expected = reference.quotients(width, origin);
            prop_assert_eq!(buckets.is_some(), expected.is_some());
            if let (Some(buckets), Some(expected)) = (buckets, expected) {
                prop_assert_eq!((buckets.from, buckets.span), (expected.from, expected.span));
                prop_assert_eq!(buckets.steps, expected.steps);
            }
        }
    }
}
