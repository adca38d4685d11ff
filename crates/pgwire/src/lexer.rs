//! Splits SQL into tokens as PostgreSQL does: without copying, without recursion, in one pass.
//!
//! The door needs tokens for what never reaches the query language: to cut a text into statements,
//! for session commands, `INSERT` and `COPY`, and to rewrite queries of the catalog. Source:
//! PostgreSQL 18, section 4.1, "Lexical Structure".

use std::borrow::Cow;

/// One token of SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    /// A key word or a name without quotes, as written.
    Word(&'t str),
    /// A name in double quotes.
    Name(Cow<'t, str>),
    /// A text: `'…'`, `E'…'` or `$tag$…$tag$`.
    Text(Cow<'t, str>),
    /// A number without sign.
    Number(&'t str),
    /// `$1`.
    Parameter(usize),
    /// An operator or a separator.
    Symbol(&'t str),
}

/// A token and its place in the text, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lexeme<'t> {
    pub(crate) token: Token<'t>,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// A text that ends within a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unterminated {
    /// The kind of token.
    pub(crate) what: &'static str,
    /// Where it begins, in bytes.
    pub(crate) at: usize,
}

/// The tokens of a text, without white space and comments.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

/// Characters of operators.
const OPERATORS: &[u8] = b"+-*/<>=~!@#%^&|`?";

impl<'t> Lexeme<'t> {
    /// Whether it is this word, ignoring case, or this symbol.
    pub(crate) fn is(&self, expected: &str) -> bool {
        match self.token {
            Token::Word(word) => word.eq_ignore_ascii_case(expected),
            Token::Symbol(symbol) => symbol == expected,
            _ => false,
        }
    }

    /// The name that the token can be: without quotes in lower case, as PostgreSQL folds it.
    pub(crate) fn name(&self) -> Option<String> {
        match &self.token {
            Token::Word(word) => Some(word.to_ascii_lowercase()),
            Token::Name(name) => Some(name.clone().into_owned()),
            _ => None,
        }
    }
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// The length of the longest prefix of the rest whose bytes all fit.
    fn run(&self, fits: impl Fn(u8) -> bool) -> usize {
        self.rest().iter().take_while(|byte| fits(**byte)).count()
    }

    /// Skips white space and comments. Comments of the form `/* */` nest.
    fn skip_blanks(&mut self) -> Result<(), Unterminated> {
        loop {
            self.at += self.run(|byte| byte.is_ascii_whitespace() || byte == 0x0b);
            if self.rest().starts_with(b"--") {
                self.at += self.run(|byte| byte != b'\n');
            } else if self.rest().starts_with(b"/*") {
                self.skip_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), Unterminated> {
        let (start, mut depth) = (self.at, 0_usize);
        loop {
            match self.rest() {
                [b'/', b'*', ..] => (depth, self.at) = (depth + 1, self.at + 2),
                [b'*', b'/', ..] => {
                    (depth, self.at) = (depth - 1, self.at + 2);
                    if depth == 0 {
                        return Ok(());
                    }
                }
                [] => return Err(Unterminated { what: "comment", at: start }),
                _ => self.at += 1,
            }
        }
    }

    fn token(&mut self) -> Result<Token<'t>, Unterminated> {
        let start = self.at;
        match self.rest() {
            [b'\'', ..] => self.quoted(b'\'', false).map(Token::Text),
            [b'"', ..] => self.quoted(b'"', false).map(Token::Name),
            [b'e' | b'E', b'\'', ..] => {
                self.at += 1;
                self.quoted(b'\'', true).map(Token::Text)
            }
            [b'$', digit, ..] if digit.is_ascii_digit() => {
                self.at += 1;
                self.at += self.run(|byte| byte.is_ascii_digit());
                // A number that does not fit is the number of no parameter.
                Ok(Token::Parameter(self.slice(start + 1, self.at).parse().unwrap_or(usize::MAX)))
            }
            [b'$', ..] => self.dollar_quoted(),
            [first, ..] if first.is_ascii_digit() => Ok(Token::Number(self.number())),
            [b'.', digit, ..] if digit.is_ascii_digit() => Ok(Token::Number(self.number())),
            [first, ..] if is_word_start(*first) => {
                self.at +=
                    self.run(|byte| is_word_start(byte) || byte.is_ascii_digit() || byte == b'$');
                Ok(Token::Word(self.slice(start, self.at)))
            }
            _ => Ok(Token::Symbol(self.symbol())),
        }
    }

    /// A text or a name between quotes. A doubled quote is one quote; with `escapes`, a backslash
    /// begins an escape of C.
    fn quoted(&mut self, quote: u8, escapes: bool) -> Result<Cow<'t, str>, Unterminated> {
        let start = self.at;
        self.at += 1;
        let mut text: Cow<'t, str> = Cow::Borrowed("");
        let mut from = self.at;
        loop {
            self.at += self.run(|byte| byte != quote && !(escapes && byte == b'\\'));
            text += self.slice(from, self.at);
            match self.rest() {
                [b'\\', escaped, ..] if escapes => {
                    let plain = match escaped {
                        b'n' => Some("\n"),
                        b't' => Some("\t"),
                        b'r' => Some("\r"),
                        b'b' => Some("\u{8}"),
                        b'f' => Some("\u{c}"),
                        _ => None,
                    };
                    self.at += 1;
                    from = self.at;
                    match plain {
                        Some(plain) => {
                            text += plain;
                            (self.at, from) = (self.at + 1, self.at + 1);
                        }
                        // Any other character stands for itself, a backslash and a quote too.
                        None => {
                            let rest = self.text.get(self.at..).unwrap_or_default();
                            self.at += rest.chars().next().map_or(1, char::len_utf8);
                        }
                    }
                }
                [first, second, ..] if *first == quote && *second == quote => {
                    from = self.at + 1;
                    self.at += 2;
                }
                [first, ..] if *first == quote => {
                    self.at += 1;
                    return Ok(text);
                }
                _ => {
                    let what = if quote == b'"' { "quoted name" } else { "text" };
                    return Err(Unterminated { what, at: start });
                }
            }
        }
    }

    /// `$tag$…$tag$`, or a lone dollar.
    fn dollar_quoted(&mut self) -> Result<Token<'t>, Unterminated> {
        let start = self.at;
        let tag = 1 + self.rest().iter().skip(1).take_while(|byte| is_word(**byte)).count();
        if self.rest().get(tag) != Some(&b'$') {
            self.at += 1;
            return Ok(Token::Symbol("$"));
        }
        let delimiter = self.slice(start, start + tag + 1);
        let body = start + delimiter.len();
        let rest = self.text.get(body..).unwrap_or_default();
        let Some(length) = rest.find(delimiter) else {
            return Err(Unterminated { what: "text", at: start });
        };
        self.at = body + length + delimiter.len();
        Ok(Token::Text(Cow::Borrowed(self.slice(body, body + length))))
    }

    fn number(&mut self) -> &'t str {
        let start = self.at;
        let digits = |byte: u8| byte.is_ascii_digit() || byte == b'_';
        self.at += self.run(digits);
        if self.rest().first() == Some(&b'.') && self.rest().get(1) != Some(&b'.') {
            self.at += 1;
            self.at += self.run(digits);
        }
        let exponent = match self.rest() {
            [b'e' | b'E', digit, ..] if digit.is_ascii_digit() => 1,
            [b'e' | b'E', b'+' | b'-', digit, ..] if digit.is_ascii_digit() => 2,
            _ => 0,
        };
        if exponent > 0 {
            self.at += exponent;
            self.at += self.run(digits);
        }
        self.slice(start, self.at)
    }

    fn symbol(&mut self) -> &'t str {
        let start = self.at;
        let mut length = self.run(|byte| OPERATORS.contains(&byte));
        // A comment ends an operator.
        let run = &self.rest()[..length];
        let comment = run.windows(2).position(|two| two == b"--" || two == b"/*");
        length = comment.unwrap_or(length);
        // As PostgreSQL has it: `=-` is two operators, `@-` is one.
        while length > 1
            && matches!(self.rest()[length - 1], b'+' | b'-')
            && !self.rest()[..length].iter().any(|byte| b"~!@#%^&|`?".contains(byte))
        {
            length -= 1;
        }
        if length == 0 {
            length = match self.rest() {
                [b':', b':' | b'=', ..] => 2,
                _ => {
                    let rest = self.text.get(start..).unwrap_or_default();
                    rest.chars().next().map_or(1, char::len_utf8)
                }
            };
        }
        self.at += length;
        self.slice(start, self.at)
    }
}

