//! A query made ready for scanning: patterns compiled, constants folded, conditions split.

use hadal_query::{
    Expr, Function, Pattern, PrepareError, Query, QueryKind, RowExpr, RowInput, eval_scalar,
};
use hadal_types::{Value, limits};

/// Why a query cannot be scanned.
pub type PlanError = PrepareError;

/// An expression over a block's rows.
#[derive(Clone, Debug)]
pub(crate) enum PlanExpr {
    Literal(Value),
    RowInput(RowInput),
    Matches { pattern: Pattern, text: Box<PlanExpr> },
    Call { function: Function, arguments: Vec<PlanExpr> },
}

/// A query, ready to be run over blocks.
#[derive(Debug)]
pub(crate) struct Plan {
    /// All must be true of a row; the cheap ones first.
    pub(crate) conditions: Vec<PlanExpr>,
    /// The values of a raw row, or the keys of a group.
    pub(crate) keys: Vec<PlanExpr>,
    /// The arguments of the measures, in order.
    pub(crate) measures: Vec<PlanExpr>,
}

impl Plan {
    /// Makes `query` ready.
    ///
    /// # Errors
    /// A pattern that is refused, or an expression that is nested too deep.
    pub(crate) fn new(query: &Query) -> Result<Self, PlanError> {
        let mut conditions = Vec::new();
        if let Some(filter) = &query.filter {
            split_conjuncts(PlanExpr::new(filter)?, &mut conditions);
        }
        conditions.sort_by_key(PlanExpr::cost);
        let keys = match &query.kind {
            QueryKind::Rows { values } => values,
            QueryKind::Groups { keys, .. } => keys,
        };
        let measures = query.measures().iter().map(|measure| &measure.argument);
        Ok(Self {
            conditions,
            keys: keys.iter().map(PlanExpr::new).collect::<Result<_, _>>()?,
            measures: measures.map(PlanExpr::new).collect::<Result<_, _>>()?,
        })
    }
}

fn split_conjuncts(expr: PlanExpr, conditions: &mut Vec<PlanExpr>) {
    match expr {
        PlanExpr::Call { function: Function::And, arguments } => {
            arguments.into_iter().for_each(|argument| split_conjuncts(argument, conditions));
        }
        other => conditions.push(other),
    }
}

impl PlanExpr {
    fn new(expr: &RowExpr) -> Result<Self, PlanError> {
        let depth = expr.depth();
        if depth > limits::EXPR_DEPTH_MAX {
            return Err(PrepareError::TooDeep(depth));
        }
        Self::build(expr)
    }

    fn build(expr: &RowExpr) -> Result<Self, PlanError> {
        Ok(match expr {
            Expr::Literal(value) => Self::Literal(value.clone()),
            Expr::Leaf(input) => Self::RowInput(input.clone()),
            Expr::Call { function: Function::Matches(syntax), arguments } => {
                let [text, Expr::Literal(Value::String(pattern))] = arguments.as_slice() else {
                    return Err(PrepareError::PatternNotLiteral);
                };
                let pattern = Pattern::new(pattern, *syntax)?;
                Self::Matches { pattern, text: Box::new(Self::build(text)?) }
            }
            Expr::Call { function, arguments } => {
                let arguments: Vec<Self> =
                    arguments.iter().map(Self::build).collect::<Result<_, _>>()?;
                match literals(&arguments) {
                    Some(values) => Self::Literal(eval_scalar(*function, &values)?),
                    None => Self::Call { function: *function, arguments },
                }
            }
        })
    }

    /// Whether it is the row's time.
    pub(crate) fn is_time(&self) -> bool {
        matches!(self, Self::RowInput(RowInput::Time))
    }

    /// A rough rank of how much work a condition is: patterns and searches come last.
    fn cost(&self) -> u32 {
        match self {
            Self::Literal(_) => 0,
            Self::RowInput(RowInput::AnyText(_)) => 1_000,
            Self::RowInput(_) => 1,
            Self::Matches { text, .. } => 100 + text.cost(),
            Self::Call { arguments, .. } => 1 + arguments.iter().map(Self::cost).sum::<u32>(),
        }
    }
}

fn literals(arguments: &[PlanExpr]) -> Option<Vec<Value>> {
    arguments
        .iter()
        .map(|argument| match argument {
            PlanExpr::Literal(value) => Some(value.clone()),
            _ => None,
        })
        .collect()
}
