//! The types of parameters whose client gives none: by what is beside them.
//!
//! | beside the parameter | type |
//! |---|---|
//! | `LIMIT $1`, `OFFSET $1` | `bigint` |
//! | `$1::type`, `CAST($1 AS type)` | that type |
//! | a comparison with a column, `BETWEEN`, `IN` | the column's: `numeric`, `timestamptz`, `boolean`, `text` |
//! | a value of an INSERT, if the client gives no type at all | `unknown`: a number if it is spelled as one, unless the column is of strings |
//! | anything else | `text`, which the query language converts as it does constants |

use std::sync::Arc;

use hadal_frontend::type_of;
use hadal_query::Type;
use hadal_sql::Literal;
use hadal_types::TableSchema;

use crate::column_type::ColumnType;
use crate::lexer::{Lexeme, Lexer, Token};
use crate::parameter::{ParameterType, UNKNOWN};

/// The types of a statement's `count` parameters: as the client gives them, else by their places.
/// `schema` returns the schema of a table.
pub(crate) fn parameter_types(
    sql: &str,
    given: &[u32],
    count: usize,
    schema: &dyn Fn(&str) -> Option<Arc<TableSchema>>,
) -> Vec<u32> {
    let lexemes: Vec<Lexeme<'_>> = Lexer::new(sql).map_while(Result::ok).collect();
    let is_insert = lexemes.first().is_some_and(|first| first.is("insert"));
    let before = if is_insert { "into" } else { "from" };
    let names = lexemes.iter().skip_while(|lexeme| !lexeme.is(before)).skip(1);
    let names = names.filter(|lexeme| !lexeme.is("public") && !lexeme.is("."));
    let schema = names.into_iter().next().and_then(Lexeme::name).and_then(|table| schema(&table));
    let mut types: Vec<u32> = (0..count.max(given.len()))
        .map(|index| given.get(index).copied().filter(|oid| *oid != UNKNOWN).unwrap_or_default())
        .collect();
    for (index, lexeme) in lexemes.iter().enumerate() {
        let Token::Parameter(number) = lexeme.token else { continue };
        let Some(slot) = number.checked_sub(1).and_then(|number| types.get_mut(number)) else {
            continue;
        };
        if *slot == 0 {
            let context = ParameterContext { lexemes: &lexemes, index, schema: schema.as_deref() };
            *slot = context.parameter_type().unwrap_or_default();
        }
    }
    if given.iter().all(|oid| [0, UNKNOWN].contains(oid)) {
        for (number, column) in inserted(&lexemes) {
            let Some(slot) = number.checked_sub(1).and_then(|number| types.get_mut(number)) else {
                continue;
            };
            let is_text = schema.as_deref().and_then(|table| table.column(&column));
            let is_text = is_text.is_some_and(|column| type_of(column) == Type::String);
            if *slot == 0 && !is_text {
                *slot = UNKNOWN;
            }
        }
    }
    let text = ColumnType::Text.oid();
    types.into_iter().map(|oid| if oid == 0 { text } else { oid }).collect()
}

