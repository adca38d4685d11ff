//! Sampled blocks: their answers are those of the remaining rows with their weights. These estimate
//! the answers of all rows, within the interval as often as they should.

use std::collections::BTreeMap;
use std::sync::Arc;

use hadal_block::Sampling;
use hadal_query::Query;
use hadal_sql::{Catalog, Context, Statement, UnknownColumns, lower};
use hadal_tests::engine::{self, Cuts};
use hadal_tests::generate::{self, Random, RowSpec, TABLE, TIME_COLUMN, derive};
use hadal_tests::oracle::{EngineFault, Produced, Row, check_query};
use hadal_types::{ColumnName, Micros, TableName, TableSchema, Value};

const QUERIES: u64 = 8;

fn name(text: &str) -> ColumnName {
    ColumnName::new(text).expect("a name")
}

#[test]
fn the_rows_that_are_left_answer_with_their_weights() {
    let by = ["service", "n", "status"].map(name);
    let mut failures = Vec::new();
    for seed in super::seeds() {
        let mut random = Random::new(derive(seed, 1_000));
        let sampling = Sampling {
            one_in: *random.pick(&[2, 3, 10, 100]),
            key: *random.pick(&[None, Some(&by[1])]),
            by: &by[..random.below(4)],
            least: *random.pick(&[1, 5]),
        };
        let rows = generate::rows(seed, &RowSpec::of_seed(seed));
        let cuts = Cuts::Rows(*random.pick(&[97, 65_536]));
        let blocks = engine::blocks(&rows, &name(TIME_COLUMN), cuts).expect("blocks");
        let blocks = engine::sampled(&blocks, &sampling).expect("samples");
        let kept = engine::rows(&blocks).expect("read");
        let facts = generate::facts(&kept);
        // Smaller counterexamples are searched among rows that were not sampled.
        let run = |rows: &[Row], query: &Query| -> Result<Produced, EngineFault> {
            match rows.len() == kept.len() {
                true => engine::ask(&blocks, query, 3),
                false => engine::ask(&engine::blocks(rows, &name(TIME_COLUMN), cuts)?, query, 3),
            }
        };
        for index in 0..QUERIES {
            let query = generate::query(derive(seed, index), &facts);
            if let Err(text) = check_query(&kept, &facts.schema, &query, run) {
                failures.push(format!("seed {seed}, query {index}, {sampling:?}: {text}"));
            }
        }
    }
    assert!(failures.is_empty(), "{} differ; the first:\n{}", failures.len(), failures[0]);
}

/// The rows of the table that is sampled repeatedly, and its number of blocks.
const ROWS: i64 = 12_000;
const BLOCKS: usize = 4;
/// The number of draws. Each has a different value in column `draw`, and therefore different
/// samples.
const DRAWS: i64 = 300;
/// The seed of the rows.
const SEED: u64 = 7;
/// The half width of the interval with 95 of 100 estimates, in standard errors.
const HALF_WIDTH: f64 = 1.96;

/// Services, some of them rare, and times distributed like waiting times.
fn population(draw: i64) -> Vec<Row> {
    let mut random = Random::new(SEED);
    let row = |index: i64| {
        let service = ["web", "web", "web", "api", "api", "batch"][random.below(6)];
        let service = if random.below(20) == 0 { "rare" } else { service };
        let share = (random.below(1 << 20) + 1) as f64 / f64::from(1 << 20);
        #[expect(clippy::cast_possible_truncation, reason = "a waiting time of some seconds")]
        let ms = (-share.ln() * 100.0) as i64;
        let cells = [
            (name("draw"), Value::integer(draw)),
            (name("service"), Value::string(service)),
            (name("ms"), Value::integer(ms)),
        ];
        Row { time: Micros(index * 1_000), cells: cells.into() }
    };
    (0..ROWS).map(row).collect()
}

struct OneTable(Arc<TableSchema>);

impl Catalog for OneTable {
    fn table(&self, name: &str) -> Option<Arc<TableSchema>> {
        (name == TABLE).then(|| Arc::clone(&self.0))
    }

    fn table_names(&self) -> Vec<TableName> {
        Vec::new()
    }
}

pub(crate) fn query(sql: &str, rows: &[Row]) -> Query {
    let catalog = OneTable(Arc::new(generate::schema(rows)));
    let context =
        Context { catalog: &catalog, now: Micros(0), unknown_columns: UnknownColumns::Error };
    match lower(sql, &context).expect(sql) {
        Statement::Query { query, .. } => *query,
        other => panic!("{other:?}"),
    }
}

/// For each service, the weighted count and the weighted sum with the variance of sampling, by the
/// estimator of Horvitz and Thompson: Σw(w - 1) and Σw(w - 1)x².
fn estimates(blocks: &[Vec<u8>], query: &Query) -> BTreeMap<String, [(f64, f64); 2]> {
    let produced = engine::ask(blocks, query, 2).expect("answers");
    let of_row = |row: Vec<Value>| {
        let number = |index: usize| match &row[index] {
            Value::Number(number) => number.to_f64(),
            other => panic!("{other} is no number"),
        };
        let count = (number(1), number(2) - number(1));
        let sum = (number(3), number(4) - number(5));
        (row[0].to_string(), [count, sum])
    };
    produced.rows.into_iter().map(of_row).collect()
}

