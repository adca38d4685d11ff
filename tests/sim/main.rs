//! Simulation of a cluster: one seed decides everything that happens.
//!
//! The state machines of `tree` run in simulated processes, stepped by one queue of events.
//! Messages are lost, delayed, repeated; machines are cut off, in one direction too; processes
//! crash, freeze and restart; clocks run at different rates. After a time with faults all of it
//! heals, and everything must be right soon. `make simulate` runs more seeds.

mod checks;
mod client;
mod door;
mod faults;
mod leaf;
mod network;
mod options;
mod queue;
mod store;
mod world;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use checks::{Outcome, run};
use options::{Options, Planted};
use parking_lot::Mutex;

/// Seeds of a test run.
const SEEDS: u64 = 1_000;
/// Seeds within which every planted mistake must be found.
const SEEDS_TO_FIND: u64 = 1_000;

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
    let (events, revoked) = (AtomicU64::new(0), AtomicU64::new(0));
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
                    events.fetch_add(outcome.events, Ordering::Relaxed);
                    revoked.fetch_add(outcome.revoked as u64, Ordering::Relaxed);
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
    print(format!(
        "{planted:?}: seeds {seeds:?}, {} events, {} revocations, {seconds:.1} s",
        events.into_inner(),
        revoked.into_inner()
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
    for planted in [
        Planted::NewLeafEachTry,
        Planted::BrokenPromises,
        Planted::AnyProcess,
        Planted::DropUnasked,
        Planted::ServeUnread,
    ] {
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
