//! Raw rows: the same rows, whatever the order in which blocks are scanned, and however rows tie.

use hadal_block::{BlockView, MergeOrder};
use hadal_query::Query;
use hadal_tests::engine::{self, Cuts};
use hadal_tests::generate::{self, Random, RowSpec, TIME_COLUMN, derive};
use hadal_tests::oracle::{
    EngineFault, ExpectationCounts, Produced, Row, check_query, query_that_finds,
};
use hadal_tests::session::{Hops, Session};
use hadal_types::time::parse_timestamp;
use hadal_types::{ColumnName, Micros};

const QUERIES: u64 = 10;
/// One of three seeds is used: other suites have raw rows among their queries too.
const SEEDS_STEP: usize = 3;

/// The order in which blocks are scanned.
#[derive(Clone, Copy, Debug)]
enum Walk {
    NewestFirst,
    OldestFirst,
    Random,
}

/// The blocks of some rows in the order of `walk`.
fn blocks(rows: &[Row], cuts: Cuts, walk: Walk) -> Result<Vec<Vec<u8>>, String> {
    let time_column = ColumnName::new(TIME_COLUMN).expect("a name");
    let mut blocks = engine::blocks(rows, &time_column, cuts)?;
    let times = |bytes: &Vec<u8>| BlockView::parse(bytes).expect("a block").time_range();
    let mut random = Random::new(rows.len() as u64);
    match walk {
        Walk::NewestFirst => blocks.sort_by_key(|bytes| std::cmp::Reverse(times(bytes).1)),
        Walk::OldestFirst => blocks.sort_by_key(|bytes| times(bytes).0),
        Walk::Random => blocks.sort_by_cached_key(|_| random.next_u64()),
    }
    Ok(blocks)
}

/// Random rows. If `tie`, many have the same time, so that time does not decide which rows are the
/// last within a limit.
fn rows(seed: u64, tie: bool) -> Vec<Row> {
    let mut rows = generate::rows(seed, &RowSpec::of_seed(seed));
    let times = rows.iter().map(|row| row.time.0);
    let (first, last) = (times.clone().min().unwrap_or(0), times.max().unwrap_or(0));
    let step = 1 + (last - first) / 8;
    for row in rows.iter_mut().filter(|_| tie) {
        row.time = Micros(row.time.0.div_euclid(step) * step);
    }
    rows
}

fn engine_equals_oracle(cuts: Cuts, walk: Walk, partials: usize) {
    let (mut failures, mut counts) = (Vec::new(), ExpectationCounts::default());
    for seed in super::seeds().into_iter().step_by(SEEDS_STEP) {
        let rows = rows(seed, seed % 2 == 0);
        let facts = generate::facts(&rows);
        for index in 0..QUERIES {
            let query_seed = derive(seed, index);
            let query = query_that_finds(query_seed, &rows, &facts, generate::rows_query);
            let run = |rows: &[Row], query: &Query| -> Result<Produced, EngineFault> {
                engine::ask(&blocks(rows, cuts, walk)?, query, partials)
            };
            match check_query(&rows, &facts.schema, &query, run) {
                Ok(expected) => counts.add(expected),
                Err(text) => failures.push(format!("seed {seed}, query {index}: {text}")),
            }
        }
    }
    if let Some(first) = failures.first() {
        panic!("{} queries differ with {cuts:?}, {walk:?}; the first:\n{first}", failures.len());
    }
    super::assert_rows_are_expected(&format!("rows, {cuts:?}, {walk:?}"), counts);
}

#[test]
fn newest_blocks_first() {
    engine_equals_oracle(Cuts::Rows(53), Walk::NewestFirst, 2);
}

#[test]
fn oldest_blocks_first() {
    engine_equals_oracle(Cuts::Rows(53), Walk::OldestFirst, 2);
}

#[test]
fn blocks_in_any_order() {
    engine_equals_oracle(Cuts::Rows(53), Walk::Random, 3);
}

#[test]
fn blocks_merged_by_time() {
    engine_equals_oracle(Cuts::Merged(200, MergeOrder::Time), Walk::NewestFirst, 1);
}

/// 600 rows with 60 times. Rows of one time tie but for `n`, which is not part of the order.
fn tied_rows(reverse: bool) -> String {
    let line = |row: usize| {
        let (time, n) = (1_795_255_200 + row / 10, row * 7 % 10);
        format!("{{\"time\": {time}, \"n\": {n}, \"word\": \"{}\"}}\n", ["b", "a"][row % 2])
    };
    match reverse {
        true => (0..600).rev().map(line).collect(),
        false => (0..600).map(line).collect(),
    }
}

#[test]
fn every_shape_of_the_tree_gives_the_same_rows() {
    let now = parse_timestamp("2026-11-21T12:00:00Z").expect("a time");
    let questions: Vec<String> = ["", "ORDER BY time", "ORDER BY word DESC, time", "ORDER BY n"]
        .into_iter()
        .flat_map(|order| {
            ["LIMIT 1", "LIMIT 15", "LIMIT 25 OFFSET 13", "LIMIT 10 OFFSET 595", ""]
                .map(|limit| format!("SELECT * FROM t {order} {limit}"))
        })
        .collect();
    let mut expected = None;
    for (leaves, hops, reverse) in [
        (1, Hops::InProcess, false),
        (2, Hops::InProcess, true),
        (3, Hops::Loopback, false),
        (7, Hops::InProcess, true),
        (6, Hops::Grpc, true),
    ] {
        let mut session = Session::new(leaves, hops, now).expect("a session");
        let rows = tied_rows(reverse);
        let lines: Vec<&str> = rows.lines().collect();
        // Batches of 37 rows, so that leaves share them and times span blocks.
        for lines in lines.chunks(37) {
            session.log("t", &lines.join("\n"), false).expect("logged");
        }
        let ask = |sql: &String| session.ask(sql).expect(sql).rows;
        let answers: Vec<_> = questions.iter().map(ask).collect();
        let first = expected.get_or_insert_with(|| answers.clone());
        for ((answer, expected), sql) in answers.iter().zip(first.iter()).zip(&questions) {
            assert_eq!(answer, expected, "{sql} of {leaves} leaves");
        }
    }
}
