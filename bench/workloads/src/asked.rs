//! A table of blocks, and the right answers to its questions.

use std::num::NonZeroUsize;

use hadal_aggregate::{Partial, finish};
use hadal_bench::{Table, in_batches};
use hadal_query::Query;
use hadal_types::Value;

use crate::error::Error;
use crate::held::HeldTable;
use crate::plain::Plain;
use crate::questions::{Question, questions};
use crate::rows::Rows;

/// A table, and the expected answers to its questions.
pub(crate) struct Asked {
    pub(crate) table: HeldTable,
    pub(crate) rows: u64,
    pub(crate) questions: Vec<(Question, Answer)>,
}

/// The rows of an answer.
pub(crate) type Answer = Vec<Vec<Value>>;

const SEED: u64 = 1;

impl Asked {
    /// Generates a table on all cores, and computes the answers the plain way while its rows exist.
    pub(crate) fn new(table: Table, rows: u64) -> Result<Self, Error> {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let mut one = Vec::new();
        in_batches(
            table,
            (SEED, 1),
            NonZeroUsize::MIN,
            |batch| Rows::of(&batch),
            |rows| {
                one.push(rows?);
                Ok::<_, Error>(())
            },
        )?;
        let Some(one) = one.pop() else { return Err(hadal_bench::Error::Thread.into()) };
        let questions = questions(table, rows, one.schema(name(table))?)?;
        let ways = questions.iter().map(|question| Plain::new(&question.query, &one.columns));
        let ways = ways.collect::<Result<Vec<_>, _>>()?;
        let mut held = HeldTable::default();
        let mut partials: Vec<Partial> =
            questions.iter().map(|question| Partial::empty(&question.query)).collect();
        let make = |batch| {
            let rows = Rows::of(&batch)?;
            let answers: Vec<Partial> = ways.iter().map(|plain| plain.answer(&rows)).collect();
            Ok((rows.blocks()?, answers))
        };
        in_batches(table, (SEED, rows), cores, make, |made: Result<_, Error>| {
            let (blocks, answers) = made?;
            blocks.into_iter().try_for_each(|block| held.add(block))?;
            partials.iter_mut().zip(answers).for_each(|(all, more)| all.merge(more));
            Ok::<_, Error>(())
        })?;
        let finished = questions.into_iter().zip(partials).map(|(question, partial)| {
            let answer = finished(partial, &question.query)?;
            Ok((question, answer))
        });
        Ok(Self { table: held, rows, questions: finished.collect::<Result<_, Error>>()? })
    }
}

/// The rows of the answer of a complete partial result.
pub(crate) fn finished(partial: Partial, query: &Query) -> Result<Answer, Error> {
    let answer = finish(partial, query, &|| false).map_err(Error::FinishError)?;
    Ok(answer.rows.iter().map(|row| row.iter().cloned().collect()).collect())
}

fn name(table: Table) -> &'static str {
    match table {
        Table::Requests { .. } => "requests",
        Table::Readings => "readings",
    }
}
