//! The words before a query that ask for its plan: `EXPLAIN`, `EXPLAIN ANALYZE`, and the options of
//! PostgreSQL in parentheses.

use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::parse;

/// Options that are accepted and change nothing: a plan always has all that there is.
const IGNORED: [&str; 9] = [
    "verbose",
    "costs",
    "settings",
    "generic_plan",
    "buffers",
    "wal",
    "timing",
    "summary",
    "memory",
];

/// Takes EXPLAIN and its options off the front; returns whether the query shall be run.
pub(crate) fn take_options(tokens: &mut Vec<TokenWithSpan>) -> Read<bool> {
    let is_list = tokens.get(1).is_some_and(|token| token.token == Token::LParen);
    let (analyze, count) = if is_list { listed(tokens)? } else { words(tokens) };
    tokens.drain(..count.min(tokens.len()));
    Ok(analyze)
}

/// Whether ANALYZE is among the words after EXPLAIN, and the number of words with it.
fn words(tokens: &[TokenWithSpan]) -> (bool, usize) {
    let (mut analyze, mut count) = (false, 1);
    while let Some(token) = tokens.get(count) {
        if parse::is_word(token, "analyze") {
            analyze = true;
        } else if !parse::is_word(token, "verbose") {
            break;
        }
        count += 1;
    }
    (analyze, count)
}

/// The same for options in parentheses: `(ANALYZE, COSTS off)`.
fn listed(tokens: &[TokenWithSpan]) -> Read<(bool, usize)> {
    let mut analyze = false;
    let mut at = 2;
    loop {
        let Some(Token::Word(name)) = tokens.get(at).map(|token| &token.token) else {
            return Err(unreadable(tokens, at));
        };
        let name = name.value.to_ascii_lowercase();
        let value = match tokens.get(at + 1).map(|token| &token.token) {
            Some(Token::Comma | Token::RParen) => None,
            Some(Token::Word(word)) => Some(word.value.to_ascii_lowercase()),
            Some(Token::Number(digits, _)) => Some(digits.clone()),
            _ => return Err(unreadable(tokens, at + 1)),
        };
        match (name.as_str(), value.as_deref()) {
            ("analyze", value) => analyze = is_on(value),
            ("format", Some("text")) => {}
            ("format", _) => {
                let place = tokens.get(at).map_or(NOWHERE, |token| token.span.start);
                return Err(LocatedError::new("EXPLAIN has one format", place)
                    .hint("FORMAT TEXT, or no FORMAT at all"));
            }
            (name, _) if IGNORED.contains(&name) => {}
            _ => return Err(unreadable(tokens, at)),
        }
        at += 1 + usize::from(value.is_some());
        match tokens.get(at).map(|token| &token.token) {
            Some(Token::Comma) => at += 1,
            Some(Token::RParen) => return Ok((analyze, at + 1)),
            _ => return Err(unreadable(tokens, at)),
        }
    }
}

fn is_on(value: Option<&str>) -> bool {
    !matches!(value, Some("off" | "false" | "0"))
}

fn unreadable(tokens: &[TokenWithSpan], at: usize) -> LocatedError {
    let token = tokens.get(at).or(tokens.last());
    let place = token.map_or(NOWHERE, |token| token.span.start);
    LocatedError::new("an option of EXPLAIN cannot be read", place)
        .hint("EXPLAIN SELECT …, EXPLAIN ANALYZE SELECT … or EXPLAIN (ANALYZE) SELECT …")
}
