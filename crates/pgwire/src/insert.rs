//! `INSERT INTO t (a, b) VALUES (1, 'x'), …` as lines of JSON.

use std::fmt::Write;

use hadal_sql::Literal;
use hadal_types::{Micros, Number};

use crate::failure::Failure;
use crate::lexer::Token;
use crate::statement_reader::StatementReader;

/// The rows of an INSERT.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Insert {
    pub(crate) table: String,
    /// A line of JSON for each row.
    pub(crate) body: String,
}

/// Reads an INSERT. `values` are those of its parameters, `now` the value of `now()`.
///
/// # Errors
/// [`Failure`] with the place, for anything but rows of constants.
pub(crate) fn insert(sql: &str, values: &[Literal], now: Micros) -> Result<Insert, Failure> {
    let mut syntax = StatementReader::new(sql);
    syntax.expect("insert")?;
    syntax.expect("into")?;
    let table = syntax.table()?;
    let columns = syntax.columns()?;
    if columns.is_empty() {
        return Err(syntax
            .unexpected("INSERT must name the columns")
            .hint("INSERT INTO t (a, b) VALUES (1, 'x'): columns have no order of their own"));
    }
    if !syntax.skip("values")? {
        return Err(syntax
            .unexpected("INSERT takes rows of constants")
            .hint("INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y')"));
    }
    let mut body = String::new();
    loop {
        syntax.expect("(")?;
        body.push('{');
        let mut is_first = true;
        for (index, column) in columns.iter().enumerate() {
            if index > 0 {
                syntax.expect(",")?;
            }
            if let Some(value) = constant(&mut syntax, values, now)? {
                let comma = if is_first { "" } else { "," };
                is_first = false;
                // Writing to a string does not fail.
                let _ = write!(body, "{comma}{}:", json_text(column));
                write_json(&mut body, &value);
            }
        }
        syntax.expect(")")?;
        body.push_str("}\n");
        if !syntax.skip(",")? {
            break;
        }
    }
    if syntax.peek()?.is_some_and(|next| next.is("returning") || next.is("on")) {
        return Err(syntax
            .unexpected("INSERT has no RETURNING and no ON CONFLICT")
            .hint("rows have no keys: each INSERT adds its rows"));
    }
    syntax.finish()?;
    Ok(Insert { table, body })
}

/// The next constant; `None` for DEFAULT.
fn constant(
    syntax: &mut StatementReader<'_>,
    values: &[Literal],
    now: Micros,
) -> Result<Option<Literal>, Failure> {
    let is_negative = syntax.skip("-")?;
    let unexpected = |syntax: &StatementReader<'_>| {
        syntax
            .unexpected("a constant is missing")
            .hint("rows take numbers, 'texts', true, false, NULL, ARRAY['a'] and now()")
    };
    let Some(lexeme) = syntax.peek()? else { return Err(unexpected(syntax)) };
    let constant = match &lexeme.token {
        Token::Number(digits) => {
            let number: Number = digits
                .replace('_', "")
                .parse()
                .map_err(|_| syntax.unexpected(&format!("{digits} is not a number")))?;
            Literal::Number { digits: number.to_string(), is_negative }
        }
        _ if is_negative => return Err(unexpected(syntax)),
        Token::Text(text) => Literal::Text(text.clone().into_owned()),
        Token::Parameter(number) => {
            let value = number.checked_sub(1).and_then(|index| values.get(index)).cloned();
            value.ok_or_else(|| syntax.unexpected(&format!("parameter ${number} has no value")))?
        }
        Token::Word(word) => match word.to_ascii_lowercase().as_str() {
            "true" => Literal::Bool(true),
            "false" => Literal::Bool(false),
            "null" => Literal::Null,
            "default" => {
                syntax.next()?;
                return Ok(None);
            }
            "now" => {
                syntax.next()?;
                syntax.expect("(")?;
                Literal::Text(now.to_string())
            }
            "current_timestamp" => Literal::Text(now.to_string()),
            // The type before a text decides nothing: the text is read as any logged value.
            "timestamp" | "timestamptz" | "date" => {
                syntax.next()?;
                while !matches!(syntax.peek()?.map(|next| next.token), Some(Token::Text(_)) | None)
                {
                    syntax.next()?;
                }
                return Ok(Some(Literal::Text(syntax.text()?)));
            }
            "array" => {
                syntax.next()?;
                return array(syntax, values, now).map(Some);
            }
            _ => return Err(unexpected(syntax)),
        },
        _ => return Err(unexpected(syntax)),
    };
    syntax.next()?;
    skip_casts(syntax)?;
    Ok(Some(constant))
}