/// The parameters that are values of an INSERT, with their columns.
fn inserted(lexemes: &[Lexeme<'_>]) -> Vec<(usize, String)> {
    let is_insert = lexemes.first().is_some_and(|first| first.is("insert"));
    let values = lexemes.iter().position(|lexeme| lexeme.is("values"));
    let (true, Some(values)) = (is_insert, values) else { return Vec::new() };
    let (head, rows) = lexemes.split_at(values);
    let list = head.iter().skip_while(|lexeme| !lexeme.is("(")).skip(1);
    let mut columns = vec![String::new()];
    for lexeme in list.take_while(|lexeme| !lexeme.is(")")) {
        match (lexeme.name(), columns.last_mut()) {
            _ if lexeme.is(",") => columns.push(String::new()),
            (Some(part), Some(column)) => column.push_str(&part),
            (None, Some(column)) => column.push('.'),
            (_, None) => {}
        }
    }
    let (mut depth, mut position, mut parameters) = (0_usize, 0_usize, Vec::new());
    for lexeme in rows {
        match &lexeme.token {
            _ if lexeme.is("(") => (depth, position) = (depth + 1, 0),
            _ if lexeme.is(")") => depth = depth.saturating_sub(1),
            _ if lexeme.is(",") && depth == 1 => position += 1,
            Token::Parameter(number) => {
                parameters.push((*number, columns.get(position).cloned().unwrap_or_default()));
            }
            _ => {}
        }
    }
    parameters
}

/// A constant that fits where a parameter of this type is; `text` if that is one.
pub(crate) fn example(oid: u32, text: &str) -> Literal {
    match ParameterType::of(oid) {
        Some(ParameterType::Bool) => Literal::Bool(true),
        Some(ParameterType::Text) | None => Literal::Text(text.to_owned()),
        Some(ParameterType::Timestamp | ParameterType::Date) => {
            Literal::Text("2000-01-01".to_owned())
        }
        Some(ParameterType::Array(_)) => Literal::List(vec![Literal::Text(text.to_owned())]),
        Some(_) => Literal::Number { digits: "1".to_owned(), is_negative: false },
    }
}

/// Where a parameter is.
struct ParameterContext<'p> {
    lexemes: &'p [Lexeme<'p>],
    index: usize,
    schema: Option<&'p TableSchema>,
}

impl ParameterContext<'_> {
    fn before(&self, distance: usize) -> Option<&Lexeme<'_>> {
        self.index.checked_sub(distance).and_then(|index| self.lexemes.get(index))
    }

    fn after(&self, distance: usize) -> Option<&Lexeme<'_>> {
        self.lexemes.get(self.index + distance)
    }

    fn parameter_type(&self) -> Option<u32> {
        let is_before = |word| self.before(1).is_some_and(|lexeme| lexeme.is(word));
        let is_after = |word| self.after(1).is_some_and(|lexeme| lexeme.is(word));
        if is_before("limit") || is_before("offset") {
            return Some(ColumnType::Int8.oid());
        }
        if is_after("::") || is_after("as") {
            return self.after(2).and_then(|name| named_type(&name.name()?));
        }
        // `x = $1`, `x BETWEEN $1 AND $2`, `x IN ($1, $2)`: the name before, if only constants are
        // between.
        let mut distance = 1;
        while let Some(lexeme) = self.before(distance) {
            let is_between = match &lexeme.token {
                Token::Parameter(_) | Token::Text(_) | Token::Number(_) => true,
                Token::Symbol(symbol) => {
                    ["=", "<", ">", "<=", ">=", "<>", "!=", "(", ","].contains(symbol)
                }
                Token::Word(word) => ["between", "and", "in", "not"]
                    .iter()
                    .any(|between| word.eq_ignore_ascii_case(between)),
                Token::Name(_) => false,
            };
            if !is_between {
                break;
            }
            distance += 1;
        }
        let compared = self.before(1).is_some_and(|lexeme| {
            matches!(lexeme.token, Token::Symbol(symbol) if symbol != "(" && symbol != ",")
        });
        let listed = self
            .before(1)
            .is_some_and(|lexeme| ["between", "and", "(", ","].iter().any(|word| lexeme.is(word)))
            && (1..distance).any(|at| {
                self.before(at).is_some_and(|lexeme| lexeme.is("in") || lexeme.is("between"))
            });
        if compared || listed {
            return self.before(distance).and_then(|name| self.column_type(name));
        }
        // `$1 = x`
        let is_compared = self.after(1).is_some_and(|lexeme| {
            ["=", "<", ">", "<=", ">=", "<>", "!="].iter().any(|symbol| lexeme.is(symbol))
        });
        if is_compared { self.after(2).and_then(|name| self.column_type(name)) } else { None }
    }

    fn column_type(&self, lexeme: &Lexeme<'_>) -> Option<u32> {
        let schema = self.schema?;
        let name = match &lexeme.token {
            Token::Word(word) => (*word).to_owned(),
            Token::Name(name) => name.to_string(),
            _ => return None,
        };
        let column = schema.column(&name).or_else(|| {
            schema.columns.iter().find(|column| column.name.as_str().eq_ignore_ascii_case(&name))
        });
        let value_type = match column {
            Some(column) => type_of(column),
            None if name.eq_ignore_ascii_case("time") => Type::Time,
            None => return None,
        };
        Some(match value_type {
            Type::Number => ColumnType::Numeric.oid(),
            Type::Time => ColumnType::Timestamptz.oid(),
            Type::Bool => ColumnType::Bool.oid(),
            _ => ColumnType::Text.oid(),
        })
    }
}

