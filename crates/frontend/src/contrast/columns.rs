//! The conditions on one column: its values, its elements, and ranges of its numbers.

use std::collections::HashMap;

use hadal_aggregate::SparseRow;
use hadal_query::Type;
use hadal_sql::{QuerySpec, Texts};
use hadal_types::limits::{CONTRAST_VALUES_MAX, SQL_BYTES_MAX};
use hadal_types::{ColumnName, ColumnSchema, Number, Value, Weight};

use crate::column_type::type_of;
use crate::contrast::asking::Sides;
use crate::contrast::condition::{Condition, Test, literal, quoted_column};
use crate::contrast::evidence::{Evidence, Rows};
use crate::contrast::ranges::Buckets;
use crate::contrast::ranking::{Candidate, is_sure};
use crate::error::FrontendError;

/// Numbers of at most this many values are examined by value only.
const VALUES_OF_NO_RANGE: usize = 32;
/// Bytes of a value that is examined: a longer text would be no condition to read.
const VALUE_BYTES_MAX: usize = 1_024;
/// Bytes of all values of a column that are examined: a part of a text of SQL.
const VALUES_BYTES_MAX: usize = SQL_BYTES_MAX / 2;
/// The quantiles of each side at which ranges begin and end.
const QUANTILES: u32 = 100;

/// A column to examine.
pub(crate) struct ContrastColumn {
    pub(crate) name: ColumnName,
    of: Type,
    /// Whether rows of other kinds have a value that a query of this kind does not see.
    has_other_kinds: bool,
}

/// The conditions on one column.
#[derive(Default)]
pub(crate) struct OfColumn {
    pub(crate) candidates: Vec<Candidate>,
    /// How many conditions were tried.
    pub(crate) tried: usize,
}

impl ContrastColumn {
    /// `None` for columns that are not examined: times and weights.
    pub(crate) fn of(column: &ColumnSchema) -> Option<Self> {
        let of = type_of(column);
        let is_examined =
            matches!(of, Type::String | Type::Number | Type::Bool | Type::Set | Type::Vector)
                && column.name.as_str() != Weight::COLUMN;
        is_examined.then(|| Self {
            name: column.name.clone(),
            of,
            has_other_kinds: column.parts.len() > 1,
        })
    }

    /// The conditions that are more frequent in the selection.
    pub(crate) async fn candidates(
        &self,
        sides: &Sides<'_>,
        all: [Rows; 2],
    ) -> Result<OfColumn, FrontendError> {
        let mut of_column = self.values(sides, all).await?;
        if self.of == Type::Number && of_column.tried > VALUES_OF_NO_RANGE {
            self.add_range(sides, all, &mut of_column).await?;
        }
        Ok(of_column)
    }

    /// The most frequent values of the selection. The baseline is asked for these only.
    async fn values(&self, sides: &Sides<'_>, all: [Rows; 2]) -> Result<OfColumn, FrontendError> {
        let is_list = matches!(self.of, Type::Set | Type::Vector);
        let column = quoted_column(&self.name);
        let key = if is_list { format!("unnest({column})") } else { column };
        let by_value = |spec: QuerySpec| QuerySpec {
            group_by: Texts::One(key.clone()),
            aggregates: sides.counts.aggregates(),
            order_by: Texts::One("n DESC".to_owned()),
            limit: Some(CONTRAST_VALUES_MAX),
            ..spec
        };
        let selection = sides.ask_side(0, by_value).await?;
        let mut left = VALUES_BYTES_MAX;
        let mut kept: Vec<(&SparseRow, Test)> = Vec::new();
        // The baseline is not asked for values that would be no finding if it had none of them.
        let tried = selection.rows.len();
        let may_be_sure = |row: &&SparseRow| {
            let most = Evidence::at_most(sides.counts.of(row, 1), all);
            most.is_some_and(|most| is_sure(&most, tried))
        };
        for row in selection.rows.iter().filter(may_be_sure) {
            let test = test_of(row.get(0), is_list);
            let bytes = match &test {
                Test::Is(value) | Test::Has(value) => literal(value).len(),
                Test::Missing if self.has_other_kinds => continue,
                Test::Within(..) | Test::Missing => 0,
            };
            if bytes <= VALUE_BYTES_MAX.min(left) {
                left -= bytes;
                kept.push((row, test));
            }
        }
        let Some(among) = self.among(kept.iter().map(|(_, test)| test)) else {
            return Ok(OfColumn { tried, ..OfColumn::default() });
        };
        let of_these = |spec: QuerySpec| {
            let mut filter = spec.filter.as_slice().to_vec();
            filter.push(among.clone());
            let spec = by_value(QuerySpec { filter: Texts::Many(filter), ..spec });
            // Without an order, elements beside the wanted ones come after them.
            if is_list { QuerySpec { order_by: Texts::default(), ..spec } } else { spec }
        };
        let baseline = sides.ask_side(1, of_these).await?;
        let mut rows: HashMap<Value, Rows> = HashMap::new();
        for row in &baseline.rows {
            rows.insert(row.get(0).clone(), sides.counts.of(row, 1));
        }
        let mut of_column = OfColumn { tried, ..OfColumn::default() };
        for (row, test) in kept {
            let baseline = rows.get(row.get(0)).copied().unwrap_or_default();
            let of = [sides.counts.of(row, 1), baseline];
            of_column.candidates.extend(self.candidate(test, of, all));
        }
        Ok(of_column)
    }

