//! 95 % confidence intervals of a group's outputs, for rows that were kept by chance.
//!
//! `hadal_query`'s plan says which totals an output depends on, and which states hold their
//! variances and covariances. Gradients are computed with dual numbers.

use hadal_query::{ConfidencePlan, OutputConfidence, OutputExpr, SmoothExpr, Total};
use hadal_types::limits::{CONFIDENCE_EFFECTIVE_ROWS_MIN, CONFIDENCE_KEY_GROUPS};
use hadal_types::{Value, Weight};

use crate::finish::group_states::{GroupStates, events};
use crate::finish::interval::Interval;
use crate::finish::missing_leaves::{AnsweredLeaves, quantile_of_t};
use crate::state::State;
use crate::state::comoments::Comoments;
use crate::state::quantiles::Quantiles;
use crate::state::random_groups;
use crate::state::weighted_count::WeightedCount;

/// The probability with which the true value is outside of an interval.
const OUTSIDE: f64 = 0.05;
/// The 97.5 % quantile of the normal distribution.
const DEVIATIONS: f64 = 1.959_963_984_540_054;
/// How far the sum of weights of variances may fall short of Σw² − Σw. It does if weights are too
/// large for them ([`Weight::sampling_variance`]).
const SHORTFALL_MAX: f64 = 1e-3;
/// A sum of this share of its parts is nothing but rounding.
const ROUNDING: f64 = 1e-12;
const MILLION: f64 = 1e6;
/// A variance that is computed from random groups has one degree of freedom less than groups.
const INVERSE_FREEDOM_OF_KEYS: f64 = 1.0 / (CONFIDENCE_KEY_GROUPS as f64 - 1.0);

/// Computes the interval of an output with the value `value`. `leaves` are those that answered, if
/// others are missing. `number` gives the values of outputs that do not depend on which rows were
/// kept.
pub(crate) fn interval(
    (plan, confidence): (&ConfidencePlan, &OutputConfidence),
    value: &Value,
    states: &GroupStates<'_>,
    leaves: Option<&AnsweredLeaves>,
    number: &dyn Fn(&OutputExpr) -> Option<f64>,
) -> Interval {
    let Value::Number(value) = value else { return Interval::None };
    let value = value.to_f64();
    match confidence {
        OutputConfidence::None => Interval::None,
        OutputConfidence::Exact => Interval::Between(value, value),
        OutputConfidence::Smooth(smooth) => {
            Totals::interval_of(plan, states, smooth, (value, leaves), number)
        }
        OutputConfidence::Share(smooth) => {
            let interval = Totals::interval_of(plan, states, smooth, (value, leaves), number);
            match smooth {
                SmoothExpr::Divide(parts)
                    if (value == 0.0 || value == 1.0) && interval != Interval::None =>
                {
                    let totals = parts[1].totals();
                    let unseen = Totals { plan, states, totals: &totals }.unseen_share(leaves);
                    unseen.map_or(Interval::TooFew, |unseen| interval.with_unseen(unseen))
                }
                _ => interval.within_one(),
            }
        }
        // The share of events below a value is not known by leaf.
        OutputConfidence::Quantile(..) if leaves.is_some() => Interval::None,
        OutputConfidence::Quantile(measure, millionths) => {
            let weighed = plan.quantiles.get(measure).and_then(|index| states.state(*index));
            match (states.state(*measure).as_deref(), weighed.as_deref()) {
                (Some(State::Quantiles(events)), Some(State::Quantiles(variances))) => {
                    quantile_interval(events, variances, value, *millionths)
                }
                _ => Interval::None,
            }
        }
    }
}

/// The totals that one output depends on.
struct Totals<'a> {
    plan: &'a ConfidencePlan,
    states: &'a GroupStates<'a>,
    totals: &'a [Total],
}

