//! The query: what is asked of one table, fixed once at the root.

use std::sync::Arc;
use std::time::Duration;

use hadal_types::{Micros, TableName, TimeRange, Value, limits};

use crate::expr::{Expr, OutputExpr, RowExpr, RowInput, Type};
use crate::function::Function;
use crate::udf::{AggregateId, FunctionRegistry};

/// One immutable question about one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The table.
    pub table: TableName,
    /// Only rows of this time are asked for.
    pub range: TimeRange,
    /// The parts of the range that are asked for, in order and apart from each other, where they
    /// are several, as in a comparison; empty where all of the range is. The filter has the same
    /// condition; these tell how much time a group covers ([`crate::GroupInput::Seconds`]).
    pub intervals: Vec<TimeRange>,
    /// Only rows for which this is true.
    pub filter: Option<RowExpr>,
    /// Raw rows, or groups of them.
    pub kind: QueryKind,
    /// The answer's columns.
    pub outputs: Vec<Output>,
    /// Only groups for which this is true.
    pub having: Option<OutputExpr>,
    /// How the answer is sorted; ties, and all of it when empty, by the keys in ascending order.
    pub order: Vec<OrderKey>,
    /// The top N groups without their time bucket; the rest becomes "other".
    pub series: Option<SeriesLimit>,
    /// Rows of the answer at most.
    pub limit: u64,
    /// Rows of the sorted answer that are left out before the first.
    pub offset: u64,
    /// What `now()` means, fixed once at the root.
    pub now: Micros,
    /// How long the answer may take.
    pub deadline: Duration,
    /// Whether an answer without some leaf's rows is worth nothing.
    pub require_complete: bool,
    /// The user functions that the query may call.
    pub functions: Arc<FunctionRegistry>,
}

/// What a query makes of the rows that it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryKind {
    /// The rows themselves.
    Rows {
        /// The values of each row; [`crate::GroupInput::Key`] counts them.
        values: Vec<RowExpr>,
    },
    /// One row per group.
    Groups {
        /// What the rows of one group have in common. Without keys there is one group.
        keys: Vec<RowExpr>,
        /// What is kept of each group's rows.
        measures: Vec<Measure>,
    },
}

/// A state that is kept of one expression over each group's rows where it is not null.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Measure {
    /// What is kept.
    pub kind: StateKind,
    /// Of what.
    pub argument: RowExpr,
}

/// What is kept of the values of a group: a state that merges, from which several
/// aggregates can be finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StateKind {
    /// n, Σw, Σw², Σwx.
    Moments,
    /// The smallest and the largest value.
    MinMax,
    /// A sketch of the distribution of numbers.
    Quantiles,
    /// A sketch of the set of values.
    Distinct,
    /// What a histogram of at most so many buckets needs; from 1 to
    /// [`hadal_types::limits::HISTOGRAM_BUCKETS_MAX`].
    Histogram(u16),
    /// The state of a user aggregate of the query's [`FunctionRegistry`].
    User(AggregateId),
}

/// An aggregate that is finished from a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AggregateFunction {
    /// Σw, from moments.
    Count,
    /// n, from moments.
    RawCount,
    /// Σwx, from moments; null without values.
    Sum,
    /// Σwx / Σw, from moments; null without values.
    Avg,
    /// From extremes; null without values.
    Min,
    /// From extremes; null without values.
    Max,
    /// The value below which so many millionths of the weight lie, from quantiles.
    Quantile(u32),
    /// A histogram of at most so many buckets, from the state for as many.
    Histogram(u16),
    /// How many different values, from distinct; rows count once, whatever their weight.
    Distinct,
    /// A user aggregate; null without values.
    User(AggregateId),
}

impl AggregateFunction {
    /// The state that the aggregate is finished from.
    #[must_use]
    pub const fn state(self) -> StateKind {
        match self {
            Self::Count | Self::RawCount | Self::Sum | Self::Avg => StateKind::Moments,
            Self::Min | Self::Max => StateKind::MinMax,
            Self::Quantile(_) => StateKind::Quantiles,
            Self::Distinct => StateKind::Distinct,
            Self::Histogram(buckets) => StateKind::Histogram(buckets),
            Self::User(id) => StateKind::User(id),
        }
    }
}

/// One column of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its name; several may have the same.
    pub name: String,
    /// What its values are.
    pub value_type: Type,
    /// How it is computed.
    pub expr: OutputExpr,
}

/// One thing that the answer is sorted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderKey {
    /// What is compared.
    pub expr: OutputExpr,
    /// Largest first.
    pub descending: bool,
    /// Nulls before all else; otherwise after.
    pub nulls_first: bool,
}

/// Keeps the top series of a time chart: groups without their time bucket, ranked over the
/// whole range, each with all its buckets. What the others hold is summed up per bucket as one
/// more series whose keys are null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesLimit {
    /// How many series are kept.
    pub count: usize,
    /// What they are ranked by, largest first.
    pub rank: OutputExpr,
}

impl Query {
    /// A question about all rows of a table: no filter, order or series, the ordinary limit and
    /// deadline, no outputs yet; now is the beginning of time.
    #[must_use]
    pub fn new(table: TableName, kind: QueryKind) -> Self {
        Self {
            table,
            range: TimeRange::ALL,
            intervals: Vec::new(),
            filter: None,
            kind,
            outputs: Vec::new(),
            having: None,
            order: Vec::new(),
            series: None,
            limit: limits::LIMIT_DEFAULT,
            offset: 0,
            now: Micros(0),
            deadline: Duration::from_millis(limits::QUERY_DEADLINE_MS),
            require_complete: false,
            functions: Arc::default(),
        }
    }

    /// The group keys; empty for raw rows.
    #[must_use]
    pub fn keys(&self) -> &[RowExpr] {
        match &self.kind {
            QueryKind::Rows { .. } => &[],
            QueryKind::Groups { keys, .. } => keys,
        }
    }

    /// The measures; empty for raw rows.
    #[must_use]
    pub fn measures(&self) -> &[Measure] {
        match &self.kind {
            QueryKind::Rows { .. } => &[],
            QueryKind::Groups { measures, .. } => measures,
        }
    }

    /// The index of the key that is the row's time bucket, and the bucket's width in
    /// microseconds.
    #[must_use]
    pub fn time_key(&self) -> Option<(usize, i64)> {
        self.keys()
            .iter()
            .enumerate()
            .find_map(|(index, key)| Some((index, time_bucket_width(key)?)))
    }
}

/// The width in microseconds, when `expr` is a time bucket of the row's time.
#[must_use]
pub fn time_bucket_width(expr: &RowExpr) -> Option<i64> {
    let Expr::Call { function: Function::TimeBucket, arguments } = expr else { return None };
    match arguments.as_slice() {
        [Expr::Leaf(RowInput::Time), Expr::Literal(Value::Number(width)), ..] => width.to_i64(),
        _ => None,
    }
}
