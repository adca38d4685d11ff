//! Decides which aggregators a process asks for their expected rows, and when. Pure: the driver
//! passes members and the time, asks, and reports how that ended.
//!
//! Members announce only the number of their changes. So an aggregator is *behind us* unless it has
//! announced more changes than this process got from it, and is not asked. Otherwise it is asked
//!
//! - at once when it appears, also after silence: each side may have stored what the other lacks;
//! - at once when a leaf falls silent: only the one that received the leaf's last acknowledgements
//!   knows them;
//! - else in turn, one every few seconds. The turn begins after this process's own name, so that
//!   processes do not all ask the same one.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Duration;

use hadal_peer::{Member, MemberRole, MemberState};
use hadal_types::LeafName;
use hadal_types::limits::{EXPECTED_ROWS_EXCHANGE_SECONDS, EXPECTED_ROWS_PULL_MILLIS};

/// The time between two turns.
const TURN: Duration = Duration::from_secs(EXPECTED_ROWS_EXCHANGE_SECONDS);
/// The time after which an aggregator is asked again that failed.
const PAUSE: Duration = Duration::from_millis(EXPECTED_ROWS_PULL_MILLIS);

/// What is asked of an aggregator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pull {
    /// The aggregator.
    pub member: LeafName,
    /// The start of its process.
    pub started: u64,
    /// The start of the counting to which the version belongs; 0 if nothing is known.
    pub epoch: u64,
    /// The version up to which its changes are known.
    pub version: u64,
}

/// The other aggregators, and what is known of their expected rows.
pub struct Exchange {
    local: LeafName,
    others: BTreeMap<LeafName, Other>,
    /// The leaves, and whether each is silent.
    leaves: BTreeMap<LeafName, bool>,
    /// The last one that had its turn.
    last: LeafName,
    next_turn: Duration,
}

/// Another aggregator.
struct Other {
    started: u64,
    /// The version that it announced last.
    announced: u64,
    epoch: u64,
    /// The version up to which its changes are known.
    version: u64,
    is_under_way: bool,
    /// From when on it is asked out of turn.
    ask_from: Option<Duration>,
}

impl Other {
    fn has_news(&self) -> bool {
        self.epoch == 0 || self.announced > self.version
    }
}

impl Exchange {
    /// Knows no other aggregators yet.
    #[must_use]
    pub fn new(local: LeafName) -> Self {
        let last = local.clone();
        let (others, leaves) = (BTreeMap::new(), BTreeMap::new());
        Self { local, others, leaves, last, next_turn: TURN }
    }

    /// Takes in the members as they are at the time `now`, which never falls.
    pub fn see(&mut self, members: &[Member], now: Duration) {
        let others = members.iter().filter(|member| {
            member.role == MemberRole::Aggregator
                && member.name != self.local
                && member.state != MemberState::Silent
        });
        let mut before = std::mem::take(&mut self.others);
        for member in others {
            let same = before.remove(&member.name).filter(|other| other.started == member.started);
            let other = same.unwrap_or(Other {
                started: member.started,
                announced: 0,
                epoch: 0,
                version: 0,
                is_under_way: false,
                ask_from: Some(now),
            });
            let announced = member.expected_rows_version;
            self.others.insert(member.name.clone(), Other { announced, ..other });
        }
        if self.see_leaves(members) {
            self.others.values_mut().for_each(|other| other.ask_from = Some(now));
        }
    }

    /// Returns whether a leaf has fallen silent.
    fn see_leaves(&mut self, members: &[Member]) -> bool {
        let leaves = members.iter().filter(|member| member.role == MemberRole::Leaf);
        let now: BTreeMap<LeafName, bool> =
            leaves.map(|leaf| (leaf.name.clone(), leaf.state == MemberState::Silent)).collect();
        let before = std::mem::replace(&mut self.leaves, now);
        self.leaves.iter().any(|(name, is_silent)| *is_silent && before.get(name) != Some(&true))
    }

    /// Returns whom to ask at the time `now`. They are under way until [`Self::ended`].
    pub fn due(&mut self, now: Duration) -> Vec<Pull> {
        if now >= self.next_turn {
            self.next_turn = now + TURN;
            if let Some(name) = self.next_in_turn()
                && let Some(other) = self.others.get_mut(&name)
            {
                other.ask_from = Some(now);
                self.last = name;
            }
        }
        let mut pulls = Vec::new();
        for (member, other) in &mut self.others {
            if !other.has_news() {
                other.ask_from = None;
            }
            if other.is_under_way || other.ask_from.is_none_or(|from| from > now) {
                continue;
            }
            (other.is_under_way, other.ask_from) = (true, None);
            let Other { started, epoch, version, .. } = *other;
            pulls.push(Pull { member: member.clone(), started, epoch, version });
        }
        pulls
    }

    /// The next one with news after the one that had its turn last.
    fn next_in_turn(&self) -> Option<LeafName> {
        let after = self.others.range((Bound::Excluded(&self.last), Bound::Unbounded));
        let all = after.chain(&self.others);
        let mut with_news = all.filter(|(_, other)| other.has_news() && !other.is_under_way);
        with_news.next().map(|(name, _)| name.clone())
    }

    /// Takes in how a pull ended: with the epoch and the version up to which all is known now, and
    /// whether there is more; `None` if it failed.
    pub fn ended(&mut self, pull: &Pull, answer: Option<(u64, u64, bool)>, now: Duration) {
        let other = self.others.get_mut(&pull.member);
        let Some(other) = other.filter(|other| other.started == pull.started) else { return };
        other.is_under_way = false;
        match answer {
            Some((epoch, version, has_more)) => {
                (other.epoch, other.version) = (epoch, version);
                if has_more {
                    other.ask_from = Some(now);
                }
            }
            None => other.ask_from = Some(now + PAUSE),
        }
    }

    /// When [`Self::due`] has something to do next, unless members change.
    #[must_use]
    pub fn wake_at(&self) -> Duration {
        let waiting = self.others.values().filter(|other| !other.is_under_way);
        let times = waiting.filter_map(|other| other.ask_from);
        times.fold(self.next_turn, Duration::min)
    }
}

#[cfg(test)]
mod tests;
