//! Simulation of a cluster: one seed decides everything that happens.
//!
//! The state machines of `tree` run in simulated processes, stepped by one queue of events.
//! Messages are lost, delayed, repeated; machines are cut off, in one direction too; processes
//! crash, freeze and restart; clocks run at different rates. After a time with faults all of it
//! heals, and everything must be right soon. `make simulate` runs more seeds.

// `cfg(test)` on some modules: clippy allows `expect` in test modules only.
mod checks;
mod client;
mod clocks;
mod coverage;
mod door;
mod faults;
mod leaf;
#[cfg(test)]
mod merging;
mod messages;
mod network;
mod observing;
mod options;
#[cfg(test)]
mod placement_figure;
mod placing;
mod querying;
mod queue;
mod reviewing;
mod rolling;
mod sending;
#[cfg(test)]
mod share;
mod store;
mod world;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use checks::{Outcome, run};
use options::{Options, PLANTED, Planted};
use parking_lot::Mutex;

/// Seeds of a test run.
const SEEDS: u64 = 1_000;
/// Seeds within which every planted mistake must be found.
const SEEDS_TO_FIND: u64 = 1_000;

/// What runs did together.
#[derive(Debug, Default)]
struct Sums {
    seeds: u64,
    events: u64,
    revoked: u64,
    restarts: u64,
    rollovers: u64,
    expired: u64,
    /// Runs at whose end rows are expected that nobody has.
    understated: u64,
}

impl Sums {
    fn add(&mut self, outcome: &Outcome) {
        self.seeds += 1;
        self.events += outcome.events;
        self.revoked += outcome.revoked as u64;
        self.restarts += outcome.restarts;
        self.rollovers += outcome.rollovers;
        self.expired += outcome.expired as u64;
        self.understated += u64::from(outcome.surplus > 0);
    }
}

/// Shown with `--nocapture`, and when a test fails.
#[expect(clippy::print_stdout, reason = "for people")]
fn print(line: String) {
    println!("{line}");
}

/// A number from the environment.
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs seeds on all cores; returns the lowest one with a violation.
fn first_violation(seeds: std::ops::Range<u64>, planted: Planted) -> Option<(u64, Outcome)> {
    let next = AtomicU64::new(seeds.start);
    let sums = Mutex::new(Sums::default());
    let violation = Mutex::new(None::<(u64, Outcome)>);
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let outcome = run(seed, planted);
                    sums.lock().add(&outcome);
                    if !outcome.violations.is_empty() {
                        next.store(seeds.end, Ordering::Relaxed);
                        let mut violation = violation.lock();
                        if violation.as_ref().is_none_or(|(first, _)| seed < *first) {
                            *violation = Some((seed, outcome));
                        }
                    }
                }
            });
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let sums = sums.into_inner();
    let per_minute = sums.seeds as f64 / seconds * 60.0;
    print(format!(
        "{planted:?}: seeds {seeds:?} on {cores} cores, {seconds:.1} s, {per_minute:.0} per minute; \
         {sums:?}"
    ));
    violation.into_inner()
}

#[test]
fn nothing_acknowledged_is_lost_or_counted_twice() {
    let first = setting("HADAL_SIMULATE_FIRST", 0);
    let seeds = first..first + setting("HADAL_SIMULATE_SEEDS", SEEDS);
    if let Some((seed, outcome)) = first_violation(seeds, Planted::None) {
        panic!(
            "seed {seed}: {:#?}\n{:#?}\nagain: make simulate ARGS=\"--first {seed} --seeds 1\"",
            outcome.violations,
            Options::of(seed, Planted::None)
        );
    }
}

#[test]
fn planted_mistakes_are_found() {
    for planted in PLANTED {
        let first = first_violation(0..SEEDS_TO_FIND, planted);
        let (seed, outcome) = first.unwrap_or_else(|| panic!("{planted:?} was not found"));
        print(format!("{planted:?} was found with seed {seed}: {}", outcome.violations[0]));
    }
}

#[test]
fn a_seed_repeats_its_run() {
    let mut traces = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let (one, other) = (run(seed, Planted::None), run(seed, Planted::None));
        assert_eq!((one.events, one.trace), (other.events, other.trace), "seed {seed}");
        assert!(one.acknowledged > 0, "seed {seed}");
        traces.insert(one.trace);
    }
    assert_eq!(traces.len(), 20);
}
