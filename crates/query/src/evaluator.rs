//! Expressions prepared for evaluation: patterns are compiled and constants folded.

use std::borrow::Cow;
use std::sync::Arc;

use hadal_types::{Value, limits};

use crate::expr::Expr;
use crate::function::Function;
use crate::pattern::{Pattern, PatternError};
use crate::regexp::Regexp;
use crate::scalar_functions;
use crate::string_limit::StringTooLong;
use crate::udf::{EvalError, FunctionRegistry, ScalarUdf, call_udf};

/// Why an expression cannot be prepared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrepareError {
    /// The pattern was refused.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A pattern is not a string literal.
    #[error("a pattern must be a string literal")]
    PatternNotLiteral,
    /// Calls are nested deeper than [`limits::EXPR_DEPTH_MAX`].
    #[error("an expression nested {0} deep; at most {max} are allowed", max = limits::EXPR_DEPTH_MAX)]
    TooDeep(usize),
    /// A call with literal arguments makes too long a string.
    #[error(transparent)]
    StringTooLong(#[from] StringTooLong),
    /// [`Function::Unnest`] or [`Function::Prefixes`] is no whole group key, or not the only one.
    #[error("unnest and prefixes can only be a whole key of GROUP BY, and only once")]
    MisplacedUnnest,
    /// The expression calls a user function that the query does not carry.
    #[error("the query calls a user function that is not registered")]
    UnknownFunction,
}

/// A prepared expression: patterns are compiled, calls with literal arguments are folded, and user
/// functions are resolved. `scan` evaluates it over whole columns, [`Prepared::eval`] row by row.
#[derive(Clone, Debug)]
pub enum Prepared<L> {
    /// A constant.
    Literal(Value),
    /// A value that differs from row to row.
    Leaf(L),
    /// Whether a string matches a pattern.
    Matches {
        /// The compiled pattern.
        pattern: Pattern,
        /// The string.
        text: Box<Prepared<L>>,
    },
    /// The part of a string that a regular expression takes out, or the string with replacements.
    Regexp {
        /// The compiled regular expression, and what it does.
        regexp: Regexp,
        /// The string.
        text: Box<Prepared<L>>,
    },
    /// A call of a built-in function.
    Call {
        /// The function.
        function: Function,
        /// Its arguments.
        arguments: Vec<Prepared<L>>,
    },
    /// A call of a user function.
    UserCall {
        /// The function.
        function: Arc<dyn ScalarUdf>,
        /// Its arguments.
        arguments: Vec<Prepared<L>>,
    },
}

impl<L: Clone> Prepared<L> {
    /// Prepares `expr`, which must call built-in functions only.
    ///
    /// # Errors
    /// As [`Self::with_functions`].
    pub fn new(expr: &Expr<L>) -> Result<Self, PrepareError> {
        Self::with_functions(expr, &FunctionRegistry::default())
    }

    /// Prepares `expr`, and looks its user functions up in `functions`.
    ///
    /// # Errors
    /// [`PrepareError`] for a pattern that is refused, too deep an expression, a user function that
    /// is not registered, or literals for which a function fails.
    pub fn with_functions(
        expr: &Expr<L>,
        functions: &FunctionRegistry,
    ) -> Result<Self, PrepareError> {
        let depth = expr.depth();
        if depth > limits::EXPR_DEPTH_MAX {
            return Err(PrepareError::TooDeep(depth));
        }
        Self::build(expr, functions)
    }

