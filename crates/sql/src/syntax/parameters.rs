//! Parameters of a statement: `$1`, `$2` … with their values.
//!
//! A value takes the place of its parameter among the tokens, after the text was split into them.
//! So a value is a constant whatever it contains, and it may be wherever a constant may be.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Word};

use crate::error::{LocatedError, Read};

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number, as SQL writes it without a sign, and whether it is negative.
    Number {
        /// Digits with an optional point and exponent.
        digits: String,
        /// Whether a minus precedes them.
        is_negative: bool,
    },
    /// A text. As in a query, it is a time where it is compared with one.
    Text(String),
    /// A list of constants: `ARRAY[…]`.
    List(Vec<Literal>),
}

impl Literal {
    /// Appends the tokens of the constant. All of them have the place of the parameter.
    fn push(&self, span: Span, tokens: &mut Vec<TokenWithSpan>) {
        let mut push = |token| tokens.push(TokenWithSpan { token, span });
        match self {
            Self::Null => push(keyword("NULL", Keyword::NULL)),
            Self::Bool(true) => push(keyword("TRUE", Keyword::TRUE)),
            Self::Bool(false) => push(keyword("FALSE", Keyword::FALSE)),
            Self::Number { digits, is_negative } => {
                if *is_negative {
                    push(Token::Minus);
                }
                push(Token::Number(digits.clone(), false));
            }
            Self::Text(text) => push(Token::SingleQuotedString(text.clone())),
            Self::List(items) => {
                push(keyword("ARRAY", Keyword::ARRAY));
                push(Token::LBracket);
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        tokens.push(TokenWithSpan { token: Token::Comma, span });
                    }
                    item.push(span, tokens);
                }
                tokens.push(TokenWithSpan { token: Token::RBracket, span });
            }
        }
    }
}

/// Replaces every parameter by its value.
///
/// # Errors
/// A parameter without a value.
pub(crate) fn replace(tokens: Vec<TokenWithSpan>, values: &[Literal]) -> Read<Vec<TokenWithSpan>> {
    let mut replaced = Vec::with_capacity(tokens.len());
    for token in tokens {
        let Token::Placeholder(name) = &token.token else {
            replaced.push(token);
            continue;
        };
        let number: Option<usize> = name.strip_prefix('$').and_then(|digits| digits.parse().ok());
        let value = number.and_then(|number| values.get(number.checked_sub(1)?));
        let Some(value) = value else {
            let message = format!("parameter {name} has no value");
            return Err(LocatedError::new(message, token.span.start)
                .hint("write the value itself, or send it with the statement"));
        };
        value.push(token.span, &mut replaced);
    }
    Ok(replaced)
}

fn keyword(text: &str, keyword: Keyword) -> Token {
    Token::Word(Word { value: text.to_owned(), quote_style: None, keyword })
}
