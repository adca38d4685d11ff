//! Computes aggregates from all values of a group, with the tolerance for an engine's sketches.

use hadal_query::AggregateFunction;
use hadal_types::{Number, NumberRepr, Value, limits};

use super::comoments::comoments;
use super::exact::Exact;
use super::histogram::{edge_histogram, histogram, log_histogram};

/// A value of the answer, and the tolerance for the engine's value.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The exact value.
    pub value: Value,
    /// The tolerance for the engine's value.
    pub tolerance: Tolerance,
}

/// How far a value may be from the exact one.
#[derive(Clone, Debug)]
pub enum Tolerance {
    /// No deviation.
    Exact,
    /// A share of the exact value.
    Relative(f64),
    /// A share of the exact value, and an integer as that is.
    RelativeInteger(f64),
    /// A fixed amount.
    Absolute(f64),
    /// Any deviation: the value is computed from values that are not exact.
    Open,
}

/// One value and its weight in millionths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighted {
    /// The value; never null.
    pub value: Value,
    /// The other value of a pair, which is not null either; null if there are no pairs.
    pub second: Value,
    /// Its weight in millionths.
    pub weight: i64,
}

/// A value, its weight and their product are each rounded by half a unit in the last place.
const SUM_SHARE: f64 = 4.0 * f64::EPSILON;
/// The rounding error of subnormal doubles, which have fewer digits, in a sum of ten thousand.
const SUBNORMALS: f64 = 1e-319;
/// The error of the log buckets of quantiles, with a margin for rounding their edges and digits.
const QUANTILE_SHARE: f64 = 0.010_002;
/// Three and a half standard errors of 2^14 HyperLogLog registers.
const DISTINCT_SHARE: f64 = 0.03;

pub(super) const NULL: Cell = Cell { value: Value::Null, tolerance: Tolerance::Exact };

impl Cell {
    /// A value that the engine must return exactly.
    #[must_use]
    pub fn exact(value: Value) -> Self {
        Self { value, tolerance: Tolerance::Exact }
    }

    /// Whether the engine must return exactly this value.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        matches!(self.tolerance, Tolerance::Exact)
    }
}

/// Computes an aggregate over `values`. `sums_exactly` says whether the engine has them as decimals
/// and not as doubles.
pub(super) fn finish(finish: AggregateFunction, values: &[Weighted], sums_exactly: bool) -> Cell {
    match finish {
        AggregateFunction::Count => Cell::exact(count(values)),
        AggregateFunction::RawCount => Cell::exact(length(values.len())),
        AggregateFunction::Sum => Moments::of(values, sums_exactly).map_or(NULL, Moments::sum),
        AggregateFunction::Avg => Moments::of(values, sums_exactly).map_or(NULL, Moments::average),
        AggregateFunction::Min => Cell::exact(sorted(values).first().map_or(Value::Null, value)),
        AggregateFunction::Max => Cell::exact(sorted(values).last().map_or(Value::Null, value)),
        AggregateFunction::Quantile(millionths) => quantile(&numbers(values), millionths),
        AggregateFunction::QuantileCont(millionths) => {
            quantile_between(&numbers(values), millionths)
        }
        AggregateFunction::Histogram(buckets) => {
            Cell::exact(histogram(&numbers(values), buckets.into()))
        }
        AggregateFunction::Distinct => distinct(values),
        AggregateFunction::VarPop
        | AggregateFunction::VarSamp
        | AggregateFunction::StddevPop
        | AggregateFunction::StddevSamp
        | AggregateFunction::CovarPop
        | AggregateFunction::CovarSamp
        | AggregateFunction::Corr
        | AggregateFunction::RegrSlope
        | AggregateFunction::RegrIntercept => comoments(finish, values),
        AggregateFunction::ArgMin => {
            let order = |left: &&Weighted, right: &&Weighted| {
                left.second.cmp(&right.second).then(left.value.cmp(&right.value))
            };
            Cell::exact(values.iter().min_by(order).map_or(Value::Null, value))
        }
        AggregateFunction::ArgMax => {
            let order = |left: &&Weighted, right: &&Weighted| {
                left.second.cmp(&right.second).then(right.value.cmp(&left.value))
            };
            Cell::exact(values.iter().max_by(order).map_or(Value::Null, value))
        }
        AggregateFunction::TopValues(count) => top_values(values, count.into()),
        AggregateFunction::LogHistogram(base) => {
            Cell::exact(log_histogram(&numbers(values), base.into()))
        }
        AggregateFunction::EdgeHistogram => Cell::exact(edge_histogram(&numbers(values))),
        AggregateFunction::User(id) => {
            unreachable!("no query is drawn with user aggregate {}", id.0)
        }
    }
}

