//! A statement is parsed first, without a catalog, and then bound. Its first words determine the
//! statement; for statements that Hadal does not have, the error names an alternative.

use hadal_query::TimeZone;
use hadal_types::Micros;
use sqlparser::ast::Ident;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::bind::scope::Scope;
use crate::error::{LocatedError, NOWHERE, Read, Source, Sources, SqlError};
use crate::select::bind_select::bind_select;
use crate::spec::syntax::SpecSyntax;
use crate::syntax::compare;
use crate::syntax::create_function::{self, CreateFunction, DropFunction};
use crate::syntax::explain;
use crate::syntax::parameters::{self, Literal};
use crate::syntax::parse;
use crate::syntax::select_ast::{CompareAst, SelectAst, joined};
use crate::syntax::wrapped;
use crate::{Context, QuerySpec, Statement};

/// A parsed statement that is not yet bound to a table.
#[derive(Debug)]
pub struct Parsed(StatementSyntax);

#[derive(Debug)]
enum StatementSyntax {
    Sql { sources: Sources, command: Command },
    Spec(Box<SpecSyntax>),
}

/// A statement in SQL.
#[derive(Debug)]
enum Command {
    /// A query and those around it, from the innermost.
    Select(Vec<SelectAst>),
    /// EXPLAIN, and whether with ANALYZE.
    Explain(Vec<SelectAst>, bool),
    ShowTables,
    Describe(Vec<Ident>),
    Summarize(Vec<Ident>),
    CreateFunction(Box<CreateFunction>),
    DropFunction(DropFunction),
}

/// Parses one statement of SQL.
///
/// # Errors
/// [`SqlError`] with the position and, where there is one, a hint.
pub fn parse(sql: &str) -> Result<Parsed, SqlError> {
    parse_with(sql, &[])
}

/// Parses one statement of SQL whose parameters `$1`, `$2` … have these values.
///
/// # Errors
/// [`SqlError`] with the position and, where there is one, a hint; also for a parameter without a
/// value.
pub fn parse_with(sql: &str, values: &[Literal]) -> Result<Parsed, SqlError> {
    let mut sources = Sources::default();
    let source = sources.add(None, sql);
    match command(&source, values) {
        Ok(command) => Ok(Parsed(StatementSyntax::Sql { sources, command })),
        Err(error) => Err(source.error(error)),
    }
}

/// Parses a query in JSON, always a SELECT. Relative times are relative to `now`.
///
/// # Errors
/// [`SqlError`]; its field names the part of the spec, its position is within that part's text.
pub fn parse_spec(spec: &QuerySpec, now: Micros) -> Result<Parsed, SqlError> {
    SpecSyntax::parse(spec, now).map(|syntax| Parsed(StatementSyntax::Spec(Box::new(syntax))))
}

impl Parsed {
    /// The name of its table as written, if it has one.
    #[must_use]
    pub fn table(&self) -> Option<String> {
        match &self.0 {
            StatementSyntax::Spec(spec) => Some(spec.spec.table.clone()),
            StatementSyntax::Sql { command, .. } => match command {
                Command::Select(layers) | Command::Explain(layers, _) => {
                    let table = layers.first().and_then(|inner| inner.table.as_ref());
                    table.map(|table| joined(&table.name))
                }
                Command::Describe(name) | Command::Summarize(name) => Some(joined(name)),
                Command::ShowTables | Command::CreateFunction(_) | Command::DropFunction(_) => None,
            },
        }
    }

