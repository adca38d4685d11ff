//! Expressions made ready to run: patterns compiled, constants folded; then one row at a time.

use std::borrow::Cow;

use hadal_types::{Value, limits};

use crate::expr::Expr;
use crate::function::Function;
use crate::pattern::{Pattern, PatternError};
use crate::scalar;
use crate::string_limit::StringTooLong;

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
}

/// An expression that is ready to run.
#[derive(Clone, Debug)]
pub struct Prepared<L> {
    node: Node<L>,
}

#[derive(Clone, Debug)]
enum Node<L> {
    Literal(Value),
    Leaf(L),
    Matches { pattern: Pattern, text: Box<Node<L>> },
    Call { function: Function, arguments: Vec<Node<L>> },
}

impl<L: Clone> Prepared<L> {
    /// Makes `expr` ready to run.
    ///
    /// # Errors
    /// [`PrepareError`] for a pattern that is refused, too deep an expression, or too long a string
    /// of literals.
    pub fn new(expr: &Expr<L>) -> Result<Self, PrepareError> {
        let depth = expr.depth();
        if depth > limits::EXPR_DEPTH_MAX {
            return Err(PrepareError::TooDeep(depth));
        }
        Ok(Self { node: Node::new(expr)? })
    }

    /// The value for a row of which `leaf` gives the leaves' values.
    ///
    /// # Errors
    /// [`StringTooLong`].
    pub fn eval<'v>(
        &'v self,
        leaf: &impl Fn(&L) -> Value,
    ) -> Result<Cow<'v, Value>, StringTooLong> {
        self.node.eval(leaf)
    }

    /// The value for a row of which `leaf` gives the leaves' values.
    ///
    /// # Errors
    /// [`StringTooLong`].
    pub fn value(&self, leaf: &impl Fn(&L) -> Value) -> Result<Value, StringTooLong> {
        self.eval(leaf).map(Cow::into_owned)
    }

    /// Whether the value is true (not false, not null).
    ///
    /// # Errors
    /// [`StringTooLong`].
    pub fn is_true(&self, leaf: &impl Fn(&L) -> Value) -> Result<bool, StringTooLong> {
        Ok(*self.eval(leaf)? == Value::Bool(true))
    }
}

impl<L: Clone> Node<L> {
    fn new(expr: &Expr<L>) -> Result<Self, PrepareError> {
        Ok(match expr {
            Expr::Literal(value) => Self::Literal(value.clone()),
            Expr::Leaf(leaf) => Self::Leaf(leaf.clone()),
            Expr::Call { function: Function::Matches(syntax), arguments } => {
                let [text, Expr::Literal(Value::String(pattern))] = arguments.as_slice() else {
                    return Err(PrepareError::PatternNotLiteral);
                };
                let pattern = Pattern::new(pattern, *syntax)?;
                Self::Matches { pattern, text: Box::new(Self::new(text)?) }
            }
            Expr::Call { function, arguments } => {
                let arguments: Vec<Self> =
                    arguments.iter().map(Self::new).collect::<Result<_, _>>()?;
                Self::Call { function: *function, arguments }.folded()?
            }
        })
    }

    /// A call of literals becomes the literal that it gives.
    fn folded(self) -> Result<Self, StringTooLong> {
        Ok(match &self {
            Self::Call { arguments, .. }
                if arguments.iter().all(|argument| matches!(argument, Self::Literal(_))) =>
            {
                Self::Literal(self.eval(&|_| Value::Null)?.into_owned())
            }
            _ => self,
        })
    }

    fn eval<'v>(&'v self, leaf: &impl Fn(&L) -> Value) -> Result<Cow<'v, Value>, StringTooLong> {
        Ok(match self {
            Self::Literal(value) => Cow::Borrowed(value),
            Self::Leaf(name) => Cow::Owned(leaf(name)),
            Self::Matches { pattern, text } => Cow::Owned(match &*text.eval(leaf)? {
                Value::String(text) => Value::Bool(pattern.matches(text)),
                _ => Value::Null,
            }),
            Self::Call { function, arguments } => {
                let values = arguments.iter().map(|argument| argument.eval(leaf));
                let values = values.map(|value| value.map(Cow::into_owned));
                let values = values.collect::<Result<Vec<Value>, _>>()?;
                Cow::Owned(scalar::eval_scalar(*function, &values)?)
            }
        })
    }
}

/// Whether any string of `value` contains `needle`, upper and lower case being the same: what
/// [`crate::RowInput::AnyText`] asks of each column.
#[must_use]
pub fn contains_text(value: &Value, needle: &str) -> bool {
    scalar::contains_text(value, &needle.to_lowercase())
}
