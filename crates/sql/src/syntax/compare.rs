//! `COMPARE (condition) AGAINST (condition)`, or `AGAINST REST`, after FROM. It is no clause of
//! PostgreSQL, so it is taken out of the tokens before they are parsed.

use std::sync::Arc;

use sqlparser::ast;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::error::{LocatedError, Read, Source};
use crate::syntax::parse::{is_keyword, is_word, parse_expr};
use crate::syntax::select_ast::CompareAst;

/// The clause as it is expected.
const FORM: &str = "FROM t COMPARE (version = 2) AGAINST (version = 1), or AGAINST REST";

/// Removes the clause and returns it.
pub(crate) fn take(source: &Source, tokens: &mut Vec<TokenWithSpan>) -> Read<Option<CompareAst>> {
    let Some((begin, end)) = clause(tokens) else {
        return misspelled(tokens).map_or(Ok(None), Err);
    };
    let at = tokens[begin].span.start;
    let against_at = tokens[end + 1].span.start;
    let against = match tokens.get(end + 2) {
        Some(rest) if is_word(rest, "rest") => None,
        Some(open) if open.token == Token::LParen => closing(tokens, end + 2),
        _ => {
            let message = "AGAINST takes a condition in parentheses, or REST";
            return Err(LocatedError::new(message, against_at).hint(FORM));
        }
    };
    let within = |begin: usize, end: usize| {
        parse_expr(source, tokens[begin + 1..end].to_vec()).map(Arc::<ast::Expr>::new)
    };
    let condition = within(begin + 1, end)?;
    let (last, against) = match against {
        Some(last) => (last, Some(within(end + 2, last)?)),
        None if tokens[end + 2].token == Token::LParen => {
            return Err(LocatedError::new("a parenthesis is not closed", against_at));
        }
        None => (end + 2, None),
    };
    tokens.drain(begin..=last);
    Ok(Some(CompareAst { condition, against, is_of_times: false, at }))
}

/// The indexes of COMPARE, and of the parenthesis before AGAINST.
fn clause(tokens: &[TokenWithSpan]) -> Option<(usize, usize)> {
    let (mut depth, mut is_after_from) = (0_usize, false);
    for (index, token) in tokens.iter().enumerate() {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ if is_keyword(token, &[Keyword::FROM]) => is_after_from = true,
            _ if is_after_from && is_word(token, "compare") => {
                let end = closing(tokens, index + 1);
                let is_clause =
                    |end: &usize| tokens.get(end + 1).is_some_and(|next| is_word(next, "against"));
                if let Some(end) = end.filter(is_clause) {
                    return Some((index, end));
                }
            }
            _ => {}
        }
    }
    None
}

/// The error for a clause that is begun and is none. A column or a table may have the name
/// `compare`, so a parenthesis or AGAINST must follow.
fn misspelled(tokens: &[TokenWithSpan]) -> Option<LocatedError> {
    let mut after = tokens.iter().enumerate().skip_while(|(_, token)| !is_word(token, "compare"));
    let (index, compare) = after.next()?;
    let is_after_from = tokens[..index].iter().any(|token| is_keyword(token, &[Keyword::FROM]));
    let is_table = index.checked_sub(1).is_some_and(|before| {
        is_keyword(&tokens[before], &[Keyword::FROM, Keyword::AS])
            || tokens[before].token == Token::Comma
    });
    let has_condition = tokens.get(index + 1).is_some_and(|next| next.token == Token::LParen);
    let has_against = tokens[index..].iter().any(|token| is_word(token, "against"));
    let message = match (is_after_from, has_against) {
        _ if is_table => return None,
        (true, true) => "COMPARE takes a condition in parentheses, then AGAINST",
        (true, false) if has_condition => "COMPARE needs AGAINST after its condition",
        (false, true) if has_condition => "COMPARE comes after FROM",
        _ => return None,
    };
    Some(LocatedError::new(message, compare.span.start).hint(FORM))
}

/// The index of the parenthesis that closes the one at `open`.
fn closing(tokens: &[TokenWithSpan], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return (index > open).then_some(index);
        }
    }
    None
}
