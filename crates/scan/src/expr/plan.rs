//! Prepares a query for scanning: compiles patterns, folds constants, splits conditions.

use hadal_query::{
    Function, PrepareError, Prepared, Query, QueryKind, RowExpr, RowInput, StateKind,
};

/// An expression over a block's rows.
pub(crate) type PreparedExpr = Prepared<RowInput>;

/// A query prepared to run over blocks.
#[derive(Debug)]
pub(crate) struct PreparedQuery {
    /// A row must meet all of them; the cheapest come first.
    pub(crate) conditions: Vec<PreparedExpr>,
    /// The values of a raw row, or a group's keys.
    pub(crate) keys: Vec<PreparedExpr>,
    /// The arguments of the measures, in order.
    pub(crate) measures: Vec<PreparedExpr>,
    /// The second expressions of the measures that have one.
    pub(crate) seconds: Vec<Option<PreparedExpr>>,
    /// The index of the key that is a list, each of whose elements or prefixes is a key.
    pub(crate) unnested: Option<usize>,
    /// Whether these keys are prefixes.
    pub(crate) by_prefix: bool,
}

impl PreparedQuery {
    /// Prepares `query`.
    ///
    /// # Errors
    /// A pattern is invalid, an expression is nested too deep, or a function is unknown.
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
        let unnested = query.unnested();
        let key = |(index, key)| match unnested {
            Some(unnested) if unnested.key == index => prepare(unnested.list),
            _ => prepare(key),
        };
        let is_known = |kind| match kind {
            StateKind::User(id) => query.functions.aggregate(id).is_some(),
            _ => true,
        };
        if !query.measures().iter().all(|measure| is_known(measure.kind)) {
            return Err(PrepareError::UnknownFunction);
        }
        let measures = query.measures().iter().map(|measure| &measure.argument);
        let seconds = query.measures().iter().map(|measure| measure.second.as_ref().map(prepare));
        Ok(Self {
            conditions,
            keys: keys.iter().enumerate().map(key).collect::<Result<_, _>>()?,
            measures: measures.map(prepare).collect::<Result<_, _>>()?,
            seconds: seconds.map(Option::transpose).collect::<Result<_, _>>()?,
            unnested: unnested.map(|unnested| unnested.key),
            by_prefix: unnested.is_some_and(|unnested| unnested.by_prefix),
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

/// Whether the expression is the row's time.
pub(crate) fn is_time(expr: &PreparedExpr) -> bool {
    matches!(expr, PreparedExpr::Leaf(RowInput::Time))
}

/// Whether the expression calls a user function.
pub(crate) fn calls_user(expr: &PreparedExpr) -> bool {
    match expr {
        PreparedExpr::Literal(_) | PreparedExpr::Leaf(_) => false,
        PreparedExpr::Matches { text, .. } | PreparedExpr::Regexp { text, .. } => calls_user(text),
        PreparedExpr::Call { arguments, .. } => arguments.iter().any(calls_user),
        PreparedExpr::UserCall { .. } => true,
    }
}

/// Ranks a condition by its rough cost: patterns, text searches and user functions come last.
fn cost(expr: &PreparedExpr) -> u32 {
    let sum = |arguments: &[PreparedExpr]| arguments.iter().map(cost).sum::<u32>();
    match expr {
        PreparedExpr::Literal(_) => 0,
        PreparedExpr::Leaf(RowInput::AnyText(_)) => 1_000,
        PreparedExpr::Leaf(RowInput::Random(_)) => 10,
        PreparedExpr::Leaf(_) => 1,
        PreparedExpr::Matches { text, .. } | PreparedExpr::Regexp { text, .. } => 100 + cost(text),
        PreparedExpr::Call { arguments, .. } => 1 + sum(arguments),
        PreparedExpr::UserCall { arguments, .. } => 10_000 + sum(arguments),
    }
}
