//! Histograms by counting: edges from all values, and the values between the edges of each bucket.

use std::cmp::Ordering;

use hadal_types::value::HistogramBucket;
use hadal_types::{Number, Value};

use super::exact::Exact;
use super::finish::{Weighted, count};

/// At most `buckets` adjacent buckets of these sorted numbers, with the narrowest possible width of
/// 1, 2 or 5 times a power of ten. A single bucket extends from the smallest to the largest number.
/// Null without numbers.
pub(super) fn histogram(sorted: &[Weighted], buckets: usize) -> Value {
    let ends = (sorted.first().and_then(number), sorted.last().and_then(number));
    let (Some(min), Some(max)) = ends else { return Value::Null };
    let round = || widths(min, max, buckets).find_map(|width| edges(min, max, &width, buckets));
    let edges = (min < max && buckets > 1).then(round).flatten();
    counted(&edges.unwrap_or_else(|| vec![min, max]), sorted)
}

/// A histogram with the edges of the values' pairs, and with buckets for values outside of them.
pub(super) fn edge_histogram(sorted: &[Weighted]) -> Value {
    let ends = (sorted.first().and_then(number), sorted.last().and_then(number));
    let (Some(min), Some(max)) = ends else { return Value::Null };
    let Some(Value::Histogram(buckets)) = sorted.first().map(|weighted| &weighted.second) else {
        return Value::Null;
    };
    let mut edges: Vec<Number> = buckets.iter().map(|bucket| bucket.from).collect();
    edges.extend(buckets.last().map(|bucket| bucket.to));
    if edges.first().is_some_and(|first| min < *first) {
        edges.insert(0, min);
    }
    if edges.last().is_some_and(|last| *last < max) {
        edges.push(max);
    }
    counted(&edges, sorted)
}

/// A histogram with powers as edges.
pub(super) fn log_histogram(sorted: &[Weighted], base: u32) -> Value {
    let powers = powers(base);
    let numbers: Vec<Number> = sorted.iter().filter_map(number).collect();
    if numbers.is_empty() {
        return Value::Null;
    }
    // The exponent of the power below a number; from a negative one on, the next power is below
    // its size.
    let exponent = |number: &Number| {
        powers.partition_point(|power| match *number < Number::ZERO {
            true => *number < negated(*power),
            false => *power <= *number,
        })
    };
    let side = |is_on_side: &dyn Fn(&Number) -> bool| {
        let exponents: Vec<usize> =
            numbers.iter().filter(|number| is_on_side(number)).map(exponent).collect();
        let ends = exponents.iter().min().zip(exponents.iter().max());
        ends.map(|(low, high)| (signed(*low) - 1 + EXPONENT_MIN, signed(*high) - 1 + EXPONENT_MIN))
    };
    let negative = side(&|number| *number < Number::ZERO);
    let positive = side(&|number| Number::ZERO < *number);
    let has_middle = numbers.contains(&Number::ZERO) || (negative.is_some() && positive.is_some());
    for width in [1, 2, 4, 8, 16] {
        let steps = |side: (i32, i32)| (side.0.div_euclid(width), side.1.div_euclid(width));
        let edge = |step: i32| match usize::try_from(step * width - EXPONENT_MIN) {
            Ok(index) => powers.get(index).copied().unwrap_or_else(largest),
            Err(_) => Number::ZERO,
        };
        let mut edges = Vec::new();
        if let Some((low, high)) = negative.map(steps) {
            edges.extend((low..=high + 1).rev().map(|step| negated(edge(step))));
        }
        if has_middle && negative.is_none() {
            edges.push(Number::ZERO);
        }
        if let Some((low, high)) = positive.map(steps) {
            edges.extend((low..=high + 1).map(edge));
        } else if has_middle {
            edges.push(Number::ZERO);
        }
        if edges.len() <= 1_001 {
            return counted(&edges, sorted);
        }
    }
    Value::Null
}

/// No double is a power of two with a smaller exponent.
const EXPONENT_MIN: i32 = -1_080;

fn signed(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}

fn largest() -> Number {
    Number::from_f64(f64::MAX).unwrap_or(Number::ZERO)
}

/// All powers from [`EXPONENT_MIN`] on that a double holds: decimals as long as these hold them,
/// otherwise doubles. Those of ten are the nearest ones, others are multiplied or divided step by
/// step.
fn powers(base: u32) -> Vec<Number> {
    let mut powers = Vec::new();
    let (mut double, mut exact) = (1.0, Some(Exact::from_integer(1)));
    for exponent in 1..=-EXPONENT_MIN {
        double /= f64::from(base);
        let nearest = format!("1e{}", -exponent).parse().unwrap_or(0.0);
        powers.extend(Number::from_f64(if base == 10 { nearest } else { double }));
    }
    powers.reverse();
    double = 1.0;
    for exponent in 0.. {
        let nearest = format!("1e{exponent}").parse().unwrap_or(f64::INFINITY);
        let decimal = exact.as_ref().and_then(Exact::to_decimal);
        let power = if base == 10 { nearest } else { double };
        let Some(power) = decimal.or_else(|| Number::from_f64(power)) else { break };
        powers.push(power);
        double *= f64::from(base);
        exact = decimal.and(exact).map(|exact| exact.times(&Exact::from_integer(base.into())));
    }
    powers
}

