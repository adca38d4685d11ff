//! A partial answer is the true answer over the rows of the leaves that answered, each whole. In
//! which order their partial results are merged does not matter.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use hadal_aggregate::{Partial, PartialBody, ResultSet, finish};
use hadal_query::{
    AggregateFunction, ColumnRef, Expr, GroupInput, Measure, Output, OutputExpr, Query, QueryKind,
    RowExpr, RowInput, Type,
};
use hadal_random::{Random, mix};
use hadal_types::{ColumnName, Kind, Logical, Value, Weight};

use crate::messages::{BatchNumber, LeafId};
use crate::options::Planted;
use crate::share::table;
use crate::world::World;

/// The share of answers that are checked.
const CHECKED: f64 = 0.1;
/// Rows of a batch that are grouped.
const ROWS: u64 = 3;
const GROUPS: u64 = 5;
/// The functions whose values are in the answer, after the key.
const FUNCTIONS: [AggregateFunction; 5] = [
    AggregateFunction::RawCount,
    AggregateFunction::Sum,
    AggregateFunction::Min,
    AggregateFunction::Max,
    AggregateFunction::Distinct,
];

/// The query whose partial results are merged.
pub(crate) struct Question {
    query: Query,
}

impl Default for Question {
    fn default() -> Self {
        let name = |text: &str| ColumnName::new(text).expect("a name");
        let column = |text: &str| -> RowExpr {
            let (kind, logical) = (Kind::Number, Logical::Plain);
            Expr::Leaf(RowInput::Column(ColumnRef { name: name(text), kind, logical }))
        };
        let measure = |function: AggregateFunction| Measure::new(function.state(), column("v"));
        let measures = FUNCTIONS.map(measure).to_vec();
        let kind = QueryKind::Groups { keys: vec![column("key")], measures };
        let values = FUNCTIONS.iter().enumerate();
        let values = values.map(|(index, function)| GroupInput::Measure(index, *function));
        let outputs = std::iter::once(GroupInput::Key(0)).chain(values).map(Expr::Leaf);
        let output =
            |expr: OutputExpr| Output { name: String::new(), value_type: Type::Number, expr };
        let outputs = outputs.map(output).collect();
        Self { query: Query { outputs, limit: u64::MAX, ..Query::new(table(), kind) } }
    }
}

/// The rows of a batch: key and value.
fn rows_of(seed: u64, batch: BatchNumber) -> impl Iterator<Item = (i64, i64)> {
    (0..ROWS).map(move |row| {
        let random = mix(seed ^ mix((u64::from(batch) << 8) | row));
        let number = |random: u64| i64::try_from(random).unwrap_or_default();
        (number(random % GROUPS), number((random >> 32) % 1_000) - 500)
    })
}

impl World {
    pub(crate) fn check_partials(&mut self, rows: &[(LeafId, Rc<Vec<BatchNumber>>)]) {
        let mut random = Random::new(mix(self.options.seed ^ self.now), 2);
        if !random.chance(CHECKED) {
            return;
        }
        let partials: Vec<Partial> = rows.iter().map(|(_, rows)| self.partial(rows)).collect();
        let mut repeated = partials.clone();
        if self.options.planted == Planted::MergeTwice
            && let Some(last) = partials.last()
        {
            repeated.push(last.clone());
        }
        let query = &self.question.query;
        let one = merge_by(&mut random, query, repeated.clone());
        let other = merge_by(&mut random, query, repeated);
        if one != other {
            self.violations.push(format!("the order of merging matters at {}", self.now));
        }
        let batches = rows.iter().flat_map(|(_, batches)| batches.iter().copied());
        let truth = truth(self.options.seed, batches);
        match finish(one, query, &|| false) {
            Ok(answer) if values(&answer) == truth => {}
            Ok(answer) => {
                let text = format!("{:?} instead of {truth:?}", values(&answer));
                self.violations.push(format!("an answer at {} is {text}", self.now));
            }
            Err(error) => self.violations.push(format!("no answer at {}: {error:?}", self.now)),
        }
    }

    /// What a leaf answers.
    fn partial(&self, batches: &[BatchNumber]) -> Partial {
        let mut partial = Partial::empty(&self.question.query);
        if let PartialBody::Groups(groups) = &mut partial.body {
            for (key, value) in batches.iter().flat_map(|batch| rows_of(self.options.seed, *batch))
            {
                let values = vec![Value::integer(value); FUNCTIONS.len()];
                groups.add_row(&[Value::integer(key)], &values, Weight::ONE);
            }
        }
        partial
    }
}

/// Merges by any tree over any order.
fn merge_by(random: &mut Random, query: &Query, mut partials: Vec<Partial>) -> Partial {
    while partials.len() > 1 {
        let mut left = partials.swap_remove(random.index(partials.len()));
        left.merge(partials.swap_remove(random.index(partials.len())));
        partials.push(left);
    }
    partials.pop().unwrap_or_else(|| Partial::empty(query))
}

/// The answer over some batches, by another way.
fn truth(seed: u64, batches: impl Iterator<Item = BatchNumber>) -> Vec<Vec<Value>> {
    let mut groups: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (key, value) in batches.flat_map(|batch| rows_of(seed, batch)) {
        groups.entry(key).or_default().push(value);
    }
    let line = |(key, values): (i64, Vec<i64>)| {
        let number = |count: usize| i64::try_from(count).unwrap_or_default();
        let distinct: BTreeSet<&i64> = values.iter().collect();
        let (least, most) = (values.iter().min(), values.iter().max());
        let ends = [least, most].map(|end| end.copied().unwrap_or_default());
        let [least, most] = ends;
        let sum = values.iter().sum();
        [key, number(values.len()), sum, least, most, number(distinct.len())]
            .map(Value::integer)
            .to_vec()
    };
    groups.into_iter().map(line).collect()
}

fn values(answer: &ResultSet) -> Vec<Vec<Value>> {
    answer.rows.iter().map(|row| row.iter().cloned().collect()).collect()
}
