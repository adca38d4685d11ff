//! Cuts a text into statements.

use std::ops::Range;

use hadal_types::limits::PG_STATEMENTS_MAX;

use crate::failure::Failure;
use crate::lexer::{Lexer, Token};

/// The places of the statements of a text, in bytes, without semicolons and empty statements.
///
/// # Errors
/// A token without end, or more than [`PG_STATEMENTS_MAX`] statements.
pub(crate) fn statements(text: &str) -> Result<Vec<Range<usize>>, Failure> {
    let mut statements = Vec::new();
    let mut current: Option<Range<usize>> = None;
    for lexeme in Lexer::new(text) {
        let lexeme = lexeme?;
        if lexeme.token == Token::Symbol(";") {
            statements.extend(current.take());
            continue;
        }
        if current.is_none() && statements.len() >= PG_STATEMENTS_MAX {
            let message = format!("more than {PG_STATEMENTS_MAX} statements in one message");
            return Err(Failure::new("54000", message).at(lexeme.from));
        }
        let from = current.map_or(lexeme.from, |range| range.start);
        current = Some(from..lexeme.to);
    }
    statements.extend(current);
    Ok(statements)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        statements(text).expect("statements").into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn semicolons_end_statements_but_not_within_texts() {
        assert_eq!(texts("SELECT 1; SELECT ';' ;;"), ["SELECT 1", "SELECT ';'"]);
        assert_eq!(texts(" -- nothing\n;"), [] as [&str; 0]);
        assert_eq!(texts("a /* ; */ b"), ["a /* ; */ b"]);
    }

    #[test]
    fn the_number_of_statements_is_limited() {
        assert_eq!(texts(&"a;".repeat(PG_STATEMENTS_MAX)).len(), PG_STATEMENTS_MAX);
        let error = statements(&"a;".repeat(PG_STATEMENTS_MAX + 1)).expect_err("too many");
        assert_eq!(error.offset, Some(2 * PG_STATEMENTS_MAX));
    }
}
