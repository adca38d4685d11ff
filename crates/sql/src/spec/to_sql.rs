//! Puts SQL together from the texts of a query.

use std::borrow::Cow;

use sqlparser::tokenizer::{Span, TokenWithSpan};

use crate::error::{NOWHERE, Read, Source, Sources};
use crate::syntax::parse;

/// A piece of the SQL.
enum Piece<'p> {
    /// Words between texts.
    Words(Cow<'p, str>),
    /// A text of the query, or one generated for it.
    Text(&'p Source),
}

/// The pieces of one statement, in order.
#[derive(Default)]
pub(crate) struct Pieces<'p>(Vec<Piece<'p>>);

impl<'p> Pieces<'p> {
    /// Appends words.
    pub(crate) fn words(&mut self, words: impl Into<Cow<'p, str>>) {
        self.0.push(Piece::Words(words.into()));
    }

    /// Appends texts separated by commas, after `before` if there are any.
    pub(crate) fn list(&mut self, before: &'static str, texts: &[&'p Source]) {
        for (index, text) in texts.iter().enumerate() {
            self.words(if index > 0 { ", " } else { before });
            self.0.push(Piece::Text(text));
        }
    }

    /// Concatenates the pieces.
    pub(crate) fn print(&self) -> String {
        let mut sql = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Words(words) => sql.push_str(words),
                Piece::Text(source) => {
                    sql.push_str(&source.text);
                    // Ends a comment, so that it does not include the next text.
                    sql.push_str(if source.text.contains("--") { "\n" } else { "" });
                }
            }
        }
        sql
    }

    /// Refuses a query whose SQL would be refused: all texts together have the limits of one.
    pub(crate) fn check(&self) -> Read<()> {
        parse::check_length(self.print().len())?;
        let mut tokens = Vec::new();
        for piece in &self.0 {
            match piece {
                Piece::Words(words) => tokens.extend(tokens_nowhere(words)?),
                Piece::Text(source) => tokens.extend(parse::tokenize(source)?),
            }
        }
        parse::check_shape(&tokens)
    }
}

/// The tokens of a generated text, without positions: errors must not point into it.
pub(crate) fn tokens_nowhere(text: &str) -> Read<Vec<TokenWithSpan>> {
    let tokens = parse::tokenize(&Sources::default().add(None, text))?;
    let nowhere = Span { start: NOWHERE, end: NOWHERE };
    Ok(tokens.into_iter().map(|token| TokenWithSpan { span: nowhere, ..token }).collect())
}

/// Quotes a text.
pub(crate) fn quoted(text: &str, quote: char) -> String {
    let doubled = text.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}
