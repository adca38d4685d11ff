//! Parses SQL with `sqlparser`'s PostgreSQL dialect, within limits.
//!
//! A text is split into tokens first. Texts whose parser recursion or syntax tree would be too deep
//! for the stack are refused at this point. The nesting of parentheses is limited, and so is the
//! number of operators in a chain such as `a OR b OR …`: its tree is as deep as the chain is long.
//! Then the tokens are parsed. Extensions are handled on tokens: the comma before FROM in the
//! Scuba paper, `WITH TOTALS`, `LIMIT n SERIES`, and COMPARE.

use hadal_types::limits;
use sqlparser::ast;
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer};

use crate::error::{LocatedError, NOWHERE, Read, Source};

static DIALECT: PostgreSqlDialect = PostgreSqlDialect {};

/// The recursion limit of the parser, which uses several functions per level of an expression.
const PARSER_DEPTH: usize = 4 * limits::EXPR_DEPTH_MAX;

/// Keywords of PostgreSQL that have no meaning in Hadal, so that they can name columns.
const PLAIN_WORDS: [Keyword; 13] = [
    Keyword::SET,
    Keyword::USER,
    Keyword::CURRENT_USER,
    Keyword::SESSION_USER,
    Keyword::CURRENT_CATALOG,
    Keyword::PATH,
    Keyword::LINE,
    Keyword::LSEG,
    Keyword::POINT,
    Keyword::POLYGON,
    Keyword::BOX,
    Keyword::CIRCLE,
    Keyword::MAP,
];

/// Keywords that may follow SELECT, before the items.
const SELECT_WORDS: [Keyword; 2] = [Keyword::DISTINCT, Keyword::ALL];

/// Splits a text into tokens, without white space and comments, within the limits.
pub(crate) fn tokenize(source: &Source) -> Read<Vec<TokenWithSpan>> {
    check_length(source.text.len())?;
    let below = |at: Location| Location { line: at.line + source.start().line - 1, ..at };
    let mut tokens = Tokenizer::new(&DIALECT, &source.text)
        .tokenize_with_location()
        .map_err(|error| LocatedError::new(lower_first(&error.message), below(error.location)))?;
    tokens.retain(|token| !matches!(token.token, Token::Whitespace(_) | Token::EOF));
    tokens = tokens.into_iter().flat_map(without_sign).collect();
    for token in &mut tokens {
        token.span = Span { start: below(token.span.start), end: below(token.span.end) };
    }
    for token in &mut tokens {
        match &mut token.token {
            Token::Word(word) if PLAIN_WORDS.contains(&word.keyword) => {
                word.keyword = Keyword::NoKeyword;
            }
            _ => {}
        }
    }
    check_shape(&tokens)?;
    Ok(tokens)
}

/// Refuses a text of `bytes` bytes if it is too long.
pub(crate) fn check_length(bytes: usize) -> Read<()> {
    let most = limits::SQL_BYTES_MAX;
    match bytes > most {
        true => Err(LocatedError::new(
            format!("a text of {bytes} bytes; at most {most} are allowed"),
            NOWHERE,
        )),
        false => Ok(()),
    }
}

/// Splits `>-` into an operator and a sign: the tokenizer reads it as one custom operator of
/// PostgreSQL.
fn without_sign(token: TokenWithSpan) -> Vec<TokenWithSpan> {
    let Token::CustomBinaryOperator(spelled) = &token.token else { return vec![token] };
    let operator = match spelled.get(..spelled.len() - 1) {
        Some("<") => Token::Lt,
        Some("<=") => Token::LtEq,
        Some(">") => Token::Gt,
        Some(">=") => Token::GtEq,
        Some("<>" | "!=") => Token::Neq,
        Some("=") => Token::Eq,
        Some("%") => Token::Mod,
        Some("*") => Token::Mul,
        Some("/") => Token::Div,
        _ => return vec![token],
    };
    let sign = match spelled.as_bytes().last() {
        Some(b'-') => Token::Minus,
        Some(b'+') => Token::Plus,
        _ => return vec![token],
    };
    let (start, end) = (token.span.start, token.span.end);
    let between = Location { column: end.column.saturating_sub(1), ..end };
    let cut = |token, start, end| TokenWithSpan { token, span: Span { start, end } };
    vec![cut(operator, start, between), cut(sign, between, end)]
}

