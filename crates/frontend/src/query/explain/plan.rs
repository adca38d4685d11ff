//! The plan of a query: the steps from the answer down to the row blocks, and what the blocks of
//! the time range would have to be read.

use std::collections::BTreeSet;

use hadal_aggregate::TopList;
use hadal_peer::{BlockStatus, TableBlocks};
use hadal_query::{Expr, Function, OrderKey, Query, QueryKind, RowExpr, RowInput};
use hadal_types::{ColumnName, Kind, Logical, TimeRange};

use crate::query::explain::expr_text::{measure_text, output_text, row_text};
use crate::query::explain::read_columns::ReadColumns;

/// What is known of a table's storage.
pub(super) struct Storage {
    /// Its row blocks.
    pub(super) blocks: TableBlocks,
    /// Whether rows may have weights.
    pub(super) has_weights: bool,
    /// The column of the rows' time.
    pub(super) time_column: ColumnName,
}

/// Lines with the indentation of their step.
#[derive(Default)]
struct Lines {
    lines: Vec<String>,
    depth: usize,
}

impl Lines {
    /// A step; the lines after it are about it, and later steps are below it.
    fn step(&mut self, text: &str) {
        let arrow = if self.depth == 0 { "" } else { "-> " };
        let indent = "  ".repeat(self.depth.saturating_mul(2).saturating_sub(1));
        self.lines.push(format!("{indent}{arrow}{text}"));
        self.depth += 1;
    }

    /// A line about the last step.
    fn about(&mut self, name: &str, text: &str) {
        let indent = "  ".repeat(self.depth.saturating_mul(2).saturating_sub(1));
        self.lines.push(format!("{indent}{name}: {text}"));
    }
}

/// The plan as lines of text.
pub(super) fn plan_lines(query: &Query, storage: &Storage) -> Vec<String> {
    let mut lines = Lines::default();
    answer_step(&mut lines, query);
    group_step(&mut lines, query);
    scan_step(&mut lines, query, storage);
    lines.lines
}

/// Order, limit and HAVING, as the root applies them.
fn answer_step(lines: &mut Lines, query: &Query) {
    match query.offset {
        0 => lines.step(&format!("Limit {}", query.limit)),
        offset => lines.step(&format!("Limit {} after {offset} rows", query.limit)),
    }
    let columns: Vec<&str> = query.outputs.iter().map(|output| output.name.as_str()).collect();
    lines.about("Columns", &columns.join(", "));
    if !query.order.is_empty() {
        let keys: Vec<String> = query.order.iter().map(|key| order_text(key, query)).collect();
        lines.about("Order", &keys.join(", "));
    }
    if let Some(series) = &query.series {
        let rank = output_text(&series.rank, query);
        lines.about("Series", &format!("the top {} by {rank}, the others as one", series.count));
    }
    if let Some(having) = &query.having {
        lines.about("Having", &output_text(having, query));
    }
    if TopList::of(query).is_some() {
        let text = "leaves of other machines send their largest groups; a second round asks for \
                    the rest where the list needs it";
        lines.about("Rounds", text);
    }
}

fn order_text(key: &OrderKey, query: &Query) -> String {
    let output = query.outputs.iter().find(|output| output.expr == key.expr);
    let text = match output {
        Some(output) => output.name.clone(),
        None => output_text(&key.expr, query),
    };
    let way = if key.descending { " descending" } else { "" };
    let nulls = if key.nulls_first { ", nulls first" } else { "" };
    format!("{text}{way}{nulls}")
}

fn group_step(lines: &mut Lines, query: &Query) {
    let QueryKind::Groups { keys, measures } = &query.kind else {
        return lines.step("Rows: each thread keeps the first ones");
    };
    match keys.as_slice() {
        [] => lines.step("One group of all rows"),
        keys => {
            let keys: Vec<String> = keys.iter().map(row_text).collect();
            lines.step(&format!("Groups by {}", keys.join(", ")));
        }
    }
    let measures: Vec<String> = measures.iter().map(measure_text).collect();
    if !measures.is_empty() {
        lines.about("Kept for each", &measures.join("; "));
    }
}

