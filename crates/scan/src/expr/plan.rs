//! A query made ready for scanning: patterns compiled, constants folded, conditions split.

use hadal_query::{
    Function, PrepareError, Prepared, Query, QueryKind, RowExpr, RowInput, StateKind,
};

/// An expression over a block's rows.
pub(crate) type PreparedExpr = Prepared<RowInput>;

/// A query, ready to be run over blocks.
#[derive(Debug)]
pub(crate) struct Plan {
    /// All must be true of a row; the cheap ones first.
    pub(crate) conditions: Vec<PreparedExpr>,
    /// The values of a raw row, or the keys of a group.
    pub(crate) keys: Vec<PreparedExpr>,
    /// The arguments of the measures, in order.
    pub(crate) measures: Vec<PreparedExpr>,
}

impl Plan {
    /// Makes `query` ready.
    ///
    /// # Errors
    /// A pattern that is refused, or an expression that is nested too deep.
    pub(crate) fn new(query: &Query) -> Result<Self, PrepareError> {
        let mut conditions = Vec::new();
        let prepare = |expr: &RowExpr| Prepared::with_functions(expr, &query.functions);
        if let Some(filter) = &query.filter {
            split_conjuncts(prepare(filter)?, &mut conditions);
        }
        conditions.sort_by_key(cost);
        let keys = match &query.kind {
            QueryKind::Rows { values } => values,
            QueryKind::Groups { keys, .. } => keys,
        };
        let is_known = |kind| match kind {
            StateKind::User(id) => query.functions.aggregate(id).is_some(),
            _ => true,
        };
        if !query.measures().iter().all(|measure| is_known(measure.kind)) {
            return Err(PrepareError::UnknownFunction);
        }
        let measures = query.measures().iter().map(|measure| &measure.argument);
        Ok(Self {
            conditions,
            keys: keys.iter().map(prepare).collect::<Result<_, _>>()?,
            measures: measures.map(prepare).collect::<Result<_, _>>()?,
        })
    }
}

fn split_conjuncts(expr: PreparedExpr, conditions: &mut Vec<PreparedExpr>) {
    match expr {
        PreparedExpr::Call { function: Function::And, arguments } => {
            arguments.into_iter().for_each(|argument| split_conjuncts(argument, conditions));
        }
        other => conditions.push(other),
    }
}

/// Whether it is the row's time.
pub(crate) fn is_time(expr: &PreparedExpr) -> bool {
    matches!(expr, PreparedExpr::Leaf(RowInput::Time))
}

/// A rough rank of how much work a condition is: patterns, searches and user functions come last.
fn cost(expr: &PreparedExpr) -> u32 {
    let sum = |arguments: &[PreparedExpr]| arguments.iter().map(cost).sum::<u32>();
    match expr {
        PreparedExpr::Literal(_) => 0,
        PreparedExpr::Leaf(RowInput::AnyText(_)) => 1_000,
        PreparedExpr::Leaf(_) => 1,
        PreparedExpr::Matches { text, .. } => 100 + cost(text),
        PreparedExpr::Call { arguments, .. } => 1 + sum(arguments),
        PreparedExpr::UserCall { arguments, .. } => 10_000 + sum(arguments),
    }
}