impl<'a> Totals<'a> {
    /// The interval of this function of totals, which has the value `value`.
    fn interval_of(
        plan: &'a ConfidencePlan,
        states: &'a GroupStates<'a>,
        smooth: &SmoothExpr,
        (value, leaves): (f64, Option<&AnsweredLeaves>),
        number: &dyn Fn(&OutputExpr) -> Option<f64>,
    ) -> Interval {
        let totals = smooth.totals();
        let all = Totals { plan, states, totals: &totals };
        let interval = match leaves {
            Some(leaves) => all.interval_of_all(smooth, leaves, number),
            None => all.interval(smooth, value, number),
        };
        interval.unwrap_or(Interval::None)
    }

    fn interval(
        &self,
        smooth: &SmoothExpr,
        value: f64,
        number: &dyn Fn(&OutputExpr) -> Option<f64>,
    ) -> Option<Interval> {
        let totals: Vec<(WeightedCount, f64)> =
            self.totals.iter().map(|total| self.states.total(*total)).collect::<Option<_>>()?;
        let sums: Vec<f64> = totals.iter().map(|(_, sum)| *sum).collect();
        let gradient = self.dual(smooth, &sums, number)?.gradient;
        let variance = self.variance(&gradient, &|left, right| {
            self.covariance(self.totals[left], self.totals[right])
        })?;
        if variance == 0.0 {
            return Some(Interval::Between(value, value));
        }
        if self.are_too_few(&totals)? {
            return Some(Interval::TooFew);
        }
        let deviations = match self.is_by_key() {
            true => quantile_of_t(DEVIATIONS, INVERSE_FREEDOM_OF_KEYS),
            false => DEVIATIONS,
        };
        Some(around(value, deviations * variance.sqrt()))
    }

    /// The kept rows are all of one kind: the largest share of events of another kind that leaves
    /// no kept row with a probability of at least 5 %. `None` if the rows are too few, or it is not
    /// known. (The rule of three: Hanley and Lippman-Hand, "If Nothing Goes Wrong, Is Everything
    /// All Right?", JAMA 1983.)
    ///
    /// A row is there with the probability 1 / w, if its leaf has answered. On such a leaf only
    /// rows that were sampled can be missing, so w is their mean weight, Σw(w − 1) / Σ(w − 1).
    fn unseen_share(&self, leaves: Option<&AnsweredLeaves>) -> Option<f64> {
        let total = *self.totals.first()?;
        let (count, _) = self.states.total(total)?;
        let of_all = |number: f64| leaves.map_or(number, |leaves| leaves.estimate(number));
        let unseen_rows = |weight: f64| {
            let weight = of_all(weight);
            let missed = OUTSIDE.ln() / (1.0 - weight.recip()).ln();
            if weight > 1.0 { missed / of_all(events(count)) } else { 0.0 }
        };
        if !self.is_by_key() {
            let (excess, more) = (excess(count), events(count) - rows(count));
            let weight = if more > 0.0 { excess / more } else { 1.0 };
            let is_enough = weight <= 1.0 || !are_too_few(&[(count, 0.0)]);
            return is_enough.then(|| unseen_rows(weight));
        }
        let KeyWeights { sum, squares } = self.key_weights(total)?;
        if squares <= 0.0 {
            return Some(unseen_rows(1.0));
        }
        // Events of keys of the mean weight.
        let unseen_keys = -OUTSIDE.ln() * squares / sum / events(count);
        let is_enough = sum.powi(2) / squares >= CONFIDENCE_EFFECTIVE_ROWS_MIN;
        is_enough.then(|| unseen_keys.max(unseen_rows(1.0)))
    }

    /// Whether all rows of a key were kept, or none.
    fn is_by_key(&self) -> bool {
        !self.plan.random_groups.is_empty()
    }

