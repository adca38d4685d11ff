use std::time::{Duration, Instant};

use hadal_aggregate::{NextRound, Partial, QueryErrorCode, ResultSet, finish};
use hadal_block::{BlockBuilder, ColumnId};
use hadal_query::{
    AggregateFunction, ColumnRef, Expr, GroupInput, Measure, OrderKey, Output, OutputExpr, Query,
    QueryKind, RowInput, StateKind, Type,
};
use hadal_random::Random;
use hadal_store::BlockBytes;
use hadal_types::{ColumnName, Kind, Logical, MemoryPool, Micros, Number, TableName, Weight};
use tokio::sync::Semaphore;

use super::*;
use crate::leaf::Leaf;
use crate::leaf::tests::config;
use crate::table::Table;
use crate::table::block::{Block, Origin};

/// Random tables of one run, unless `HADAL_SEEDS` says how many.
const TABLES: u64 = 60;
const SEED: u64 = 42;
const BLOCKS: usize = 20;
const ROWS: usize = 300;
const HOUR: Duration = Duration::from_secs(3_600);

fn column_name(text: &str) -> ColumnName {
    ColumnName::new(text).expect("a name")
}

/// How the keys of a table are spread over its rows.
#[derive(Clone, Copy)]
struct Spread {
    keys: f64,
    /// With 1, all keys are as frequent; the larger, the more rows the first keys have.
    power: i32,
    is_sampled: bool,
}

impl Spread {
    fn draw(random: &mut Random) -> Self {
        let keys = f64::from(1 << (3 + random.below_u32(12)));
        let power = 1 + i32::try_from(random.below_u32(6)).expect("small");
        Self { keys, power, is_sampled: random.chance(0.5) }
    }

    fn key(self, random: &mut Random) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "less than the keys")]
        let key = (random.unit().powi(self.power) * self.keys) as i64;
        key * 7_919
    }

    /// A value of the column `v`, or none; of some tables, now and then a negative one.
    fn push_value(self, builder: &mut BlockBuilder, column: ColumnId, random: &mut Random) {
        let number = i64::from(random.below_u32(1_000));
        let number = match random.below_u32(1_000) {
            0..20 if self.power != 5 => return,
            20..23 if self.power == 2 => Number::integer(-number),
            23..200 if self.power == 3 => format!("{number}.25").parse().expect("a decimal"),
            200..203 if self.power == 4 => Number::from_f64(number as f64 / 3.0).expect("finite"),
            _ => Number::integer(number),
        };
        builder.push_number(column, number).expect("taken");
    }

    /// A block with the columns `id`, `text` and `v`, which some rows lack.
    fn block(self, random: &mut Random) -> Arc<Block> {
        let mut builder = BlockBuilder::new(column_name("time"));
        let id = builder.column(&column_name("id"), Kind::Number);
        let text = builder.column(&column_name("text"), Kind::String);
        let value = builder.column(&column_name("v"), Kind::Number);
        let rate = builder.column(&column_name(Weight::COLUMN), Kind::Number);
        for row in 0..ROWS {
            let key = self.key(random);
            if random.chance(0.98) {
                builder.push_number(id, Number::integer(key)).expect("taken");
            }
            if random.chance(0.98) {
                builder.push_string(text, &format!("key {}", key / 3)).expect("taken");
            }
            self.push_value(&mut builder, value, random);
            if self.is_sampled {
                let number = [1, 10, 100][random.index(3)];
                builder.push_number(rate, Number::integer(number)).expect("taken");
            }
            builder.end_row(Micros(i64::try_from(row).expect("small")));
        }
        let bytes = builder.finish(Micros(0), None).expect("fits");
        Arc::new(Block::new(BlockBytes::from(bytes), Origin::Log(Vec::new())).expect("a block"))
    }
}

fn column(text: &str, kind: Kind) -> Expr<RowInput> {
    let name = column_name(text);
    Expr::Leaf(RowInput::Column(ColumnRef { name, kind, logical: Logical::Plain }))
}

/// A top list by one or two keys, with a sum.
fn top_list(random: &mut Random, sent: SentGroups) -> Query {
    let (id, text) = (column("id", Kind::Number), column("text", Kind::String));
    let keys = match random.index(3) {
        0 => vec![id],
        1 => vec![text],
        _ => vec![text, id],
    };
    let sum = GroupInput::Measure(0, AggregateFunction::Sum);
    let count = match random.index(3) {
        0 => GroupInput::Count,
        1 => GroupInput::RawCount,
        _ => sum.clone(),
    };
    let shown = (0..keys.len()).map(GroupInput::Key).chain([count.clone(), sum]);
    let output = |expr: OutputExpr| Output { name: "x".into(), value_type: Type::Number, expr };
    let outputs = shown.map(|input| output(Expr::Leaf(input))).collect();
    let nulls_first = random.chance(0.5);
    let order = OrderKey { expr: Expr::Leaf(count), descending: true, nulls_first };
    let measures = vec![Measure::new(StateKind::Moments, column("v", Kind::Number))];
    Query {
        outputs,
        order: vec![order],
        limit: 1 + random.below(12),
        offset: random.below(3),
        deadline: HOUR,
        sent,
        ..Query::new(TableName::new("t").expect("a name"), QueryKind::Groups { keys, measures })
    }
}

