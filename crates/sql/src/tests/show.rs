//! Short forms of queries, so that a test can state its expectation in one line.

use hadal_query::{Expr, GroupInput, Measure, OutputExpr, Query, QueryKind, RowExpr, RowInput};
use hadal_types::{Micros, Value};

use super::catalog::NOW;

/// A row expression: calls as `Function(a, b)`, columns as `name` or `name::kind`.
pub(super) fn row(expr: &RowExpr) -> String {
    shown(expr, &|input| match input {
        RowInput::Time => "time".to_owned(),
        RowInput::Column(column) => format!("{}::{}", column.name, column.kind),
        RowInput::AnyText(text) => format!("any({text})"),
        RowInput::Random(seed) => format!("random({seed})"),
    })
}

/// An output expression: keys as `k0`, measures as `m0.Sum`.
pub(super) fn output(expr: &OutputExpr) -> String {
    shown(expr, &|slot| match slot {
        GroupInput::Key(index) => format!("k{index}"),
        GroupInput::Measure(index, finish) => format!("m{index}.{finish:?}"),
        other => format!("{other:?}"),
    })
}

fn shown<L>(expr: &Expr<L>, leaf: &dyn Fn(&L) -> String) -> String {
    match expr {
        Expr::Literal(Value::String(text)) => format!("'{text}'"),
        Expr::Literal(Value::Time(time)) => moment(*time),
        Expr::Literal(value) => value.to_string(),
        Expr::Leaf(input) => leaf(input),
        Expr::Call { function, arguments } => {
            let arguments: Vec<String> =
                arguments.iter().map(|argument| shown(argument, leaf)).collect();
            format!("{function:?}({})", arguments.join(", "))
        }
    }
}

/// A time as seconds from now, such as `now-3600`.
fn moment(time: Micros) -> String {
    let micros = time.0 - NOW.0;
    match (micros % Micros::SECOND, micros / Micros::SECOND) {
        (0, 0) => "now".to_owned(),
        (0, seconds) => format!("now{seconds:+}"),
        _ => format!("now{micros:+}us"),
    }
}

/// The time range, such as `[now-3600, now)`.
pub(super) fn range(query: &Query) -> String {
    let end = |end: Option<Micros>| end.map_or("…".to_owned(), moment);
    format!("[{}, {})", end(query.range.from), end(query.range.to))
}

pub(super) fn filter(query: &Query) -> String {
    query.filter.as_ref().map_or("none".to_owned(), row)
}

/// Keys or values.
pub(super) fn keys(query: &Query) -> String {
    match &query.kind {
        QueryKind::Rows { values } => format!("rows {}", list(values, row)),
        QueryKind::Groups { keys, .. } => list(keys, row),
    }
}

pub(super) fn measures(query: &Query) -> String {
    let measure = |measure: &Measure| {
        let exprs: Vec<String> = measure.exprs().map(row).collect();
        format!("{:?} of {}", measure.kind, exprs.join(" and "))
    };
    list(query.measures(), measure)
}

pub(super) fn outputs(query: &Query) -> String {
    list(&query.outputs, |column| {
        format!("{}: {} = {}", column.name, column.value_type.name(), output(&column.expr))
    })
}

pub(super) fn order(query: &Query) -> String {
    list(&query.order, |key| {
        let direction = if key.descending { "desc" } else { "asc" };
        let nulls = if key.nulls_first { "nulls first" } else { "nulls last" };
        format!("{} {direction} {nulls}", output(&key.expr))
    })
}

fn list<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join("; ")
}
