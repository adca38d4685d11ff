//! The engine against the naive oracle, on random rows and random queries.
//!
//! `HADAL_SEED=n` runs one seed. `HADAL_SEEDS=n` runs n seeds, from zero or from
//! `HADAL_SEEDS_FROM`.

#![expect(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod confidence;
mod edges;
mod left_out;
mod one_string;
mod raw_rows;
mod sampling;
mod top_groups;

use hadal_block::MergeOrder;
use hadal_query::Query;
use hadal_tests::engine::{self, Cuts};
use hadal_tests::generate::TIME_COLUMN;
use hadal_tests::oracle::{EngineFault, ExpectationCounts, Produced, Row, check_seed};
use hadal_types::ColumnName;

/// The number of seeds of one run, unless the environment says otherwise.
const SEEDS: u64 = 150;

fn seeds() -> Vec<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    match number("HADAL_SEED") {
        Some(seed) => vec![seed],
        None => {
            let first = number("HADAL_SEEDS_FROM").unwrap_or(0);
            (0..number("HADAL_SEEDS").unwrap_or(SEEDS)).map(|seed| first + seed).collect()
        }
    }
}

/// The minimum percentage of queries that expect at least two rows; with fewer, the suite would
/// test little.
const MORE_PERCENT_MIN: usize = 80;
/// The number of queries from which on the percentage is checked.
const TALLIED_MIN: usize = 400;

/// Prints the queries' expectations, and asserts that most of them expected rows.
#[expect(clippy::print_stdout, reason = "what is shown where a test fails")]
fn assert_rows_are_expected(what: &str, counts: ExpectationCounts) {
    let ExpectationCounts { none, one, more, faults } = counts;
    let percent = counts.more_percent();
    println!("{what}: of {} queries", none + one + more + faults);
    println!("  {none} no row, {one} one row, {more} more ({percent} %), {faults} faults");
    if none + one + more + faults >= TALLIED_MIN {
        assert!(percent >= MORE_PERCENT_MIN, "{what}: {percent} % expect more than a row");
    }
}

fn engine_equals_oracle(cuts: Cuts, partials: usize) {
    let time_column = ColumnName::new(TIME_COLUMN).expect("a name");
    let run = |rows: &[Row], query: &Query| -> Result<Produced, EngineFault> {
        engine::ask(&engine::blocks(rows, &time_column, cuts)?, query, partials)
    };
    let (mut failures, mut counts) = (Vec::new(), ExpectationCounts::default());
    for seed in seeds() {
        match check_seed(seed, run) {
            Ok(seed_counts) => counts.merge(seed_counts),
            Err(failure) => failures.push(failure),
        }
    }
    if let Some(first) = failures.first() {
        panic!("{} seeds differ with {cuts:?}; the first:\n{first}", failures.len());
    }
    assert_rows_are_expected(&format!("{cuts:?}"), counts);
}

#[test]
fn in_one_block() {
    engine_equals_oracle(Cuts::Rows(65_536), 1);
}

#[test]
fn in_small_blocks_and_many_partials() {
    engine_equals_oracle(Cuts::Rows(97), 3);
}

#[test]
fn merged_in_the_order_of_arrival() {
    engine_equals_oracle(Cuts::Merged(500, MergeOrder::Arrival), 2);
}

#[test]
fn merged_by_time() {
    engine_equals_oracle(Cuts::Merged(300, MergeOrder::Time), 2);
}

#[test]
fn in_cold_blocks_and_warm_ones() {
    engine_equals_oracle(Cuts::Cold(97), 3);
    engine_equals_oracle(Cuts::Cold(65_536), 1);
}

#[test]
fn merged_from_cold_blocks_and_warm_ones() {
    engine_equals_oracle(Cuts::ColdMerged(300), 2);
}