fn request(query: Query, blocks: &[Arc<Block>]) -> ScanRequest {
    let query = Arc::new(query);
    ScanRequest {
        scan: Arc::new(Scan::new(Arc::clone(&query)).expect("a query")),
        blocks: blocks.iter().map(|block| (0, Arc::clone(block))).collect(),
        tables: vec![Arc::new(Table::new(query.table.clone()))],
        query,
        bytes_max: usize::MAX,
        budget: MemoryPool::new(usize::MAX),
        merging: Arc::new(Semaphore::new(1)),
        deadline: Instant::now() + HOUR,
        counts_keys: false,
        shown: Arc::default(),
    }
}

fn answer(partial: Partial, query: &Query) -> ResultSet {
    finish(partial, query, &|| false).expect("an answer")
}

/// The number of lists whose scan left out groups, and the number of lists.
async fn bounded_lists(sent: SentGroups, scope: TableScope) -> (usize, usize) {
    let leaf = Leaf::open(config(None)).expect("opens");
    let (mut bounded, mut tables) = (0, 0);
    let seeds = std::env::var("HADAL_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    for table in 0..seeds.unwrap_or(TABLES) {
        tables += 1;
        let mut random = Random::new(SEED, table);
        let spread = Spread::draw(&mut random);
        let blocks: Vec<_> = (0..BLOCKS).map(|_| spread.block(&mut random)).collect();
        let query = top_list(&mut random, sent.clone());
        let request = request(query.clone(), &blocks);
        let plain = run_scan(leaf.for_query(), request.clone()).await.expect("a result").partial;
        let result = run(leaf.for_query(), request, scope).await.expect("a result");
        assert_eq!(result.scanned[0].blocks, BLOCKS, "seed {SEED}, table {table}");
        let listed = result.partial;
        assert_eq!(listed.stats.rows_matched, plain.stats.rows_matched);
        bounded += usize::from(listed.groups() < plain.groups());
        if sent == SentGroups::Largest {
            let whole = Query { sent: SentGroups::All, ..query.clone() };
            assert_eq!(listed.next_round(&whole), NextRound::None, "seed {SEED}, table {table}");
        }
        let (plain, listed) = (answer(plain, &query), answer(listed, &query));
        assert_eq!(listed.rows, plain.rows, "seed {SEED}, table {table}: {query:?}");
    }
    (bounded, tables)
}

#[tokio::test]
async fn a_list_needs_no_more_memory_than_all_groups() {
    let leaf = Leaf::open(config(None)).expect("opens");
    let mut random = Random::new(SEED, 0);
    // So few keys that no group is left out.
    let spread = Spread { keys: 32.0, power: 1, is_sampled: false };
    let blocks: Vec<_> = (0..BLOCKS).map(|_| spread.block(&mut random)).collect();
    let request = request(top_list(&mut random, SentGroups::All), &blocks);
    let plain = run_scan(leaf.for_query(), request.clone()).await.expect("a result").partial;
    let bytes = plain.reservation.bytes();
    for (room, code) in [(bytes * 9 / 8, None), (bytes / 2, Some(QueryErrorCode::Memory))] {
        let request = ScanRequest { budget: MemoryPool::new(room), ..request.clone() };
        let result = run(leaf.for_query(), request, TableScope::Whole).await.expect("a result");
        let error = result.partial.errors.iter().next();
        assert_eq!(error.map(|error| error.code), code, "{error:?}");
    }
}

#[tokio::test]
async fn lists_of_a_whole_table_are_those_of_all_groups() {
    let (bounded, tables) = bounded_lists(SentGroups::All, TableScope::Whole).await;
    assert!(bounded > tables / 8, "{bounded} of {tables} lists left out groups");
}

#[tokio::test]
async fn lists_of_a_part_of_a_table_are_certain() {
    let (bounded, tables) = bounded_lists(SentGroups::Largest, TableScope::Part).await;
    assert!(bounded > tables / 20, "{bounded} of {tables} lists left out groups");
}

#[tokio::test]
async fn all_groups_of_a_part_of_a_table_are_made() {
    assert_eq!(bounded_lists(SentGroups::All, TableScope::Part).await.0, 0);
}
