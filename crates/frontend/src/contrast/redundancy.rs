//! Differences that are about the same rows, as one.

use crate::contrast::condition::Condition;
use crate::contrast::evidence::are_same;
use crate::contrast::pairs::PAIRED_MAX;
use crate::contrast::ranking::Difference;

/// The maximum number of differences that merging removes. Each of them is a pair, or reduces a
/// pair to one condition: at most two for each pair.
const REDUNDANT_MAX: usize = PAIRED_MAX * PAIRED_MAX;

/// The first `limit` differences, after those that are about the same rows were merged. Each of the
/// pairs `of_same_rows` has conditions that the same rows meet.
pub(crate) fn merged(
    mut differences: Vec<Difference>,
    of_same_rows: &[[Condition; 2]],
    limit: usize,
) -> Vec<Difference> {
    // Enough for the limit, and few enough to compare each with each.
    differences.truncate(limit.saturating_add(REDUNDANT_MAX));
    let mut merged = merge_all(differences, of_same_rows);
    merged.truncate(limit);
    merged
}

/// The differences in their order. Those with equally many events on both sides become one
/// difference, if they have a condition in common, or one each that the same rows meet. It is at
/// the position of the first and has the fewest conditions; the conditions of the others are in its
/// `also`.
fn merge_all(differences: Vec<Difference>, of_same_rows: &[[Condition; 2]]) -> Vec<Difference> {
    let mut kept: Vec<Difference> = Vec::new();
    for difference in differences {
        let is_redundant = |other: &&mut Difference| is_redundant(other, &difference, of_same_rows);
        match kept.iter_mut().find(is_redundant) {
            Some(other) => merge(other, difference),
            None => kept.push(difference),
        }
    }
    kept
}

fn is_redundant(one: &Difference, other: &Difference, of_same_rows: &[[Condition; 2]]) -> bool {
    let has = |condition: &Condition| other.conditions.contains(condition);
    let is_same_alone = || match (one.conditions.as_slice(), other.conditions.as_slice()) {
        ([one], [other]) => of_same_rows.iter().any(|[left, right]| {
            (left == one && right == other) || (left == other && right == one)
        }),
        _ => false,
    };
    are_same(one.events, other.events) && (one.conditions.iter().any(has) || is_same_alone())
}

/// Merges a difference into an earlier one.
fn merge(kept: &mut Difference, other: Difference) {
    let mut all = [kept.conditions.as_slice(), &kept.also, &other.conditions].concat();
    if other.conditions.len() < kept.conditions.len() {
        *kept = other;
    }
    all.retain(|condition| !kept.conditions.contains(condition));
    let mut also: Vec<Condition> = Vec::new();
    for condition in all {
        if !also.contains(&condition) {
            also.push(condition);
        }
    }
    kept.also = also;
}

#[cfg(test)]
mod tests {
    use hadal_types::{ColumnName, Value};

    use super::*;
    use crate::contrast::condition::Test;

    fn difference(columns: &[&str], selection: f64, baseline: f64) -> Difference {
        let condition = |column: &&str| Condition {
            column: ColumnName::new(column).expect("a name"),
            test: Test::Is(Value::integer(1)),
        };
        Difference {
            conditions: columns.iter().map(condition).collect(),
            also: Vec::new(),
            events: [selection, baseline],
            shares: [0.5, 0.1],
            score: 1.0,
            chance: 0.0,
        }
    }

    /// The columns of each difference, and those of its further conditions.
    fn columns(differences: Vec<Difference>) -> Vec<[String; 2]> {
        let names = |conditions: &[Condition]| {
            let names: Vec<&str> = conditions.iter().map(|of| of.column.as_str()).collect();
            names.join(" ")
        };
        merged(differences, &[], 10)
            .iter()
            .map(|of| [names(&of.conditions), names(&of.also)])
            .collect()
    }

    #[test]
    fn pairs_that_are_about_the_same_rows_are_one_difference() {
        let differences = vec![
            difference(&["endpoint", "app"], 1_000.0, 0.0),
            difference(&["endpoint", "fps"], 1_000.0, 0.0),
            difference(&["endpoint"], 1_000.0, 80.0),
            difference(&["endpoint", "kind"], 995.0, 0.0),
            difference(&["other", "app"], 1_000.0, 0.0),
        ];
        assert_eq!(columns(differences), [["endpoint app", "fps kind other"], ["endpoint", ""]]);
    }

    #[test]
    fn the_fewest_conditions_stand_first_whichever_came_first() {
        let pair = difference(&["a", "b"], 10.0, 5.0);
        let one = |column| difference(&[column], 10.0, 5.0);
        assert_eq!(columns(vec![pair.clone(), one("a")]), [["a", "b"]]);
        assert_eq!(columns(vec![one("a"), pair]), [["a", "b"]]);
        assert_eq!(columns(vec![one("a"), one("b")]).len(), 2, "they may be of other rows");
    }

    #[test]
    fn conditions_that_the_same_rows_meet_are_one_difference() {
        let one = |column| difference(&[column], 10.0, 5.0);
        let pair = |left, right| {
            let condition = |column| one(column).conditions[0].clone();
            [condition(left), condition(right)]
        };
        let all = vec![one("a"), one("b"), one("c"), difference(&["d"], 10.0, 9.0)];
        let merged = merged(all, &[pair("b", "a"), pair("a", "d")], 10);
        let names = merged.iter().map(|of| {
            let also: Vec<&str> = of.also.iter().map(|of| of.column.as_str()).collect();
            (of.conditions[0].column.as_str(), also)
        });
        assert_eq!(names.collect::<Vec<_>>(), [("a", vec!["b"]), ("c", vec![]), ("d", vec![])]);
    }

    #[test]
    fn redundant_differences_take_no_place_of_others() {
        let pairs = (0..9).map(|other| format!("c{other}"));
        let pairs = pairs.map(|other| difference(&["cause", &other], 100.0, 20.0));
        let all = pairs.chain([difference(&["weak"], 400.0, 30.0)]).collect();
        let first = merged(all, &[], 2);
        assert_eq!(first.iter().map(|of| of.also.len()).collect::<Vec<_>>(), [8, 0]);
        assert_eq!(first[1].conditions[0].column.as_str(), "weak");
    }
}
