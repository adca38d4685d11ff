//! Reads the parts of statements that never reach the query language.

use crate::failure::Failure;
use crate::lexer::{Lexeme, Lexer, Token};

/// The tokens of a statement, one after the other.
#[derive(Clone)]
pub(crate) struct StatementReader<'t> {
    lexer: Lexer<'t>,
    /// The length of the text.
    end: usize,
}

impl<'t> StatementReader<'t> {
    /// The tokens of `text`.
    pub(crate) fn new(text: &'t str) -> Self {
        Self { lexer: Lexer::new(text), end: text.len() }
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Result<Option<Lexeme<'t>>, Failure> {
        Ok(self.lexer.next().transpose()?)
    }

    /// The next token, which stays the next one.
    pub(crate) fn peek(&self) -> Result<Option<Lexeme<'t>>, Failure> {
        self.clone().next()
    }

    /// Skips the next token if it is this word or symbol; returns whether it was.
    pub(crate) fn skip(&mut self, word: &str) -> Result<bool, Failure> {
        let is_next = self.peek()?.is_some_and(|lexeme| lexeme.is(word));
        if is_next {
            self.next()?;
        }
        Ok(is_next)
    }

    /// Skips the next token, which must be this word or symbol.
    pub(crate) fn expect(&mut self, word: &str) -> Result<(), Failure> {
        match self.skip(word)? {
            true => Ok(()),
            false => Err(self.unexpected(&format!("{word} is missing"))),
        }
    }

    /// An error at the next token.
    pub(crate) fn unexpected(&self, message: &str) -> Failure {
        let at = self.peek().ok().flatten().map_or(self.end, |lexeme| lexeme.from);
        Failure::syntax(message, at)
    }

    /// A name, folded to lower case unless it is quoted.
    pub(crate) fn name(&mut self) -> Result<String, Failure> {
        let name = self.peek()?.and_then(|lexeme| lexeme.name());
        let name = name.ok_or_else(|| self.unexpected("a name is missing"))?;
        self.next()?;
        Ok(name)
    }

    /// The name of a table, which may be in schema `public`.
    pub(crate) fn table(&mut self) -> Result<String, Failure> {
        let mut name = self.name()?;
        while self.skip(".")? {
            let part = self.name()?;
            // Dots are allowed in names of tables.
            name = if name == "public" { part } else { format!("{name}.{part}") };
        }
        Ok(name)
    }

    /// The names in parentheses, if there is a parenthesis. A name may have dots.
    pub(crate) fn columns(&mut self) -> Result<Vec<String>, Failure> {
        let mut columns = Vec::new();
        if !self.skip("(")? {
            return Ok(columns);
        }
        loop {
            let mut name = self.name()?;
            while self.skip(".")? {
                name = format!("{name}.{}", self.name()?);
            }
            columns.push(name);
            if self.skip(")")? {
                return Ok(columns);
            }
            self.expect(",")?;
        }
    }

    /// Refuses further tokens.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        match self.peek()? {
            None => Ok(()),
            Some(_) => Err(self.unexpected("unexpected words at the end")),
        }
    }

    /// A text.
    pub(crate) fn text(&mut self) -> Result<String, Failure> {
        match self.peek()? {
            Some(Lexeme { token: Token::Text(text), .. }) => {
                self.next()?;
                Ok(text.into_owned())
            }
            _ => Err(self.unexpected("a text in 'quotes' is missing")),
        }
    }
}
