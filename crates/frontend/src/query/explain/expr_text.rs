//! Bound expressions as text for people: operators as in SQL, functions by their names.

use hadal_query::{Expr, Function, GroupInput, Measure, OutputExpr, Query, RowExpr, RowInput};
use hadal_query::{QueryKind, Type};
use hadal_types::Value;

/// Items of a list that are shown.
const ITEMS_SHOWN: usize = 10;

/// An expression over rows.
pub(super) fn row_text(expr: &RowExpr) -> String {
    text(expr, &input_text)
}

/// An expression over the groups or raw rows of a query.
pub(super) fn output_text(expr: &OutputExpr, query: &Query) -> String {
    text(expr, &|input| group_input_text(input, query))
}

/// A state that is kept for each group.
pub(super) fn measure_text(measure: &Measure) -> String {
    let arguments: Vec<String> = measure.exprs().map(row_text).collect();
    format!("{} of {}", words(&format!("{:?}", measure.kind)), arguments.join(", "))
}

fn input_text(input: &RowInput) -> String {
    match input {
        RowInput::Time => "time".to_owned(),
        RowInput::Column(column) => column.name.to_string(),
        RowInput::AnyText(text) => format!("search({})", quoted(text)),
        RowInput::Random(seed) => format!("random({seed})"),
    }
}

fn group_input_text(input: &GroupInput, query: &Query) -> String {
    let of = |values: &[RowExpr], index: usize| {
        values.get(index).map_or_else(|| format!("key {index}"), row_text)
    };
    match input {
        GroupInput::Key(index) => match &query.kind {
            QueryKind::Rows { values } => of(values, *index),
            QueryKind::Groups { keys, .. } => of(keys, *index),
        },
        GroupInput::RawCount => "raw_count(*)".to_owned(),
        GroupInput::Count => "count(*)".to_owned(),
        GroupInput::Measure(index, function) => {
            let arguments = query.measures().get(*index).map_or_else(Vec::new, |measure| {
                measure.exprs().map(row_text).collect::<Vec<String>>()
            });
            let name = words(&format!("{function:?}")).replace(' ', "_");
            format!("{name}({})", arguments.join(", "))
        }
        GroupInput::Seconds => "seconds of the bucket".to_owned(),
    }
}

fn text<L>(expr: &Expr<L>, leaf: &dyn Fn(&L) -> String) -> String {
    match expr {
        Expr::Literal(value) => literal(value),
        Expr::Leaf(input) => leaf(input),
        Expr::Call { function, arguments } => {
            let shown = arguments.iter().take(ITEMS_SHOWN).map(|argument| text(argument, leaf));
            let mut shown: Vec<String> = shown.collect();
            if arguments.len() > ITEMS_SHOWN {
                shown.push(format!("{} more", arguments.len() - ITEMS_SHOWN));
            }
            call(*function, &shown)
        }
    }
}

fn call(function: Function, arguments: &[String]) -> String {
    if let (Some(operator), true) = (operator(function), arguments.len() > 1) {
        return format!("({})", arguments.join(&format!(" {operator} ")));
    }
    match (function, arguments) {
        (Function::Not, [inner]) => format!("(NOT {inner})"),
        (Function::IsNull, [inner]) => format!("({inner} IS NULL)"),
        (Function::Negate, [inner]) => format!("(- {inner})"),
        (Function::In, [value, items @ ..]) => format!("({value} IN ({}))", items.join(", ")),
        _ => {
            let name = words(&format!("{function:?}")).replace(' ', "_");
            format!("{name}({})", arguments.join(", "))
        }
    }
}

const fn operator(function: Function) -> Option<&'static str> {
    Some(match function {
        Function::And => "AND",
        Function::Or => "OR",
        Function::Equal => "=",
        Function::NotEqual => "<>",
        Function::Less => "<",
        Function::LessOrEqual => "<=",
        Function::Greater => ">",
        Function::GreaterOrEqual => ">=",
        Function::Add | Function::AddSeconds => "+",
        Function::Subtract | Function::SecondsBetween => "-",
        Function::Multiply => "*",
        Function::Divide | Function::DivideWhole => "/",
        Function::Remainder => "%",
        Function::Concat => "||",
        _ => return None,
    })
}

fn literal(value: &Value) -> String {
    match Type::of(value) {
        Type::String | Type::Time => quoted(&value.to_string()),
        Type::Null => "null".to_owned(),
        _ => value.to_string(),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The name of a variant as words in lower case: `Text(SplitPart)` is `split part`, and `ArgMax`
/// is `arg max`.
fn words(variant: &str) -> String {
    let groups = ["Text(", "Math(", "Calendar("];
    let inner = groups.iter().find_map(|group| variant.strip_prefix(group));
    let mut words = String::new();
    for letter in inner.unwrap_or(variant).chars() {
        match letter {
            '(' | ')' => words.push(' '),
            letter if letter.is_uppercase() => {
                words.push(' ');
                words.extend(letter.to_lowercase());
            }
            letter => words.push(letter),
        }
    }
    words.split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[cfg(test)]
mod tests {
    use hadal_query::ColumnRef;
    use hadal_types::{ColumnName, Kind, Logical};

    use super::*;

    fn column(name: &str) -> RowExpr {
        let name = ColumnName::new(name).expect("a name");
        Expr::Leaf(RowInput::Column(ColumnRef {
            name,
            kind: Kind::Number,
            logical: Logical::Plain,
        }))
    }

    #[test]
    fn conditions_read_like_sql() {
        let above = Expr::call(
            Function::GreaterOrEqual,
            [column("status"), Expr::Literal(Value::integer(500))],
        );
        let is_in = Expr::call(
            Function::In,
            [column("host"), Expr::Literal(Value::string("a'b")), Expr::Literal(Value::Null)],
        );
        let both = Expr::call(Function::And, [above, Expr::call(Function::Not, [is_in])]);
        assert_eq!(row_text(&both), "((status >= 500) AND (NOT (host IN ('a''b', null))))");
    }

    #[test]
    fn functions_have_their_names_and_long_lists_an_end() {
        assert_eq!(row_text(&Expr::call(Function::Lower, [column("a")])), "lower(a)");
        assert_eq!(words("Text(SplitPart)"), "split part");
        assert_eq!(words("Extract(DayOfWeek)"), "extract day of week");
        assert_eq!(words("QuantileCont(950000)"), "quantile cont 950000");
        let many: Vec<RowExpr> = (0..30).map(|n| Expr::Literal(Value::integer(n))).collect();
        let text = row_text(&Expr::call(Function::In, many));
        assert!(text.ends_with("8, 9, 20 more))"), "{text}");
    }
}
