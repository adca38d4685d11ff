//! What the 95 % confidence intervals of a query's outputs are computed from.
//!
//! Rows are kept with probability 1 / w, independently. An output is mostly a smooth function of
//! totals: counts and sums, each Σw·x over the rows. Its variance is that of its linear
//! approximation: Σ over pairs of totals of their gradients times Σw(w − 1)·x·y (Särndal, Swensson
//! and Wretman, "Model Assisted Survey Sampling", 1992, sections 2.8 and 5.5). A percentile has the
//! interval of Woodruff ("Confidence Intervals for Medians and Other Position Measures", JASA
//! 1952). So a query that is asked for intervals gets more measures, whose rows weigh w(w − 1).
//!
//! Where leaves are missing, those that answered are a sample of all: clusters of rows. Totals are
//! estimated by their ratio to the stored rows, and vary as they do between leaves (same book,
//! section 8.6). For that, each leaf adds one pair of its own totals to more measures.
//!
//! In a table with a `sample_key` all rows of a key are kept, or none. Then the variance is that of
//! totals over random groups of keys (Wolter, "Introduction to Variance Estimation", 2007, chapter
//! 2), and percentiles have no interval.

use std::collections::BTreeMap;

use hadal_types::limits::CONFIDENCE_TOTALS_MAX;
use hadal_types::{ColumnName, Kind, Logical, Number, Value};

use crate::aggregate_function::{AggregateFunction, StateKind};
use crate::expr::{ColumnRef, Expr, GroupInput, OutputExpr, RowExpr, RowInput};
use crate::function::Function;
use crate::measure::{Measure, Weighting};
use crate::total::{LeafTotal, Total};

/// How the intervals of a query's outputs are computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfidencePlan {
    /// By output.
    pub outputs: Vec<OutputConfidence>,
    /// The index of the measure of variances, by the index of the measure whose values these are
    /// of.
    pub variances: BTreeMap<usize, usize>,
    /// The index of the measure of covariances, by the indexes of two measures, the lower first.
    pub covariances: BTreeMap<(usize, usize), usize>,
    /// The index of the measure of quantiles whose rows weigh their variance, by that of the
    /// measure of the same quantiles.
    pub quantiles: BTreeMap<usize, usize>,
    /// The index of the measure of random groups of keys, by the index of the measure whose values
    /// these are of, or `None` for all rows. Empty if rows were kept independently.
    pub random_groups: BTreeMap<Option<usize>, usize>,
    /// The index of the measure of two totals of each leaf, the lower first.
    pub leaves: BTreeMap<(LeafTotal, LeafTotal), usize>,
}

/// How the interval of one output is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputConfidence {
    /// There is none: the output depends on single rows, such as a minimum.
    None,
    /// The output does not depend on which rows were kept, such as a key.
    Exact,
    /// The output is a smooth function of totals.
    Smooth(SmoothExpr),
    /// The output is a quotient of totals that is always between 0 and 1, such as an average of
    /// truths.
    Share(SmoothExpr),
    /// The output is this many millionths' quantile of a measure.
    Quantile(usize, u32),
}

/// A smooth function of totals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SmoothExpr {
    /// A number that does not depend on which rows were kept.
    Constant(OutputExpr),
    /// A total.
    Total(Total),
    /// left + right.
    Add(Box<[Self; 2]>),
    /// left − right.
    Subtract(Box<[Self; 2]>),
    /// left · right.
    Multiply(Box<[Self; 2]>),
    /// left / right.
    Divide(Box<[Self; 2]>),
}

impl SmoothExpr {
    /// The expression, unless it is no smooth function of totals.
    fn of(expr: &OutputExpr) -> Option<Self> {
        match expr {
            Expr::Literal(_) => Some(Self::Constant(expr.clone())),
            Expr::Leaf(leaf) => match leaf {
                GroupInput::Key(_) | GroupInput::RawCount | GroupInput::Seconds => {
                    Some(Self::Constant(expr.clone()))
                }
                GroupInput::Count => Some(Self::Total(Total::Rows)),
                GroupInput::Measure(measure, function) => Self::of_measure(*measure, *function),
            },
            Expr::Call { function, arguments } => Self::of_call(*function, arguments),
        }
    }

    fn of_measure(measure: usize, function: AggregateFunction) -> Option<Self> {
        let (sum, count) = (Self::Total(Total::Sum(measure)), Self::Total(Total::Count(measure)));
        match function {
            AggregateFunction::Count => Some(count),
            AggregateFunction::Sum => Some(sum),
            AggregateFunction::Avg => Some(Self::Divide(Box::new([sum, count]))),
            _ => None,
        }
    }