impl<'t> Iterator for Lexer<'t> {
    type Item = Result<Lexeme<'t>, Unterminated>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Err(error) = self.skip_blanks() {
            self.at = self.text.len();
            return Some(Err(error));
        }
        let from = self.at;
        if from >= self.text.len() {
            return None;
        }
        match self.token() {
            Ok(token) => Some(Ok(Lexeme { token, from, to: self.at })),
            Err(error) => {
                self.at = self.text.len();
                Some(Err(error))
            }
        }
    }
}

const fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

const fn is_word(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        Lexer::new(text).map(|lexeme| lexeme.expect("a token").token).collect()
    }

    #[test]
    fn tokens_are_those_of_postgresql() {
        use Token::{Name, Number, Parameter, Symbol, Text, Word};
        assert_eq!(
            tokens(r#"SELECT "a""b", 'it''s' || E'\n\'x' -- end"#),
            [
                Word("SELECT"),
                Name("a\"b".into()),
                Symbol(","),
                Text("it's".into()),
                Symbol("||"),
                Text("\n'x".into())
            ]
        );
        assert_eq!(
            tokens("x<=$12::int /* a /* b */ c */ -1.5e-3 $q$it's$q$;"),
            [
                Word("x"),
                Symbol("<="),
                Parameter(12),
                Symbol("::"),
                Word("int"),
                Symbol("-"),
                Number("1.5e-3"),
                Text("it's".into()),
                Symbol(";")
            ]
        );
        assert_eq!(tokens("a=-1"), [Word("a"), Symbol("="), Symbol("-"), Number("1")]);
        assert_eq!(tokens("a--b\n+1"), [Word("a"), Symbol("+"), Number("1")]);
    }

    #[test]
    fn a_text_may_end_within_a_token() {
        for (text, what, at) in [
            ("a 'b", "text", 2),
            ("\"b", "quoted name", 0),
            ("a /* b /* c */", "comment", 2),
            ("$x$ y", "text", 0),
            ("E'a\\", "text", 1),
        ] {
            let error = Lexer::new(text).find_map(Result::err).expect("an error");
            assert_eq!(error, Unterminated { what, at }, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_covered_by_its_tokens(text in "[ -~\\n\u{e9}'\"$/*;\\\\]{0,60}") {
            let mut end = 0;
            for lexeme in Lexer::new(&text) {
                let Ok(lexeme) = lexeme else { return Ok(()) };
                prop_assert!(lexeme.from >= end && lexeme.to > lexeme.from);
                prop_assert!(text.get(lexeme.from..lexeme.to).is_some());
                end = lexeme.to;
            }
        }
    }
}
