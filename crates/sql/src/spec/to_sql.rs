//! Prints the SQL of a query in JSON.

use std::borrow::Cow;

use sqlparser::tokenizer::{Span, TokenWithSpan};

use crate::error::{NOWHERE, Read, Source, Sources};
use crate::spec::syntax::{SpecSyntax, Texts};
use crate::syntax::parse;

/// A piece of the SQL.
pub(crate) enum Piece<'p> {
    /// Words between texts.
    Words(Cow<'p, str>),
    /// A text of the query, or one generated for it.
    Text(&'p Source),
}

/// Concatenates the pieces.
pub(crate) fn print(pieces: &[Piece<'_>]) -> String {
    let mut sql = String::new();
    for piece in pieces {
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
pub(crate) fn check(pieces: &[Piece<'_>]) -> Read<()> {
    parse::check_length(print(pieces).len())?;
    let mut tokens = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Words(words) => tokens.extend(tokens_nowhere(words)?),
            Piece::Text(source) => tokens.extend(parse::tokenize(source)?),
        }
    }
    parse::check_shape(&tokens)
}

/// The tokens of a generated text, without positions: errors must not point into it.
pub(crate) fn tokens_nowhere(text: &str) -> Read<Vec<TokenWithSpan>> {
    let tokens = parse::tokenize(&Sources::default().add(None, text))?;
    let nowhere = Span { start: NOWHERE, end: NOWHERE };
    Ok(tokens.into_iter().map(|token| TokenWithSpan { span: nowhere, ..token }).collect())
}

impl SpecSyntax {
    /// The pieces of the SQL in order.
    pub(crate) fn pieces<'p>(&'p self, made: &'p Texts) -> Vec<Piece<'p>> {
        let mut pieces = Vec::new();
        let items: Vec<&Source> =
            made.items.iter().chain(self.items.iter().map(|item| &item.source)).collect();
        match items.as_slice() {
            [] => words(&mut pieces, "SELECT *"),
            items => list(&mut pieces, "SELECT ", items),
        }
        list(&mut pieces, " FROM ", &[&made.table]);
        let mut before = " WHERE ";
        for condition in &made.conditions {
            list(&mut pieces, before, &[condition]);
            before = " AND ";
        }
        for filter in &self.filters {
            // The parentheses keep an OR within its filter.
            words(&mut pieces, before);
            list(&mut pieces, "(", &[&filter.source]);
            words(&mut pieces, ")");
            before = " AND ";
        }
        match made.groups.as_slice() {
            _ if !self.is_grouped => {}
            [] => words(&mut pieces, " GROUP BY ALL"),
            groups => words(&mut pieces, format!(" GROUP BY {}", groups.join(", "))),
        }
        let order: Vec<&Source> = self.order.iter().map(|order| &order.source).collect();
        list(&mut pieces, " ORDER BY ", &order);
        if let Some(series) = &self.series {
            list(&mut pieces, " LIMIT ", &[&series.source]);
            words(&mut pieces, " SERIES");
        }
        if let Some(limit) = self.spec.limit {
            words(&mut pieces, format!(" LIMIT {limit}"));
        }
        if let Some(offset) = self.spec.offset {
            words(&mut pieces, format!(" OFFSET {offset}"));
        }
        pieces
    }
}

fn words<'p>(pieces: &mut Vec<Piece<'p>>, words: impl Into<Cow<'p, str>>) {
    pieces.push(Piece::Words(words.into()));
}

/// Appends texts separated by commas, after `before` if there are any.
fn list<'p>(pieces: &mut Vec<Piece<'p>>, before: &'static str, texts: &[&'p Source]) {
    for (index, text) in texts.iter().enumerate() {
        words(pieces, if index > 0 { ", " } else { before });
        pieces.push(Piece::Text(text));
    }
}

/// Quotes a text.
pub(crate) fn quoted(text: &str, quote: char) -> String {
    let doubled = text.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}