/// The results of one query over all draws.
#[derive(Default)]
struct Record {
    errors: Vec<f64>,
    within: i64,
}

impl Record {
    fn add(&mut self, (estimate, variance): (f64, f64), truth: f64) {
        self.errors.push(estimate - truth);
        self.within += i64::from((estimate - truth).abs() <= HALF_WIDTH * variance.sqrt() + 1e-9);
    }

    /// The share of draws whose interval contains the true value.
    fn coverage(&self) -> f64 {
        self.within as f64 / self.errors.len() as f64
    }

    /// The mean error, in standard errors of that mean.
    fn bias(&self) -> f64 {
        let count = self.errors.len() as f64;
        let mean = self.errors.iter().sum::<f64>() / count;
        let squares = self.errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>();
        let standard = (squares / (count - 1.0) / count).sqrt();
        if standard == 0.0 { mean } else { mean / standard }
    }
}

/// Samples the table repeatedly; returns the record of each query.
fn records(sampling: &Sampling<'_>) -> BTreeMap<(String, usize), Record> {
    let sql = format!(
        "SELECT service, count(*), sum(sample_rate), sum(ms), sum(sample_rate * ms * ms), \
         sum(ms * ms) FROM {TABLE} GROUP BY service"
    );
    let size = usize::try_from(ROWS).expect("fits") / BLOCKS;
    let blocks = |draw: i64| {
        let rows = population(draw);
        engine::blocks(&rows, &name(TIME_COLUMN), Cuts::Rows(size)).expect("blocks")
    };
    // With rates of one there is no variance.
    let mut whole = population(0);
    for row in &mut whole {
        row.cells.insert(name("sample_rate"), Value::integer(1));
    }
    let query = query(&sql, &whole);
    let whole = engine::blocks(&whole, &name(TIME_COLUMN), Cuts::Rows(size)).expect("blocks");
    let truths = estimates(&whole, &query);
    let mut records: BTreeMap<(String, usize), Record> = BTreeMap::new();
    for draw in 0..DRAWS {
        let sampled = engine::sampled(&blocks(draw), sampling).expect("samples");
        let estimated = estimates(&sampled, &query);
        for (service, truths) in &truths {
            let of_service = estimated.get(service).copied().unwrap_or_default();
            for (index, (estimate, (truth, variance))) in
                of_service.into_iter().zip(truths).enumerate()
            {
                assert!(variance.abs() < 1e-9);
                let record = records.entry((service.clone(), index)).or_default();
                record.add(estimate, *truth);
            }
        }
    }
    records
}

/// Asserts that no estimate is biased, and that intervals contain the true value at least as often
/// as they claim. It may be more often, because the numbers of rows are fixed, which the intervals
/// do not assume.
#[expect(clippy::print_stdout, reason = "what is shown where a test fails")]
fn assert_honest(records: &BTreeMap<(String, usize), Record>) {
    for ((service, index), record) in records {
        let (coverage, bias) = (record.coverage(), record.bias());
        let what = ["count", "sum"][*index];
        println!("seed {SEED}, {service} {what}: {coverage:.3} within, bias {bias:+.2}");
        // 300 draws: 95 % with a standard error of 1.3 %.
        assert!(coverage >= 0.91, "{service} {what}: {coverage} of intervals have the truth");
        assert!(bias.abs() < 4.0, "{service} {what}: the mean is {bias} standard errors off");
    }
}

#[test]
fn estimates_of_uniform_samples_are_honest() {
    let records = records(&Sampling { one_in: 10, key: None, by: &[], least: 1 });
    assert_eq!(records.len(), 8);
    assert_honest(&records);
    // Intervals are no wider than needed either, if the number of rows is not fixed.
    for (service, index) in [("api", 0), ("batch", 0), ("api", 1), ("batch", 1), ("rare", 0)] {
        let coverage = records[&(service.to_owned(), index)].coverage();
        assert!(coverage <= 0.993, "{service} {index}: {coverage}");
    }
}

#[test]
fn estimates_of_samples_by_group_are_honest() {
    let by = [name("service")];
    let records = records(&Sampling { one_in: 50, key: None, by: &by, least: 20 });
    assert_honest(&records);
    // The number of a group's rows is known to within one factor in each block.
    for (service, factor) in [("web", 50.0), ("api", 32.0), ("batch", 16.0), ("rare", 4.0)] {
        let record = &records[&(service.to_owned(), 0)];
        let most = factor * BLOCKS as f64;
        assert!(record.errors.iter().all(|error| error.abs() < most), "{service}");
    }
}
