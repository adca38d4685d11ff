//! The distribution of numbers: exact while small, then a sketch with a relative error of 1 %.
//!
//! Up to [`QUANTILE_EXACT_ROWS`] rows every value is kept. Beyond that, a state keeps only the
//! weight in each bucket (see `state/quantiles/buckets.rs`), the exact smallest and largest value,
//! and whether all values are integers: then so is each quantile. Which of the two forms a state
//! has depends only on the number of all rows, and the weights of buckets add up. So merging is
//! order-free, bit for bit.

pub(crate) mod buckets;
pub(crate) mod counts;
mod interpolation;
pub(crate) mod weights;

use hadal_types::decimal::power_of_ten;
use hadal_types::limits::{DECIMAL_SCALE_MAX, QUANTILE_EXACT_ROWS};
use hadal_types::{Number, Weight};

use crate::state::quantiles::buckets::{
    BUCKETS_NEAR, bucket_integer, bucket_number, bucket_of, bucket_of_number,
};
use crate::state::quantiles::interpolation::{Position, interpolated, rounded};
use crate::state::quantiles::weights::QuantileWeights;
use crate::state::sorted_runs::is_ascending;

/// The version of the bucket edges. It must be raised whenever these change, because sketches of
/// different versions do not merge.
pub const QUANTILES_VERSION: u32 = 1;

/// The distribution of some numbers, each with a weight.
#[derive(Clone, Debug, Default)]
pub struct Quantiles {
    rows: u64,
    /// All values, in any order; equality and encoding sort them. Empty once there is a sketch.
    values: Vec<(Number, Weight)>,
    sketch: Option<Box<Sketch>>,
}

/// The weight in each bucket.
#[derive(Clone, Debug)]
struct Sketch {
    weights: QuantileWeights,
    min: Number,
    max: Number,
    are_integers: bool,
}

/// The parts of a distribution, for encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuantilesParts {
    /// Every value with its weight, sorted.
    Exact(Vec<(Number, Weight)>),
    /// Weights by bucket.
    Sketch {
        /// The number of values.
        rows: u64,
        /// The smallest value.
        min: Number,
        /// The largest value.
        max: Number,
        /// Buckets in ascending order, with their weight in millionths.
        buckets: Vec<(i32, i128)>,
        /// Whether all values are integers.
        are_integers: bool,
    },
}

impl Quantiles {
    /// Adds one value.
    pub fn add(&mut self, value: Number, weight: Weight) {
        self.rows = self.rows.saturating_add(1);
        if is_sketched(self.rows) {
            let weight = i128::from(weight.millionths());
            let sketch = self.sketch((value, value));
            sketch.are_integers &= value.is_integer();
            sketch.weights.add_weights([(bucket_of_number(value), weight)]);
        } else {
            self.values.push((value, weight));
        }
    }

    /// Whether `rows` more values can be counted by bucket ([`Self::add_rows`]). Otherwise all
    /// values together are few enough to be exact, and must be added one by one.
    #[must_use]
    pub fn takes_buckets(&self, rows: u64) -> bool {
        is_sketched(self.rows.saturating_add(rows))
    }

    /// Adds `rows` values between `min` and `max`, which is faster than one by one. Only allowed if
    /// [`Self::takes_buckets`] is true. The caller must add the values' weights to the returned
    /// [`QuantileWeights`], by bucket ([`crate::accumulate::bucket_of_decimal`],
    /// [`crate::accumulate::bucket_of`]), and pass [`Self::note_fraction`] on if one of them is no
    /// integer.
    pub fn add_rows(&mut self, rows: u64, ends: (Number, Number)) -> &mut QuantileWeights {
        debug_assert!(self.takes_buckets(rows), "{rows} rows more are to be exact");
        self.rows = self.rows.saturating_add(rows);
        &mut self.sketch(ends).weights
    }

    /// Adds the values of `other`.
    pub fn merge(&mut self, other: &Self) {
        if let Some(sketch) = &other.sketch {
            return self.merge_sketch(other.rows, sketch);
        }
        if !self.takes_buckets(other.rows) {
            self.rows += other.rows;
            return self.values.extend_from_slice(&other.values);
        }
        if let Some(sketch) = Sketch::of(&other.values) {
            self.merge_sketch(other.rows, &sketch);
        }
    }

    fn merge_sketch(&mut self, rows: u64, other: &Sketch) {
        self.add_rows(rows, (other.min, other.max)).merge(&other.weights);
        if !other.are_integers {
            self.note_fraction();
        }
    }

    /// Records that a value of rows that are counted by bucket is no integer.
    pub fn note_fraction(&mut self) {
        if let Some(sketch) = &mut self.sketch {
            sketch.are_integers = false;
        }
    }

    /// Whether the state does not have a value that is no integer, as far as it knows: a state that
    /// keeps every value does not look at them.
    #[must_use]
    pub fn may_be_integers(&self) -> bool {
        self.sketch.as_ref().is_none_or(|sketch| sketch.are_integers)
    }

