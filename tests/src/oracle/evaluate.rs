//! Evaluates expressions by plain recursion: first every argument, then the function.

use std::cell::RefCell;
use std::collections::BTreeMap;

use hadal_query::{Expr, Function, PatternSyntax};
use hadal_types::Value;
use regex::Regex;

use super::{OracleFault, functions, pattern};

/// Evaluates expressions. Caches compiled patterns, and nothing else.
#[derive(Debug, Default)]
pub struct Evaluator {
    regexes: RefCell<BTreeMap<(String, PatternSyntax), Regex>>,
}

impl Evaluator {
    /// The value of `expr`; `leaf` returns the leaves' values.
    ///
    /// # Errors
    /// An invalid regular expression, or a pattern that is not a literal.
    pub fn value<L>(
        &self,
        expr: &Expr<L>,
        leaf: &impl Fn(&L) -> Value,
    ) -> Result<Value, OracleFault> {
        match expr {
            Expr::Literal(value) => Ok(value.clone()),
            Expr::Leaf(name) => Ok(leaf(name)),
            Expr::Call { function: Function::Matches(syntax), arguments } => {
                let [text, Expr::Literal(Value::String(pattern))] = arguments.as_slice() else {
                    return Err(OracleFault::PatternNotLiteral);
                };
                match self.value(text, leaf)? {
                    Value::String(text) => self.matches(pattern, *syntax, &text).map(Value::Bool),
                    _ => Ok(Value::Null),
                }
            }
            Expr::Call { function, arguments } if function.is_regexp() => {
                let [text, Expr::Literal(Value::String(pattern)), Expr::Literal(parameter)] =
                    arguments.as_slice()
                else {
                    return Err(OracleFault::PatternNotLiteral);
                };
                match self.value(text, leaf)? {
                    Value::String(text) => pattern::changed(*function, pattern, parameter, &text),
                    _ => Ok(Value::Null),
                }
            }
            Expr::Call { function, arguments } => {
                let values: Vec<Value> = arguments
                    .iter()
                    .map(|argument| self.value(argument, leaf))
                    .collect::<Result<_, _>>()?;
                Ok(functions::call(*function, &values))
            }
        }
    }

    fn matches(
        &self,
        text: &str,
        syntax: PatternSyntax,
        subject: &str,
    ) -> Result<bool, OracleFault> {
        match syntax {
            PatternSyntax::Like => return Ok(pattern::like(text, subject, true)),
            PatternSyntax::ILike => return Ok(pattern::like(text, subject, false)),
            PatternSyntax::Regex | PatternSyntax::IRegex => {}
        }
        let key = (text.to_owned(), syntax);
        let mut regexes = self.regexes.borrow_mut();
        if !regexes.contains_key(&key) {
            regexes.insert(key.clone(), pattern::compile(text, syntax)?);
        }
        Ok(regexes.get(&key).is_some_and(|regex| regex.is_match(subject)))
    }
}
