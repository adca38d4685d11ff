//! Which of the conditions are findings, and in which order.

use crate::contrast::condition::Condition;
use crate::contrast::evidence::Evidence;

/// The largest probability to see a finding by chance.
const CHANCE_MAX: f64 = 0.01;
/// How many times as large a share of the selection a finding has, compared with the baseline.
const LIFT_MIN: f64 = 1.1;

/// A condition, or two together, that the selection meets more often than the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The conditions: one or two, on different columns.
    pub conditions: Vec<Condition>,
    /// Further conditions that its rows meet as well.
    pub also: Vec<Condition>,
    /// The events of the selection and of the baseline that meet all conditions.
    pub events: [f64; 2],
    /// Their shares of the selection and of the baseline, from 0 to 1.
    pub shares: [f64; 2],
    /// The log-likelihood ratio G², by which findings are ranked.
    pub score: f64,
    /// The probability to see one such condition by chance among all that were tried (Bonferroni).
    pub chance: f64,
}

/// A condition with its evidence.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) evidence: Evidence,
}

/// The findings among the candidates, the strongest first, of `tried` conditions.
pub(crate) fn findings(candidates: Vec<Candidate>, tried: usize) -> Vec<Difference> {
    let finding = |Candidate { conditions, evidence }: Candidate| {
        let chance = (evidence.chance() * tried as f64).min(1.0);
        let Evidence { events, shares, ratio } = evidence;
        let is_large = shares[0] >= shares[1] * LIFT_MIN;
        let finding =
            Difference { conditions, also: Vec::new(), events, shares, score: ratio, chance };
        (is_large && chance <= CHANCE_MAX).then_some(finding)
    };
    let mut findings: Vec<Difference> = candidates.into_iter().filter_map(finding).collect();
    findings.sort_by(|one, other| other.score.total_cmp(&one.score));
    findings
}

/// Whether such evidence is no chance, as one of `tried` conditions (Bonferroni).
pub(crate) fn is_sure(evidence: &Evidence, tried: usize) -> bool {
    evidence.chance() * tried as f64 <= CHANCE_MAX
}

/// Whether two conditions together say more than each: within the rows of either, the other is
/// more frequent in the selection, not only by chance. `alone` is the evidence of each.
pub(crate) fn is_more_than_parts(
    both: &Evidence,
    alone: [&Evidence; 2],
    within: [Option<Evidence>; 2],
    tried: usize,
) -> bool {
    let is_sure = |one: &Option<Evidence>| one.is_some_and(|one| is_sure(&one, tried));
    alone.iter().all(|one| both.ratio > one.ratio) && within.iter().all(is_sure)
}

#[cfg(test)]
mod tests {
    use hadal_types::{ColumnName, Value};

    use super::*;
    use crate::contrast::condition::Test;
    use crate::contrast::evidence::Rows;

    fn candidate(name: &str, of: [f64; 2]) -> Option<Candidate> {
        let rows = |events: f64| Rows { events, squares: events };
        let evidence = Evidence::new(of.map(rows), [rows(1_000.0), rows(10_000.0)])?;
        let column = ColumnName::new(name).expect("a name");
        let conditions = vec![Condition { column, test: Test::Is(Value::integer(1)) }];
        Some(Candidate { conditions, evidence })
    }

    #[test]
    fn the_strongest_comes_first_and_chance_is_left_out() {
        let candidates = [
            ("frequent", [620.0, 6_000.0]),
            ("rare", [3.0, 1.0]),
            ("cause", [100.0, 20.0]),
            ("weak", [400.0, 3_000.0]),
        ];
        let candidates = candidates.into_iter().filter_map(|(name, of)| candidate(name, of));
        let ranked = findings(candidates.collect(), 1_000);
        let names: Vec<&str> =
            ranked.iter().map(|finding| finding.conditions[0].column.as_str()).collect();
        assert_eq!(names, ["cause", "weak"]);
        assert!(ranked.iter().all(|finding| finding.chance <= CHANCE_MAX));
    }
}
