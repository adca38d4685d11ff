//! Confidence intervals: over many samplings of one table, each contains the true value in 95 of
//! 100.

use std::ops::RangeInclusive;

use hadal_aggregate::{Interval, ResultSet};
use hadal_tests::engine::{self, Cuts};
use hadal_tests::generate::{Random, TABLE, TIME_COLUMN, derive};
use hadal_tests::oracle::Row;
use hadal_tests::session::Hops;
use hadal_types::{ColumnName, Decimal, Micros, Value};

use crate::sampling::query;

/// The rows of the table.
const ROWS: i64 = 6_000;
/// How often it is sampled.
const DRAWS: u64 = 1_000;
/// The seed of the rows and of the samples.
const SEED: u64 = 11;
/// The share of intervals that contain the true value: 95 % with a standard error of 0.7 %, and
/// what the approximation by a normal distribution misses.
const COVERAGE: RangeInclusive<f64> = 0.93..=0.97;

const OUTPUTS: [&str; 10] = [
    "count(*)",
    "sum(ms)",
    "avg(ms)",
    "p50(ms)",
    "percentile_disc(0.9) WITHIN GROUP (ORDER BY ms)",
    "count(*) FILTER (WHERE service = 'api')",
    "avg(ms) FILTER (WHERE service = 'api')",
    "count(*) FILTER (WHERE ms > 100) / count(*)",
    "sum(ms) / sum(bytes)",
    "1000 * (sum(ms) - count(bytes)) / nullif(count(*), 0)",
];

fn name(text: &str) -> ColumnName {
    ColumnName::new(text).expect("a name")
}

/// Services, waiting times, and sizes that grow with these.
fn population() -> Vec<Row> {
    let mut random = Random::new(SEED);
    let row = |index: i64| {
        let service = *random.pick(&["web", "web", "web", "api", "api", "batch"]);
        let share = (random.below(1 << 20) + 1) as f64 / f64::from(1 << 20);
        // In microseconds, so that few rows have the same time: with many equal values, the
        // interval of a percentile contains the true value more often.
        #[expect(clippy::cast_possible_truncation, reason = "a waiting time of some seconds")]
        let micros = (-share.ln() * 100_000.0) as i64;
        let (ms, time) = (micros / 1_000, Decimal::new(micros.into(), 3).expect("a decimal"));
        let mut cells = vec![
            (name("service"), Value::string(service)),
            (name("ms"), Value::Number(time.into())),
        ];
        if random.percent(90) {
            let bytes = 50 + 3 * ms + i64::try_from(random.below(200)).expect("fits");
            cells.push((name("bytes"), Value::integer(bytes)));
        }
        Row { time: Micros(index * 1_000), cells: cells.into_iter().collect() }
    };
    (0..ROWS).map(row).collect()
}

/// The rows that are kept, each with probability 1/rate.
fn sample(rows: &[Row], rate: impl Fn(&Row) -> i64, random: &mut Random) -> Vec<Row> {
    let mut kept = Vec::new();
    for row in rows {
        let rate = rate(row);
        if random.below(usize::try_from(rate).expect("positive")) == 0 {
            let mut row = row.clone();
            row.cells.insert(name("sample_rate"), Value::integer(rate));
            kept.push(row);
        }
    }
    kept
}

fn answer(rows: &[Row]) -> ResultSet {
    let mut query = query(&format!("SELECT {} FROM {TABLE}", OUTPUTS.join(", ")), rows);
    query.ask_for_confidence();
    let blocks = engine::blocks(rows, &name(TIME_COLUMN), Cuts::Rows(256)).expect("blocks");
    engine::answer(&blocks, &query, 3, Hops::Loopback).expect("an answer")
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => number.to_f64(),
        other => panic!("{other} is no number"),
    }
}

/// The true values of the outputs. An answer has percentiles of many rows within 1 % only, which
/// would often make them equal to the end of an interval.
fn truths(rows: &[Row], whole: &ResultSet) -> Vec<f64> {
    let mut times: Vec<f64> = rows.iter().map(|row| number(&row.cells[&name("ms")])).collect();
    times.sort_by(f64::total_cmp);
    let truth = |index: usize| match OUTPUTS[index] {
        "p50(ms)" => f64::midpoint(times[times.len() / 2 - 1], times[times.len() / 2]),
        output if output.starts_with("percentile_disc(0.9)") => times[times.len() * 9 / 10 - 1],
        _ => number(whole.rows[0].get(index)),
    };
    (0..OUTPUTS.len()).map(truth).collect()
}

#[expect(clippy::print_stdout, reason = "what is shown where a test fails")]
fn assert_honest(what: &str, rate: impl Fn(&Row) -> i64) {
    let rows = population();
    let whole = answer(&rows);
    for (index, interval) in whole.intervals[0].iter().enumerate() {
        let value = number(whole.rows[0].get(index));
        assert_eq!(*interval, Interval::Between(value, value), "nothing was sampled");
    }
    let truths = truths(&rows, &whole);
    let mut within = [0_u32; OUTPUTS.len()];
    for draw in 0..DRAWS {
        let kept = sample(&rows, &rate, &mut Random::new(derive(SEED, draw)));
        let sampled = answer(&kept);
        for (index, interval) in sampled.intervals[0].iter().enumerate() {
            let Interval::Between(low, high) = *interval else {
                panic!("seed {SEED}, draw {draw}, {}: {interval:?}", OUTPUTS[index])
            };
            let truth = truths[index];
            within[index] += u32::from(low <= truth && truth <= high);
        }
    }
    let mut failures = Vec::new();
    for (output, within) in OUTPUTS.iter().zip(within) {
        let coverage = f64::from(within) / DRAWS as f64;
        println!("seed {SEED}, {what}, {output}: {coverage:.3} within");
        if !COVERAGE.contains(&coverage) {
            failures.push(format!("{output}: {coverage}"));
        }
    }
    assert!(failures.is_empty(), "{what}: {}", failures.join(", "));
}

#[test]
fn intervals_of_one_rate_are_honest() {
    assert_honest("one rate", |_| 10);
}

#[test]
fn intervals_of_several_rates_are_honest() {
    assert_honest("a rate per service", |row| match &row.cells[&name("service")] {
        Value::String(service) if &**service == "web" => 20,
        Value::String(service) if &**service == "api" => 5,
        _ => 1,
    });
}

#[test]
fn intervals_of_rates_that_depend_on_the_values_are_honest() {
    assert_honest("slow requests are kept", |row| match number(&row.cells[&name("ms")]) > 300.0 {
        true => 1,
        false => 10,
    });
}

#[test]
fn few_rows_have_no_interval() {
    let rows = population();
    let kept = sample(&rows, |_| 100, &mut Random::new(SEED));
    let sampled = answer(&kept);
    assert!(kept.len() < 100);
    let is_too_few = |interval: &Interval| *interval == Interval::TooFew;
    assert!(sampled.intervals[0].iter().all(is_too_few), "{:?}", sampled.intervals);
}

#[test]
fn rates_that_are_too_large_have_no_interval_of_sums() {
    let mut rows = population();
    for row in &mut rows {
        row.cells.insert(name("sample_rate"), Value::integer(40_000));
    }
    let intervals = answer(&rows).intervals;
    assert!(matches!(intervals[0][0], Interval::Between(..)), "a count: {intervals:?}");
    assert_eq!(intervals[0][1], Interval::None, "a sum");
}