fn scan_step(lines: &mut Lines, query: &Query, storage: &Storage) {
    lines.step(&format!("Scan of {}", query.table));
    lines.about("Time", &range_text(query.range));
    if let Some(filter) = &query.filter {
        lines.about("Filter", &row_text(filter));
        let conditions = conjuncts(filter).into_iter().filter(|one| zones_tell(one));
        let conditions: Vec<String> = conditions.map(row_text).collect();
        let text = match conditions.is_empty() {
            true => "no condition; zones tell of numbers and times beside constants".to_owned(),
            false => format!("blocks whose zones rule out {}", conditions.join(" or ")),
        };
        lines.about("Skips", &text);
    }
    let reached = |block: &&BlockStatus| {
        let (first, last) = block.time_range;
        query.range.overlaps(first, last)
    };
    let all = &storage.blocks.blocks;
    let in_range: Vec<&BlockStatus> = all.iter().filter(reached).collect();
    let rows: u64 = in_range.iter().map(|block| block.rows).sum();
    let all_rows: u64 = all.iter().map(|block| block.rows).sum();
    let leaves: BTreeSet<&str> = in_range.iter().map(|block| block.leaf.0.as_ref()).collect();
    let (count, all_count) = (in_range.len(), all.len());
    lines.about("Blocks", &format!("{count} of {all_count} are in the time range"));
    lines.about("Rows", &format!("{rows} of {all_rows}"));
    lines.about("Leaves", &leaves.len().to_string());
    let mut read = ReadColumns::of(query, storage.has_weights);
    let cuts_a_block = in_range.iter().any(|block| {
        let (first, last) = block.time_range;
        query.range.from.is_some_and(|from| first < from)
            || query.range.to.is_some_and(|to| to <= last)
    });
    read.time |= cuts_a_block;
    if read.time {
        read.columns.insert((storage.time_column.clone(), Kind::Number));
    }
    let bytes: u64 = storage
        .blocks
        .columns
        .iter()
        .filter(|((name, kind, _), _)| read.has(name, *kind))
        .map(|(_, column)| column.bytes)
        .sum();
    lines.about("Reads", &columns_text(&read));
    let share = u128::from(bytes) * u128::from(rows) / u128::from(all_rows.max(1));
    let all_bytes: u64 = all.iter().map(|block| block.bytes).sum();
    lines.about("Bytes", &format!("at most about {share} of {all_bytes}"));
}

fn columns_text(read: &ReadColumns) -> String {
    let mut names: Vec<&str> = read.columns.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    match (read.all_texts, names.is_empty()) {
        (true, true) => "all columns of texts".to_owned(),
        (true, false) => format!("{} and all columns of texts", names.join(", ")),
        (false, true) => "no columns".to_owned(),
        (false, false) => names.join(", "),
    }
}

fn range_text(range: TimeRange) -> String {
    match (range.from, range.to) {
        (None, None) => "all".to_owned(),
        (Some(from), None) => format!("from {from}"),
        (None, Some(to)) => format!("before {to}"),
        (Some(from), Some(to)) => format!("from {from}, before {to}"),
    }
}

/// The conditions that must all be true.
fn conjuncts(filter: &RowExpr) -> Vec<&RowExpr> {
    match filter {
        Expr::Call { function: Function::And, arguments } => {
            arguments.iter().flat_map(conjuncts).collect()
        }
        condition => vec![condition],
    }
}

/// Whether a block's zones can rule out that a condition is true of any row, as the scan checks
/// it: comparisons of a number or the time with a constant, and OR of such.
fn zones_tell(condition: &RowExpr) -> bool {
    let Expr::Call { function, arguments } = condition else { return false };
    match function {
        Function::Or => arguments.iter().all(zones_tell),
        Function::And => arguments.iter().any(zones_tell),
        function if Function::COMPARISONS.contains(function) => match arguments.as_slice() {
            [Expr::Leaf(input), Expr::Literal(_)] | [Expr::Literal(_), Expr::Leaf(input)] => {
                has_zone(input)
            }
            _ => false,
        },
        _ => false,
    }
}

fn has_zone(input: &RowInput) -> bool {
    match input {
        RowInput::Time => true,
        RowInput::Column(column) => column.kind == Kind::Number && column.logical == Logical::Plain,
        RowInput::AnyText(_) | RowInput::Random(_) => false,
    }
}