fn array(
    syntax: &mut StatementReader<'_>,
    values: &[Literal],
    now: Micros,
) -> Result<Literal, Failure> {
    syntax.expect("[")?;
    let mut items = Vec::new();
    while !syntax.skip("]")? {
        if !items.is_empty() {
            syntax.expect(",")?;
        }
        if syntax.peek()?.is_some_and(|next| next.is("array")) {
            return Err(syntax.unexpected("an array has one dimension"));
        }
        items.extend(constant(syntax, values, now)?);
    }
    skip_casts(syntax)?;
    Ok(Literal::List(items))
}

/// Leaves out `::type`: a value has the type that it is written in.
fn skip_casts(syntax: &mut StatementReader<'_>) -> Result<(), Failure> {
    while syntax.skip("::")? {
        syntax.name()?;
        for word in [".", "precision", "varying", "with", "without", "time", "zone"] {
            syntax.skip(word)?;
        }
        if syntax.skip("[")? {
            syntax.expect("]")?;
        }
    }
    Ok(())
}

fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn write_json(body: &mut String, value: &Literal) {
    match value {
        Literal::Null => body.push_str("null"),
        Literal::Bool(truth) => body.push_str(if *truth { "true" } else { "false" }),
        Literal::Number { digits, is_negative } => {
            if *is_negative {
                body.push('-');
            }
            body.push_str(digits);
        }
        Literal::Text(text) => body.push_str(&json_text(text)),
        Literal::List(items) => {
            body.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    body.push(',');
                }
                write_json(body, item);
            }
            body.push(']');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Micros = Micros(1_700_049_600_000_000);

    fn read(sql: &str, values: &[Literal]) -> Result<Insert, Failure> {
        insert(sql, values, NOW)
    }

    #[test]
    fn rows_become_lines_of_json() {
        let sql = "INSERT INTO public.\"T\" (a, \"B c\", d.e) VALUES \
                   (1, 'it''s \"x\"', NULL), (-0.5, $1::text, ARRAY['a', 'b']::text[])";
        let insert = read(sql, &[Literal::Text("y\n".to_owned())]).expect("rows");
        assert_eq!(insert.table, "T");
        let body = "{\"a\":1,\"B c\":\"it's \\\"x\\\"\",\"d.e\":null}\n\
                    {\"a\":-0.5,\"B c\":\"y\\n\",\"d.e\":[\"a\",\"b\"]}\n";
        assert_eq!(insert.body, body);
        let sql = "insert into t (time, ok, d) values (now(), true, default)";
        let insert = read(sql, &[]).expect("rows");
        assert_eq!(insert.body, "{\"time\":\"2023-11-15T12:00:00Z\",\"ok\":true}\n");
    }

    #[test]
    fn anything_else_is_refused_with_its_place() {
        for (sql, offset) in [
            ("INSERT INTO t VALUES (1)", 14),
            ("INSERT INTO t (a) SELECT 1", 18),
            ("INSERT INTO t (a) VALUES (1 + 2)", 28),
            ("INSERT INTO t (a) VALUES (b)", 26),
            ("INSERT INTO t (a) VALUES (1) RETURNING a", 29),
            ("INSERT INTO t (a) VALUES ($2)", 26),
            ("INSERT INTO t (a) VALUES (1", 27),
            ("INSERT INTO t (a) VALUES (ARRAY[ARRAY[1]])", 32),
        ] {
            assert_eq!(read(sql, &[]).expect_err("refused").offset, Some(offset), "{sql}");
        }
    }
}
