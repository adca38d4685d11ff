//! Estimates for all leaves from those that answered.
//!
//! Rows are placed on leaves at random, so the leaves that answered are a sample of clusters. A
//! total is estimated by its ratio to the stored rows of the table, which are known of all leaves,
//! and varies as the leaves' totals vary around that ratio (Särndal, Swensson and Wretman, "Model
//! Assisted Survey Sampling", 1992, sections 7.3 and 8.6).

use hadal_query::{ConfidencePlan, LeafTotal, Total};
use hadal_types::limits::CONFIDENCE_LEAVES_MIN;

use crate::finish::group_states::GroupStates;
use crate::partial::coverage::Coverage;
use crate::state::State;

/// The leaves that answered a query, while rows of others are missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnsweredLeaves {
    leaves: f64,
    /// The rows of the table that they scanned, and Σn² over the leaves.
    rows: f64,
    squares: f64,
    /// The rows of the table on all leaves.
    expected: f64,
}

#[expect(clippy::cast_precision_loss, reason = "an estimate needs few digits")]
impl AnsweredLeaves {
    /// The leaves that answered; `None` if no rows are missing.
    pub(crate) fn of(coverage: &Coverage) -> Option<Self> {
        if coverage.rows_scanned >= coverage.rows_expected {
            return None;
        }
        let rows = coverage.leaves.iter().map(|leaf| leaf.rows_scanned as f64);
        let rows: Vec<f64> = rows.filter(|rows| *rows > 0.0).collect();
        Some(Self {
            leaves: rows.len() as f64,
            rows: rows.iter().sum(),
            squares: rows.iter().map(|rows| rows * rows).sum(),
            expected: coverage.rows_expected as f64,
        })
    }

    /// Whether there are enough leaves for an interval.
    pub(crate) fn are_enough(&self) -> bool {
        self.leaves >= CONFIDENCE_LEAVES_MIN as f64
    }

    /// The estimate of a total that is `sum` on the leaves that answered.
    pub(crate) fn estimate(&self, sum: f64) -> f64 {
        sum * self.expected / self.rows
    }

    /// The covariance of the estimates of two totals, which are `sums` on the leaves that answered.
    /// `None` if the states lack the totals of leaves.
    pub(crate) fn covariance(
        &self,
        plan: &ConfidencePlan,
        states: &GroupStates<'_>,
        totals: [Total; 2],
        sums: [f64; 2],
    ) -> Option<f64> {
        let [one, other] = totals.map(LeafTotal::Of);
        let product = |one, other| product(plan, states, one, other);
        let ratios = sums.map(|sum| sum / self.rows);
        let deviations = product(one, other)?
            - ratios[0] * product(LeafTotal::TableRows, other)?
            - ratios[1] * product(LeafTotal::TableRows, one)?
            + ratios[0] * ratios[1] * self.squares;
        let missing = 1.0 - self.rows / self.expected;
        let factor = self.expected / self.rows;
        Some(factor.powi(2) * missing * self.leaves / (self.leaves - 1.0) * deviations)
    }

    /// Half the width of an interval that is `normal` deviations wide where the variance is known.
    /// The one between leaves has one degree of freedom less than there are leaves. `of_rows` is
    /// that of the sampled rows and the inverse of its degrees of freedom, which is 0 if they are
    /// many (Satterthwaite, "An Approximate Distribution of Estimates of Variance Components",
    /// Biometrics 1946).
    pub(crate) fn half_width(
        &self,
        between_leaves: f64,
        (of_rows, inverse_freedom): (f64, f64),
        normal: f64,
    ) -> f64 {
        let all = between_leaves + of_rows;
        if all == 0.0 {
            return 0.0;
        }
        let (of_leaves, of_rows) = (between_leaves / all, of_rows / all);
        let inverse_freedom =
            of_leaves.powi(2) / (self.leaves - 1.0) + of_rows.powi(2) * inverse_freedom;
        quantile_of_t(normal, inverse_freedom) * all.sqrt()
    }
}

/// The quantile of Student's t distribution beside that of the normal distribution, by the inverse
/// of the degrees of freedom (Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964,
/// 26.7.5: within 0.2 % from 4 degrees of freedom on).
pub(crate) fn quantile_of_t(normal: f64, inverse_freedom: f64) -> f64 {
    let x = normal;
    let terms = [
        (x.powi(3) + x) / 4.0,
        (5.0 * x.powi(5) + 16.0 * x.powi(3) + 3.0 * x) / 96.0,
        (3.0 * x.powi(7) + 19.0 * x.powi(5) + 17.0 * x.powi(3) - 15.0 * x) / 384.0,
        (79.0 * x.powi(9) + 776.0 * x.powi(7) + 1_482.0 * x.powi(5)
            - 1_920.0 * x.powi(3)
            - 945.0 * x)
            / 92_160.0,
    ];
    let powers = (1..).map(|power| inverse_freedom.powi(power));
    x + terms.iter().zip(powers).map(|(term, power)| term * power).sum::<f64>()
}

/// Σ over leaves of the product of two of their numbers.
fn product(
    plan: &ConfidencePlan,
    states: &GroupStates<'_>,
    one: LeafTotal,
    other: LeafTotal,
) -> Option<f64> {
    let sums = |pair: (LeafTotal, LeafTotal)| {
        let state = states.state(*plan.leaves.get(&pair)?)?;
        let State::Comoments(comoments) = &*state else { return None };
        comoments.sums()
    };
    if one == other {
        let [_, _, _, squares, _] = sums((LeafTotal::TableRows, one))?;
        return Some(squares);
    }
    let [.., products] = sums((one.min(other), one.max(other)))?;
    Some(products)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_t_are_those_of_tables() {
        for (freedom, expected) in [(4.0, 2.776), (10.0, 2.228), (39.0, 2.023), (1e6, 1.960)] {
            let computed = quantile_of_t(1.959_963_984_540_054, 1.0 / freedom);
            assert!((computed - expected).abs() < 6e-3, "{computed}, not {expected}");
        }
    }
}
