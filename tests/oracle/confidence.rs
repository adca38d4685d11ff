//! Confidence intervals: over many samplings of one table, each contains the true value in 95 of
//! 100.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use hadal_aggregate::{Interval, ResultSet};
use hadal_tests::engine::{self, Cuts};
use hadal_tests::generate::{Random, TABLE, TIME_COLUMN, derive};
use hadal_tests::oracle::Row;
use hadal_tests::session::Hops;
use hadal_types::limits::CONFIDENCE_LEAVES_MIN;
use hadal_types::{ColumnName, Decimal, Micros, Number, Value};

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
    population_of(ROWS)
}

fn population_of(rows: i64) -> Vec<Row> {
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
    (0..rows).map(row).collect()
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
    answer_by(rows, None)
}

/// The answer for a table with this `sample_key`.
fn answer_by(rows: &[Row], key: Option<&ColumnName>) -> ResultSet {
    let mut query = query(&format!("SELECT {} FROM {TABLE}", OUTPUTS.join(", ")), rows);
    query.ask_for_confidence(key);
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
    assert_coverage(what, |index| Some(within[index]));
}

/// Checks how many of the intervals of each output contain the true value.
fn assert_coverage(what: &str, within: impl Fn(usize) -> Option<u32>) {
    assert_within(what, &COVERAGE, within);
}