    /// Becomes a sketch, and extends its range by that of rows which the caller will add.
    pub fn span(&mut self, ends: (Number, Number)) {
        self.sketch(ends);
    }

    /// Becomes a sketch if it is none, and extends its range by this range.
    fn sketch(&mut self, (min, max): (Number, Number)) -> &mut Sketch {
        let values = std::mem::take(&mut self.values);
        let empty = || Sketch { weights: QuantileWeights::default(), min, max, are_integers: true };
        let of_values = || Box::new(Sketch::of(&values).unwrap_or_else(empty));
        let sketch = self.sketch.get_or_insert_with(of_values);
        (sketch.min, sketch.max) = (sketch.min.min(min), sketch.max.max(max));
        sketch
    }

    /// The number of values.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// The smallest and the largest value of a sketch; `None` while every value is kept.
    #[must_use]
    pub fn ends(&self) -> Option<(Number, Number)> {
        self.sketch.as_ref().map(|sketch| (sketch.min, sketch.max))
    }

    /// Whether every value is still kept.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.sketch.is_none()
    }

    /// The smallest value such that at least `millionths` of the weight are at or below it. Exact
    /// for 0, the smallest value, and for 1,000,000, the largest. `None` without values.
    ///
    /// Beyond [`QUANTILE_EXACT_ROWS`] values, other quantiles are within 1 %. They have four to
    /// seven significant digits, or are one of the two ends. Those of integers are integers, exact
    /// below 128.
    #[must_use]
    pub(crate) fn quantile(&self, millionths: u32) -> Option<Number> {
        if let Some(sketch) = &self.sketch {
            return sketch.quantile(millionths);
        }
        let values = self.sorted();
        let weights =
            values.iter().map(|&(value, weight)| (value, i128::from(weight.millionths())));
        rank(weights, millionths)
    }

    /// The value at this many millionths of the way from the first to the last event, where a row
    /// of weight w stands for w events of the same value. Interpolated between the two events
    /// around it, and rounded to a double if these differ. `None` without values.
    ///
    /// Exact up to [`QUANTILE_EXACT_ROWS`] values, and for 0 and 1,000,000, which are the smallest
    /// and the largest value. Otherwise both events are within 1 %.
    #[must_use]
    pub(crate) fn quantile_cont(&self, millionths: u32) -> Option<Number> {
        if millionths == 0 || millionths >= 1_000_000 {
            return self.quantile(millionths);
        }
        let Some(sketch) = &self.sketch else {
            let values = self.sorted();
            let weights =
                values.iter().map(|&(value, weight)| (value, i128::from(weight.millionths())));
            let position = Position::of(weights, millionths)?;
            return Some(interpolated(position.lower, position.upper, position.part));
        };
        let Position { lower, upper, part } = Position::of(sketch.weights.iter(), millionths)?;
        let (lower, upper) = (sketch.number(lower), sketch.number(upper));
        if part == 0 || lower == upper {
            return Some(lower);
        }
        Some(rounded(interpolated(lower, upper, part)))
    }

    /// The weight of all values, and of those at or below `value`, in events. A bucket of a sketch
    /// is at or below `value` if its number is.
    pub(crate) fn weight_up_to(&self, value: f64) -> (f64, f64) {
        let (mut all, mut below) = (0i128, 0i128);
        let mut add = |weight: i128, is_below: bool| {
            all += weight;
            if is_below {
                below += weight;
            }
        };
        match &self.sketch {
            Some(sketch) => {
                let middle = bucket_of(value);
                sketch.weights.iter().for_each(|(bucket, weight)| {
                    // A number is slow to compute, and close to its bucket.
                    let is_near = middle.abs_diff(bucket) <= BUCKETS_NEAR;
                    let is_below =
                        if is_near { sketch.is_up_to(bucket, value) } else { bucket < middle };
                    add(weight, is_below);
                });
            }
            None => self.values.iter().for_each(|(number, weight)| {
                add(i128::from(weight.millionths()), number.to_f64() <= value);
            }),
        }
        #[expect(clippy::cast_precision_loss, reason = "an estimate needs few digits")]
        let events = |millionths: i128| millionths as f64 / 1e6;
        (events(all), events(below))
    }

    fn sorted(&self) -> Vec<(Number, Weight)> {
        let mut sorted = self.values.clone();
        match mantissas(&sorted) {
            // Integers are compared several times as fast as numbers.
            Some(mantissas) => {
                let mut keyed: Vec<(i128, (Number, Weight))> =
                    mantissas.into_iter().zip(sorted).collect();
                keyed.sort_unstable_by_key(|(mantissa, (_, weight))| (*mantissa, *weight));
                keyed.into_iter().map(|(_, value)| value).collect()
            }
            None => {
                sorted.sort_unstable();
                sorted
            }
        }
    }

    /// Approximate bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        let bytes = |sketch: &Sketch| size_of::<Sketch>() + sketch.weights.heap_bytes();
        self.sketch.as_deref().map_or(0, bytes)
            + self.values.capacity() * size_of::<(Number, Weight)>()
    }

    /// The parts of the distribution; equal distributions have equal parts.
    #[must_use]
    pub fn to_parts(&self) -> QuantilesParts {
        match &self.sketch {
            None => QuantilesParts::Exact(self.sorted()),
            Some(sketch) => QuantilesParts::Sketch {
                rows: self.rows,
                min: sketch.min,
                max: sketch.max,
                buckets: sketch.weights.iter().collect(),
                are_integers: sketch.are_integers,
            },
        }
    }

    /// The distribution of these parts, or `None` if no rows can lead to them.
    #[must_use]
    pub fn from_parts(parts: QuantilesParts) -> Option<Self> {
        match parts {
            QuantilesParts::Exact(values) => {
                let rows = u64::try_from(values.len()).ok()?;
                (!is_sketched(rows)).then_some(Self { rows, values, sketch: None })
            }
            QuantilesParts::Sketch { rows, min, max, buckets, are_integers } => {
                let ordered = is_ascending(&buckets);
                let positive = buckets.iter().all(|bucket| bucket.1 > 0);
                let first = buckets.first()?.0 == bucket_of_number(min);
                let last = buckets.last()?.0 == bucket_of_number(max);
                let ends = min <= max && (!are_integers || (min.is_integer() && max.is_integer()));
                let fits = ordered && positive && first && last && ends && is_sketched(rows);
                fits.then(|| {
                    let mut weights = QuantileWeights::default();
                    weights.add_weights(buckets);
                    let sketch = Some(Box::new(Sketch { weights, min, max, are_integers }));
                    Self { rows, values: Vec::new(), sketch }
                })
            }
        }
    }
}