    /// Whether the rows or keys behind one of these totals are too few for an interval.
    fn are_too_few(&self, totals: &[(WeightedCount, f64)]) -> Option<bool> {
        if !self.is_by_key() {
            return Some(are_too_few(totals));
        }
        let keys = self.totals.iter().map(|total| {
            let KeyWeights { sum, squares } = self.key_weights(*total)?;
            // Keys of equal weight: (Σw)² / Σw².
            Some(if squares > 0.0 { sum.powi(2) / squares } else { f64::INFINITY })
        });
        let keys = keys.collect::<Option<Vec<f64>>>()?;
        let fewest = keys.into_iter().fold(f64::INFINITY, f64::min);
        Some(fewest < CONFIDENCE_EFFECTIVE_ROWS_MIN)
    }

    /// The weights of the keys behind a total.
    fn key_weights(&self, total: Total) -> Option<KeyWeights> {
        let weights = self.by_random_group(total)?.weights;
        let squares = random_groups::covariance(&weights, &weights);
        Some(KeyWeights { sum: weights.iter().sum(), squares })
    }

    /// The totals of a total's rows by random groups of keys.
    fn by_random_group(&self, total: Total) -> Option<random_groups::Totals> {
        let state = self.states.state(*self.plan.random_groups.get(&total.measure())?)?;
        let State::RandomGroups(groups) = &*state else { return None };
        groups.totals()
    }

    /// The estimate for all leaves, and its interval. In the variance of a sample of leaves whose
    /// rows are samples, that of the rows is multiplied by the share of the leaves, not by its
    /// square (Särndal, Swensson and Wretman, section 4.3.2).
    fn interval_of_all(
        &self,
        smooth: &SmoothExpr,
        leaves: &AnsweredLeaves,
        number: &dyn Fn(&OutputExpr) -> Option<f64>,
    ) -> Option<Interval> {
        let totals: Vec<(WeightedCount, f64)> =
            self.totals.iter().map(|total| self.states.total(*total)).collect::<Option<_>>()?;
        if !leaves.are_enough() || are_too_few(&totals) || self.are_too_few(&totals)? {
            return Some(Interval::TooFew);
        }
        let sums: Vec<f64> = totals.iter().map(|(_, sum)| leaves.estimate(*sum)).collect();
        let Dual { value, gradient } = self.dual(smooth, &sums, number)?;
        let between_leaves = self.variance(&gradient, &|left, right| {
            let pair = [self.totals[left], self.totals[right]];
            leaves.covariance(self.plan, self.states, pair, [totals[left].1, totals[right].1])
        })?;
        let of_rows = self.variance(&gradient, &|left, right| {
            self.covariance(self.totals[left], self.totals[right])
        })?;
        // The rows of a key are on all leaves, so its sums are as much larger as the estimates.
        let width = match self.is_by_key() {
            true => {
                let of_keys = leaves.estimate(leaves.estimate(of_rows));
                leaves.half_width(between_leaves, (of_keys, INVERSE_FREEDOM_OF_KEYS), DEVIATIONS)
            }
            false => leaves.half_width(between_leaves, (leaves.estimate(of_rows), 0.0), DEVIATIONS),
        };
        match around(value, width) {
            Interval::Between(low, high) => Some(Interval::OfAll { estimate: value, low, high }),
            other => Some(other),
        }
    }

    /// The variance of a function of totals with this gradient; 0 if it is nothing but rounding.
    fn variance(
        &self,
        gradient: &[f64],
        covariance: &dyn Fn(usize, usize) -> Option<f64>,
    ) -> Option<f64> {
        let (mut variance, mut size) = (0.0, 0.0);
        for left in 0..self.totals.len() {
            for right in 0..self.totals.len() {
                let product = gradient[left] * gradient[right];
                if product != 0.0 {
                    let part = product * covariance(left, right)?;
                    (variance, size) = (variance + part, size + part.abs());
                }
            }
        }
        Some(if variance <= size * ROUNDING { 0.0 } else { variance })
    }

