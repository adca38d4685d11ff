use hadal_query::{
    AggregateFunction, Expr, Function, GroupInput, Measure, Output, Query, QueryKind, RowInput,
};
use hadal_query::{StateKind, Type};
use hadal_types::{LeafName, TableName};

use super::*;
use crate::groups::group::Group;
use crate::partial::coverage::{Coverage, LeafCoverage, LeafOutcome};

/// Rows of these weights and values as one group, with the intervals of these outputs.
fn intervals(rows: &[(i64, i64)], outputs: &[OutputExpr]) -> Vec<Interval> {
    let measure = Measure::new(StateKind::Moments, Expr::Leaf(RowInput::Time));
    let kind = QueryKind::Groups { keys: Vec::new(), measures: vec![measure] };
    let mut query = Query::new(TableName::new("t").expect("a name"), kind);
    let output = |expr: &OutputExpr| Output {
        name: String::new(),
        value_type: Type::Number,
        expr: expr.clone(),
    };
    query.outputs = outputs.iter().map(output).collect();
    query.ask_for_confidence(None);
    let mut group = Group {
        count: WeightedCount::default(),
        states: query.measures().iter().map(|measure| State::new(measure.kind)).collect(),
    };
    for (rate, value) in rows {
        let weight = Weight::from_millionths(rate * Weight::UNIT).expect("a weight");
        group.count.add_row(weight);
        for (measure, state) in query.measures().iter().zip(&mut group.states) {
            if let Some(weight) = measure.weighting.of(weight) {
                state.add(&Value::integer(*value), weight);
            }
        }
    }
    let plan = query.confidence.as_deref().expect("a plan");
    let states = GroupStates::Alone(&group);
    let value = |expr: &OutputExpr| match expr {
        Expr::Leaf(slot) => crate::groups::group_value::of_group(&group, slot),
        _ => Value::integer(0),
    };
    let number = |_: &OutputExpr| Some(10.0);
    plan.outputs
        .iter()
        .zip(outputs)
        .map(|(of, expr)| interval((plan, of), &value(expr), &states, None, &number))
        .collect()
}

fn of(function: AggregateFunction) -> OutputExpr {
    Expr::Leaf(GroupInput::Measure(0, function))
}

fn assert_near(interval: Interval, expected: (f64, f64)) {
    let Interval::Between(low, high) = interval else { panic!("{interval:?}") };
    let near = |left: f64, right: f64| (left - right).abs() < 1e-9 * right.abs().max(1.0);
    assert!(near(low, expected.0) && near(high, expected.1), "{low} {high} {expected:?}");
}

#[test]
fn intervals_are_those_of_the_textbook() {
    // 150 rows of rate 4. Every third has the value 3, and the others 0.
    let rows: Vec<(i64, i64)> = (0..150).map(|row| (4, if row % 3 == 0 { 3 } else { 0 })).collect();
    let outputs =
        [Expr::Leaf(GroupInput::Count), of(AggregateFunction::Sum), of(AggregateFunction::Avg)];
    let computed = intervals(&rows, &outputs);
    // Each row adds 4 · 3 times its square.
    let width = DEVIATIONS * (150.0f64 * 12.0).sqrt();
    assert_near(computed[0], (600.0 - width, 600.0 + width));
    let width = DEVIATIONS * (50.0f64 * 9.0 * 12.0).sqrt();
    assert_near(computed[1], (600.0 - width, 600.0 + width));
    // Deviations from the average of 1: 2 fifty times, and 1 a hundred times.
    let width = DEVIATIONS * (12.0f64 * (50.0 * 4.0 + 100.0)).sqrt() / 600.0;
    assert_near(computed[2], (1.0 - width, 1.0 + width));
}

#[test]
fn a_constant_scales_an_interval() {
    let rows = [(2, 5); 200];
    let rate = Expr::call(
        Function::Divide,
        [Expr::Leaf(GroupInput::Count), Expr::Leaf(GroupInput::Seconds)],
    );
    let computed = intervals(&rows, &[Expr::Leaf(GroupInput::Count), rate]);
    let (Interval::Between(low, high), Interval::Between(slow, fast)) = (computed[0], computed[1])
    else {
        panic!("{computed:?}")
    };
    // Ten seconds; the value itself is not computed here.
    assert!(((high - low) / 10.0 - (fast - slow)).abs() < 1e-9, "{computed:?}");
}

