//! Which statement a text is, told by its first words; and what to do instead of those that
//! Hadal has not.

use hadal_types::TableName;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::bind::Binder;
use crate::error::{Fault, NOWHERE, Read, Source, SqlError};
use crate::parse;
use crate::parts::{Item, Parts};
use crate::scope::Scope;
use crate::{Context, Statement, select};

const EXPORT: &str = "export the rows and go on elsewhere: \
                      hadal query --format csv \"SELECT …\" > file";

/// Lowers one statement of SQL.
pub(crate) fn lower(sql: &str, context: &Context<'_>) -> Result<Statement, SqlError> {
    read(sql, context).map_err(|fault| Source::sql(sql).error(fault))
}

fn read(sql: &str, context: &Context<'_>) -> Read<Statement> {
    let tokens = one_statement(sql)?;
    match tokens.first() {
        None => Err(Fault::new("the text holds no statement", NOWHERE)
            .hint("begin with SELECT count(*) FROM …")),
        Some(first) if parse::is_keyword(first, &[Keyword::SELECT]) => {
            read_select(sql, tokens, context)
        }
        Some(first) => read_command(first, &tokens, context),
    }
}

/// The tokens of the only statement, without trailing semicolons.
fn one_statement(sql: &str) -> Read<Vec<TokenWithSpan>> {
    let mut tokens = parse::tokenize(sql)?;
    while tokens.last().is_some_and(|token| token.token == Token::SemiColon) {
        tokens.pop();
    }
    match tokens.iter().position(|token| token.token == Token::SemiColon) {
        Some(at) => Err(Fault::new("more than one statement", tokens[at].span.start)
            .hint("send one statement at a time")),
        None => Ok(tokens),
    }
}

fn read_command(
    first: &TokenWithSpan,
    tokens: &[TokenWithSpan],
    context: &Context<'_>,
) -> Read<Statement> {
    let Token::Word(word) = &first.token else {
        return Err(unexpected(first));
    };
    match word.value.to_ascii_lowercase().as_str() {
        "show" => show(tokens),
        "describe" | "desc" => Ok(Statement::Describe(named_table(tokens, context)?)),
        "summarize" | "summarise" => Ok(Statement::Summarize(named_table(tokens, context)?)),
        other => Err(match instead_of(other) {
            Some((message, hint)) => Fault::new(message, first.span.start).hint(hint),
            None => unexpected(first),
        }),
    }
}

fn show(tokens: &[TokenWithSpan]) -> Read<Statement> {
    match tokens {
        [_, tables] if parse::is_word(tables, "tables") => Ok(Statement::ShowTables),
        [first, ..] => Err(Fault::new("only SHOW TABLES can be shown", first.span.start)
            .hint("DESCRIBE t lists the columns of a table")),
        [] => Err(Fault::new("the text holds no statement", NOWHERE)),
    }
}

/// The table that follows the first word.
fn named_table(tokens: &[TokenWithSpan], context: &Context<'_>) -> Read<TableName> {
    let start = tokens.first().map_or(NOWHERE, |token| token.span.end);
    let names: Vec<&TokenWithSpan> = match tokens {
        [_, table, rest @ ..] if parse::is_word(table, "table") && !rest.is_empty() => {
            rest.iter().collect()
        }
        [_, rest @ ..] => rest.iter().collect(),
        [] => Vec::new(),
    };
    let mut parts = Vec::new();
    for (index, token) in names.iter().enumerate() {
        match (&token.token, index % 2) {
            (Token::Word(word), 0) => parts.push(word.to_ident(token.span)),
            (Token::Period, 1) => {}
            _ => return Err(unexpected(token)),
        }
    }
    if parts.is_empty() || names.len().is_multiple_of(2) {
        return Err(Fault::new("the name of a table is missing", start));
    }
    Ok(Scope::table_named(&parts, context)?.name.clone())
}

fn unexpected(token: &TokenWithSpan) -> Fault {
    Fault::new(format!("unexpected {}", token.token), token.span.start)
        .hint("statements are SELECT, SHOW TABLES, DESCRIBE t and SUMMARIZE t")
}

/// What a statement that Hadal has not is told, and what does the job instead.
fn instead_of(word: &str) -> Option<(&'static str, &'static str)> {
    Some(match word {
        "with" | "table" | "values" => ("Hadal has no subqueries", EXPORT),
        "insert" | "copy" | "load" | "import" => (
            "rows do not come in by SQL",
            "send them to POST /v1/log/TABLE, or use hadal log TABLE or hadal import FILE",
        ),
        "create" => (
            "tables are not created: a table and its columns appear with the first row",
            "send rows to POST /v1/log/TABLE, or use hadal log TABLE",
        ),
        "update" | "merge" | "alter" | "replace" => (
            "rows are never changed",
            "log new rows, or replace a table with hadal import --replace",
        ),
        "delete" => (
            "rows are not deleted one by one; they expire by age and by bytes",
            "hadal drop TABLE deletes a whole table",
        ),
        "drop" | "truncate" => ("tables are not dropped by SQL", "use hadal drop TABLE"),
        "begin" | "start" | "commit" | "rollback" | "savepoint" => {
            ("Hadal has no transactions", "send each query on its own")
        }
        "explain" | "analyze" => {
            ("Hadal has no EXPLAIN", "every answer carries its timings and the rows it scanned")
        }
        _ => return None,
    })
}

fn read_select(
    sql: &str,
    mut tokens: Vec<TokenWithSpan>,
    context: &Context<'_>,
) -> Read<Statement> {
    parse::drop_comma_before_from(&mut tokens);
    let series = parse::take_series(&mut tokens)?;
    let names = parse::item_names(sql, &tokens);
    let query = parse::parse_all(tokens, |parser| parser.parse_query())?;
    let mut parts = Parts::of_query(*query, names)?;
    parts.series = series;
    match parts.table.take() {
        Some(table) => {
            let schema = Scope::table_named(&table.name, context)?;
            let scope = Scope::new(context, &schema, table.alias);
            let (query, notes) = select::lower(&parts, scope, &schema)?;
            Ok(Statement::Query { query: Box::new(query), notes })
        }
        None => without_table(&parts, context),
    }
}

/// `SELECT 1`: values of constants.
fn without_table(parts: &Parts, context: &Context<'_>) -> Read<Statement> {
    if let Some((_, at)) = parts.series.or((!parts.has_items_only()).then_some((0, NOWHERE))) {
        return Err(Fault::new("without FROM there is one row of values", at));
    }
    let (mut columns, mut row) = (Vec::new(), Vec::new());
    let mut binder = Binder::new(Scope::without_table(context));
    for Item { expr, name, at, .. } in &parts.items {
        let Some(expr) = expr else {
            return Err(Fault::new("* needs a table", *at).hint("add FROM and a table"));
        };
        let bound = binder.bind(expr)?;
        row.push(bound.constant().map_err(|fault| fault.or_at(*at))?);
        columns.push((name.clone(), bound.value_type));
    }
    Ok(Statement::Values { columns, row })
}