/// Refuses tokens whose tree would be too deep.
pub(crate) fn check_shape<'t>(tokens: impl IntoIterator<Item = &'t TokenWithSpan>) -> Read<()> {
    let (mut depth, mut operators) = (0_usize, 0_usize);
    for token in tokens {
        match &token.token {
            Token::LParen => depth += 1,
            // An index is an operator too: `a[1][1]…` is a chain.
            Token::LBracket => (depth, operators) = (depth + 1, operators + 1),
            Token::RParen | Token::RBracket if depth > 0 => depth -= 1,
            Token::Comma if depth == 0 => operators = 0,
            other if is_operand(other) => {}
            _ => operators += 1,
        }
        if depth > limits::EXPR_DEPTH_MAX {
            return Err(too_deep(token.span.start));
        }
        if operators > limits::EXPR_OPERATORS_MAX {
            let most = limits::EXPR_OPERATORS_MAX;
            let message = format!("an expression of more than {most} operators");
            return Err(LocatedError::new(message, token.span.start)
                .hint("a long chain of OR can often be one IN list"));
        }
    }
    Ok(())
}

fn is_operand(token: &Token) -> bool {
    match token {
        Token::Word(word) => matches!(word.keyword, Keyword::NoKeyword | Keyword::AS),
        Token::Number(..) | Token::SingleQuotedString(_) | Token::Period | Token::Comma => true,
        _ => false,
    }
}

pub(crate) fn too_deep(at: Location) -> LocatedError {
    let most = limits::EXPR_DEPTH_MAX;
    LocatedError::new(format!("an expression nested more than {most} deep"), at)
}

/// Parses all of `tokens`, the tokens of `source`, with `read`.
pub(crate) fn parse_all<T>(
    source: &Source,
    tokens: Vec<TokenWithSpan>,
    read: impl FnOnce(&mut Parser<'static>) -> Result<T, ParserError>,
) -> Read<T> {
    let end = tokens.last().map_or(source.start(), |token| token.span.end);
    let mut parser =
        Parser::new(&DIALECT).with_recursion_limit(PARSER_DEPTH).with_tokens_with_locations(tokens);
    let parsed = read(&mut parser).map_err(|error| refuse(&error, end))?;
    let next = parser.peek_token();
    match next.token {
        Token::EOF => Ok(parsed),
        other => Err(LocatedError::new(format!("unexpected {other}"), next.span.start)),
    }
}

/// Parses one expression.
pub(crate) fn parse_expr(source: &Source, tokens: Vec<TokenWithSpan>) -> Read<ast::Expr> {
    parse_all(source, tokens, Parser::parse_expr)
}

/// Whether an expression of these tokens would be a subquery inside parentheses.
pub(crate) fn begins_query(tokens: &[TokenWithSpan]) -> bool {
    tokens.first().is_some_and(|first| is_keyword(first, &[Keyword::SELECT, Keyword::WITH]))
}

/// Parses one expression as if it were in parentheses.
pub(crate) fn parse_nested(source: &Source) -> Read<ast::Expr> {
    let mut tokens = tokenize(source)?;
    let end = tokens.last().map_or(source.start(), |token| token.span.end);
    let parenthesis = |token, at| TokenWithSpan { token, span: Span { start: at, end: at } };
    tokens.insert(0, parenthesis(Token::LParen, source.start()));
    tokens.push(parenthesis(Token::RParen, end));
    parse_expr(source, tokens)
}

/// Parses one expression of ORDER BY.
pub(crate) fn parse_order(source: &Source) -> Read<ast::OrderByExpr> {
    parse_all(source, tokenize(source)?, Parser::parse_order_by_expr)
}

/// Parses one item of a SELECT list. Also returns the item's name if it has no alias.
pub(crate) fn parse_item(source: &Source) -> Read<(ast::SelectItem, String)> {
    let tokens = tokenize(source)?;
    // In the first item, the parser would take these keywords as part of SELECT.
    if let Some(word) = tokens.first().filter(|word| is_keyword(word, &SELECT_WORDS)) {
        return Err(LocatedError::new(format!("unexpected {}", word.token), word.span.start));
    }
    let name = spell(&mut ByteOffsets::new(source), &tokens);
    Ok((parse_all(source, tokens, Parser::parse_select_item)?, name))
}

/// Converts positions to byte offsets, forward only.
struct ByteOffsets<'t> {
    text: &'t str,
    rest: std::str::CharIndices<'t>,
    at: Location,
    offset: usize,
}