    fn dual(
        &self,
        smooth: &SmoothExpr,
        sums: &[f64],
        number: &dyn Fn(&OutputExpr) -> Option<f64>,
    ) -> Option<Dual> {
        let pair = |parts: &[SmoothExpr; 2]| {
            let [left, right] = parts;
            Some((self.dual(left, sums, number)?, self.dual(right, sums, number)?))
        };
        Some(match smooth {
            SmoothExpr::Constant(expr) => {
                Dual { value: number(expr)?, gradient: vec![0.0; sums.len()] }
            }
            SmoothExpr::Total(total) => {
                let index = self.totals.iter().position(|other| other == total)?;
                let mut gradient = vec![0.0; sums.len()];
                gradient[index] = 1.0;
                Dual { value: sums[index], gradient }
            }
            SmoothExpr::Add(parts) => {
                let (left, right) = pair(parts)?;
                left.with(&right, left.value + right.value, [1.0, 1.0])
            }
            SmoothExpr::Subtract(parts) => {
                let (left, right) = pair(parts)?;
                left.with(&right, left.value - right.value, [1.0, -1.0])
            }
            SmoothExpr::Multiply(parts) => {
                let (left, right) = pair(parts)?;
                left.with(&right, left.value * right.value, [right.value, left.value])
            }
            SmoothExpr::Divide(parts) => {
                let (left, right) = pair(parts)?;
                let quotient = left.value / right.value;
                left.with(&right, quotient, [1.0 / right.value, -quotient / right.value])
            }
        })
    }

    /// Σw(w − 1)·x·y over rows, or over keys of their sums.
    fn covariance(&self, left: Total, right: Total) -> Option<f64> {
        if self.is_by_key() {
            let of = |total| {
                let totals = self.by_random_group(total)?;
                Some(if matches!(total, Total::Sum(_)) { totals.sums } else { totals.weights })
            };
            return Some(random_groups::covariance(&of(left)?, &of(right)?));
        }
        match (left, right) {
            (Total::Rows, Total::Rows) => Some(excess(self.states.count())),
            (Total::Rows, Total::Count(measure)) | (Total::Count(measure), Total::Rows) => {
                Some(excess(self.states.total(Total::Count(measure))?.0))
            }
            (Total::Count(one), Total::Count(other)) if one == other => {
                Some(excess(self.states.total(left)?.0))
            }
            (Total::Rows, Total::Sum(measure)) | (Total::Sum(measure), Total::Rows) => {
                self.of_one(measure).map(|[sum, _]| sum)
            }
            (Total::Sum(one), Total::Sum(other)) if one == other => {
                self.of_one(one).map(|[_, squares]| squares)
            }
            (Total::Sum(one), Total::Count(other)) | (Total::Count(other), Total::Sum(one))
                if one == other =>
            {
                self.of_one(one).map(|[sum, _]| sum)
            }
            _ => self.of_two(left, right),
        }
    }

    /// Σw(w − 1)·x and Σw(w − 1)·x² of a measure's values.
    fn of_one(&self, measure: usize) -> Option<[f64; 2]> {
        let state = self.states.state(*self.plan.variances.get(&measure)?)?;
        let State::Comoments(comoments) = &*state else { return None };
        let expected = excess(self.states.total(Total::Count(measure))?.0);
        let [sum, squares, ..] = complete(comoments, expected)?;
        Some([sum, squares])
    }

    /// The same of the values of two measures.
    fn of_two(&self, left: Total, right: Total) -> Option<f64> {
        let (one, other) = (left.measure()?, right.measure()?);
        let (left, right) = if one < other { (left, right) } else { (right, left) };
        let pair = (one.min(other), one.max(other));
        let state = self.states.state(*self.plan.covariances.get(&pair)?)?;
        let State::Comoments(comoments) = &*state else { return None };
        let [x, _, y, _, xy] = comoments.sums()?;
        Some(match (left, right) {
            (Total::Sum(_), Total::Sum(_)) => xy,
            (Total::Sum(_), _) => x,
            (_, Total::Sum(_)) => y,
            _ => events(comoments.count()),
        })
    }
}

/// The weights of keys that were sampled, of the sums of their rows.
struct KeyWeights {
    sum: f64,
    /// The sum of their squares, as estimated from random groups.
    squares: f64,
}

