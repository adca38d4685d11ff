//! The range of a number column that separates the sides best: a scan statistic over all ranges
//! between given edges (Kulldorff, "A Spatial Scan Statistic", Communications in Statistics 1997).

use hadal_types::Number;
use hadal_types::value::HistogramBucket;

use crate::contrast::evidence::{Evidence, Rows};

/// The ends of a range; an absent one is open.
pub(crate) type Ends = (Option<Number>, Option<Number>);

/// The buckets of both sides between the same edges.
pub(crate) struct Buckets {
    /// The lower edge of each bucket but the first, which is open below.
    edges: Vec<Number>,
    /// The events in each bucket: one bucket more than edges.
    events: Vec<[f64; 2]>,
}

impl Buckets {
    /// Puts the histograms of both sides between `edges`, which ascend.
    pub(crate) fn new(edges: Vec<Number>, sides: [&[HistogramBucket]; 2]) -> Self {
        let mut events = vec![[0.0; 2]; edges.len() + 1];
        for (side, buckets) in sides.into_iter().enumerate() {
            for bucket in buckets {
                // A bucket that is one value at the last edge begins there.
                let index = edges.partition_point(|edge| *edge <= bucket.from);
                events[index][side] += bucket.count.to_f64();
            }
        }
        Self { edges, events }
    }

    /// The range with the most evidence.
    pub(crate) fn best(&self, all: [Rows; 2]) -> Option<(Ends, Evidence)> {
        let count = self.events.len();
        let mut best: Option<((usize, usize), Evidence)> = None;
        for first in 0..count {
            let mut sums = [0.0; 2];
            for last in first..count {
                for (sum, events) in sums.iter_mut().zip(self.events[last]) {
                    *sum += events;
                }
                if (first, last) == (0, count - 1) {
                    continue;
                }
                let of = [0, 1].map(|side: usize| Rows::like(sums[side], all[side]));
                if let Some(evidence) = Evidence::new(of, all)
                    && best.is_none_or(|(_, other)| evidence.ratio > other.ratio)
                {
                    best = Some(((first, last), evidence));
                }
            }
        }
        best.map(|((first, last), evidence)| {
            let from = first.checked_sub(1).and_then(|edge| self.edges.get(edge)).copied();
            ((from, self.edges.get(last).copied()), evidence)
        })
    }

    /// How many ranges were tried.
    pub(crate) fn ranges(&self) -> usize {
        self.events.len() * (self.events.len() + 1) / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(from: i64, to: i64, count: i64) -> HistogramBucket {
        let [from, to, count] = [from, to, count].map(Number::integer);
        HistogramBucket { from, to, count }
    }

    #[test]
    fn the_range_around_the_difference_is_best() {
        let edges: Vec<Number> = (1..10).map(|edge| Number::integer(edge * 10)).collect();
        let side = |extra: i64| {
            (0..10)
                .map(|at| {
                    bucket(at * 10, at * 10 + 10, if (3..5).contains(&at) { extra } else { 100 })
                })
                .collect::<Vec<_>>()
        };
        let (selection, baseline) = (side(300), side(100));
        let buckets = Buckets::new(edges, [&selection, &baseline]);
        let all = [1_400.0, 1_000.0].map(|events| Rows { events, squares: events });
        let (ends, evidence) = buckets.best(all).expect("a range");
        assert_eq!(ends, (Some(Number::integer(30)), Some(Number::integer(50))));
        assert_eq!(evidence.events, [600.0, 200.0]);
        assert_eq!(buckets.ranges(), 55);
    }

    #[test]
    fn ends_may_be_open() {
        let edges = vec![Number::integer(5)];
        let sides = [[bucket(0, 5, 1), bucket(5, 9, 9)], [bucket(0, 5, 9), bucket(5, 9, 1)]];
        let all = [Rows { events: 10.0, squares: 10.0 }; 2];
        let best = Buckets::new(edges, [&sides[0], &sides[1]]).best(all).expect("a range");
        assert_eq!(best.0, (Some(Number::integer(5)), None));
    }
}
