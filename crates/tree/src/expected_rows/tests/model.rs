//! Leaves that accept, expire, crash and restart, and observers that hear of it in any order. A
//! failing sequence of steps is printed.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const LEAVES: usize = 2;
const OBSERVERS: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    /// A leaf accepts rows; the observer gets the acknowledgement, with or without a report.
    Accept { leaf: usize, observer: usize, rows: u64, with_report: bool },
    /// A leaf removes rows by its own rules, and reports it to an observer.
    Remove { leaf: usize, observer: usize, rows: u64 },
    /// A leaf starts again, without the last rows. An observer hears of it.
    Restart { leaf: usize, observer: usize, loses: u64 },
    /// An observer hears of a leaf's rows.
    Report { leaf: usize, observer: usize },
    /// One observer hears from another, and the message is kept.
    Exchange { from: usize, to: usize },
    /// An observer hears an old message again.
    Repeat { message: usize, to: usize },
    /// An observer restarts with what it had stored.
    Reopen { observer: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (leaf, observer) = (0..LEAVES, 0..OBSERVERS);
    let step = prop_oneof![
        4 => (leaf.clone(), observer.clone(), 1..50u64, any::<bool>()).prop_map(
            |(leaf, observer, rows, with_report)| Step::Accept { leaf, observer, rows, with_report }
        ),
        2 => (leaf.clone(), observer.clone(), 1..30u64)
            .prop_map(|(leaf, observer, rows)| Step::Remove { leaf, observer, rows }),
        1 => (leaf.clone(), observer.clone(), 0..20u64)
            .prop_map(|(leaf, observer, loses)| Step::Restart { leaf, observer, loses }),
        2 => (leaf, observer.clone()).prop_map(|(leaf, observer)| Step::Report { leaf, observer }),
        2 => (observer.clone(), observer.clone()).prop_map(|(from, to)| Step::Exchange { from, to }),
        1 => (any::<usize>(), observer.clone())
            .prop_map(|(message, to)| Step::Repeat { message, to }),
        1 => observer.prop_map(|observer| Step::Reopen { observer }),
    ];
    prop::collection::vec(step, 1..80)
}

/// A leaf as it is, and as it should be.
#[derive(Clone, Copy, Debug, Default)]
struct Truth {
    run: u32,
    version: u64,
    recovered: u64,
    accepted: u64,
    rows: u64,
    /// Rows that went missing.
    missing: u64,
}

struct Model {
    leaves: [Truth; LEAVES],
    /// What each leaf held at each run and version.
    history: [BTreeMap<(u32, u64), u64>; LEAVES],
    /// The newest run and version that the leaf itself reported to each observer.
    told: [[Option<(u32, u64)>; LEAVES]; OBSERVERS],
    observers: Vec<ExpectedRows>,
    messages: Vec<ExpectedRowsDelta>,
}

fn name(leaf: usize) -> LeafName {
    LeafName(format!("leaf-{leaf}").into())
}

impl Model {
    fn new() -> Self {
        Self {
            leaves: Default::default(),
            history: Default::default(),
            told: Default::default(),
            observers: (0..OBSERVERS).map(|_| counts().1).collect(),
            messages: Vec::new(),
        }
    }

    fn report(&mut self, leaf: usize, observer: usize) -> TableReport {
        let Truth { run, version, recovered, accepted, rows, .. } = self.leaves[leaf];
        self.told[observer][leaf] = Some((run, version));
        TableReport { leaf: name(leaf), ..report(run, version, [recovered, accepted, rows]) }
    }

    fn changed(&mut self, leaf: usize) {
        let truth = &mut self.leaves[leaf];
        truth.version += 1;
        self.history[leaf].insert((truth.run, truth.version), truth.rows);
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Accept { leaf, observer, rows, with_report } => {
                self.leaves[leaf].rows += rows;
                self.leaves[leaf].accepted += rows;
                self.changed(leaf);
                let report = with_report.then(|| self.report(leaf, observer));
                let observer = &self.observers[observer];
                observer.acknowledged(&name(leaf), &table(), rows, report.as_ref());
            }
            Step::Remove { leaf, observer, rows } => {
                let truth = &mut self.leaves[leaf];
                truth.rows = truth.rows.saturating_sub(rows);
                self.changed(leaf);
                self.step(&Step::Report { leaf, observer });
            }
            Step::Restart { leaf, observer, loses } => {
                // Rows in no report were not acknowledged.
                self.step(&Step::Report { leaf, observer });
                let truth = &mut self.leaves[leaf];
                let lost = loses.min(truth.rows);
                truth.rows -= lost;
                truth.missing += lost;
                (truth.run, truth.version) = (truth.run + 1, 0);
                (truth.recovered, truth.accepted) = (truth.rows, 0);
                let runs = truth.run as usize + 1;
                self.changed(leaf);
                self.step(&Step::Report { leaf, observer });
                if runs.is_multiple_of(EXPECTED_RUNS_MAX - 1) {
                    // Runs that are summed up cannot be corrected later.
                    self.exchange_all();
                }
            }
            Step::Report { leaf, observer } => {
                let report = self.report(leaf, observer);
                self.observers[observer].report(&report);
            }
            Step::Exchange { from, to } => {
                let message = self.observers[from].changes_since(0);
                self.observers[to].merge(&message);
                self.messages.push(message);
            }
            Step::Repeat { message, to } => {
                if let Some(index) = message.checked_rem(self.messages.len()) {
                    self.observers[to].merge(&self.messages[index]);
                }
            }
            Step::Reopen { observer } => {
                let stored = self.observers[observer].changes_since(0);
                self.observers[observer] = counts().1;
                self.observers[observer].merge(&stored);
            }
        }
    }

    /// A silent leaf is expected to hold what the newest report says that an observer knows, or
    /// more: rows that are acknowledged and in no report yet.
    fn check_told(&self) {
        for (observer, told) in self.observers.iter().zip(&self.told) {
            for (leaf, told) in told.iter().enumerate() {
                let Some(told) = told else { continue };
                let expected = observer.expected(&name(leaf), &table());
                let mut since = self.history[leaf].range(told..);
                let least = since.clone().map(|(_, rows)| *rows).min().expect("told of it");
                let first = *since.next().expect("told of it").1;
                assert!(expected >= least.min(first), "{expected} of {first} rows, leaf {leaf}");
            }
        }
    }

    fn exchange_all(&mut self) {
        for _ in 0..2 {
            for index in 0..OBSERVERS * OBSERVERS {
                let (from, to) = (index / OBSERVERS, index % OBSERVERS);
                self.step(&Step::Exchange { from, to });
            }
        }
    }

    /// Once everybody knows everything, everybody is right.
    fn check_end(&mut self) {
        for leaf in 0..LEAVES {
            self.step(&Step::Report { leaf, observer: leaf % OBSERVERS });
        }
        self.exchange_all();
        for observer in &self.observers {
            for (leaf, truth) in self.leaves.iter().enumerate() {
                let should = truth.rows + truth.missing;
                assert_eq!(observer.expected(&name(leaf), &table()), should, "silent leaf {leaf}");
                let answered = observer.answered(&name(leaf), &table(), truth.rows, (0, 0));
                assert_eq!(answered, should, "answering leaf {leaf}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_observer_expects_less_than_it_was_told_and_all_agree_in_the_end(steps in steps()) {
        let mut model = Model::new();
        (0..LEAVES).for_each(|leaf| model.changed(leaf));
        for step in &steps {
            model.step(step);
            model.check_told();
        }
        model.check_end();
    }
}
