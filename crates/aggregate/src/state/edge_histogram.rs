//! Histograms with given edges.
//!
//! A value is counted between the two edges around it. Values below the first and above the last
//! edge are counted in buckets of their own, which begin with the smallest and end with the largest
//! value, so that no value is left out.

use std::sync::Arc;

use hadal_types::limits::HISTOGRAM_BUCKETS_MAX;
use hadal_types::value::HistogramBucket;
use hadal_types::{Number, Value, Weight};

use crate::state::weighted_count::number_of_weight;

/// The weights of some numbers between edges. The edges come with the first value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeHistogram {
    cells: Option<Box<EdgeCells>>,
}

/// The parts of the state, for encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeHistogramParts {
    /// The edges, ascending: two or more.
    pub edges: Vec<Number>,
    /// Weights in millionths: below the first edge, from each edge but the last, at the last edge,
    /// and above it.
    pub weights: Vec<i128>,
    /// The smallest value.
    pub min: Number,
    /// The largest value.
    pub max: Number,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct EdgeCells {
    edges: Arc<[Number]>,
    weights: Vec<i128>,
    min: Number,
    max: Number,
}

impl EdgeHistogram {
    /// Adds one value; `edges` is a histogram whose counts are ignored.
    pub fn add(&mut self, value: Number, edges: &[HistogramBucket], weight: Weight) {
        let cells = self.cells.get_or_insert_with(|| {
            let edges: Arc<[Number]> = edges_of(edges).collect();
            let weights = vec![0; edges.len() + 2];
            Box::new(EdgeCells { edges, weights, min: value, max: value })
        });
        debug_assert!(cells.edges.iter().copied().eq(edges_of(edges)), "edges of one histogram");
        let cell = cells.cell_of(value);
        if let Some(sum) = cells.weights.get_mut(cell) {
            *sum = sum.saturating_add(i128::from(weight.millionths()));
        }
        (cells.min, cells.max) = (cells.min.min(value), cells.max.max(value));
    }

    /// Adds the values of `other`, which are ignored if its edges differ.
    pub fn merge(&mut self, other: &Self) {
        match (&mut self.cells, &other.cells) {
            (_, None) => {}
            (cells @ None, Some(_)) => cells.clone_from(&other.cells),
            (Some(cells), Some(other)) if cells.edges == other.edges => {
                for (sum, weight) in cells.weights.iter_mut().zip(&other.weights) {
                    *sum = sum.saturating_add(*weight);
                }
                (cells.min, cells.max) = (cells.min.min(other.min), cells.max.max(other.max));
            }
            (Some(_), Some(_)) => debug_assert!(false, "edges of one histogram"),
        }
    }

    /// The weight between the edges, and below and above them if there are such values. Null
    /// without values.
    #[must_use]
    pub fn finish(&self) -> Value {
        self.cells.as_ref().map_or(Value::Null, |cells| Value::Histogram(cells.buckets()))
    }

    /// Approximate bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.cells.as_ref().map_or(0, |cells| {
            size_of::<EdgeCells>() + size_of_val(&*cells.edges) + size_of_val(&*cells.weights)
        })
    }

    /// The parts of the state, `None` without values.
    #[must_use]
    pub fn to_parts(&self) -> Option<EdgeHistogramParts> {
        self.cells.as_ref().map(|cells| EdgeHistogramParts {
            edges: cells.edges.to_vec(),
            weights: cells.weights.clone(),
            min: cells.min,
            max: cells.max,
        })
    }

    /// The state of these parts, or `None` if no values can lead to them.
    #[must_use]
    pub fn from_parts(parts: Option<EdgeHistogramParts>) -> Option<Self> {
        let Some(EdgeHistogramParts { edges, weights, min, max }) = parts else {
            return Some(Self::default());
        };
        let cells = EdgeCells { edges: edges.into(), weights, min, max };
        cells.is_whole().then(|| Self { cells: Some(Box::new(cells)) })
    }
}

/// The edges of adjacent buckets.
fn edges_of(buckets: &[HistogramBucket]) -> impl Iterator<Item = Number> {
    let first = buckets.first().map(|bucket| bucket.from);
    first.into_iter().chain(buckets.iter().map(|bucket| bucket.to))
}

