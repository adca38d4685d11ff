//! The real calls between processes in a simulated network: `rpc`, placement and the tree, with
//! connections that break, freeze and are cut in one direction, and leaf processes that crash.
//!
//! The order of tasks within a process is not simulated, so a seed repeats the faults of its run,
//! and not each step. `tests/sim` simulates the state machines alone, with far more seeds.

mod door;
mod leaf;
mod network;
mod records;
mod world;

use door::Planted;

/// Seeds of a test run; `HADAL_TURMOIL_SEEDS` runs more.
const SEEDS: u64 = 40;
/// Seeds within which a planted mistake must be found.
const SEEDS_TO_FIND: u64 = 200;

#[test]
fn no_batch_is_lost_or_counted_twice_whatever_the_network_does() {
    let seeds = std::env::var("HADAL_TURMOIL_SEEDS").ok().and_then(|text| text.parse().ok());
    let (mut acknowledged, mut faults) = (0, 0);
    for seed in 0..seeds.unwrap_or(SEEDS) {
        match world::run(seed, Planted::None) {
            Ok(outcome) => {
                acknowledged += outcome.acknowledged;
                faults += outcome.faults;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    assert!(acknowledged > 0 && faults > 0, "{acknowledged} batches, {faults} faults");
}

#[test]
fn a_planted_mistake_is_found() {
    let planted = Planted::NewLeafEachTry;
    let is_found = (0..SEEDS_TO_FIND).any(|seed| world::run(seed, planted).is_err());
    assert!(is_found, "{planted:?} was not found");
}