fn negated(number: Number) -> Number {
    nearest(&Exact::from_number(number).negated()).unwrap_or(number)
}

/// The histogram of these edges.
fn counted(edges: &[Number], sorted: &[Weighted]) -> Value {
    let last = edges.len() - 2;
    let bucket = |at: usize| {
        let (from, to) = (edges[at], edges[at + 1]);
        let inside = |weighted: &&Weighted| {
            number(weighted).is_some_and(|number| match number.cmp(&to) {
                Ordering::Less => from <= number,
                Ordering::Equal => at == last,
                Ordering::Greater => false,
            })
        };
        let inside: Vec<Weighted> = sorted.iter().filter(inside).cloned().collect();
        let Value::Number(count) = count(&inside) else { return None };
        Some(HistogramBucket { from, to, count })
    };
    let buckets: Option<Vec<HistogramBucket>> = (0..=last).map(bucket).collect();
    buckets.map_or(Value::Null, |buckets| Value::Histogram(buckets.into()))
}

fn number(weighted: &Weighted) -> Option<Number> {
    match weighted.value {
        Value::Number(number) => Some(number),
        _ => None,
    }
}

/// The widths to try, in ascending order.
fn widths(min: Number, max: Number, buckets: usize) -> impl Iterator<Item = Exact> {
    let narrowest = narrowest_exponent(min).max(narrowest_exponent(max));
    let span = Exact::from_number(max).minus(&Exact::from_number(min)).abs();
    let most = Exact::from_text(&(buckets + 2).to_string()).unwrap_or_default();
    (narrowest..)
        .flat_map(|exponent| ["1", "2", "5"].map(|digit| format!("{digit}e{exponent}")))
        .filter_map(|text| Exact::from_text(&text))
        .skip_while(move |width| width.times(&most) < span)
}

/// As decimals, edges have 37 digits, and 36 after the point; larger edges have 15, as doubles.
fn narrowest_exponent(number: Number) -> i32 {
    const DOUBLES_FROM: i32 = 38;
    const SMALLEST: i32 = -323;
    let number = Exact::from_number(number).abs();
    if number.is_zero() {
        return SMALLEST;
    }
    let text = number.to_string();
    let size = text.split_once('e').and_then(|(digits, exponent)| {
        Some(i32::try_from(digits.len()).ok()? - 1 + exponent.parse::<i32>().ok()?)
    });
    match size.unwrap_or(SMALLEST) {
        size @ DOUBLES_FROM.. => size - 14,
        size if size >= 0 => size - 36,
        size => (size - 14).clamp(SMALLEST, -36),
    }
}

/// The edges of buckets of this width, if they give at most `buckets` buckets.
fn edges(min: Number, max: Number, width: &Exact, buckets: usize) -> Option<Vec<Number>> {
    let steps_max = i128::try_from(buckets).ok()? + 2;
    let (first, last) = (floor(min, width)?, floor(max, width)?);
    if (last - first).abs() > steps_max {
        return None;
    }
    let edge = |index: i128| nearest(&width.times(&Exact::from_integer(index)));
    // Among doubles, an edge is rounded to the nearest double.
    let up_to = |number: Number, mut index: i128| {
        let start = index;
        while edge(index + 1).is_some_and(|edge| edge <= number) {
            index += 1;
            if index - start > steps_max {
                return None;
            }
        }
        Some(index)
    };
    let (first, mut last) = (up_to(min, first)?, up_to(max, last)?);
    let closed = last > first && edge(last) == Some(max);
    last += i128::from(!closed);
    if last - first > i128::try_from(buckets).ok()? {
        return None;
    }
    let mut edges: Vec<Number> = (first..=last).map(|index| edge(index).unwrap_or(max)).collect();
    if edge(first).is_none() {
        edges[0] = min;
    }
    if closed {
        edges.pop();
        edges.push(max);
    }
    Some(edges)
}

/// The multiple of `width` at or below the number, counted in widths.
fn floor(number: Number, width: &Exact) -> Option<i128> {
    let (quotient, rest) = Exact::from_number(number).divide(width)?;
    Some(quotient.to_integer()? - i128::from(rest.is_negative()))
}

/// The decimal, or otherwise the nearest double; `None` beyond the doubles.
fn nearest(exact: &Exact) -> Option<Number> {
    exact.to_decimal().or_else(|| Number::from_f64(exact.to_f64()))
}
