//! Messages of several observers, merged in any order. A failing sequence of steps is printed.

use std::collections::BTreeMap;

use hadal_peer::{ExpectedRowsSource, TableRun};
use proptest::prelude::*;

use super::*;

const LEAVES: usize = 2;
const OBSERVERS: usize = 3;

/// What happens, and after how many seconds.
#[derive(Clone, Debug)]
struct Step {
    after: u32,
    leaf: usize,
    observer: usize,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// A leaf accepts rows, and reports it.
    Accept(u64),
    /// A leaf removes rows, and reports it.
    Remove(u64),
    /// A leaf starts again without the last rows, and reports it.
    Restart(u64),
    /// A person forgets the leaf.
    ForgetLeaf,
    /// A person knows of the leaf's losses.
    AcknowledgeLosses,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let what = prop_oneof![
        6 => (1..50u64).prop_map(What::Accept),
        2 => (1..20u64).prop_map(What::Remove),
        1 => (0..20u64).prop_map(What::Restart),
        1 => Just(What::ForgetLeaf),
        1 => Just(What::AcknowledgeLosses),
    ];
    let step = (1..5 * HOUR, 0..LEAVES, 0..OBSERVERS, what);
    let step = step.prop_map(|(after, leaf, observer, what)| Step { after, leaf, observer, what });
    prop::collection::vec(step, 1..40)
}

fn name(leaf: usize) -> LeafName {
    LeafName(format!("leaf-{leaf}").into())
}

/// The messages of all observers after each step.
fn messages(
    clock: &FixedClock,
    observers: &[ExpectedRows],
    steps: &[Step],
) -> Vec<ExpectedRowsDelta> {
    let mut reports = [0, 1].map(|leaf| TableReport { leaf: name(leaf), ..report(0, 0, [0; 3]) });
    let (mut rows, mut second, mut messages) = ([0; LEAVES], 0, Vec::new());
    for Step { after, leaf, observer, what } in steps {
        clock.pass(*after);
        second += after;
        let (report, rows, observer) =
            (&mut reports[*leaf], &mut rows[*leaf], &observers[*observer]);
        report.version += 1;
        match what {
            What::Accept(accepted) => {
                *rows += accepted;
                report.accepted_rows += accepted;
            }
            What::Remove(removed) => *rows = rows.saturating_sub(*removed),
            What::Restart(lost) => {
                *rows = rows.saturating_sub(*lost);
                let arrived = [*rows, 0, *rows];
                *report = TableReport { leaf: name(*leaf), ..super::report(second, 1, arrived) };
            }
            What::ForgetLeaf => observer.forget_leaf(&report.leaf),
            What::AcknowledgeLosses => observer.acknowledge_losses(None),
        }
        let arrived = [report.recovered_rows, report.accepted_rows, *rows];
        let status = super::report(0, 0, arrived).status;
        *report = TableReport { status, ..report.clone() };
        if matches!(what, What::Accept(_) | What::Remove(_) | What::Restart(_)) {
            observer.report(report);
        }
        messages.push(observer.changes_since(0));
    }
    messages
}

/// What an observer knows, without its own numbers of changes.
fn knowledge(observer: &ExpectedRows) -> BTreeMap<LeafName, Vec<TableRun>> {
    let shares = observer.changes_since(0).shares;
    shares.into_iter().map(|share| (share.leaf, share.runs)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_order_of_messages_does_not_matter(steps in steps(), order in any::<Vec<u8>>()) {
        let runs = steps.iter().filter(|step| matches!(step.what, What::Restart(_))).count();
        // Runs that are summed up cannot be corrected later.
        prop_assume!(runs < EXPECTED_RUNS_MAX);
        let (clock, one) = counts();
        let new = || ExpectedRows::new(Arc::<FixedClock>::clone(&clock));
        let (two, observers) = (new(), [new(), new(), new()]);
        let messages = messages(&clock, &observers, &steps);
        messages.iter().for_each(|message| one.merge(message));
        // Some of them first and more than once, the rest backwards.
        for index in order {
            two.merge(&messages[usize::from(index) % messages.len()]);
        }
        messages.iter().rev().for_each(|message| two.merge(message));
        prop_assert_eq!(knowledge(&one), knowledge(&two));
        for _ in 0..20 {
            for leaf in 0..LEAVES {
                let expected = |of: &ExpectedRows| of.expected(&name(leaf), &table());
                prop_assert_eq!(expected(&one), expected(&two));
            }
            clock.pass(DAY);
        }
    }
}

#[test]
fn a_source_of_another_epoch_tells_everything() {
    let (_, counts) = counts();
    counts.report(&report(0, 1, [0, 5, 5]));
    let epoch = counts.epoch();
    assert_eq!(counts.changes(epoch, 0).shares.len(), 1);
    assert_eq!(
        counts.changes(epoch, 1),
        ExpectedRowsDelta { epoch, version: 1, ..ExpectedRowsDelta::default() }
    );
    assert_eq!(counts.changes(epoch + 1, 1).shares.len(), 1);
}