fn value(weighted: &Weighted) -> Value {
    weighted.value.clone()
}

pub(super) fn length(length: usize) -> Value {
    Value::integer(i64::try_from(length).unwrap_or(i64::MAX))
}

fn sorted(values: &[Weighted]) -> Vec<Weighted> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|left, right| left.value.cmp(&right.value));
    sorted
}

/// The values sorted, booleans as 0 and 1.
fn numbers(values: &[Weighted]) -> Vec<Weighted> {
    let number = |weighted: &Weighted| match weighted.value {
        Value::Bool(truth) => Weighted { value: Value::integer(truth.into()), ..weighted.clone() },
        _ => weighted.clone(),
    };
    sorted(&values.iter().map(number).collect::<Vec<_>>())
}

/// The sum of the weights, in events.
pub(super) fn count(values: &[Weighted]) -> Value {
    weight(values).to_decimal().map_or(Value::Null, Value::Number)
}

fn weight(values: &[Weighted]) -> Exact {
    let millionths: i128 = values.iter().map(|weighted| i128::from(weighted.weight)).sum();
    Exact::from_integer(millionths).shifted_down(6)
}

/// Sums over at least one value.
struct Moments {
    /// Σwx.
    total: Exact,
    /// Σ|wx|.
    size: Exact,
    /// Σw.
    weight: Exact,
    /// Whether all are decimals, in the engine too.
    exactly: bool,
}

impl Moments {
    /// `None` without terms.
    fn of(values: &[Weighted], sums_exactly: bool) -> Option<Self> {
        let terms: Vec<Exact> = values.iter().map(term).collect::<Option<_>>()?;
        let all = |each: fn(&Exact) -> Exact| {
            terms.iter().fold(Exact::default(), |sum, term| sum.plus(&each(term)))
        };
        let weight = weight(values);
        (!weight.is_zero()).then(|| Self {
            total: all(Exact::clone),
            size: all(Exact::abs),
            weight,
            exactly: sums_exactly && !values.iter().any(|weighted| is_double(&weighted.value)),
        })
    }

    fn sum(self) -> Cell {
        match self.exactly {
            true => match self.total.to_decimal() {
                Some(sum) => Cell::exact(Value::Number(sum)),
                // Beyond a decimal's digits the nearest double is the exact result.
                None => Cell::exact(nearest(self.total.to_f64())),
            },
            false => near(self.total.to_f64(), self.size.to_f64(), SUBNORMALS),
        }
    }

    fn average(self) -> Cell {
        let average = self.total.nearest_quotient(&self.weight);
        match self.exactly {
            true => Cell::exact(nearest(average)),
            // The sum's rounding error is divided with it.
            false => near(
                average,
                self.size.nearest_quotient(&self.weight),
                SUBNORMALS / self.weight.to_f64(),
            ),
        }
    }
}

/// A double that was summed from terms of this total size. `subnormals` is the rounding error of
/// subnormal doubles, which have fewer digits.
fn near(double: f64, size: f64, subnormals: f64) -> Cell {
    match Number::from_f64(double) {
        Some(number) if size.is_finite() => Cell {
            value: Value::Number(number),
            tolerance: Tolerance::Absolute(SUM_SHARE * size + subnormals),
        },
        _ => Cell { value: Value::Null, tolerance: Tolerance::Open },
    }
}

/// w·x; `None` for a value that cannot be summed.
fn term(weighted: &Weighted) -> Option<Exact> {
    let value = match &weighted.value {
        Value::Bool(truth) => Exact::from_integer(i128::from(*truth)),
        Value::Number(number) => match number.form() {
            NumberRepr::Double(double) => Exact::from_bits(double),
            NumberRepr::Decimal(_) => Exact::from_number(*number),
        },
        _ => return None,
    };
    Some(value.times(&Exact::from_integer(weighted.weight.into()).shifted_down(6)))
}

fn nearest(double: f64) -> Value {
    Number::from_f64(double).map_or(Value::Null, Value::Number)
}

/// Whether the engine sums the value as a double: no block stores it as a decimal.
pub(super) fn is_double(value: &Value) -> bool {
    matches!(value, Value::Number(number) if number.to_stored().is_none())
}