impl PartialEq for Quantiles {
    fn eq(&self, other: &Self) -> bool {
        self.to_parts() == other.to_parts()
    }
}

impl Eq for Quantiles {}

impl Sketch {
    /// The sketch of some values; `None` for none.
    fn of(values: &[(Number, Weight)]) -> Option<Self> {
        let numbers = || values.iter().map(|(value, _)| *value);
        let (min, max) = (numbers().min()?, numbers().max()?);
        let are_integers = numbers().all(Number::is_integer);
        let bucket = |&(value, weight): &(Number, Weight)| {
            (bucket_of_number(value), i128::from(weight.millionths()))
        };
        let mut buckets: Vec<(i32, i128)> = values.iter().map(bucket).collect();
        buckets.sort_unstable_by_key(|bucket| bucket.0);
        let mut weights = QuantileWeights::default();
        weights.add_weights(buckets);
        Some(Self { weights, min, max, are_integers })
    }

    fn quantile(&self, millionths: u32) -> Option<Number> {
        match millionths {
            0 => return Some(self.min),
            1_000_000.. => return Some(self.max),
            _ => {}
        }
        rank(self.weights.iter(), millionths).map(|bucket| self.number(bucket))
    }

    /// Whether the number of a bucket is at or below `value`.
    fn is_up_to(&self, bucket: i32, value: f64) -> bool {
        self.number(bucket).to_f64() <= value
    }

    /// The number that represents the values of a bucket.
    fn number(&self, bucket: i32) -> Number {
        let number = if self.are_integers { bucket_integer(bucket) } else { bucket_number(bucket) };
        number.clamp(self.min, self.max)
    }
}

/// The values as mantissas of the finest scale of stored decimals; `None` if one is no stored
/// decimal.
fn mantissas(values: &[(Number, Weight)]) -> Option<Vec<i128>> {
    let mantissa = |(number, _): &(Number, Weight)| {
        let (mantissa, scale) = number.to_stored()?;
        let unit = power_of_ten(DECIMAL_SCALE_MAX.checked_sub(scale)?)?;
        i128::from(mantissa).checked_mul(unit)
    };
    values.iter().map(mantissa).collect()
}

fn is_sketched(rows: u64) -> bool {
    rows > u64::try_from(QUANTILE_EXACT_ROWS).unwrap_or(u64::MAX)
}

/// The first item, in order, such that at least `millionths` of the weight are at or before it. For
/// more than a million, the last item.
fn rank<T>(things: impl Iterator<Item = (T, i128)> + Clone, millionths: u32) -> Option<T> {
    const MILLION: i128 = 1_000_000;
    let total = things.clone().fold(0i128, |total, (_, weight)| total.saturating_add(weight));
    let millionths = i128::from(millionths).min(MILLION);
    // ⌈total · millionths / million⌉, computed without overflow.
    let whole = (total / MILLION) * millionths;
    let target = whole + ((total % MILLION) * millionths + MILLION - 1) / MILLION;
    let mut below = 0i128;
    things
        .clone()
        .find(|(_, weight)| {
            below = below.saturating_add(*weight);
            below >= target
        })
        .or_else(|| things.last())
        .map(|(thing, _)| thing)
}

#[cfg(test)]
mod tests;
