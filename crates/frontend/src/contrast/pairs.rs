//! Two conditions together.

use hadal_aggregate::SparseRow;
use hadal_sql::{QuerySpec, Texts};
use hadal_types::Value;

use crate::contrast::asking::Sides;
use crate::contrast::evidence::{Evidence, Rows};
use crate::contrast::ranking::{Candidate, is_more_than_parts};
use crate::error::FrontendError;

/// How many conditions are examined in pairs: the strongest ones.
pub(crate) const PAIRED_MAX: usize = 10;

/// The pairs of these candidates, of different columns, that say more than each of the two. They
/// were the strongest of `tried` conditions.
pub(crate) async fn candidates(
    sides: &Sides<'_>,
    (strongest, tried): (&[Candidate], usize),
    all: [Rows; 2],
) -> Result<Vec<Candidate>, FrontendError> {
    let sql: Vec<String> =
        strongest.iter().map(|candidate| candidate.conditions[0].to_sql()).collect();
    let column = |index: usize| &strongest[index].conditions[0].column;
    let all_pairs = (0..strongest.len())
        .flat_map(|one| (one + 1..strongest.len()).map(move |other| [one, other]));
    let pairs: Vec<[usize; 2]> =
        all_pairs.filter(|[one, other]| column(*one) != column(*other)).collect();
    if pairs.is_empty() {
        return Ok(Vec::new());
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
    let of_pair = |[one, other]: &[usize; 2]| {
        let both = rows(&[*one, *other]);
        let evidence = Evidence::new(both, all)?;
        let alone = [&strongest[*one].evidence, &strongest[*other].evidence];
        let within = [*one, *other].map(|part| Evidence::new(both, rows(&[part])));
        let conditions = [*one, *other].map(|part| strongest[part].conditions[0].clone()).to_vec();
        is_more_than_parts(&evidence, alone, within, tried)
            .then_some(Candidate { conditions, evidence })
    };
    Ok(pairs.iter().filter_map(of_pair).collect())
}