impl<'t> ByteOffsets<'t> {
    fn new(source: &'t Source) -> Self {
        let text = &*source.text;
        Self { text, rest: text.char_indices(), at: source.start(), offset: 0 }
    }

    fn offset(&mut self, place: Location) -> usize {
        while self.at < place {
            let Some((_, character)) = self.rest.next() else { break };
            self.offset = self.rest.offset();
            self.at = match character {
                '\n' => Location { line: self.at.line + 1, column: 1 },
                _ => Location { line: self.at.line, column: self.at.column + 1 },
            };
        }
        self.offset
    }
}

/// The default names of the items of a query and of those within its FROM, from the outermost.
pub(crate) fn item_names(source: &Source, tokens: &[TokenWithSpan]) -> Vec<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = tokens;
    loop {
        names.push(select_item_names(source, rest));
        let begins = |words: &[TokenWithSpan]| {
            is_keyword(&words[0], &[Keyword::FROM])
                && words[1].token == Token::LParen
                && is_keyword(&words[2], &[Keyword::SELECT])
        };
        match rest.windows(3).position(begins) {
            Some(at) => rest = rest.get(at + 2..).unwrap_or_default(),
            None => return names,
        }
    }
}

/// The default names of the items of a SELECT list, in order.
fn select_item_names(source: &Source, tokens: &[TokenWithSpan]) -> Vec<String> {
    let start =
        1 + tokens.iter().skip(1).take_while(|token| is_keyword(token, &SELECT_WORDS)).count();
    let mut names = Vec::new();
    let (mut depth, mut from) = (0_usize, start);
    // Tokens are in text order, so splitting them keeps the cost linear.
    for (index, token) in tokens.iter().enumerate().skip(start) {
        match &token.token {
            Token::LParen | Token::LBracket => depth += 1,
            Token::RParen | Token::RBracket => depth = depth.saturating_sub(1),
            Token::Comma if depth == 0 => {
                names.push(from..index);
                from = index + 1;
            }
            _ if depth == 0 && ends_items(tokens, index) => {
                names.push(from..index);
                return spell_all(source, tokens, &names);
            }
            _ => {}
        }
    }
    names.push(from..tokens.len());
    spell_all(source, tokens, &names)
}

fn spell_all(
    source: &Source,
    tokens: &[TokenWithSpan],
    ranges: &[std::ops::Range<usize>],
) -> Vec<String> {
    let mut places = ByteOffsets::new(source);
    ranges
        .iter()
        .map(|range| spell(&mut places, tokens.get(range.clone()).unwrap_or_default()))
        .collect()
}

/// The tokens as written, with one space for any white space between them.
fn spell(places: &mut ByteOffsets<'_>, tokens: &[TokenWithSpan]) -> String {
    let mut spelled = String::new();
    let mut end = None;
    for token in tokens {
        let from = places.offset(token.span.start);
        let to = places.offset(token.span.end);
        if end.is_some_and(|end| end < from) {
            spelled.push(' ');
        }
        spelled.push_str(places.text.get(from..to).unwrap_or_default());
        end = Some(to);
    }
    spelled
}