#[test]
fn what_was_not_sampled_is_certain_and_few_rows_say_nothing() {
    let average = || [of(AggregateFunction::Avg)];
    assert_eq!(intervals(&[(1, 5), (1, 7)], &average()), [Interval::Between(6.0, 6.0)]);
    let enough = 100;
    assert!((f64::from(enough) - CONFIDENCE_EFFECTIVE_ROWS_MIN).abs() < 0.1);
    let rows = |count| (0..count).map(|row| (2, i64::from(row) % 5)).collect::<Vec<(i64, i64)>>();
    assert_eq!(intervals(&rows(enough - 1), &average()), [Interval::TooFew]);
    assert_ne!(intervals(&rows(enough), &average()), [Interval::TooFew]);
    // All values are equal, so the average is, whichever rows were kept.
    assert_eq!(intervals(&[(2, 5); 9], &average()), [Interval::Between(5.0, 5.0)]);
    // Many rows, but one weighs as much as all others.
    let mut rows = vec![(1, 1); 1_000];
    rows.push((1_000, 2));
    assert_eq!(intervals(&rows, &average()), [Interval::TooFew]);
}

#[test]
fn the_interval_of_a_share_ends_at_0_and_1() {
    let share = |low, high| Interval::Between(low, high).within_one();
    assert_eq!(share(-0.01, 0.02), Interval::Between(0.0, 0.02));
    assert_eq!(share(0.97, 1.01), Interval::Between(0.97, 1.0));
    assert_eq!(share(0.25, 0.75), Interval::Between(0.25, 0.75));
    let of_all = |low, high| Interval::OfAll { estimate: 0.5, low, high };
    assert_eq!(of_all(-0.5, 1.5).within_one(), of_all(0.0, 1.0));
    assert_eq!(Interval::TooFew.within_one(), Interval::TooFew);
}

#[test]
fn a_share_of_nothing_may_have_some_that_were_not_kept() {
    let point = |value| Interval::Between(value, value);
    assert_eq!(point(0.0).with_unseen(0.25), Interval::Between(0.0, 0.25));
    assert_eq!(point(1.0).with_unseen(0.25), Interval::Between(0.75, 1.0));
    assert_eq!(point(0.0).with_unseen(0.0), point(0.0));
    assert_eq!(point(1.0).with_unseen(7.0), Interval::Between(0.0, 1.0));
    let of_all = |low, high| Interval::OfAll { estimate: 1.0, low, high };
    assert_eq!(of_all(1.0, 1.0).with_unseen(0.25), of_all(0.75, 1.0));
    assert_eq!(of_all(0.5, 1.5).with_unseen(0.25), of_all(0.5, 1.0));
    assert_eq!(Interval::TooFew.with_unseen(0.25), Interval::TooFew);
}

#[test]
fn only_sampled_rows_hide_others() {
    let value = Expr::Leaf(GroupInput::Measure(0, AggregateFunction::Count));
    let share = Expr::call(Function::Divide, [value, Expr::Leaf(GroupInput::Count)]);
    let interval = |rates: &[(u32, u32)]| {
        let rows = rates.iter().flat_map(|&(rate, rows)| vec![(rate.into(), 7); rows as usize]);
        intervals(&rows.collect::<Vec<(i64, i64)>>(), std::slice::from_ref(&share))[0]
    };
    // The quotient is taken for 0 above.
    assert_eq!(interval(&[(1, 9)]), Interval::Between(0.0, 0.0));
    assert_eq!(interval(&[(10, 9)]), Interval::TooFew);
    for rates in [&[(10, 300)][..], &[(1, 1_000), (10, 200)], &[(1, 100_000), (10, 50)]] {
        let events: f64 = rates.iter().map(|&(rate, rows)| f64::from(rate * rows)).sum();
        let Interval::Between(0.0, high) = interval(rates) else { panic!("{rates:?}") };
        // 0.9^28.4 = 5 %.
        assert!((high * events - 28.433).abs() < 1e-3, "{rates:?}: {high}");
    }
}

#[test]
fn rows_of_missing_leaves_hide_others() {
    // Half of the table's rows are there.
    let half = Coverage { rows_expected: 600, rows_scanned: 300, ..Coverage::default() };
    let leaf = LeafCoverage {
        name: LeafName("leaf-0".into()),
        outcome: LeafOutcome::Answered,
        rows_expected: 300,
        rows_scanned: 300,
        micros: 0,
        as_of: (0, 0),
    };
    let half =
        AnsweredLeaves::of(&Coverage { leaves: vec![leaf], ..half }).expect("rows are missing");
    let plan = ConfidencePlan::default();
    for (rate, all, of_half) in [(1, 0.0, 4.322 / 600.0), (10, 28.433 / 3_000.0, 58.404 / 6_000.0)]
    {
        let mut count = WeightedCount::default();
        let weight = Weight::from_millionths(rate * Weight::UNIT).expect("a weight");
        (0..300).for_each(|_| count.add_row(weight));
        let group = Group { count, states: Box::default() };
        let states = GroupStates::Alone(&group);
        let totals = Totals { plan: &plan, states: &states, totals: &[Total::Rows] };
        for (leaves, expected) in [(None, all), (Some(&half), of_half)] {
            let share = totals.unseen_share(leaves).expect("enough rows");
            assert!((share - expected).abs() < 1e-6, "{rate}, {leaves:?}: {share}");
        }
    }
}