    /// The LIMIT that it asks for, if it does.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        match &self.0 {
            StatementSyntax::Spec(spec) => spec.spec.limit,
            StatementSyntax::Sql { command: Command::Select(layers), .. } => {
                layers.last().and_then(|outer| outer.limit)
            }
            StatementSyntax::Sql { .. } => None,
        }
    }

    /// Resolves names and checks types. The calendar is that of UTC, or of the time zone of a query
    /// in JSON.
    ///
    /// # Errors
    /// [`SqlError`] with the position and, where there is one, a hint.
    pub fn bind(&self, context: &Context<'_>) -> Result<Statement, SqlError> {
        self.bind_in_zone(context, &TimeZone::UTC)
    }

    /// As [`Self::bind`], with the calendar of `zone`: it governs time buckets of hours and more,
    /// the parts of times, formats, and INTERVALs of months. The time zone of a query in JSON
    /// replaces it.
    ///
    /// # Errors
    /// [`SqlError`] with the position and, where there is one, a hint.
    pub fn bind_in_zone(
        &self,
        context: &Context<'_>,
        zone: &TimeZone,
    ) -> Result<Statement, SqlError> {
        match &self.0 {
            StatementSyntax::Spec(spec) => spec.bind(context, zone),
            StatementSyntax::Sql { sources, command } => {
                command.bind(context, zone).map_err(|error| sources.error(error))
            }
        }
    }

    /// The SQL equivalent to a query in JSON, without `deadline_ms` and `require_complete`; `None`
    /// for SQL.
    #[must_use]
    pub fn spec_sql(&self, context: &Context<'_>) -> Option<String> {
        match &self.0 {
            StatementSyntax::Spec(spec) => spec.to_sql(context).ok(),
            StatementSyntax::Sql { .. } => None,
        }
    }
}

impl Command {
    fn bind(&self, context: &Context<'_>, zone: &TimeZone) -> Read<Statement> {
        let table =
            |name: &[Ident]| Scope::table_named(name, context).map(|schema| schema.name.clone());
        match self {
            Self::Select(layers) => bind_select(layers, context, zone),
            Self::Explain(layers, analyze) => {
                let statement = Box::new(bind_select(layers, context, zone)?);
                Ok(Statement::Explain { statement, analyze: *analyze })
            }
            Self::ShowTables => Ok(Statement::ShowTables),
            Self::Describe(name) => table(name).map(Statement::Describe),
            Self::Summarize(name) => table(name).map(Statement::Summarize),
            Self::CreateFunction(create) => Ok(Statement::CreateFunction {
                definition: Box::new(create.definition.clone()),
                replace: create.replace,
            }),
            Self::DropFunction(drop) => {
                Ok(Statement::DropFunction { name: drop.name.clone(), if_exists: drop.if_exists })
            }
        }
    }
}

const EXPORT: &str = "export the rows and go on elsewhere: \
                      hadal query --format csv \"SELECT …\" > file";

fn command(source: &Source, values: &[Literal]) -> Read<Command> {
    let mut tokens = one_statement(source)?;
    if tokens.first().is_some_and(|first| parse::is_word(first, "explain")) {
        let analyze = explain::take_options(&mut tokens)?;
        return explained(source, tokens, values).map(|layers| Command::Explain(layers, analyze));
    }
    match tokens.first() {
        None => Err(LocatedError::new("the text holds no statement", NOWHERE)
            .hint("begin with SELECT count(*) FROM …")),
        Some(first) if parse::is_keyword(first, &[Keyword::SELECT]) => {
            parse_select(source, tokens, values).map(Command::Select)
        }
        Some(first) => parse_command(first, &tokens),
    }
}

/// The query after EXPLAIN.
fn explained(
    source: &Source,
    tokens: Vec<TokenWithSpan>,
    values: &[Literal],
) -> Read<Vec<SelectAst>> {
    match tokens.first() {
        Some(first) if parse::is_keyword(first, &[Keyword::SELECT]) => {
            parse_select(source, tokens, values)
        }
        other => {
            let at = other.map_or(NOWHERE, |token| token.span.start);
            Err(LocatedError::new("EXPLAIN is for a SELECT", at)
                .hint("EXPLAIN SELECT …, or EXPLAIN ANALYZE SELECT … to run it"))
        }
    }
}

