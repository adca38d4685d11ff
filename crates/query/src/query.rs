//! The query over one table, fixed once at the root.

use std::sync::Arc;
use std::time::Duration;

use hadal_types::{ColumnName, Micros, TableName, TimeRange, Value, limits};

use crate::aggregate_function::AggregateFunction;
use crate::confidence::ConfidencePlan;
use crate::expr::{Expr, GroupInput, OutputExpr, RowExpr, RowInput, Type};
use crate::function::Function;
use crate::measure::{Measure, Weighting};
use crate::time_key::{TimeBuckets, time_buckets};
use crate::udf::FunctionRegistry;

/// One immutable query over one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The table that is scanned.
    pub table: TableName,
    /// Only rows with a time in this range count.
    pub range: TimeRange,
    /// The intervals of the range that the query asks for, ascending and disjoint, if there are
    /// several, as in a comparison. Empty if it asks for the whole range. The filter contains the
    /// same condition; the intervals say how much time a group covers
    /// ([`crate::GroupInput::Seconds`]).
    pub intervals: Vec<TimeRange>,
    /// Only rows for which this is true count.
    pub filter: Option<RowExpr>,
    /// Raw rows, or groups of them.
    pub kind: QueryKind,
    /// The columns of the result.
    pub outputs: Vec<Output>,
    /// Only groups for which this is true are returned.
    pub having: Option<OutputExpr>,
    /// The sort keys of the result. Ties are sorted by the group keys in ascending order, and so is
    /// the whole result if this is empty.
    pub order: Vec<OrderKey>,
    /// The top N groups without their time bucket; the others are summed up as "other".
    pub series: Option<SeriesLimit>,
    /// Whether a row over all groups follows the others, beyond the limit. Only the root needs it.
    pub totals: bool,
    /// Maximum number of rows of the result.
    pub limit: u64,
    /// Number of rows of the sorted result that are skipped.
    pub offset: u64,
    /// The value of `now()`, fixed once at the root.
    pub now: Micros,
    /// How long the query may take.
    pub deadline: Duration,
    /// Whether a result that lacks some leaf's rows is useless.
    pub require_complete: bool,
    /// The user functions that the query may call.
    pub functions: Arc<FunctionRegistry>,
    /// How the confidence intervals of the outputs are computed, if they are asked for
    /// ([`Self::ask_for_confidence`]). Only the root needs it.
    pub confidence: Option<Arc<ConfidencePlan>>,
    /// The groups that a process sends to another one. The root sets it, for each round of calls.
    pub sent: SentGroups,
}

/// Which groups of a partial result are sent to another process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SentGroups {
    /// All.
    #[default]
    All,
    /// The largest, if the query is for a top list: then groups that are left out are bounded.
    Largest,
    /// The groups with these keys, ascending. Each has one value per key of the query.
    Keys(Arc<[Box<[Value]>]>),
}

/// The form in which a query returns the rows that it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryKind {
    /// The rows themselves.
    Rows {
        /// The values of each row; [`crate::GroupInput::Key`] is an index into them.
        values: Vec<RowExpr>,
    },
    /// One row per group.
    Groups {
        /// The values that the rows of one group have in common. Without keys there is one group.
        keys: Vec<RowExpr>,
        /// The states that are kept for each group.
        measures: Vec<Measure>,
    },
}

/// One column of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The column's name; several columns may have the same.
    pub name: String,
    /// The type of its values.
    pub value_type: Type,
    /// The expression that computes it.
    pub expr: OutputExpr,
}

/// One sort key of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderKey {
    /// The expression that is compared.
    pub expr: OutputExpr,
    /// Whether the largest value comes first.
    pub descending: bool,
    /// Whether nulls come before all values; otherwise they come after.
    pub nulls_first: bool,
}

/// Keeps the top series of a time chart. A series is a group without its time bucket; it is ranked
/// over the whole range and keeps all its buckets. The other series are summed up per bucket as one
/// more series whose keys are null. With a key of prefixes, the top N prefixes are kept instead,
/// and the others are summed up by the longest prefix of them that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesLimit {
    /// Number of series that are kept.
    pub count: usize,
    /// The expression that series are ranked by, largest first.
    pub rank: OutputExpr,
}

