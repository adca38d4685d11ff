//! Which machines reach each other, and who hears of whom by gossip.

use std::collections::BTreeSet;

/// Directed cuts between machines. Gossip goes around them, requests do not.
#[derive(Debug, Default)]
pub(crate) struct Network {
    cuts: BTreeSet<(usize, usize)>,
}

impl Network {
    pub(crate) fn cut(&mut self, pairs: &BTreeSet<(usize, usize)>) {
        self.cuts.extend(pairs);
    }

    pub(crate) fn heal(&mut self, pairs: &BTreeSet<(usize, usize)>) {
        self.cuts.retain(|pair| !pairs.contains(pair));
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.cuts.is_empty()
    }

    /// Whether a message arrives.
    pub(crate) fn carries(&self, from: usize, to: usize) -> bool {
        !self.cuts.contains(&(from, to))
    }

    /// Whether a request and its answer arrive: both are of one connection.
    pub(crate) fn connects(&self, from: usize, to: usize) -> bool {
        self.carries(from, to) && self.carries(to, from)
    }

    /// The machines that hear of `from`, perhaps through others; only working ones pass it on.
    pub(crate) fn hearers(&self, from: usize, works: &[bool]) -> Vec<bool> {
        let mut hears = vec![false; works.len()];
        hears[from] = true;
        let mut next = vec![from];
        while let Some(machine) = next.pop() {
            for other in 0..works.len() {
                if !hears[other] && works[other] && self.carries(machine, other) {
                    hears[other] = true;
                    next.push(other);
                }
            }
        }
        hears
    }
}

#[test]
fn gossip_goes_around_a_cut_and_in_one_direction() {
    let mut network = Network::default();
    let cut: BTreeSet<(usize, usize)> = [(0, 1), (2, 0), (1, 0)].into();
    network.cut(&cut);
    assert!(!network.connects(0, 2) && network.carries(0, 2));
    assert_eq!(network.hearers(0, &[true; 3]), [true; 3], "1 by way of 2");
    assert_eq!(network.hearers(1, &[true; 3]), [false, true, true]);
    assert_eq!(network.hearers(0, &[true, true, false]), [true, false, false]);
    network.heal(&cut);
    assert!(network.is_whole());
}
