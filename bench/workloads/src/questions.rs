//! The questions: those of the comparison with other engines (`bench/rivals/questions.py`), and
//! variations of them in one step, so that a slow step shows.
//!
//! Every question has a time range that cuts blocks at both of its ends.

use std::sync::Arc;

use hadal_bench::Table;
use hadal_query::Query;
use hadal_sql::{Catalog, Context, Statement, UnknownColumns, lower};
use hadal_types::{Micros, TableName, TableSchema};

use crate::error::Error;

/// A question and its name.
pub(crate) struct Question {
    pub(crate) name: &'static str,
    pub(crate) query: Arc<Query>,
}

/// Name, selected columns, further conditions, groups and order.
type Spelled = (&'static str, &'static str, &'static str, &'static str);

const FOUR_SUMS: &str = "sum(latency_us), sum(bytes), sum(status), sum(rate)";
const FOUR: &str = "count(*), sum(temperature), min(temperature), max(temperature)";
const TOP: &str = "ORDER BY n DESC LIMIT 100";

/// The time of the first row of both tables, in seconds since 1970.
const START: u64 = 1_767_571_200;
const SENSORS: u64 = 10_000;

const REQUESTS: [Spelled; 18] = [
    ("count", "count(*)", "", ""),
    ("count, 2 sums", "count(*), sum(latency_us), sum(bytes)", "", ""),
    ("4 sums", "{4 sums}", "", ""),
    ("count, sum by service", "service, count(*), sum(latency_us)", "", "BY service"),
    (
        "count, sum by service x minute, top 1,800",
        "service, time_bucket('1 minute', time) AS minute, count(*) AS n, sum(latency_us)",
        "",
        "BY service, minute ORDER BY n DESC LIMIT 1800",
    ),
    ("count by host (5,000), top 100", "host, count(*) AS n", "", "BY host {top}"),
    ("the same with 4 sums", "host, count(*) AS n, {4 sums}", "", "BY host {top}"),
    ("count by user (10 M), top 100", "user_id, count(*) AS n", "", "BY user_id {top}"),
    ("the same with 4 sums", "user_id, count(*) AS n, {4 sums}", "", "BY user_id {top}"),
    ("count by message (all differ), top 100", "message, count(*) AS n", "", "BY message {top}"),
    ("count where a text has a word", "count(*)", "AND message LIKE '%refund%'", ""),
    ("count where it has one of three", "count(*)", "AND message ~ 'refund|voucher|giftcard'", ""),
    ("count where a number is small", "count(*)", "AND latency_us < 20000", ""),
    ("count, sum of one service", "count(*), sum(latency_us)", "AND service = 'cart-gateway'", ""),
    (
        "count, sum by endpoint, two conditions",
        "endpoint, count(*) AS n, sum(latency_us)",
        "AND service = 'cart-gateway' AND latency_us > 20000",
        "BY endpoint {top}",
    ),
    (
        "two times six hours by endpoint",
        "endpoint, count(*) FILTER (WHERE time < 1767604631) AS n, \
         count(*) FILTER (WHERE time >= 1767650731) AS m",
        "AND (time >= 1767583031 AND time < 1767604631 \
         OR time >= 1767650731 AND time < 1767672331)",
        "BY endpoint {top}",
    ),
    (
        "p50, p95, p99 by service",
        "service, p50(latency_us), p95(latency_us), p99(latency_us)",
        "",
        "BY service",
    ),
    ("distinct users by country", "country, count(DISTINCT user_id)", "", "BY country"),
];

/// For rows with weights.
const SAMPLED: [Spelled; 2] = [
    ("weighted count by service", "service, count(*)", "", "BY service"),
    ("weighted count, 2 sums", "count(*), sum(latency_us), sum(bytes)", "", ""),
];

const READINGS: [Spelled; 6] = [
    ("count, sum, min, max", "{4}", "", ""),
    ("sum", "sum(temperature)", "", ""),
    ("count where it is hot", "count(*)", "AND temperature > 100", ""),
    ("the four where it is hot", "{4}", "AND temperature > 100", ""),
    ("the four without one sensor", "{4}", "AND sensor_id <> 42", ""),
    ("the four by sensor", "sensor_id, {4}", "", "BY sensor_id"),
];

/// The questions of a table of `rows` rows.
pub(crate) fn questions(
    table: Table,
    rows: u64,
    schema: TableSchema,
) -> Result<Vec<Question>, Error> {
    let (list, name): (&[Spelled], _) = match table {
        Table::Requests { weight_column: "sample_rate" } => (&SAMPLED, "requests"),
        Table::Requests { .. } => (&REQUESTS, "requests"),
        Table::Readings => (&READINGS, "readings"),
    };
    let (from, to) = range(table, rows);
    let catalog = One(Arc::new(schema));
    let lowered = list.iter().map(|(title, what, conditions, groups)| {
        let within = format!("FROM {name} WHERE time >= {from} AND time < {to}");
        let groups = if groups.is_empty() { String::new() } else { format!("GROUP {groups}") };
        let sql = format!("SELECT {what} {within} {conditions} {groups}")
            .replace("{4 sums}", FOUR_SUMS)
            .replace("{4}", FOUR)
            .replace("{top}", TOP);
        Ok(Question { name: title, query: query(sql, &catalog)? })
    });
    lowered.collect()
}

/// Most of the 29 hours of `requests`; most of the minutes of `readings`.
fn range(table: Table, rows: u64) -> (u64, u64) {
    let minutes = match table {
        Table::Requests { .. } => 29 * 60,
        Table::Readings => rows.div_ceil(SENSORS),
    };
    let edge = minutes / 20 * 60;
    (START + edge + 7, START + minutes * 60 - edge - 11)
}

fn query(sql: String, catalog: &One) -> Result<Arc<Query>, Error> {
    let context = Context { catalog, now: Micros(0), unknown_columns: UnknownColumns::Error };
    match lower(&sql, &context) {
        Ok(Statement::Query { query, .. }) => Ok(Arc::from(query)),
        Ok(_) => Err(Error::NoQuestion(sql)),
        Err(cause) => Err(Error::Sql { sql, cause: Box::new(cause) }),
    }
}

/// A catalog of one table.
struct One(Arc<TableSchema>);

impl Catalog for One {
    fn table(&self, name: &str) -> Option<Arc<TableSchema>> {
        (self.0.name.as_str() == name).then(|| Arc::clone(&self.0))
    }

    fn table_names(&self) -> Vec<TableName> {
        vec![self.0.name.clone()]
    }
}
