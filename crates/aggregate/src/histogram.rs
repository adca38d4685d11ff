//! Histograms: the weight in adjacent buckets of equal width with round edges.

use std::ops::Neg;

use hadal_types::decimal::power_of_ten;
use hadal_types::value::HistogramBucket;
use hadal_types::{Decimal, Number, Value, Weight};

use crate::buckets::bucket_edges;
use crate::quantiles::Sketch;
use crate::tally::number_of_weight;

/// The histogram of sorted values: exact.
pub(crate) fn of_values(sorted: &[(Number, Weight)], buckets: u16) -> Value {
    let ends = sorted.first().zip(sorted.last());
    let Some(edges) = ends.and_then(|(min, max)| edges(min.0, max.0, buckets)) else {
        return Value::Null;
    };
    let below = edges.iter().map(|edge| {
        let inside = &sorted[..sorted.partition_point(|(value, _)| value < edge)];
        inside.iter().map(|(_, weight)| i128::from(weight.millionths())).sum()
    });
    let total = sorted.iter().map(|(_, weight)| i128::from(weight.millionths())).sum();
    of_weights_below(&edges, below, total)
}

/// The histogram of a sketch: the weight of each of its buckets is spread evenly over what the
/// bucket spans, in whole rows.
pub(crate) fn of_sketch(sketch: &Sketch, buckets: u16) -> Value {
    let Some(edges) = edges(sketch.min, sketch.max, buckets) else { return Value::Null };
    let (min, max) = (sketch.min.to_f64(), sketch.max.to_f64());
    let mut spans = sketch
        .buckets
        .iter()
        .map(|&(bucket, weight)| {
            let (low, high) = bucket_edges(bucket);
            (low.clamp(min, max), high.clamp(min, max), weight)
        })
        .peekable();
    let mut whole = 0i128;
    let below = edges.iter().map(|edge| {
        let edge = edge.to_f64();
        while let Some((.., weight)) = spans.next_if(|&(_, high, _)| high < edge) {
            whole = whole.saturating_add(weight);
        }
        let cut = spans.peek().map_or(0, |&(low, high, weight)| part(weight, low, high, edge));
        whole.saturating_add(cut)
    });
    let total = sketch.buckets.iter().fold(0i128, |total, bucket| total.saturating_add(bucket.1));
    of_weights_below(&edges, below, total)
}

/// How much of a weight that is spread from `low` to `high` lies below `edge`, in whole rows.
fn part(weight: i128, low: f64, high: f64, edge: f64) -> i128 {
    if edge <= low || high <= low {
        return 0;
    }
    let rows = weight / i128::from(Weight::UNIT);
    #[expect(clippy::cast_possible_truncation, reason = "a float to integer cast saturates")]
    let below = (rows as f64 * ((edge - low) / (high - low))) as i128;
    below.clamp(0, rows) * i128::from(Weight::UNIT)
}

fn of_weights_below(edges: &[Number], below: impl Iterator<Item = i128>, total: i128) -> Value {
    let mut below: Vec<i128> = below.collect();
    // The last bucket includes its upper edge.
    if let Some(last) = below.last_mut() {
        *last = total;
    }
    let buckets = edges.windows(2).zip(below.windows(2)).map(|(edges, below)| HistogramBucket {
        from: edges[0],
        to: edges[1],
        count: number_of_weight(below[1] - below[0]),
    });
    Value::Histogram(buckets.collect())
}

/// Edges of at most `buckets` buckets around `min` to `max`: multiples of 1, 2 or 5 times a power
/// of ten where there are such, else an even cut; one bucket when both are the same.
fn edges(min: Number, max: Number, buckets: u16) -> Option<Vec<Number>> {
    if buckets == 0 {
        return None;
    }
    if min == max {
        return Some(vec![min, max]);
    }
    round_edges(min, max, buckets).or_else(|| even_edges(min, max, buckets))
}

fn round_edges(min: Number, max: Number, buckets: u16) -> Option<Vec<Number>> {
    let width = half_span(min, max) / f64::from(buckets) * 2.0;
    #[expect(clippy::cast_possible_truncation, reason = "logarithms of doubles are small")]
    let exponent = width.log10().floor() as i32;
    let grids = [(1, 0), (2, 0), (5, 0), (1, 1), (2, 1), (5, 1)]
        .map(|(factor, up)| Grid { factor, exponent: exponent.saturating_add(up) });
    grids.iter().find_map(|grid| {
        let (first, last) = (grid.at_or_below(min)?, grid.at_or_above(max)?);
        let count = last.checked_sub(first)?;
        (1..=i128::from(buckets))
            .contains(&count)
            .then(|| (first..=last).map(|index| grid.edge(index)).collect())?
    })
}

