//! What is wrong with the cluster.

use hadal_types::limits::CLOCK_SKEW_SECONDS;

use super::{Process, ProcessId, Registry, SILENT_AFTER};
use crate::announcement::Unreadable;
use crate::problem::Problem;

/// Characters of a name that is no name.
const NAME_SHOWN: usize = 40;

impl Registry {
    /// What is wrong now, each thing once, in a fixed order.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let live = self.processes.iter().filter(|(_, process)| process.is_alive(self.listened));
        let live: Vec<_> = live.collect();
        let same_names = live.windows(2).filter_map(|pair| Self::same_name(pair[0], pair[1]));
        let mut problems: Vec<Problem> = same_names.collect();
        problems.extend(live.iter().filter_map(|(id, process)| self.problem_of(id, process)));
        if self.ignored > 0 {
            problems.push(Problem::TooMany { ignored: self.ignored });
        }
        problems.sort();
        problems.dedup();
        problems
    }

    /// Two live processes of one name. News of the older one's heartbeat may still arrive after
    /// the younger one has replaced it, but not for long.
    fn same_name(
        (older_id, older): (&ProcessId, &Process),
        (younger_id, younger): (&ProcessId, &Process),
    ) -> Option<Problem> {
        let overlap = older.heard?.saturating_sub(younger.first_seen);
        (older_id.name == younger_id.name && overlap > SILENT_AFTER).then(|| Problem::SameName {
            name: older_id.name.clone(),
            older: older_id.address,
            younger: younger_id.address,
        })
    }

    fn problem_of(&self, id: &ProcessId, process: &Process) -> Option<Problem> {
        let ProcessId { name, address, .. } = id.clone();
        match process.announced.as_ref()? {
            Err(Unreadable::WireVersion(version)) => {
                Some(Problem::WireVersion { name, address, version: *version })
            }
            Err(Unreadable::Reason(reason)) => {
                let shown = name.0.chars().filter(|character| !character.is_control());
                let name = shown.take(NAME_SHOWN).collect();
                Some(Problem::Unreadable { name, address, reason: reason.clone() })
            }
            Ok(_) if self.is_forgotten(&name, id.generation) => {
                Some(Problem::Forgotten { name, address })
            }
            Ok(_) => {
                let ahead_seconds = process.ahead_seconds?;
                (ahead_seconds.abs() > CLOCK_SKEW_SECONDS)
                    .then_some(Problem::Clock { name, ahead_seconds })
            }
        }
    }
}