impl EdgeCells {
    fn cell_of(&self, value: Number) -> usize {
        let below = self.edges.partition_point(|edge| *edge <= value);
        below + usize::from(self.edges.last().is_some_and(|last| value > *last))
    }

    fn is_whole(&self) -> bool {
        let cell = |weight: Option<usize>, end: Number| weight == Some(self.cell_of(end));
        (2..=usize::from(HISTOGRAM_BUCKETS_MAX)).contains(&self.edges.len())
            && self.edges.is_sorted_by(|left, right| left < right)
            && self.weights.len() == self.edges.len() + 2
            && self.weights.iter().all(|weight| *weight >= 0)
            && self.min <= self.max
            && cell(self.weights.iter().position(|weight| *weight > 0), self.min)
            && cell(self.weights.iter().rposition(|weight| *weight > 0), self.max)
    }

    fn buckets(&self) -> Arc<[HistogramBucket]> {
        let count = self.edges.len();
        let [first, last] =
            [self.edges.first(), self.edges.last()].map(|edge| *edge.unwrap_or(&self.min));
        let weight = |cell: usize| self.weights.get(cell).copied().unwrap_or(0);
        let (at_last, above) = (weight(count), weight(count + 1));
        let bucket =
            |from, to, weight| HistogramBucket { from, to, count: number_of_weight(weight) };
        let mut buckets = Vec::with_capacity(count + 1);
        if weight(0) > 0 {
            buckets.push(bucket(self.min, first, weight(0)));
        }
        for (cell, edges) in (1..).zip(self.edges.windows(2)) {
            let is_end = cell + 1 == count && above == 0;
            let more = if is_end { at_last } else { 0 };
            buckets.push(bucket(edges[0], edges[1], weight(cell).saturating_add(more)));
        }
        if above > 0 {
            buckets.push(bucket(last, self.max, at_last.saturating_add(above)));
        }
        buckets.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        text.parse().expect(text)
    }

    fn edges(texts: &[&str]) -> Vec<HistogramBucket> {
        let bucket = |pair: &[&str]| HistogramBucket {
            from: number(pair[0]),
            to: number(pair[1]),
            count: Number::ZERO,
        };
        texts.windows(2).map(bucket).collect()
    }

    fn of(values: &[&str]) -> EdgeHistogram {
        let mut state = EdgeHistogram::default();
        let edges = edges(&["0", "10", "100"]);
        values.iter().for_each(|text| state.add(number(text), &edges, Weight::ONE));
        state
    }

    #[test]
    fn values_are_between_the_edges() {
        let shown = |values: &[&str]| of(values).finish().to_string();
        assert_eq!(shown(&[]), "null");
        assert_eq!(shown(&["0", "9", "10", "100"]), "[0–10: 2, 10–100: 2]");
        assert_eq!(shown(&["5"]), "[0–10: 1, 10–100: 0]");
        assert_eq!(shown(&["-3", "5"]), "[-3–0: 1, 0–10: 1, 10–100: 0]");
        assert_eq!(shown(&["100", "101"]), "[0–10: 0, 10–100: 0, 100–101: 2]");
    }

    #[test]
    fn order_does_not_matter_and_parts_are_checked() {
        let values = ["5", "-1", "100", "100.5", "10", "0"];
        let whole = of(&values);
        for cut in 0..values.len() {
            let (left, right) = values.split_at(cut);
            let mut merged = of(right);
            merged.merge(&of(left));
            assert_eq!(merged, whole, "{cut}");
        }
        let parts = whole.to_parts().expect("values");
        assert_eq!(EdgeHistogram::from_parts(Some(parts.clone())), Some(whole));
        assert_eq!(EdgeHistogram::from_parts(None), Some(EdgeHistogram::default()));
        let with = |change: &dyn Fn(&mut EdgeHistogramParts)| {
            let mut parts = parts.clone();
            change(&mut parts);
            EdgeHistogram::from_parts(Some(parts))
        };
        assert_eq!(with(&|parts| parts.edges.reverse()), None, "out of order");
        assert_eq!(with(&|parts| parts.weights.truncate(3)), None, "too few weights");
        assert_eq!(with(&|parts| parts.weights[1] = -1), None, "a negative weight");
        assert_eq!(with(&|parts| parts.min = number("7")), None, "another minimum");
        assert_eq!(with(&|parts| parts.weights = vec![0; 5]), None, "no weight");
    }
}