/// The tokens of the only statement, without trailing semicolons.
fn one_statement(source: &Source) -> Read<Vec<TokenWithSpan>> {
    let mut tokens = parse::tokenize(source)?;
    while tokens.last().is_some_and(|token| token.token == Token::SemiColon) {
        tokens.pop();
    }
    match tokens.iter().position(|token| token.token == Token::SemiColon) {
        Some(at) => Err(LocatedError::new("more than one statement", tokens[at].span.start)
            .hint("send one statement at a time")),
        None => Ok(tokens),
    }
}

fn parse_command(first: &TokenWithSpan, tokens: &[TokenWithSpan]) -> Read<Command> {
    let Token::Word(word) = &first.token else {
        return Err(unexpected(first));
    };
    match word.value.to_ascii_lowercase().as_str() {
        "show" => show(tokens),
        "describe" | "desc" => named_table(tokens).map(Command::Describe),
        "summarize" | "summarise" => named_table(tokens).map(Command::Summarize),
        "create" if let Some(create) = create_function::create(tokens) => {
            create.map(|create| Command::CreateFunction(Box::new(create)))
        }
        "drop" if let Some(drop) = create_function::drop(tokens) => drop.map(Command::DropFunction),
        other => Err(match instead_of(other) {
            Some((message, hint)) => LocatedError::new(message, first.span.start).hint(hint),
            None => unexpected(first),
        }),
    }
}

fn show(tokens: &[TokenWithSpan]) -> Read<Command> {
    match tokens {
        [_, tables] if parse::is_word(tables, "tables") => Ok(Command::ShowTables),
        [first, ..] => Err(LocatedError::new("only SHOW TABLES can be shown", first.span.start)
            .hint("DESCRIBE t lists the columns of a table")),
        [] => Err(LocatedError::new("the text holds no statement", NOWHERE)),
    }
}

/// The table's name after the first word.
fn named_table(tokens: &[TokenWithSpan]) -> Read<Vec<Ident>> {
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
        return Err(LocatedError::new("the name of a table is missing", start));
    }
    Ok(parts)
}

fn unexpected(token: &TokenWithSpan) -> LocatedError {
    LocatedError::new(format!("unexpected {}", token.token), token.span.start)
        .hint("statements are SELECT, EXPLAIN, SHOW TABLES, DESCRIBE t and SUMMARIZE t")
}

/// The message and the hint for a statement that Hadal does not have.
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
        "analyze" => (
            "there are no statistics to collect",
            "EXPLAIN ANALYZE SELECT … runs a query and says what it costs",
        ),
        _ => return None,
    })
}

fn parse_select(
    source: &Source,
    mut tokens: Vec<TokenWithSpan>,
    values: &[Literal],
) -> Read<Vec<SelectAst>> {
    parse::drop_comma_before_from(&mut tokens);
    // A column without an alias is named by its text, whatever the values are.
    let names = parse::item_names(source, &tokens);
    let mut tokens = parameters::replace(tokens, values)?;
    if !values.is_empty() {
        parse::check_shape(&tokens)?;
    }
    let series = parse::take_series(&mut tokens)?;
    let totals = parse::take_totals(&mut tokens);
    let compare = compare::take(source, &mut tokens)?;
    let query = parse::parse_all(source, tokens, |parser| parser.parse_query())?;
    let mut layers = wrapped::of_query(*query, names)?;
    if let Some(outer) = layers.last_mut() {
        outer.totals = totals;
    }
    match (layers.as_mut_slice(), compare) {
        ([only], compare) => only.compare = compare,
        (_, Some(CompareAst { at, .. })) => {
            let message = "COMPARE is not for a query around another";
            return Err(LocatedError::new(message, at));
        }
        (_, None) => {}
    }
    match (layers.as_mut_slice(), series) {
        ([only], series) => only.series = series,
        (_, Some((_, at))) => {
            let message = "LIMIT n SERIES is not for a query around another";
            return Err(LocatedError::new(message, at));
        }
        (_, None) => {}
    }
    Ok(layers)
}
