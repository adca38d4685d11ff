//! Expressions made ready to run: patterns compiled, constants folded; then one row at a time.

use std::borrow::Cow;
use std::sync::Arc;

use hadal_types::{Value, limits};

use crate::expr::Expr;
use crate::function::Function;
use crate::pattern::{Pattern, PatternError};
use crate::scalar;
use crate::string_limit::StringTooLong;
use crate::udf::{EvalError, FunctionRegistry, ScalarUdf, call_udf};

/// Why an expression cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrepareError {
    /// Its pattern was refused.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A pattern is not a string literal.
    #[error("a pattern must be a string literal")]
    PatternNotLiteral,
    /// Calls are nested deeper than [`limits::EXPR_DEPTH_MAX`].
    #[error("an expression nested {0} deep; at most {max} are allowed", max = limits::EXPR_DEPTH_MAX)]
    TooDeep(usize),
    /// A call of literals makes too long a string.
    #[error(transparent)]
    StringTooLong(#[from] StringTooLong),
    /// It calls a user function that the query does not bring along.
    #[error("the query calls a user function that is not registered")]
    UnknownFunction,
}

/// An expression that is ready to run: patterns are compiled, calls of literals are folded, and
/// user functions are resolved. `scan` runs it over whole columns, [`Prepared::eval`] row by row.
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
    /// Prepares `expr`, which calls built-in functions only.
    ///
    /// # Errors
    /// As [`Self::with_functions`].
    pub fn new(expr: &Expr<L>) -> Result<Self, PrepareError> {
        Self::with_functions(expr, &FunctionRegistry::default())
    }

    /// Prepares `expr`, whose user functions are those of `functions`.
    ///
    /// # Errors
    /// [`PrepareError`] for a pattern that is refused, too deep an expression, a user function that
    /// is not registered, or literals on which a function fails.
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
        if let Function::Matches(syntax) = function {
            let [text, Expr::Literal(Value::String(pattern))] = arguments.as_slice() else {
                return Err(PrepareError::PatternNotLiteral);
            };
            let pattern = Pattern::new(pattern, syntax)?;
            return Ok(Self::Matches { pattern, text: Box::new(Self::build(text, functions)?) });
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
            Some(values) => Self::Literal(scalar::eval_scalar(function, &values)?),
            None => Self::Call { function, arguments },
        })
    }

    /// The value for a row of which `leaf` gives the leaves' values.
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
            Self::Call { function, arguments } => {
                Cow::Owned(scalar::eval_scalar(*function, &values(arguments)?)?)
            }
            Self::UserCall { function, arguments } => {
                Cow::Owned(call_udf(&**function, &values(arguments)?)?)
            }
        })
    }

    /// The value for a row of which `leaf` gives the leaves' values.
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

/// The values of arguments that are all literals.
fn literals<L>(arguments: &[Prepared<L>]) -> Option<Vec<Value>> {
    let value = |argument: &Prepared<L>| match argument {
        Prepared::Literal(value) => Some(value.clone()),
        _ => None,
    };
    arguments.iter().map(value).collect()
}

/// Whether any string of `value` contains `needle`, upper and lower case being the same: what
/// [`crate::RowInput::AnyText`] asks of each column.
#[must_use]
pub fn contains_text(value: &Value, needle: &str) -> bool {
    scalar::contains_text(value, &needle.to_lowercase())
}
