//! Waits of tests that fail by a timeout, and holds that a failing test releases: a leaf that ends
//! would otherwise wait for them forever.

use std::sync::mpsc;
use std::time::Instant;

use hadal_store::disk::simulated::World;

use super::*;

/// Longer than any event that a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until the condition `is_met` holds, which another thread causes.
#[track_caller]
pub(super) fn wait_until(what: &str, is_met: impl Fn() -> bool) {
    wait_no_longer_than(PATIENCE, what, is_met);
}

#[track_caller]
fn wait_no_longer_than(patience: Duration, what: &str, is_met: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_met() {
        assert!(begun.elapsed() < patience, "after {patience:?} still not: {what}");
        std::thread::yield_now();
    }
}

/// Waits until a leaf has restored all rows after its start.
#[track_caller]
pub(super) fn wait_until_alive(leaf: &Leaf) {
    wait_until("all rows are brought back", || leaf.context.state() == LeafState::Alive);
}

/// A hold on a world's disk operations. Make it after the leaf that waits for it: the value made
/// last is dropped first.
pub(super) struct Holding<'w> {
    world: &'w World,
    hold: fn(&World, bool),
}

/// Holds the reads of segments, opens a leaf, and releases the reads when the test ends.
pub(super) fn open_with_reads_held(
    world: &World,
    open: impl Fn(&World) -> Leaf,
) -> (Leaf, Holding<'_>) {
    world.hold_reads(true);
    (open(world), Holding { world, hold: World::hold_reads })
}

/// Holds the syncs of the log until it is dropped.
pub(super) fn hold_syncs(world: &World) -> Holding<'_> {
    world.hold_syncs(true);
    Holding { world, hold: World::hold_syncs }
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        (self.hold)(self.world, false);
    }
}

/// Stops a leaf when the test ends, so that the test's threads which work for it end too.
pub(super) struct Stopping<'l>(pub(super) &'l Leaf);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        // It may have stopped already, or may be unable to stop: the threads have seen the request.
        let _ = self.0.stop();
    }
}

#[test]
fn who_waits_in_vain_is_told_for_what() {
    let waited =
        std::panic::catch_unwind(|| wait_no_longer_than(Duration::ZERO, "it rains", || false));
    let panic = waited.expect_err("in vain");
    let message = panic.downcast_ref::<String>().expect("a text");
    assert!(message.ends_with("still not: it rains"), "{message}");
}

#[test]
fn a_test_that_fails_lets_go_of_what_it_holds() {
    let (ended, end) = mpsc::channel();
    let failing = std::thread::spawn(move || {
        // Dropped after everything below.
        let _ended: mpsc::Sender<()> = ended;
        let world = World::new(1);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let leaf = disk::open_on_memory(&world);
        for at in 0..16 {
            let batch = batch(&format!("b{at}"), 1, at * 500..(at + 1) * 500);
            runtime.block_on(leaf.accept(batch)).expect("taken");
        }
        leaf.merge_all();
        runtime.block_on(leaf.accept(batch("fresh", 1, 8_000..8_010))).expect("taken");
        drop(leaf);
        world.crash();
        let (leaf, _held) = open_with_reads_held(&world, disk::open_on_memory);
        wait_until("the leaf waits for what is held", || world.is_read_held());
        assert!(leaf.takes_batches());
        std::panic::resume_unwind(Box::new("as a test that fails"));
    });
    assert_eq!(end.recv_timeout(PATIENCE), Err(mpsc::RecvTimeoutError::Disconnected));
    assert!(failing.join().is_err(), "it failed");
}
