//! `CREATE FUNCTION` and `DROP FUNCTION`, read from tokens.

use hadal_types::{FunctionDefinition, FunctionKind, FunctionParameter, FunctionType};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};

use crate::error::{LocatedError, NOWHERE, Read};
use crate::syntax::parse::is_word;

const EXAMPLE: &str = "CREATE FUNCTION double_of(a number) RETURNS number LANGUAGE js \
                       AS $$ return 2 * a $$";

/// A definition, and whether it may replace another one.
#[derive(Debug)]
pub(crate) struct CreateFunction {
    pub(crate) definition: FunctionDefinition,
    pub(crate) replace: bool,
}

/// The name of a function, and whether its absence is no error.
#[derive(Debug)]
pub(crate) struct DropFunction {
    pub(crate) name: String,
    pub(crate) if_exists: bool,
}

/// Reads the tokens of a statement that begins with CREATE; `None` if it creates something else.
pub(crate) fn create(tokens: &[TokenWithSpan]) -> Option<Read<CreateFunction>> {
    let mut words = Words { tokens, next: 1 };
    let replace = words.take("or");
    if replace && !words.take("replace") {
        return None;
    }
    let kind = kind(&mut words)?;
    Some(read(&mut words, kind, replace))
}

/// Reads the tokens of a statement that begins with DROP; `None` if it drops something else.
pub(crate) fn drop(tokens: &[TokenWithSpan]) -> Option<Read<DropFunction>> {
    let mut words = Words { tokens, next: 1 };
    kind(&mut words)?;
    Some(read_drop(&mut words))
}

fn read_drop(words: &mut Words<'_>) -> Read<DropFunction> {
    let if_exists = words.take("if");
    if if_exists {
        words.expect("exists")?;
    }
    let name = words.name("the name of the function")?;
    if words.takes(&Token::LParen) {
        // The types of the arguments, as PostgreSQL allows: names are unique here.
        while !words.takes(&Token::RParen) {
            words.any("a parenthesis at the end")?;
        }
    }
    words.end()?;
    Ok(DropFunction { name, if_exists })
}

fn kind(words: &mut Words<'_>) -> Option<FunctionKind> {
    if words.take("function") {
        Some(FunctionKind::Scalar)
    } else if words.take("aggregate") {
        Some(FunctionKind::Aggregate)
    } else {
        None
    }
}

fn read(words: &mut Words<'_>, kind: FunctionKind, replace: bool) -> Read<CreateFunction> {
    let at = words.place();
    let name = words.name("the name of the function")?;
    let parameters = parameters(words)?;
    let (mut returns, mut source, mut called_on_null, mut has_language) =
        (None, None, false, false);
    while words.next < words.tokens.len() {
        if words.take("returns") {
            if words.take("null") {
                ["on", "null", "input"].into_iter().try_for_each(|word| words.expect(word))?;
            } else {
                returns = Some(words.value_type()?);
            }
        } else if words.take("language") {
            let at = words.place();
            let language = words.name("the language")?;
            if !["js", "javascript"].contains(&language.as_str()) {
                let message = format!("language {language}; the only one is js");
                return Err(LocatedError::new(message, at));
            }
            has_language = true;
        } else if words.take("called") {
            ["on", "null", "input"].into_iter().try_for_each(|word| words.expect(word))?;
            called_on_null = true;
        } else if words.take("as") {
            source = Some(words.text()?);
        } else if !words.take("strict") && !words.take("immutable") {
            return Err(words.unexpected("RETURNS, LANGUAGE, CALLED, STRICT or AS"));
        }
    }
    let missing = |what: &str| LocatedError::new(format!("{what} is missing"), at).hint(EXAMPLE);
    if !has_language {
        return Err(missing("LANGUAGE js"));
    }
    let definition = FunctionDefinition {
        name,
        kind,
        parameters,
        returns: returns.ok_or_else(|| missing("RETURNS and a type"))?,
        called_on_null,
        source: source.ok_or_else(|| missing("AS and the source"))?,
    };
    definition.check().map_err(|error| LocatedError::new(error.to_string(), at))?;
    Ok(CreateFunction { definition, replace })
}