/// The smallest value with at least `millionths` millionths of the weight at or below it.
fn quantile(sorted: &[Weighted], millionths: u32) -> Cell {
    let total: i128 = sorted.iter().map(|weighted| i128::from(weighted.weight)).sum();
    let mut below = 0;
    for weighted in sorted {
        below += i128::from(weighted.weight);
        if below * 1_000_000 >= i128::from(millionths) * total {
            // The smallest and the largest value are exact.
            let at_an_end = millionths == 0 || millionths == 1_000_000;
            let tolerance = match at_an_end || sorted.len() <= limits::QUANTILE_EXACT_ROWS {
                true => Tolerance::Exact,
                false if are_integers(sorted) => Tolerance::RelativeInteger(QUANTILE_SHARE),
                false => Tolerance::Relative(QUANTILE_SHARE),
            };
            return Cell { value: weighted.value.clone(), tolerance };
        }
    }
    Cell::exact(Value::Null)
}

fn are_integers(values: &[Weighted]) -> bool {
    values
        .iter()
        .all(|weighted| matches!(weighted.value, Value::Number(number) if number.is_integer()))
}

/// The value at `millionths` millionths of the way from the first to the last event, between the
/// two events around it.
fn quantile_between(sorted: &[Weighted], millionths: u32) -> Cell {
    if millionths == 0 || millionths == 1_000_000 || sorted.is_empty() {
        return quantile(sorted, millionths);
    }
    let events = weight(sorted);
    let steps = events.minus(&Exact::from_integer(1));
    let way = match steps.is_negative() {
        true => Exact::default(),
        false => steps.times(&Exact::from_integer(millionths.into()).shifted_down(6)),
    };
    let (first, part) = (way.floor(), way.minus(&way.floor()));
    let at = |position: &Exact| {
        let mut end = Exact::default();
        let event = sorted.iter().find(|weighted| {
            end = end.plus(&Exact::from_integer(weighted.weight.into()).shifted_down(6));
            *position < end
        });
        match event.or(sorted.last()).map(|weighted| &weighted.value) {
            Some(Value::Number(number)) => *number,
            _ => Number::ZERO,
        }
    };
    let (lower, upper) = (at(&first), at(&first.plus(&Exact::from_integer(1))));
    let between = |lower: &Exact, upper: &Exact| {
        lower.times(&Exact::from_integer(1).minus(&part)).plus(&upper.times(&part))
    };
    let (low, high) = (Exact::from_number(lower), Exact::from_number(upper));
    let value = match lower == upper || part.is_zero() {
        true => Value::Number(lower),
        false => nearest(between(&low, &high).to_f64()),
    };
    let tolerance = if sorted.len() > limits::QUANTILE_EXACT_ROWS {
        Tolerance::Absolute(QUANTILE_SHARE * between(&low.abs(), &high.abs()).to_f64())
    } else if is_double(&Value::Number(lower)) || is_double(&Value::Number(upper)) {
        // Doubles are interpolated as such.
        Tolerance::Absolute(SUM_SHARE * between(&low.abs(), &high.abs()).to_f64() + SUBNORMALS)
    } else {
        Tolerance::Exact
    };
    Cell { value, tolerance }
}

/// The most frequent values with their weights, as texts.
fn top_values(values: &[Weighted], top: usize) -> Cell {
    let mut counts: Vec<(Value, i128)> = Vec::new();
    for weighted in sorted(values) {
        let weight = i128::from(weighted.weight);
        match counts.last_mut().filter(|last| last.0 == weighted.value) {
            Some(last) => last.1 += weight,
            None => counts.push((weighted.value, weight)),
        }
    }
    let is_exact = counts.len() <= limits::TOP_VALUES_EXACT;
    // Stable: of equally frequent values the smallest stays first.
    counts.sort_by_key(|count| -count.1);
    let text = |(value, weight): &(Value, i128)| {
        let events = Exact::from_integer(*weight).shifted_down(6).to_decimal();
        format!("{value}: {}", events.unwrap_or(Number::ZERO))
    };
    let texts: Vec<String> = counts.iter().take(top).map(text).collect();
    let value = if texts.is_empty() { Value::Null } else { Value::vector(texts) };
    Cell { value, tolerance: if is_exact { Tolerance::Exact } else { Tolerance::Open } }
}

fn distinct(values: &[Weighted]) -> Cell {
    let mut different = sorted(values);
    different.dedup_by(|left, right| left.value == right.value);
    let tolerance = match different.len() <= limits::DISTINCT_EXACT_VALUES {
        true => Tolerance::Exact,
        false => Tolerance::Relative(DISTINCT_SHARE),
    };
    Cell { value: length(different.len()), tolerance }
}
