//! Regular expressions that take a part out of a text, or replace parts of it.

use std::fmt::Write;

use hadal_types::Value;

use crate::expr::Expr;
use crate::function::Function;
use crate::pattern::{Pattern, PatternError, PatternSyntax};
use crate::string_limit::{LimitedString, StringTooLong};
use crate::udf::EvalError;

/// A compiled regular expression, and what it does with a text.
#[derive(Clone, Debug)]
pub struct Regexp {
    pattern: Pattern,
    action: Action,
}

#[derive(Clone, Debug)]
enum Action {
    /// Takes out the part of a group; group 0 is the whole match.
    Extract(usize),
    /// Replaces the first match, or all.
    Replace { pieces: Vec<Piece>, all: bool },
}

/// A piece of a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Group(usize),
}

impl Regexp {
    /// Prepares a call of `function` with the arguments after the text. `None` if the function is
    /// no such function, or if the arguments are not the literals that it needs.
    ///
    /// # Errors
    /// [`PatternError`].
    pub(crate) fn of_call<L>(
        function: Function,
        arguments: &[Expr<L>],
    ) -> Result<Option<Self>, PatternError> {
        let [Expr::Literal(Value::String(pattern)), Expr::Literal(parameter)] = arguments else {
            return Ok(None);
        };
        let action = match (function, parameter) {
            (Function::RegexpExtract, Value::Number(group)) => {
                let group = group.to_i64().and_then(|group| usize::try_from(group).ok());
                let Some(group) = group else { return Ok(None) };
                Action::Extract(group)
            }
            (Function::RegexpReplace, Value::String(replacement)) => {
                Action::Replace { pieces: pieces(replacement), all: false }
            }
            (Function::RegexpReplaceAll, Value::String(replacement)) => {
                Action::Replace { pieces: pieces(replacement), all: true }
            }
            _ => return Ok(None),
        };
        let pattern = Pattern::new(pattern, PatternSyntax::Regex)?;
        Ok(Some(Self { pattern, action }))
    }

    /// The result for a text; null for any other value.
    ///
    /// # Errors
    /// The result is too long.
    pub fn eval(&self, value: &Value) -> Result<Value, EvalError> {
        let Value::String(text) = value else { return Ok(Value::Null) };
        match &self.action {
            Action::Extract(0) => {
                let part = self.pattern.regex().find(text);
                Ok(part.map_or(Value::Null, |part| Value::string(part.as_str())))
            }
            Action::Extract(group) => {
                let groups = self.pattern.regex().captures(text);
                let part = groups.as_ref().and_then(|groups| groups.get(*group));
                Ok(part.map_or(Value::Null, |part| Value::string(part.as_str())))
            }
            Action::Replace { pieces, all } => {
                self.replace(text, pieces, *all).map_err(|_| StringTooLong.into())
            }
        }
    }

    fn replace(&self, text: &str, pieces: &[Piece], all: bool) -> Result<Value, std::fmt::Error> {
        let mut replaced = LimitedString::default();
        let mut end = 0;
        let most = if all { usize::MAX } else { 1 };
        for groups in self.pattern.regex().captures_iter(text).take(most) {
            let Some(whole) = groups.get(0) else { continue };
            replaced.write_str(&text[end..whole.start()])?;
            for piece in pieces {
                match piece {
                    Piece::Text(piece) => replaced.write_str(piece)?,
                    Piece::Group(group) => {
                        replaced.write_str(groups.get(*group).map_or("", |part| part.as_str()))?;
                    }
                }
            }
            end = whole.end();
        }
        if end == 0 && replaced.is_empty() {
            return Ok(Value::String(text.into()));
        }
        replaced.write_str(&text[end..])?;
        Ok(replaced.into_value())
    }
}

/// The pieces of a replacement as in PostgreSQL: `\1` to `\9` are groups, `\&` is the whole match,
/// `\\` is a backslash. A backslash before anything else stays.
fn pieces(replacement: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut characters = replacement.chars().peekable();
    while let Some(character) = characters.next() {
        let group = match (character, characters.peek()) {
            ('\\', Some('&')) => Some(0),
            ('\\', Some(digit @ '1'..='9')) => digit.to_digit(10).and_then(|d| d.try_into().ok()),
            ('\\', Some('\\')) => {
                characters.next();
                None
            }
            _ => None,
        };
        match group {
            Some(group) => {
                characters.next();
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Group(group));
            }
            None => text.push(character),
        }
    }
    pieces.push(Piece::Text(text));
    pieces.retain(|piece| *piece != Piece::Text(String::new()));
    pieces
}

#[cfg(test)]
mod tests {
    use hadal_types::limits::COMPUTED_STRING_BYTES_MAX;

    use super::*;
    use crate::{PrepareError, Prepared};

    fn call(function: Function, text: &str, pattern: &str, parameter: Value) -> Value {
        let literal = |text: &str| Expr::<()>::Literal(Value::string(text));
        let arguments = [literal(text), literal(pattern), Expr::Literal(parameter)];
        let prepared = Prepared::new(&Expr::call(function, arguments)).expect("a pattern");
        prepared.value(&|()| Value::Null).expect("a short string")
    }

    #[test]
    fn groups_are_taken_out() {
        let extract = |pattern, group| {
            call(Function::RegexpExtract, "a=1, b=22", pattern, Value::integer(group))
        };
        assert_eq!(extract("[0-9]+", 0), Value::string("1"));
        assert_eq!(extract("b=([0-9]+)", 1), Value::string("22"));
        assert_eq!(extract("c=([0-9]+)", 1), Value::Null);
        assert_eq!(extract("(x)?a", 1), Value::Null, "a group that takes no part");
    }

    #[test]
    fn replacements_are_those_of_postgresql() {
        let one =
            |text, pattern, to| call(Function::RegexpReplace, text, pattern, Value::string(to));
        let all =
            |text, pattern, to| call(Function::RegexpReplaceAll, text, pattern, Value::string(to));
        assert_eq!(one("foobarbaz", "b..", "X"), Value::string("fooXbaz"));
        assert_eq!(all("foobarbaz", "b..", "X"), Value::string("fooXX"));
        assert_eq!(all("foobarbaz", "b(..)", r"X\1Y"), Value::string("fooXarYXazY"));
        assert_eq!(one("abc", "b", r"[\&]\\\x\9$1"), Value::string(r"a[b]\\x$1c"));
        assert_eq!(all("abc", "", "-"), Value::string("-a-b-c-"));
        assert_eq!(all("abc", "b*", "-"), Value::string("-a-c-"));
        assert_eq!(one("abc", "x", "-"), Value::string("abc"));
        assert_eq!(all("aaa", "a", ""), Value::string(""));
    }

    #[test]
    fn a_long_result_or_a_pattern_that_varies_is_refused() {
        let text = "x".repeat(COMPUTED_STRING_BYTES_MAX);
        let literal = |text: &str| Expr::<()>::Literal(Value::string(text));
        let longer = [literal(&text), literal("x"), literal("yy")];
        let prepared = Prepared::new(&Expr::call(Function::RegexpReplaceAll, longer));
        assert!(prepared.expect("a pattern").value(&|()| Value::Null).is_err());
        let varies =
            Expr::call(Function::RegexpReplace, [literal("a"), Expr::Leaf(()), literal("b")]);
        assert_eq!(Prepared::new(&varies).err(), Some(PrepareError::PatternNotLiteral));
    }
}