    /// The condition that one of the tests is met; `None` if there are none.
    fn among<'t>(&self, tests: impl Iterator<Item = &'t Test> + Clone) -> Option<String> {
        let column = quoted_column(&self.name);
        let is_missing = tests.clone().any(|test| *test == Test::Missing);
        let value = |test: &Test| match test {
            Test::Is(value) | Test::Has(value) => Some(literal(value)),
            Test::Within(..) | Test::Missing => None,
        };
        let values: Vec<String> = tests.filter_map(value).collect();
        let missing = is_missing.then(|| format!("{column} IS NULL"));
        let values = (!values.is_empty()).then(|| match self.of {
            Type::Set | Type::Vector => format!("includes_any({column}, {})", values.join(", ")),
            _ => format!("{column} IN ({})", values.join(", ")),
        });
        let parts: Vec<String> = values.into_iter().chain(missing).collect();
        (!parts.is_empty()).then(|| parts.join(" OR "))
    }

    fn candidate(&self, test: Test, of: [Rows; 2], all: [Rows; 2]) -> Option<Candidate> {
        let evidence = Evidence::new(of, all)?;
        let conditions = vec![Condition { column: self.name.clone(), test }];
        Some(Candidate { conditions, evidence })
    }

    /// Adds the best range of numbers.
    async fn add_range(
        &self,
        sides: &Sides<'_>,
        all: [Rows; 2],
        of_column: &mut OfColumn,
    ) -> Result<(), FrontendError> {
        let (edges, high) = self.edges(sides).await?;
        if edges.len() < 2 {
            return Ok(());
        }
        // The last bucket of a histogram has its upper edge, which no range may end at.
        let texts: Vec<String> = edges.iter().chain(&high).map(ToString::to_string).collect();
        let column = quoted_column(&self.name);
        let histogram = format!("histogram({column}, ARRAY[{}]) AS h", texts.join(", "));
        let count = |spec| QuerySpec { aggregates: Texts::One(histogram.clone()), ..spec };
        let buckets = sides.ask(count).await?.map(|answer| {
            match answer.rows.first().map(|row| row.get(0).clone()) {
                Some(Value::Histogram(buckets)) => buckets,
                _ => [].into(),
            }
        });
        let buckets = Buckets::new(edges, [&buckets[0], &buckets[1]]);
        of_column.tried += buckets.ranges();
        if let Some(((from, to), evidence)) = buckets.best(all) {
            let condition = Condition { column: self.name.clone(), test: Test::Within(from, to) };
            of_column.candidates.push(Candidate { conditions: vec![condition], evidence });
        }
        Ok(())
    }

    /// The quantiles of both sides, ascending, within the smallest and the largest value; and the
    /// largest value.
    async fn edges(
        &self,
        sides: &Sides<'_>,
    ) -> Result<(Vec<Number>, Option<Number>), FrontendError> {
        let column = quoted_column(&self.name);
        let quantile = |step: u32| {
            let share = f64::from(step) / f64::from(QUANTILES);
            format!("percentile_disc({share:.4}) WITHIN GROUP (ORDER BY {column}) AS q{step}")
        };
        let mut aggregates =
            vec![format!("min({column}) AS low"), format!("max({column}) AS high")];
        aggregates.extend((1..QUANTILES).map(quantile));
        let ask = |spec| QuerySpec { aggregates: Texts::Many(aggregates.clone()), ..spec };
        let (mut low, mut high, mut edges) = (None, None, Vec::new());
        for answer in sides.ask(ask).await? {
            let Some(row) = answer.rows.first() else { continue };
            let numbers = (0..aggregates.len()).map(|index| match row.get(index) {
                Value::Number(number) => Some(*number),
                _ => None,
            });
            let numbers: Vec<Number> = numbers.flatten().collect();
            let [smallest, largest, quantiles @ ..] = numbers.as_slice() else { continue };
            low = Some(low.map_or(*smallest, |low: Number| low.min(*smallest)));
            high = Some(high.map_or(*largest, |high: Number| high.max(*largest)));
            edges.extend_from_slice(quantiles);
        }
        let is_inside = |edge: &Number| {
            low.is_some_and(|low| *edge > low) && high.is_some_and(|high| *edge < high)
        };
        edges.retain(is_inside);
        edges.sort_unstable();
        edges.dedup();
        Ok((edges, high))
    }
}

/// The test that a row's value of a column, or its element, meets.
fn test_of(value: &Value, is_element: bool) -> Test {
    match value {
        Value::Null => Test::Missing,
        value if is_element => Test::Has(value.clone()),
        value => Test::Is(value.clone()),
    }
}