/// Half of max − min, because the whole may be beyond the range of doubles.
fn half_span(min: Number, max: Number) -> f64 {
    match (min, max) {
        // Exact, because both may round to the same double.
        (Number::Decimal(min), Number::Decimal(max)) => max.checked_sub(min),
        _ => None,
    }
    .map_or_else(|| max.to_f64() / 2.0 - min.to_f64() / 2.0, |span| span.to_f64() / 2.0)
}

fn even_edges(min: Number, max: Number, buckets: u16) -> Option<Vec<Number>> {
    let (low, high) = (min.to_f64(), max.to_f64());
    let inner = (1..buckets).map(|index| {
        let share = f64::from(index) / f64::from(buckets);
        Number::from_f64(low * (1.0 - share) + high * share).map(|edge| edge.clamp(min, max))
    });
    std::iter::once(Some(min)).chain(inner).chain(std::iter::once(Some(max))).collect()
}

/// All multiples of factor × 10^exponent.
struct Grid {
    factor: i128,
    exponent: i32,
}

impl Grid {
    fn edge(&self, index: i128) -> Option<Number> {
        let multiple = index.checked_mul(self.factor)?;
        let size = u8::try_from(self.exponent.unsigned_abs()).ok();
        let exact = match self.exponent {
            0.. => size
                .and_then(power_of_ten)
                .and_then(|unit| Decimal::new(multiple.checked_mul(unit)?, 0)),
            _ => size.and_then(|scale| Decimal::new(multiple, scale)),
        };
        // Reading the digits rounds once.
        let double = || format!("{multiple}e{}", self.exponent).parse().ok();
        exact.map(Number::Decimal).or_else(double)
    }

    /// The index of the last edge that is not above `number`.
    fn at_or_below(&self, number: Number) -> Option<i128> {
        let index = match number {
            Number::Decimal(decimal) => self.index_of(decimal),
            Number::Double(_) => None,
        };
        let index = index.or_else(|| self.index_of_double(number.to_f64()))?;
        // Doubles may be off by one.
        if self.edge(index)? <= number { Some(index) } else { index.checked_sub(1) }
    }

    /// The index of the first edge that is not below `number`.
    fn at_or_above(&self, number: Number) -> Option<i128> {
        let below = self.at_or_below(number)?;
        if self.edge(below)? == number { Some(below) } else { below.checked_add(1) }
    }

    fn index_of(&self, decimal: Decimal) -> Option<i128> {
        let shift = self.exponent.checked_add(i32::from(decimal.scale()))?;
        let unit = power_of_ten(u8::try_from(shift.unsigned_abs()).ok()?)?;
        Some(if shift.neg() > 0 {
            decimal.mantissa().checked_mul(unit)?.div_euclid(self.factor)
        } else {
            decimal.mantissa().div_euclid(self.factor.checked_mul(unit)?)
        })
    }

    fn index_of_double(&self, double: f64) -> Option<i128> {
        let index = (double / 10f64.powi(self.exponent) / self.factor as f64).floor();
        #[expect(clippy::cast_possible_truncation, reason = "range checked")]
        (index.abs() < 1e30).then_some(index as i128)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        text.parse().expect(text)
    }

    fn shown(min: &str, max: &str, buckets: u16) -> String {
        let edges = edges(number(min), number(max), buckets).expect("some edges");
        edges.iter().map(Number::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn edges_are_round_and_enclose_the_values() {
        assert_eq!(shown("1", "10", 5), "0 2 4 6 8 10");
        assert_eq!(shown("0.13", "0.97", 10), "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1");
        assert_eq!(shown("-7", "12", 4), "-10 0 10 20");
        assert_eq!(shown("3", "3", 10), "3 3");
        assert_eq!(
            shown("1000000000000000000", "1000000000000000007", 2),
            "1000000000000000000 1000000000000000005 1000000000000000010"
        );
        assert_eq!(shown("0", "1e300", 2), "0 5e299 1e300");
        assert_eq!(shown("-1e308", "1.5e308", 5), "-1e308 -5e307 0 5e307 1e308 1.5e308");
    }

    #[test]
    fn where_no_round_edges_are_few_enough_the_cut_is_even() {
        assert_eq!(shown("-1", "1", 1), "-1 1");
        assert_eq!(edges(Number::ZERO, Number::integer(1), 0), None);
    }

    #[test]
    fn edges_belong_to_the_bucket_above_but_for_the_last() {
        let values: Vec<(Number, Weight)> =
            ["0", "2", "2", "3.9", "4"].map(|text| (number(text), Weight::ONE)).to_vec();
        assert_eq!(of_values(&values, 2).to_string(), "[0–2: 1, 2–4: 4]");
        assert_eq!(of_values(&[], 2), Value::Null);
    }
}
