//! How strongly a condition separates two sides: shares, lift and significance.
//!
//! The measure is the log-likelihood ratio G² of the two by two table of side and condition
//! (Dunning, "Accurate Methods for the Statistics of Surprise and Coincidence", Computational
//! Linguistics 1993). It grows with the number of rows that a condition explains and with the
//! ratio of its shares, so neither what is merely frequent nor what is merely rare ranks first.
//! Sampled rows count as fewer rows of equal weight, such that the share has the same variance.

/// Numbers of events that differ by at most this part of them are taken for those of the same rows.
const SAME: f64 = 0.01;

/// Rows that meet a condition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    /// Σw: the events that they stand for.
    pub(crate) events: f64,
    /// Σw².
    pub(crate) squares: f64,
}

impl Rows {
    /// Rows that each stand for as many events as `all` do on average.
    pub(crate) fn like(events: f64, all: Self) -> Self {
        let squares = if all.events > 0.0 { events * all.squares / all.events } else { 0.0 };
        Self { events, squares }
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self { events: self.events + other.events, squares: self.squares + other.squares }
    }
}

/// How a condition separates the sides: the selection first, then the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Evidence {
    /// The events of each side that meet the condition.
    pub(crate) events: [f64; 2],
    /// The share of each side that meets the condition, from 0 to 1.
    pub(crate) shares: [f64; 2],
    /// G².
    pub(crate) ratio: f64,
}

impl Evidence {
    /// The evidence of a condition that these rows of each side meet, of all rows of each side.
    /// `None` unless both sides have rows and the condition is more frequent in the selection.
    pub(crate) fn new(of: [Rows; 2], all: [Rows; 2]) -> Option<Self> {
        let share = |side: usize| of[side].events / all[side].events;
        let shares = [share(0), share(1)];
        let is_sound = shares.iter().all(|share| (0.0..=1.0 + 1e-9).contains(share));
        if !is_sound || shares[0] <= shares[1] {
            return None;
        }
        let rows = [0, 1].map(|side| effective_rows(of[side], all[side], shares[side]));
        let common = (rows[0] * shares[0] + rows[1] * shares[1]) / (rows[0] + rows[1]);
        let of_side = |side: usize| {
            let share = shares[side].min(1.0);
            rows[side] * (times_ln(share, common) + times_ln(1.0 - share, 1.0 - common))
        };
        let ratio = 2.0 * (of_side(0) + of_side(1));
        let events = of.map(|rows| rows.events);
        ratio.is_finite().then_some(Self { events, shares, ratio })
    }

    /// The evidence of a condition that rows of the selection meet, if no row of the baseline does:
    /// the most that it can have.
    pub(crate) fn at_most(of: Rows, all: [Rows; 2]) -> Option<Self> {
        Self::new([of, Rows::default()], all)
    }

    /// The probability of such a ratio by chance: that of the chi-squared distribution with one
    /// degree of freedom.
    pub(crate) fn chance(&self) -> f64 {
        libm::erfc((self.ratio / 2.0).max(0.0).sqrt())
    }
}

/// The number of rows of equal weight whose share has the same variance (Kish, "Survey Sampling",
/// 1965).
fn effective_rows(of: Rows, all: Rows, share: f64) -> f64 {
    let plain = all.events.powi(2) / all.squares;
    let variance =
        (of.squares * (1.0 - 2.0 * share) + share * share * all.squares) / all.events.powi(2);
    let by_share = share * (1.0 - share) / variance;
    if by_share.is_finite() && by_share > 0.0 { by_share } else { plain }
}

/// x ln(x / y), which is 0 where x is.
fn times_ln(x: f64, y: f64) -> f64 {
    if x > 0.0 { x * (x / y).ln() } else { 0.0 }
}

/// Whether the events of the two sides are equally many.
pub(crate) fn are_same(one: [f64; 2], other: [f64; 2]) -> bool {
    let mut sides = one.into_iter().zip(other);
    sides.all(|(one, other)| (one - other).abs() <= SAME * one.max(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: f64) -> Rows {
        Rows { events: count, squares: count }
    }

    #[test]
    fn the_ratio_is_that_of_the_textbook() {
        // 30 of 100 and 10 of 100: G² by hand, 2 Σ observed · ln(observed / expected).
        let all = [rows(100.0), rows(100.0)];
        let evidence = Evidence::new([rows(30.0), rows(10.0)], all).expect("evidence");
        let expected = 2.0
            * (30.0 * (30.0_f64 / 20.0).ln()
                + 70.0 * (70.0_f64 / 80.0).ln()
                + 10.0 * (10.0_f64 / 20.0).ln()
                + 90.0 * (90.0_f64 / 80.0).ln());
        assert!((evidence.ratio - expected).abs() < 1e-9, "{} and {expected}", evidence.ratio);
        // The chi-squared distribution: 3.841 at 5 %.
        let at = Evidence { ratio: 3.841_458_8, ..evidence };
        assert!((at.chance() - 0.05).abs() < 1e-6, "{}", at.chance());
    }

    #[test]
    fn what_is_less_frequent_is_no_evidence() {
        let all = [rows(100.0), rows(100.0)];
        assert_eq!(Evidence::new([rows(10.0), rows(30.0)], all), None);
        assert_eq!(Evidence::new([rows(10.0), rows(10.0)], all), None);
        assert_eq!(Evidence::new([rows(0.0), rows(0.0)], [rows(0.0), rows(9.0)]), None);
    }

    #[test]
    fn sampled_rows_are_as_many_as_there_are() {
        let whole = Evidence::new([rows(30.0), rows(10.0)], [rows(100.0), rows(100.0)]);
        let sampled = |count: f64| Rows { events: count * 50.0, squares: count * 2_500.0 };
        let of = [sampled(30.0), sampled(10.0)];
        let sampled = Evidence::new(of, [sampled(100.0), sampled(100.0)]);
        let (whole, sampled) = (whole.expect("evidence"), sampled.expect("evidence"));
        assert!((whole.ratio - sampled.ratio).abs() < 1e-9, "{whole:?} {sampled:?}");
    }
}