fn parameters(words: &mut Words<'_>) -> Read<Vec<FunctionParameter>> {
    let mut parameters = Vec::new();
    words.expect_token(&Token::LParen, "( and the parameters")?;
    if words.takes(&Token::RParen) {
        return Ok(parameters);
    }
    loop {
        // Letter case matters in JavaScript.
        let name = words.exact_name("the name of a parameter")?;
        parameters.push(FunctionParameter { name, value_type: words.value_type()? });
        if words.takes(&Token::RParen) {
            return Ok(parameters);
        }
        words.expect_token(&Token::Comma, "a comma or )")?;
    }
}

/// The tokens of a statement, one after the other.
struct Words<'t> {
    tokens: &'t [TokenWithSpan],
    next: usize,
}

impl Words<'_> {
    fn place(&self) -> Location {
        let token = self.tokens.get(self.next).or_else(|| self.tokens.last());
        token.map_or(NOWHERE, |token| token.span.start)
    }

    fn take(&mut self, word: &str) -> bool {
        let is = self.tokens.get(self.next).is_some_and(|token| is_word(token, word));
        self.next += usize::from(is);
        is
    }

    fn takes(&mut self, expected: &Token) -> bool {
        let is = self.tokens.get(self.next).is_some_and(|token| token.token == *expected);
        self.next += usize::from(is);
        is
    }

    fn expect(&mut self, word: &str) -> Read<()> {
        if self.take(word) { Ok(()) } else { Err(self.unexpected(&word.to_ascii_uppercase())) }
    }

    fn expect_token(&mut self, token: &Token, what: &str) -> Read<()> {
        if self.takes(token) { Ok(()) } else { Err(self.unexpected(what)) }
    }

    fn any(&mut self, expected: &str) -> Read<&Token> {
        if self.next >= self.tokens.len() {
            return Err(self.unexpected(expected));
        }
        self.next += 1;
        Ok(&self.tokens[self.next - 1].token)
    }

    /// A name in lower case, unless it is quoted.
    fn name(&mut self, what: &str) -> Read<String> {
        let is_quoted = matches!(self.tokens.get(self.next).map(|token| &token.token),
            Some(Token::Word(word)) if word.quote_style.is_some());
        let name = self.exact_name(what)?;
        Ok(if is_quoted { name } else { name.to_ascii_lowercase() })
    }

    fn exact_name(&mut self, what: &str) -> Read<String> {
        match self.tokens.get(self.next).map(|token| &token.token) {
            Some(Token::Word(word)) => {
                self.next += 1;
                Ok(word.value.clone())
            }
            _ => Err(self.unexpected(what)),
        }
    }

    fn value_type(&mut self) -> Read<FunctionType> {
        let at = self.place();
        let name = self.name("a type: number, string or bool")?;
        if name == "double" {
            self.take("precision");
        }
        FunctionType::named(&name).map_err(|error| LocatedError::new(error.reason, at))
    }

    fn text(&mut self) -> Read<String> {
        match self.tokens.get(self.next).map(|token| &token.token) {
            Some(Token::DollarQuotedString(text)) => {
                self.next += 1;
                Ok(text.value.clone())
            }
            Some(Token::SingleQuotedString(text)) => {
                self.next += 1;
                Ok(text.clone())
            }
            _ => Err(self.unexpected("the source between $$ and $$")),
        }
    }

    fn end(&self) -> Read<()> {
        match self.tokens.get(self.next) {
            None => Ok(()),
            Some(_) => Err(self.unexpected("the end of the statement")),
        }
    }

    fn unexpected(&self, expected: &str) -> LocatedError {
        let message = match self.tokens.get(self.next) {
            Some(token) => format!("unexpected {}; expected {expected}", token.token),
            None => format!("the statement ends early; expected {expected}"),
        };
        LocatedError::new(message, self.place()).hint(EXAMPLE)
    }
}
