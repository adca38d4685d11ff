//! The SQL that says what a query in JSON says.

use std::borrow::Cow;

use sqlparser::tokenizer::{Span, TokenWithSpan};

use crate::error::{NOWHERE, Read, Source, Sources};
use crate::spec::syntax::{SpecSyntax, Texts};
use crate::syntax::parse;

/// A piece of the SQL.
pub(crate) enum Piece<'p> {
    /// Words between the texts.
    Words(Cow<'p, str>),
    /// A text of the query, or one made for it.
    Text(&'p Source),
}

/// The SQL.
pub(crate) fn print(pieces: &[Piece<'_>]) -> String {
    let mut sql = String::new();
    for piece in pieces {
        match piece {
            Piece::Words(words) => sql.push_str(words),
            Piece::Text(source) => {
                sql.push_str(&source.text);
                // A comment must not swallow what follows.
                sql.push_str(if source.text.contains("--") { "\n" } else { "" });
            }
        }
    }
    sql
}

/// Refuses what would be refused as SQL: the texts together have the limits of one.
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

/// The tokens of a text that no user wrote, so that no error names a place in it.
pub(crate) fn tokens_nowhere(text: &str) -> Read<Vec<TokenWithSpan>> {
    let tokens = parse::tokenize(&Sources::default().add(None, text))?;
    let nowhere = Span { start: NOWHERE, end: NOWHERE };
    Ok(tokens.into_iter().map(|token| TokenWithSpan { span: nowhere, ..token }).collect())
}

impl SpecSyntax {
    /// The pieces of the SQL, in their order.
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
            // In parentheses, or an OR in one would reach into the next.
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

/// Appends texts between commas, after `before` when there are any.
fn list<'p>(pieces: &mut Vec<Piece<'p>>, before: &'static str, texts: &[&'p Source]) {
    for (index, text) in texts.iter().enumerate() {
        words(pieces, if index > 0 { ", " } else { before });
        pieces.push(Piece::Text(text));
    }
}

/// A text between quotes.
pub(crate) fn quoted(text: &str, quote: char) -> String {
    let doubled = text.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}
