//! Compares the oracle's result of every function with the engine's, on random expressions.

use hadal_query::{Prepared, Type};
use hadal_types::ColumnName;

use super::{Evaluator, Row};
use crate::generate::{self, Content, Expressions, Random, RowSpec, TIME_COLUMN};

/// Rows of every content, so that every function gets every kind of value.
fn rows_of_everything(seed: u64) -> Vec<Row> {
    let mut spec = RowSpec::of_seed(seed);
    spec.count = spec.count.clamp(1, 6);
    // Long strings reveal nothing here and cost most of the time.
    spec.columns
        .iter_mut()
        .filter(|column| column.content == Content::LongTexts)
        .for_each(|column| column.content = Content::Numerals);
    generate::rows(seed, &spec)
}

/// The first disagreement, or the number of values compared.
fn disagreement(seed: u64) -> Result<usize, String> {
    let rows = rows_of_everything(seed);
    let facts = generate::facts(&rows);
    let time_column = ColumnName::new(TIME_COLUMN).expect("a name");
    let random = &mut Random::new(generate::derive(seed, 3_000));
    let inputs = generate::inputs(random, &facts.schema);
    let pools = generate::pools(&inputs, &facts);
    let evaluator = Evaluator::default();
    let mut compared = 0;
    for of in [Type::Bool, Type::Number, Type::Number, Type::Time, Type::String, Type::Vector] {
        let mut expressions = Expressions {
            random: &mut *random,
            leaves: &inputs,
            pools: &pools,
            bucket_micros_min: 1,
        };
        let expr = expressions.expr(of, 4);
        let prepared = Prepared::new(&expr).expect("well-formed");
        for row in &rows {
            let leaf = |input: &_| row.input(input, &time_column);
            let expected = evaluator.value(&expr, &leaf).expect("well-formed");
            let actual = prepared.value(&leaf).expect("no long strings");
            if expected != actual {
                return Err(format!(
                    "seed {seed}: the oracle says {expected:?}, the engine {actual:?} \
                     of {expr:?} for {row:?}"
                ));
            }
            compared += 1;
        }
    }
    Ok(compared)
}

#[test]
fn the_oracle_and_the_engine_read_functions_alike() {
    let compared: usize =
        (0..6_000).map(|seed| disagreement(seed).unwrap_or_else(|text| panic!("{text}"))).sum();
    assert!(compared > 50_000, "{compared} values");
}
