//! Two conditions together.

use hadal_aggregate::SparseRow;
use hadal_sql::{QuerySpec, Texts};
use hadal_types::Value;

use crate::contrast::asking::Sides;
use crate::contrast::condition::Condition;
use crate::contrast::evidence::{Evidence, Rows, are_same};
use crate::contrast::ranking::{Candidate, is_more_than_parts};
use crate::error::FrontendError;

/// How many conditions are examined in pairs: the strongest ones.
pub(crate) const PAIRED_MAX: usize = 10;

/// What pairs of conditions show.
#[derive(Default)]
pub(crate) struct Pairs {
    /// The pairs, of different columns, that say more than each of the two.
    pub(crate) candidates: Vec<Candidate>,
    /// The pairs of conditions that the same rows meet, of any columns.
    pub(crate) of_same_rows: Vec<[Condition; 2]>,
}

/// Examines the pairs of these candidates. They were the strongest of `tried` conditions.
pub(crate) async fn examine(
    sides: &Sides<'_>,
    (strongest, tried): (&[Candidate], usize),
    all: [Rows; 2],
) -> Result<Pairs, FrontendError> {
    let sql: Vec<String> =
        strongest.iter().map(|candidate| candidate.conditions[0].to_sql()).collect();
    let pairs = || {
        let others = |one| (one + 1..strongest.len()).map(move |other| [one, other]);
        (0..strongest.len()).flat_map(others)
    };
    if pairs().next().is_none() {
        return Ok(Pairs::default());
    }
    let by_conditions = |spec| QuerySpec {
        group_by: Texts::Many(sql.iter().map(|sql| format!("({sql}) IS TRUE")).collect()),
        aggregates: sides.counts.aggregates(),
        limit: Some(1 << strongest.len()),
        ..spec
    };
    let answers = sides.ask(by_conditions).await?;
    // The rows of each side that meet all these conditions.
    let rows = |conditions: &[usize]| {
        answers.each_ref().map(|answer| {
            let meets = |row: &&SparseRow| {
                conditions.iter().all(|condition| *row.get(*condition) == Value::Bool(true))
            };
            let rows = answer.rows.iter().filter(meets);
            rows.fold(Rows::default(), |sum, row| sum.with(sides.counts.of(row, sql.len())))
        })
    };
    let condition = |index: usize| &strongest[index].conditions[0];
    let of_pair = |[one, other]: [usize; 2]| {
        if condition(one).column == condition(other).column {
            return None;
        }
        let both = rows(&[one, other]);
        let evidence = Evidence::new(both, all)?;
        let alone = [&strongest[one].evidence, &strongest[other].evidence];
        let within = [one, other].map(|part| Evidence::new(both, rows(&[part])));
        let conditions = [one, other].map(|part| condition(part).clone()).to_vec();
        is_more_than_parts(&evidence, alone, within, tried)
            .then_some(Candidate { conditions, evidence })
    };
    let is_of_same_rows = |[one, other]: &[usize; 2]| {
        let events = |conditions: &[usize]| rows(conditions).map(|side| side.events);
        let both = events(&[*one, *other]);
        are_same(both, events(&[*one])) && are_same(both, events(&[*other]))
    };
    let of_same_rows = pairs().filter(is_of_same_rows);
    Ok(Pairs {
        of_same_rows: of_same_rows.map(|pair| pair.map(|part| condition(part).clone())).collect(),
        candidates: pairs().filter_map(of_pair).collect(),
    })
}