/// A value and its derivatives by each total.
struct Dual {
    value: f64,
    gradient: Vec<f64>,
}

impl Dual {
    /// A function of two values, with its derivatives by both.
    fn with(&self, other: &Self, value: f64, by: [f64; 2]) -> Self {
        let parts = self.gradient.iter().zip(&other.gradient);
        let gradient = parts.map(|(left, right)| left * by[0] + right * by[1]).collect();
        Self { value, gradient }
    }
}

/// Whether the rows behind one of these totals are too few for an interval.
fn are_too_few(totals: &[(WeightedCount, f64)]) -> bool {
    let rows = totals.iter().map(|(count, _)| effective_rows(*count));
    rows.fold(f64::INFINITY, f64::min) < CONFIDENCE_EFFECTIVE_ROWS_MIN
}

/// The sums of a state of variances, unless weights were too large for it.
fn complete(comoments: &Comoments, expected: f64) -> Option<[f64; 5]> {
    let is_complete = events(comoments.count()) >= expected * (1.0 - SHORTFALL_MAX);
    if is_complete { comoments.sums() } else { None }
}

/// The interval of a quantile: between the quantiles at the ends of the interval of the share of
/// events at or below it (Woodruff, JASA 1952).
fn quantile_interval(
    events: &Quantiles,
    variances: &Quantiles,
    value: f64,
    millionths: u32,
) -> Interval {
    let (all, below) = events.weight_up_to(value);
    let (excess, excess_below) = variances.weight_up_to(value);
    if excess == 0.0 {
        return Interval::Between(value, value);
    }
    // Σw² = Σw(w − 1) + Σw.
    if all * all / (excess + all) < CONFIDENCE_EFFECTIVE_ROWS_MIN {
        return Interval::TooFew;
    }
    let share = below / all;
    let variance = (excess_below * (1.0 - 2.0 * share) + excess * share * share) / (all * all);
    let width = DEVIATIONS * variance.max(0.0).sqrt();
    let middle = f64::from(millionths) / MILLION;
    let (low, high) = (middle - width, middle + width);
    if low < 0.0 || high > 1.0 {
        return Interval::TooFew;
    }
    let at = |share: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "between 0 and a million")]
        #[expect(clippy::cast_sign_loss, reason = "between 0 and a million")]
        let millionths = (share * MILLION).round() as u32;
        events.quantile(millionths).map(|number| number.to_f64())
    };
    match (at(low), at(high)) {
        (Some(low), Some(high)) => Interval::Between(low.min(value), high.max(value)),
        _ => Interval::None,
    }
}

/// The interval with this half width, unless it is beyond the range of doubles.
fn around(value: f64, width: f64) -> Interval {
    match (value - width, value + width) {
        (low, high) if low.is_finite() && high.is_finite() => Interval::Between(low, high),
        _ => Interval::None,
    }
}

/// Σw² − Σw = Σw(w − 1).
#[expect(clippy::cast_precision_loss, reason = "an estimate needs few digits")]
fn excess(count: WeightedCount) -> f64 {
    let unit = i128::from(Weight::UNIT);
    let excess = count.weight_squares().saturating_sub(count.weight().saturating_mul(unit));
    (excess as f64 / (MILLION * MILLION)).max(0.0)
}

/// The number of stored rows.
#[expect(clippy::cast_precision_loss, reason = "an estimate needs few digits")]
fn rows(count: WeightedCount) -> f64 {
    count.rows() as f64
}

/// The number of rows of equal weight that estimate a total as well as these: (Σw)² / Σw² (Kish,
/// "Survey Sampling", 1965).
#[expect(clippy::cast_precision_loss, reason = "an estimate needs few digits")]
fn effective_rows(count: WeightedCount) -> f64 {
    let squares = count.weight_squares() as f64 / (MILLION * MILLION);
    if squares > 0.0 { events(count).powi(2) / squares } else { 0.0 }
}

#[cfg(test)]
mod tests;