    fn of_call(function: Function, arguments: &[OutputExpr]) -> Option<Self> {
        let pair = || match arguments {
            [left, right] => Some(Box::new([Self::of(left)?, Self::of(right)?])),
            _ => None,
        };
        match (function, arguments) {
            (Function::Add, _) => pair().map(Self::Add),
            (Function::Subtract, _) => pair().map(Self::Subtract),
            (Function::Multiply, _) => pair().map(Self::Multiply),
            (Function::Divide | Function::DivideWhole, _) => pair().map(Self::Divide),
            (Function::Negate, [of]) => {
                let zero = Self::Constant(Expr::Literal(Value::integer(0)));
                Some(Self::Subtract(Box::new([zero, Self::of(of)?])))
            }
            // What is rounded is known no better than before.
            (Function::Round, [of, ..]) => Self::of(of),
            // A group with a value has the first of them, as a rule.
            (Function::Coalesce, [first, rest @ ..])
                if rest.iter().all(|rest| matches!(rest, Expr::Literal(_))) =>
            {
                Self::of(first)
            }
            // nullif(x, constant).
            (
                Function::Case,
                [Expr::Call { function: Function::Equal, arguments }, null, other],
            ) if *null == Expr::Literal(Value::Null)
                && matches!(arguments.as_slice(), [of, Expr::Literal(_)] if of == other) =>
            {
                Self::of(other)
            }
            _ => None,
        }
    }

    /// The totals of the expression, each once.
    #[must_use]
    pub fn totals(&self) -> Vec<Total> {
        let mut totals = Vec::new();
        self.add_totals_to(&mut totals);
        totals
    }

    fn add_totals_to(&self, totals: &mut Vec<Total>) {
        match self {
            Self::Constant(_) => {}
            Self::Total(total) if totals.contains(total) => {}
            Self::Total(total) => totals.push(*total),
            Self::Add(parts)
            | Self::Subtract(parts)
            | Self::Multiply(parts)
            | Self::Divide(parts) => parts.iter().for_each(|part| part.add_totals_to(totals)),
        }
    }
}

impl OutputConfidence {
    fn of(expr: &OutputExpr, measures: &[Measure], totals_max: usize) -> Self {
        if let Expr::Leaf(GroupInput::Measure(measure, function)) = expr
            && let AggregateFunction::Quantile(share) | AggregateFunction::QuantileCont(share) =
                function
        {
            return Self::Quantile(*measure, *share);
        }
        let mut is_exact = true;
        expr.for_each_leaf(&mut |leaf| is_exact &= matches!(leaf, GroupInput::Key(_)));
        match SmoothExpr::of(expr) {
            _ if is_exact => Self::Exact,
            Some(smooth) if smooth.totals().len() > totals_max => Self::None,
            Some(smooth) if is_share(expr, measures) => Self::Share(smooth),
            Some(smooth) => Self::Smooth(smooth),
            None => Self::None,
        }
    }
}