/// A key for which a row is in several groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unnested<'q> {
    /// The index of the key.
    pub key: usize,
    /// The list.
    pub list: &'q RowExpr,
    /// Whether the groups are those of the prefixes of a vector; otherwise those of the different
    /// elements of a list.
    pub by_prefix: bool,
}

/// Raw rows in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOrder {
    /// The index of the value that is the row's time.
    pub value: usize,
    /// Whether the newest row comes first.
    pub descending: bool,
}

impl Query {
    /// A query over all rows of a table, with the default limit and deadline. It has no filter,
    /// order, series or outputs yet, and `now` is the Unix epoch.
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
            totals: false,
            limit: limits::LIMIT_DEFAULT,
            offset: 0,
            now: Micros(0),
            deadline: Duration::from_millis(limits::QUERY_DEADLINE_MS),
            require_complete: false,
            functions: Arc::default(),
            confidence: None,
            sent: SentGroups::All,
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

    /// Asks for the confidence intervals of the outputs: adds the measures that they are computed
    /// from. Raw rows have no intervals. `key` is the table's `sample_key`.
    pub fn ask_for_confidence(&mut self, key: Option<&ColumnName>) {
        if let QueryKind::Groups { measures, .. } = &mut self.kind {
            let outputs = self.outputs.iter().map(|output| &output.expr);
            self.confidence = Some(ConfidencePlan::new(outputs, key, measures).into());
        }
    }

    /// Whether an output depends on a number of distinct values.
    #[must_use]
    pub fn counts_distinct_values(&self) -> bool {
        let mut does = false;
        for output in &self.outputs {
            output.expr.for_each_leaf(&mut |leaf| {
                does |= matches!(leaf, GroupInput::Measure(_, AggregateFunction::Distinct));
            });
        }
        does
    }

    /// Whether each leaf has to add its totals ([`Weighting::Leaves`]).
    #[must_use]
    pub fn needs_leaf_totals(&self) -> bool {
        self.measures().iter().any(|measure| matches!(measure.weighting, Weighting::Leaves(_)))
    }

    /// The key that unnests a list. `None` if there is none.
    #[must_use]
    pub fn unnested(&self) -> Option<Unnested<'_>> {
        self.keys().iter().enumerate().find_map(|(key, expr)| {
            let Expr::Call { function, arguments } = expr else { return None };
            let by_prefix = match function {
                Function::Unnest => false,
                Function::Prefixes => true,
                _ => return None,
            };
            Some(Unnested { key, list: arguments.first()?, by_prefix })
        })
    }

    /// The index of the key that is a prefix of a vector. `None` if there is none.
    #[must_use]
    pub fn prefix_key(&self) -> Option<usize> {
        self.unnested().filter(|unnested| unnested.by_prefix).map(|unnested| unnested.key)
    }

    /// Whether the result is raw rows in the order of time alone, from the first to the last or
    /// back, so that its parts can be asked for one after another.
    #[must_use]
    pub fn time_order(&self) -> Option<TimeOrder> {
        let QueryKind::Rows { values } = &self.kind else { return None };
        let [OrderKey { expr: Expr::Leaf(GroupInput::Key(value)), descending, .. }] =
            self.order.as_slice()
        else {
            return None;
        };
        let is_time = values.get(*value) == Some(&Expr::Leaf(RowInput::Time));
        let is_all = self.offset == 0 && self.having.is_none() && self.series.is_none();
        (is_time && is_all).then_some(TimeOrder { value: *value, descending: *descending })
    }

    /// The index of the key that is the row's time bucket, and its buckets.
    #[must_use]
    pub fn time_key(&self) -> Option<(usize, TimeBuckets)> {
        self.keys().iter().enumerate().find_map(|(index, key)| Some((index, time_buckets(key)?)))
    }
}