    fn build(expr: &Expr<L>, functions: &FunctionRegistry) -> Result<Self, PrepareError> {
        let (function, arguments) = match expr {
            Expr::Literal(value) => return Ok(Self::Literal(value.clone())),
            Expr::Leaf(leaf) => return Ok(Self::Leaf(leaf.clone())),
            Expr::Call { function, arguments } => (*function, arguments),
        };
        if function.is_unnesting() {
            return Err(PrepareError::MisplacedUnnest);
        }
        if let Function::Matches(syntax) = function {
            let [text, Expr::Literal(Value::String(pattern))] = arguments.as_slice() else {
                return Err(PrepareError::PatternNotLiteral);
            };
            let pattern = Pattern::new(pattern, syntax)?;
            return Ok(Self::Matches { pattern, text: Box::new(Self::build(text, functions)?) });
        }
        if function.is_regexp() {
            let regexp = arguments.split_first().map(|(text, rest)| {
                Regexp::of_call(function, rest).map(|regexp| regexp.map(|regexp| (regexp, text)))
            });
            let (regexp, text) =
                regexp.transpose()?.flatten().ok_or(PrepareError::PatternNotLiteral)?;
            return Ok(Self::Regexp { regexp, text: Box::new(Self::build(text, functions)?) });
        }
        let arguments = arguments
            .iter()
            .map(|argument| Self::build(argument, functions))
            .collect::<Result<Vec<Self>, _>>()?;
        if let Function::User(id) = function {
            let function = functions.scalar(id).ok_or(PrepareError::UnknownFunction)?;
            // Not folded: user code runs in a scan only, within its deadline and memory.
            return Ok(Self::UserCall { function: Arc::clone(function), arguments });
        }
        Ok(match literals(&arguments) {
            Some(values) => Self::Literal(scalar_functions::eval_scalar(function, &values)?),
            None => Self::Call { function, arguments },
        })
    }

    /// The value for the row whose leaf values `leaf` returns.
    ///
    /// # Errors
    /// [`EvalError`].
    pub fn eval<'v>(&'v self, leaf: &impl Fn(&L) -> Value) -> Result<Cow<'v, Value>, EvalError> {
        let values = |arguments: &[Self]| {
            let values = arguments.iter().map(|argument| argument.value(leaf));
            values.collect::<Result<Vec<Value>, EvalError>>()
        };
        Ok(match self {
            Self::Literal(value) => Cow::Borrowed(value),
            Self::Leaf(name) => Cow::Owned(leaf(name)),
            Self::Matches { pattern, text } => Cow::Owned(match &*text.eval(leaf)? {
                Value::String(text) => Value::Bool(pattern.matches(text)),
                _ => Value::Null,
            }),
            Self::Regexp { regexp, text } => Cow::Owned(regexp.eval(&*text.eval(leaf)?)?),
            Self::Call { function, arguments } => {
                Cow::Owned(scalar_functions::eval_scalar(*function, &values(arguments)?)?)
            }
            Self::UserCall { function, arguments } => {
                Cow::Owned(call_udf(&**function, &values(arguments)?)?)
            }
        })
    }

    /// The value for the row whose leaf values `leaf` returns.
    ///
    /// # Errors
    /// [`EvalError`].
    pub fn value(&self, leaf: &impl Fn(&L) -> Value) -> Result<Value, EvalError> {
        self.eval(leaf).map(Cow::into_owned)
    }

    /// Whether the value is true (not false, not null).
    ///
    /// # Errors
    /// [`EvalError`].
    pub fn is_true(&self, leaf: &impl Fn(&L) -> Value) -> Result<bool, EvalError> {
        Ok(*self.eval(leaf)? == Value::Bool(true))
    }
}

/// The values of the arguments, if all are literals.
fn literals<L>(arguments: &[Prepared<L>]) -> Option<Vec<Value>> {
    let value = |argument: &Prepared<L>| match argument {
        Prepared::Literal(value) => Some(value.clone()),
        _ => None,
    };
    arguments.iter().map(value).collect()
}

/// Whether any string of `value` contains `needle`, ignoring case. [`crate::RowInput::AnyText`] is
/// true if this holds for any column.
#[must_use]
pub fn contains_text(value: &Value, needle: &str) -> bool {
    scalar_functions::contains_text(value, &needle.to_lowercase())
}