/// Whether an output is a share, whatever the rows have: the average of numbers between 0 and 1, or
/// the quotient of the number or sum of such values and that of all rows.
fn is_share(expr: &OutputExpr, measures: &[Measure]) -> bool {
    let is_of_truths = |measure: &usize| {
        measures.get(*measure).is_some_and(|Measure { argument, .. }| {
            // A constant has the same value in rows that were not kept.
            !matches!(argument, Expr::Literal(_)) && is_within_one(argument)
        })
    };
    match expr {
        Expr::Leaf(GroupInput::Measure(measure, AggregateFunction::Avg)) => is_of_truths(measure),
        Expr::Call { function: Function::Divide, arguments } => match arguments.as_slice() {
            [Expr::Leaf(GroupInput::Measure(measure, function)), Expr::Leaf(GroupInput::Count)] => {
                match function {
                    AggregateFunction::Count => true,
                    AggregateFunction::Sum => is_of_truths(measure),
                    _ => false,
                }
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether all values of an expression are null, truths, or numbers between 0 and 1.
fn is_within_one(expr: &RowExpr) -> bool {
    match expr {
        Expr::Literal(Value::Null | Value::Bool(_)) => true,
        Expr::Literal(Value::Number(number)) => {
            (Number::ZERO..=Number::integer(1)).contains(number)
        }
        Expr::Leaf(RowInput::Column(column)) => column.logical == Logical::Bool,
        Expr::Literal(_) | Expr::Leaf(_) => false,
        Expr::Call { function: Function::ToNumber | Function::Coalesce, arguments } => {
            arguments.iter().all(is_within_one)
        }
        Expr::Call { function: Function::Case, arguments } => {
            // Pairs of a condition and a value, and the value of the other rows.
            let (pairs, other) = arguments.as_chunks::<2>();
            pairs.iter().map(|[_, value]| value).chain(other).all(is_within_one)
        }
        Expr::Call { function, .. } => function.is_condition(),
    }
}

impl ConfidencePlan {
    /// The plan for these outputs. Adds the measures that their intervals are computed from. `key`
    /// is the table's `sample_key`.
    #[must_use]
    pub fn new<'e>(
        outputs: impl IntoIterator<Item = &'e OutputExpr>,
        key: Option<&ColumnName>,
        measures: &mut Vec<Measure>,
    ) -> Self {
        let mut plan = Self::default();
        for expr in outputs {
            let mut confidence = OutputConfidence::of(expr, measures, CONFIDENCE_TOTALS_MAX);
            match &confidence {
                OutputConfidence::Quantile(..) if key.is_some() => {
                    confidence = OutputConfidence::None;
                }
                OutputConfidence::Quantile(measure, _) => plan.add_quantiles(measures, *measure),
                OutputConfidence::Smooth(smooth) | OutputConfidence::Share(smooth) => {
                    match key {
                        Some(key) => plan.add_random_groups(measures, key, &smooth.totals()),
                        None => plan.add_products(measures, &smooth.totals()),
                    }
                    plan.add_leaf_totals(measures, &smooth.totals());
                }
                OutputConfidence::None | OutputConfidence::Exact => {}
            }
            plan.outputs.push(confidence);
        }
        plan
    }

    fn add_quantiles(&mut self, measures: &mut Vec<Measure>, measure: usize) {
        let Some(of) = measures.get(measure).cloned() else { return };
        self.quantiles.entry(measure).or_insert_with(|| {
            measures.push(Measure { weighting: Weighting::SamplingVariance, ..of });
            measures.len() - 1
        });
    }

    /// Adds the measures of these totals by random groups of keys.
    fn add_random_groups(
        &mut self,
        measures: &mut Vec<Measure>,
        key: &ColumnName,
        totals: &[Total],
    ) {
        for of in totals.iter().map(|total| total.measure()) {
            self.random_groups.entry(of).or_insert_with(|| {
                let one = || Expr::Literal(Value::integer(1));
                let argument = of.map_or_else(one, |of| measures[of].argument.clone());
                let second = Some(key_of_row(key));
                let kind = StateKind::RandomGroups;
                measures.push(Measure { second, ..Measure::new(kind, argument) });
                measures.len() - 1
            });
        }
    }

    /// Adds the measures of these totals, and of the stored rows, of each leaf.
    fn add_leaf_totals(&mut self, measures: &mut Vec<Measure>, totals: &[Total]) {
        let mut all: Vec<LeafTotal> = totals.iter().copied().map(LeafTotal::Of).collect();
        all.sort_unstable();
        all.insert(0, LeafTotal::TableRows);
        for (index, &one) in all.iter().enumerate() {
            for &other in &all[index + 1..] {
                let pair = (one, other);
                self.leaves.entry(pair).or_insert_with(|| add_of_leaves(measures, [one, other]));
            }
        }
    }

    /// Adds the measures of the variances and covariances of these totals.
    fn add_products(&mut self, measures: &mut Vec<Measure>, totals: &[Total]) {
        let mut of: Vec<usize> = totals.iter().filter_map(|total| total.measure()).collect();
        of.sort_unstable();
        of.dedup();
        let is_summed = |measure| totals.contains(&Total::Sum(measure));
        for (index, &measure) in of.iter().enumerate() {
            if is_summed(measure) {
                let kind = StateKind::Variance;
                let next = |measures: &mut _| add(measures, kind, [measure, measure]);
                self.variances.entry(measure).or_insert_with(|| next(measures));
            }
            for &other in &of[index + 1..] {
                let next =
                    |measures: &mut _| add(measures, StateKind::Covariance, [measure, other]);
                self.covariances.entry((measure, other)).or_insert_with(|| next(measures));
            }
        }
    }
}

/// The key that a row is kept by. A row without one is kept by itself, so its time has to do.
fn key_of_row(key: &ColumnName) -> RowExpr {
    let column = ColumnRef { name: key.clone(), kind: Kind::String, logical: Logical::Plain };
    Expr::call(Function::Coalesce, [RowInput::Column(column), RowInput::Time].map(Expr::Leaf))
}

/// Adds a measure of two totals of each leaf; returns its index.
fn add_of_leaves(measures: &mut Vec<Measure>, pair: [LeafTotal; 2]) -> usize {
    let none = || RowExpr::Literal(Value::Null);
    measures.push(Measure {
        kind: StateKind::Covariance,
        argument: none(),
        second: Some(none()),
        weighting: Weighting::Leaves(pair),
    });
    measures.len() - 1
}

/// Adds a measure of the variances of the values of one or two measures; returns its index.
fn add(measures: &mut Vec<Measure>, kind: StateKind, [first, second]: [usize; 2]) -> usize {
    let argument = measures[first].argument.clone();
    let second = kind.is_of_pairs().then(|| measures[second].argument.clone());
    measures.push(Measure { kind, argument, second, weighting: Weighting::SamplingVariance });
    measures.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(outputs: &[OutputExpr]) -> (ConfidencePlan, Vec<StateKind>) {
        let argument = || RowExpr::Leaf(RowInput::Time);
        let kinds = [StateKind::Moments, StateKind::Moments, StateKind::Quantiles];
        let mut measures = kinds.map(|kind| Measure::new(kind, argument())).to_vec();
        let plan = ConfidencePlan::new(outputs, None, &mut measures);
        let added = measures[3..].iter();
        let added = added.filter(|of| !matches!(of.weighting, Weighting::Leaves(_)));
        let added = added.inspect(|of| assert_eq!(of.weighting, Weighting::SamplingVariance));
        let kinds = added.map(|measure| measure.kind).collect();
        (plan, kinds)
    }

    fn aggregate(measure: usize, function: AggregateFunction) -> OutputExpr {
        Expr::Leaf(GroupInput::Measure(measure, function))
    }

    #[test]
    fn counts_need_no_more_measures() {
        let count = Expr::Leaf(GroupInput::Count);
        let (plan, kinds) = plan(&[count.clone(), aggregate(0, AggregateFunction::Count)]);
        let smooth = |total| OutputConfidence::Smooth(SmoothExpr::Total(total));
        assert_eq!(plan.outputs, [smooth(Total::Rows), smooth(Total::Count(0))]);
        assert!(kinds.is_empty());
        let pairs: Vec<_> = plan.leaves.keys().copied().collect();
        let with_rows = |total| (LeafTotal::TableRows, LeafTotal::Of(total));
        assert_eq!(pairs, [Total::Rows, Total::Count(0)].map(with_rows));
    }

    #[test]
    fn sums_and_ratios_need_variances_and_covariances_once() {
        let (sum, other) =
            (aggregate(0, AggregateFunction::Sum), aggregate(1, AggregateFunction::Avg));
        let ratio = Expr::call(Function::Divide, [sum.clone(), other]);
        let (plan, kinds) = plan(&[sum, ratio.clone(), ratio]);
        assert_eq!(kinds, [StateKind::Variance, StateKind::Covariance, StateKind::Variance]);
        assert_eq!(plan.variances[&0], 3);
        assert_eq!(plan.covariances.len(), 1);
        // Of three totals and the rows of the table.
        assert_eq!(plan.leaves.len(), 6);
    }

    #[test]
    fn percentiles_need_their_distribution_once() {
        let median = aggregate(2, AggregateFunction::QuantileCont(500_000));
        let (plan, kinds) = plan(&[median, aggregate(2, AggregateFunction::Quantile(900_000))]);
        assert_eq!(kinds, [StateKind::Quantiles]);
        assert_eq!(plan.quantiles, [(2, 3)].into());
        assert_eq!(plan.outputs[1], OutputConfidence::Quantile(2, 900_000));
    }

    #[test]
    fn tables_with_a_key_need_random_groups_once() {
        let measure = |kind| Measure::new(kind, RowExpr::Leaf(RowInput::Time));
        let mut measures = vec![measure(StateKind::Moments), measure(StateKind::Quantiles)];
        let count = Expr::Leaf(GroupInput::Count);
        let average = aggregate(0, AggregateFunction::Avg);
        let outputs = [count.clone(), average.clone(), Expr::call(Function::Add, [count, average])];
        let median = aggregate(1, AggregateFunction::QuantileCont(500_000));
        let key = ColumnName::new("user").expect("a name");
        let outputs = outputs.iter().chain([&median]);
        let plan = ConfidencePlan::new(outputs, Some(&key), &mut measures);
        assert_eq!(plan.outputs[3], OutputConfidence::None);
        let of = |index: usize| (&measures[index].kind, measures[index].second.is_some());
        assert_eq!(plan.random_groups.len(), 2);
        assert_eq!(of(plan.random_groups[&None]), (&StateKind::RandomGroups, true));
        assert_eq!(of(plan.random_groups[&Some(0)]), (&StateKind::RandomGroups, true));
        assert!(plan.variances.is_empty() && plan.covariances.is_empty());
    }

    #[test]
    fn what_is_no_smooth_function_has_no_interval() {
        let key = Expr::Leaf(GroupInput::Key(0));
        let abs = Expr::call(Function::Abs, [Expr::Leaf(GroupInput::Count)]);
        let (plan, kinds) = plan(&[key, abs, aggregate(0, AggregateFunction::Max)]);
        let expected = [OutputConfidence::Exact, OutputConfidence::None, OutputConfidence::None];
        assert_eq!(plan.outputs, expected);
        assert!(kinds.is_empty());
    }

    #[test]
    fn an_output_of_too_many_totals_has_no_interval() {
        let sum_of = |count: usize| {
            let totals = (0..count).map(|measure| aggregate(measure, AggregateFunction::Sum));
            let sum = totals.reduce(|sum, total| Expr::call(Function::Add, [sum, total]));
            OutputConfidence::of(&sum.expect("a total"), &[], CONFIDENCE_TOTALS_MAX)
        };
        assert!(matches!(sum_of(CONFIDENCE_TOTALS_MAX), OutputConfidence::Smooth(_)));
        assert_eq!(sum_of(CONFIDENCE_TOTALS_MAX + 1), OutputConfidence::None);
    }

    #[test]
    fn a_quotient_may_be_guarded() {
        let count = Expr::Leaf(GroupInput::Count);
        let literal = |value| Expr::Literal(value);
        let equal = Expr::call(Function::Equal, [count.clone(), literal(Value::integer(0))]);
        let guarded = Expr::call(Function::Case, [equal, literal(Value::Null), count]);
        let coalesced = Expr::call(Function::Coalesce, [guarded, literal(Value::integer(0))]);
        let rounded = Expr::call(Function::Round, [coalesced, literal(Value::integer(2))]);
        let smooth = OutputConfidence::Smooth(SmoothExpr::Total(Total::Rows));
        assert_eq!(plan(&[rounded]).0.outputs, [smooth]);
    }

    #[test]
    fn averages_of_truths_are_shares() {
        let time = || RowExpr::Leaf(RowInput::Time);
        let number = |number| RowExpr::Literal(Value::integer(number));
        let late = || RowExpr::call(Function::Greater, [time(), number(7)]);
        let case = |value, other| RowExpr::call(Function::Case, [late(), number(value), other]);
        let null = || RowExpr::Literal(Value::Null);
        let column = |logical| {
            let name = ColumnName::new("c").expect("a name");
            RowExpr::Leaf(RowInput::Column(ColumnRef { name, kind: Kind::Number, logical }))
        };
        for (argument, is_share) in [
            (RowExpr::Literal(Value::Bool(true)), false),
            (column(Logical::Bool), true),
            (column(Logical::Plain), false),
            (late(), true),
            (RowExpr::call(Function::ToNumber, [late()]), true),
            (RowExpr::call(Function::Coalesce, [late(), number(0)]), true),
            (RowExpr::call(Function::Coalesce, [late(), time()]), false),
            (case(1, number(0)), true),
            (case(1, null()), true),
            (case(1, case(0, null())), true),
            (RowExpr::call(Function::Case, [late(), number(1)]), true),
            (case(2, number(0)), false),
            (case(1, number(-1)), false),
            (case(1, time()), false),
            (time(), false),
            (RowExpr::call(Function::ToNumber, [time()]), false),
            (RowExpr::call(Function::Negate, [late()]), false),
        ] {
            let mut measures = vec![Measure::new(StateKind::Moments, argument.clone())];
            let [average, sum, count] =
                [AggregateFunction::Avg, AggregateFunction::Sum, AggregateFunction::Count]
                    .map(|of| aggregate(0, of));
            let all = || Expr::Leaf(GroupInput::Count);
            let of_all = |part: &OutputExpr| Expr::call(Function::Divide, [part.clone(), all()]);
            let of_part = Expr::call(Function::Divide, [all(), count.clone()]);
            let shares = [of_all(&count), average, of_all(&sum)];
            let outputs = shares.into_iter().chain([sum, of_part]).collect::<Vec<OutputExpr>>();
            let plan = ConfidencePlan::new(&outputs, None, &mut measures);
            let is = |output: &OutputConfidence| matches!(output, OutputConfidence::Share(_));
            let are_shares = plan.outputs.iter().map(is).collect::<Vec<bool>>();
            assert_eq!(are_shares, [true, is_share, is_share, false, false], "{argument:?}");
        }
    }
}