/// Whether the token begins the clause after the SELECT list. FROM in `IS DISTINCT FROM` and GROUP
/// in `WITHIN GROUP` do not.
fn ends_items(tokens: &[TokenWithSpan], index: usize) -> bool {
    const CLAUSES: [Keyword; 8] = [
        Keyword::FROM,
        Keyword::WHERE,
        Keyword::GROUP,
        Keyword::HAVING,
        Keyword::ORDER,
        Keyword::LIMIT,
        Keyword::OFFSET,
        Keyword::UNION,
    ];
    const BEFORE: [Keyword; 2] = [Keyword::DISTINCT, Keyword::WITHIN];
    let goes_on = index > 0 && is_keyword(&tokens[index - 1], &BEFORE);
    // A parenthesis that closes none of the list ends a query within FROM.
    let closes = matches!(tokens[index].token, Token::RParen);
    closes || is_keyword(&tokens[index], &CLAUSES) && !goes_on
}

/// Whether the token is one of these keywords, unquoted.
pub(crate) fn is_keyword(token: &TokenWithSpan, keywords: &[Keyword]) -> bool {
    matches!(&token.token, Token::Word(word) if keywords.contains(&word.keyword))
}

/// Whether the token is this word, unquoted, ignoring letter case.
pub(crate) fn is_word(token: &TokenWithSpan, expected: &str) -> bool {
    matches!(&token.token, Token::Word(word)
        if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(expected))
}

/// Removes the optional comma before FROM.
pub(crate) fn drop_comma_before_from(tokens: &mut Vec<TokenWithSpan>) {
    let mut depth = 0_usize;
    for index in 0..tokens.len() {
        match &tokens[index].token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Comma if depth == 0 => {
                let next = tokens.get(index + 1);
                if index > 1 && next.is_some_and(|token| is_keyword(token, &[Keyword::FROM])) {
                    tokens.remove(index);
                    return;
                }
            }
            _ => {}
        }
    }
}

/// Removes `LIMIT n SERIES` and returns n with its position.
pub(crate) fn take_series(tokens: &mut Vec<TokenWithSpan>) -> Read<Option<(usize, Location)>> {
    let position = tokens
        .windows(3)
        .position(|words| is_keyword(&words[0], &[Keyword::LIMIT]) && is_word(&words[2], "series"));
    let Some(at) = position else { return Ok(None) };
    let (place, number) = (tokens[at + 1].span.start, tokens[at + 1].token.to_string());
    tokens.drain(at..at + 3);
    series_of(&number, place).map(|count| Some((count, place)))
}

/// Removes `WITH TOTALS` behind the outermost FROM, and returns its position.
pub(crate) fn take_totals(tokens: &mut Vec<TokenWithSpan>) -> Option<Location> {
    let (mut depth, mut is_after_from) = (0_usize, false);
    let is_totals = |words: &[TokenWithSpan]| {
        match &words[0].token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => is_after_from |= depth == 0 && is_keyword(&words[0], &[Keyword::FROM]),
        }
        let is_clause = is_keyword(&words[0], &[Keyword::WITH]) && is_word(&words[1], "totals");
        depth == 0 && is_after_from && is_clause
    };
    let at = tokens.windows(2).position(is_totals)?;
    let place = tokens[at].span.start;
    tokens.drain(at..at + 2);
    Some(place)
}

/// Parses a count of series.
pub(crate) fn parse_series(source: &Source) -> Read<usize> {
    series_of(&source.text, source.start())
}

fn series_of(number: &str, place: Location) -> Read<usize> {
    match number.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(LocatedError::new(format!("{number} is not a count of series"), place)),
    }
}

fn refuse(error: &ParserError, end: Location) -> LocatedError {
    let text = match error {
        ParserError::RecursionLimitExceeded => return too_deep(NOWHERE),
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text,
    };
    let (message, place) = match text.rsplit_once(" at Line: ") {
        Some((message, place)) => (message, parse_place(place).unwrap_or(end)),
        None => (text.as_str(), end),
    };
    let message = message.replace("found: EOF", "found the end of the text");
    LocatedError::new(lower_first(&message), place)
}

fn parse_place(text: &str) -> Option<Location> {
    let (line, column) = text.split_once(", Column: ")?;
    Some(Location { line: line.parse().ok()?, column: column.trim().parse().ok()? })
}

fn lower_first(message: &str) -> String {
    let mut characters = message.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}