/// Checks that these shares of the intervals contain the true value.
#[expect(clippy::print_stdout, reason = "what is shown where a test fails")]
fn assert_within(
    what: &str,
    expected: &RangeInclusive<f64>,
    within: impl Fn(usize) -> Option<u32>,
) {
    let mut failures = Vec::new();
    for (index, output) in OUTPUTS.iter().enumerate() {
        let Some(within) = within(index) else { continue };
        let coverage = f64::from(within) / DRAWS as f64;
        println!("seed {SEED}, {what}, {output}: {coverage:.3} within");
        if !expected.contains(&coverage) {
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

/// The rows of the table of users: users have some rows each, and enough of them have to be kept.
const ROWS_OF_USERS: i64 = 4 * ROWS;

/// Rows of users, of whom each has a row or many, a time that is typical of the user, and favors a
/// service. A few rows have no user.
fn population_of_users() -> Vec<Row> {
    let mut random = Random::new(SEED);
    let mut rows = population_of(ROWS_OF_USERS);
    let mut user: u64 = 0;
    let (mut left, mut delay, mut service) = (0, 0, "web");
    for row in &mut rows {
        if left == 0 {
            user += 1;
            left = 1 + random.below(4) * random.below(4);
            delay = i64::try_from(random.below(200)).expect("fits");
            service = *random.pick(&["web", "api", "batch"]);
        }
        left -= 1;
        if random.percent(3) {
            continue;
        }
        let delayed =
            number(&row.cells[&name("ms")]) + f64::from(i32::try_from(delay).expect("fits"));
        row.cells.insert(name("ms"), Value::Number(Number::from_f64(delayed).expect("finite")));
        row.cells.insert(name("user"), Value::string(&user.to_string()));
        if random.percent(80) {
            row.cells.insert(name("service"), Value::string(service));
        }
    }
    rows
}

/// All rows of a user, or none; rows without one each by itself.
fn sample_of_users(rows: &[Row], rate: impl Fn(&Row) -> i64, random: &mut Random) -> Vec<Row> {
    let mut draws: BTreeMap<String, u64> = BTreeMap::new();
    let mut kept = Vec::new();
    for row in rows {
        let of_row = random.below(usize::try_from(DRAWN).expect("fits"));
        let of_row = u64::try_from(of_row).expect("fits");
        let user = row.cells.get(&name("user")).map(ToString::to_string);
        let drawn = user.map_or(of_row, |user| *draws.entry(user).or_insert(of_row));
        let rate = rate(row);
        if drawn.is_multiple_of(u64::try_from(rate).expect("positive")) {
            let mut row = row.clone();
            row.cells.insert(name("sample_rate"), Value::integer(rate));
            kept.push(row);
        }
    }
    kept
}

/// A multiple of all rates.
const DRAWN: u64 = 1_000_000;

fn assert_honest_by_user(what: &str, rate: impl Fn(&Row) -> i64, coverage: RangeInclusive<f64>) {
    let rows = population_of_users();
    let user = name("user");
    let truths = truths(&rows, &answer(&rows));
    let mut within = [0_u32; OUTPUTS.len()];
    for draw in 0..DRAWS {
        let kept = sample_of_users(&rows, &rate, &mut Random::new(derive(SEED, draw)));
        let sampled = answer_by(&kept, Some(&user));
        for (index, interval) in sampled.intervals[0].iter().enumerate() {
            let Interval::Between(low, high) = *interval else {
                assert_eq!(
                    (*interval, is_percentile(index)),
                    (Interval::None, true),
                    "draw {draw}"
                );
                continue;
            };
            within[index] += u32::from(low <= truths[index] && truths[index] <= high);
        }
    }
    assert_within(what, &coverage, |index| (!is_percentile(index)).then_some(within[index]));
}

#[test]
fn intervals_by_key_are_honest() {
    assert_honest_by_user("users are kept", |_| 4, COVERAGE);
}

#[test]
fn intervals_by_key_with_several_rates_are_not_too_narrow() {
    // Later rows are sampled again, so rows of one user have two rates.
    let rate = |row: &Row| if row.time.0 < ROWS_OF_USERS * 500 { 8 } else { 4 };
    assert_honest_by_user("users are kept, some twice", rate, *COVERAGE.start()..=1.0);
}

#[test]
fn rows_of_a_key_are_no_independent_rows() {
    let rows = population_of_users();
    let kept = sample_of_users(&rows, |_| 4, &mut Random::new(SEED));
    let width = |answer: ResultSet| match answer.intervals[0][0] {
        Interval::Between(low, high) => high - low,
        other => panic!("{other:?}"),
    };
    let (by_user, by_row) = (width(answer_by(&kept, Some(&name("user")))), width(answer(&kept)));
    assert!(by_user > 1.5 * by_row, "{by_user} and {by_row}");
}

/// How many leaves there are, and how many of them are missing.
const LEAVES: usize = 24;
const MISSING: usize = 4;

/// The rows in batches, each on a leaf of its own choice. A batch has one service, so the services
/// are not spread evenly.
fn placed(rows: &[Row], random: &mut Random) -> Vec<Vec<Row>> {
    let mut leaves = vec![Vec::new(); LEAVES];
    let mut sorted: Vec<&Row> = rows.iter().collect();
    sorted.sort_by_key(|row| row.cells[&name("service")].to_string());
    let mut rest = sorted.as_slice();
    while !rest.is_empty() {
        let (batch, others) = rest.split_at(rest.len().min(2 + random.below(30)));
        leaves[random.below(LEAVES)].extend(batch.iter().map(|row| (*row).clone()));
        rest = others;
    }
    leaves
}

fn assert_honest_without_leaves(what: &str, rate: i64) {
    let rows = population();
    let truths = truths(&rows, &answer(&rows));
    let outputs = format!("SELECT {} FROM {TABLE}", OUTPUTS.join(", "));
    let mut within = [0_u32; OUTPUTS.len()];
    for draw in 0..DRAWS {
        let mut random = Random::new(derive(SEED, draw));
        let kept = sample(&rows, |_| rate, &mut random);
        let leaves = placed(&kept, &mut random);
        let blocks = |rows: &Vec<Row>| {
            engine::blocks(rows, &name(TIME_COLUMN), Cuts::Rows(256)).expect("blocks")
        };
        let leaves: Vec<(Vec<_>, usize)> =
            leaves.iter().map(|rows| (blocks(rows), rows.len())).collect();
        let (silent, answering) = leaves.split_at(MISSING);
        let missing: usize = silent.iter().map(|(_, rows)| rows).sum();
        let answering: Vec<Vec<_>> = answering.iter().map(|(blocks, _)| blocks.clone()).collect();
        let mut query = query(&outputs, &kept);
        query.ask_for_confidence(None);
        let sampled = engine::answer_of_leaves(&answering, missing as u64, &query);
        let sampled = sampled.expect("an answer");
        for (index, interval) in sampled.intervals[0].iter().enumerate() {
            let (low, high) = match *interval {
                Interval::OfAll { estimate, low, high } if low <= estimate && estimate <= high => {
                    (low, high)
                }
                Interval::None if is_percentile(index) => continue,
                _ => panic!("seed {SEED}, draw {draw}, {}: {interval:?}", OUTPUTS[index]),
            };
            within[index] += u32::from(low <= truths[index] && truths[index] <= high);
        }
    }
    // All rows are expected, so their number is known if none stands for others.
    let is_known = |index: usize| rate == 1 && OUTPUTS[index] == "count(*)";
    assert!((0..OUTPUTS.len()).all(|index| !is_known(index) || u64::from(within[index]) == DRAWS));
    let has_interval = |index: usize| !is_percentile(index) && !is_known(index);
    assert_coverage(what, |index| has_interval(index).then_some(within[index]));
}

fn is_percentile(index: usize) -> bool {
    OUTPUTS[index].starts_with('p')
}

#[test]
fn estimates_without_some_leaves_are_honest() {
    assert_honest_without_leaves("leaves are missing", 1);
}

#[test]
fn estimates_from_samples_without_some_leaves_are_honest() {
    assert_honest_without_leaves("samples, and leaves are missing", 4);
}

#[test]
fn few_leaves_have_no_interval() {
    let rows = population();
    let leaves: Vec<Vec<Vec<u8>>> = rows
        .chunks(rows.len() / CONFIDENCE_LEAVES_MIN)
        .map(|rows| engine::blocks(rows, &name(TIME_COLUMN), Cuts::Rows(256)).expect("blocks"))
        .collect();
    let mut query = query(&format!("SELECT count(*) FROM {TABLE}"), &rows);
    query.ask_for_confidence(None);
    let of = |leaves| engine::answer_of_leaves(leaves, 10, &query).expect("an answer").intervals;
    assert!(matches!(of(&leaves)[0][0], Interval::OfAll { .. }));
    assert_eq!(of(&leaves[1..])[0][0], Interval::TooFew);
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
