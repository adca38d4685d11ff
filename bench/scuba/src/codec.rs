//! What it costs to encode, decode and merge partials, without scans and calls: 1,800 groups of the
//! time series, and 100,000 groups with three keys of strings.

use std::hint::black_box;
use std::time::Instant;

use hadal_aggregate::accumulate::{AccumulatorColumn, AccumulatorInput, SumInput};
use hadal_aggregate::{Groups, Partial, PartialBody};
use hadal_query::{Expr, Measure, Query, QueryKind, RowInput, StateKind};
use hadal_random::Random;
use hadal_types::{Micros, TableName, Weight};
use hadal_wire::{decode_partial, encode_partial};
use serde_json::{Value, json};

use crate::error::Error;
use crate::samples::Samples;

/// Children of one aggregator.
const CHILDREN: usize = 5;
/// Groups of the small partial: points of ten lines.
const POINTS: usize = 1_800;
/// Groups of the large partial.
const MANY: usize = 100_000;
/// The largest value of a row.
const VALUE_MAX: usize = 1 << 20;

type Key = Vec<hadal_types::Value>;

/// Measures both partials, `times` times; the large one less often.
///
/// # Errors
/// [`Error::Wrong`] for a decoded or merged partial that is not the original.
pub(crate) fn measure(times: usize) -> Result<Vec<Value>, Error> {
    let point = |index: usize| {
        let minute = i64::try_from(index / 10).unwrap_or(0) * 60 * Micros::SECOND;
        let service = format!("service-{}", index % 10);
        vec![hadal_types::Value::Time(Micros(minute)), hadal_types::Value::string(&service)]
    };
    let person = |index: usize| {
        let texts = [
            format!("country-{}", index % 50),
            format!("city-{}", index % 2_000),
            format!("person-{index}"),
        ];
        texts.iter().map(|text| hadal_types::Value::string(text)).collect()
    };
    Ok(vec![
        of_partial("1,800 groups", &(0..POINTS).map(point).collect::<Vec<_>>(), times)?,
        of_partial(
            "100,000 groups",
            &(0..MANY).map(person).collect::<Vec<_>>(),
            times.div_ceil(10),
        )?,
    ])
}

/// Measures one partial: the count and a sum of groups with these keys.
fn of_partial(name: &str, keys: &[Key], times: usize) -> Result<Value, Error> {
    let measures = vec![Measure::new(StateKind::Moments, Expr::Leaf(RowInput::Time))];
    let width = keys.first().map_or(0, Vec::len);
    let kind = QueryKind::Groups { keys: vec![Expr::Leaf(RowInput::Time); width], measures };
    let query = Query::new(TableName::new("events")?, kind);
    let partial = scanned(&query, keys);
    let [mut encode, mut decode, mut merge] = std::array::from_fn(|_| Samples::default());
    let mut bytes = 0;
    for _ in 0..times {
        let copy = partial.clone();
        let start = Instant::now();
        let encoded = encode_partial(copy);
        encode.add(start.elapsed());
        bytes = encoded.len();
        let mut decoded = Vec::new();
        for _ in 0..CHILDREN {
            let start = Instant::now();
            let one = decode_partial(encoded.clone(), &query);
            decode.add(start.elapsed());
            decoded.extend(one.ok());
        }
        if decoded.len() != CHILDREN || decoded.first() != Some(&partial) {
            return Err(wrong(name, rows_of(&partial), decoded.first().map_or(0, rows_of)));
        }
        let mut merged = Partial::empty(&query);
        let start = Instant::now();
        decoded.into_iter().for_each(|child| merged.merge(child));
        merge.add(start.elapsed());
        let (all, one) = (rows_of(&merged), rows_of(&partial));
        if all != one * CHILDREN as u64 {
            return Err(wrong(name, one * CHILDREN as u64, all));
        }
        drop(black_box(merged));
    }
    Ok(json!({
        "partial": name, "bytes": bytes, "encode_ms": encode.summary()?,
        "decode_ms": decode.summary()?, "merge_five_ms": merge.summary()?,
    }))
}

/// A partial as a scan leaves it: with its counts and sums in accumulators.
fn scanned(query: &Query, keys: &[Key]) -> Partial {
    let mut groups = Groups::new(query);
    let width = keys.first().map_or(0, Vec::len);
    let numbers: Vec<Vec<u32>> = (0..width)
        .map(|at| {
            let dictionary = groups.key_mut(at);
            keys.iter().map(|key| dictionary.number_of(&key[at])).collect()
        })
        .collect();
    let indexes = groups.find_or_insert_all(&numbers, keys.len());
    let mut random = Random::new(1, 0);
    let rows: Vec<(i64, i64)> = indexes
        .iter()
        .map(|_| {
            let rows = random.index(600) + 1;
            let sum = (0..rows.min(9)).map(|_| random.index(VALUE_MAX)).sum::<usize>() * rows;
            (i64::try_from(rows).unwrap_or(1), i64::try_from(sum).unwrap_or(0))
        })
        .collect();
    let size_max = rows.iter().map(|(_, sum)| u128::from(sum.unsigned_abs())).sum();
    let sums = [SumInput { measure: 0, scale: 0, valid: 0, size_max }];
    let classes = &[Weight::ONE.millionths()];
    let most = rows.iter().map(|(rows, _)| rows.unsigned_abs()).sum();
    let incoming = AccumulatorInput { classes, sums: &sums, rows: most, weighted: None };
    groups.add_accumulators(&incoming, |layout, numbers| {
        let width = layout.columns.len();
        for (&index, (rows, sum)) in indexes.iter().zip(&rows) {
            let start = (index as usize * layout.class_count + layout.classes[0]) * width;
            for (number, column) in numbers[start..start + width].iter_mut().zip(&layout.columns) {
                let added = if let AccumulatorColumn::Sum { .. } = column { sum } else { rows };
                // The rows are of one class.
                *number += added * column.factors().first().unwrap_or(&0);
            }
        }
    });
    Partial { body: PartialBody::Groups(groups), ..Partial::empty(query) }
}

/// The rows in all groups.
fn rows_of(partial: &Partial) -> u64 {
    match &partial.body {
        PartialBody::Groups(groups) => {
            groups.clone().into_sorted().0.iter().map(|(_, group)| group.count.rows()).sum()
        }
        PartialBody::Rows(_) => 0,
    }
}

fn wrong(name: &str, expected: u64, got: u64) -> Error {
    let why = "encoding, decoding or merging changed the partial".to_owned();
    Error::Wrong { question: name.to_owned(), got, expected, why }
}