/// The type of this name.
fn named_type(name: &str) -> Option<u32> {
    Some(match name {
        "int" | "integer" | "int4" => ColumnType::Int4.oid(),
        "bigint" | "int8" => ColumnType::Int8.oid(),
        "double" | "float" | "float8" => ColumnType::Float8.oid(),
        "numeric" | "decimal" | "number" => ColumnType::Numeric.oid(),
        "bool" | "boolean" => ColumnType::Bool.oid(),
        "timestamp" | "timestamptz" | "date" => ColumnType::Timestamptz.oid(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use hadal_types::{ColumnName, ColumnPart, ColumnSchema, Kind, Logical, TableName};

    use super::*;

    fn schema(table: &str) -> Option<Arc<TableSchema>> {
        let name = |name: &str| ColumnName::new(name).expect("a name");
        let column = |column: &str, kind, logical| ColumnSchema {
            name: name(column),
            parts: vec![ColumnPart { kind, logical, rows: 1 }],
        };
        let columns = vec![
            column("host", Kind::String, Logical::Plain),
            column("ok", Kind::Number, Logical::Bool),
            column("status", Kind::Number, Logical::Plain),
            column("time", Kind::Number, Logical::Time),
        ];
        (table == "t").then(|| {
            Arc::new(TableSchema {
                name: TableName::new("t").expect("a name"),
                time_column: name("time"),
                columns,
                rows: 1,
                time_range: None,
            })
        })
    }

    #[test]
    fn values_of_an_insert_are_unknown_if_the_client_gives_no_types() {
        const TEXT: u32 = 25;
        let of = |sql: &str, given: &[u32]| parameter_types(sql, given, 3, &schema);
        let sql = "INSERT INTO t (host, status, \"new\") VALUES ($1, $2, $3)";
        assert_eq!(of(sql, &[]), [TEXT, UNKNOWN, UNKNOWN]);
        assert_eq!(of(sql, &[0, 0, 0]), [TEXT, UNKNOWN, UNKNOWN]);
        // A client that knows a number from a text says so of all.
        assert_eq!(of(sql, &[0, 20, 0]), [TEXT, 20, TEXT]);
        let sql = "INSERT INTO public.t (status, host) VALUES (ARRAY[$3], 'x'), ($1, $2)";
        assert_eq!(of(sql, &[]), [UNKNOWN, TEXT, UNKNOWN]);
    }

    #[test]
    fn a_parameter_has_the_type_of_what_is_beside_it() {
        const TEXT: u32 = 25;
        for (condition, expected) in [
            ("status = $1", vec![1700]),
            ("$1 < status", vec![1700]),
            ("time BETWEEN $1 AND $2", vec![1184, 1184]),
            ("time >= $1 AND ok = $2", vec![1184, 16]),
            ("status IN ($1, 5, $2) AND host = $3", vec![1700, 1700, TEXT]),
            ("time > now() - $1", vec![TEXT]),
            ("status = $1::int8", vec![20]),
            ("time_bucket($1, time) = $2", vec![TEXT, TEXT]),
            ("nope = $1", vec![TEXT]),
            ("host = $1 LIMIT $2 OFFSET $3", vec![TEXT, 20, 20]),
        ] {
            let sql = format!("SELECT 1 FROM t WHERE {condition}");
            let types = parameter_types(&sql, &[], expected.len(), &schema);
            assert_eq!(types, expected, "{condition}");
        }
        let sql = "SELECT 1 FROM t WHERE status = $1 AND host = $2";
        assert_eq!(parameter_types(sql, &[23], 2, &schema), [23, TEXT]);
        assert_eq!(parameter_types("SELECT $1 FROM nope", &[0], 1, &schema), [TEXT]);
    }
}
