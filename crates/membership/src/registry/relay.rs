//! What a member announces of others: who is silent, and who is forgotten.

use std::time::Duration;

use hadal_types::limits::{ANNOUNCEMENT_BYTES_MAX, MEMBERS_MAX};
use hadal_types::{LeafName, Micros};

use super::{Registry, RosterEntry, Texts};
use crate::announcement;

/// The beginning of the keys of forgotten members; the name follows.
const FORGOTTEN: &str = "f/";
/// The beginning of the keys of silent members; the name follows.
const SILENT: &str = "s/";
/// Between the parts of a silent member's text.
const PART: char = '\n';
/// How long a member is silent before others announce it. Until then all know it from chitchat.
const RELAY_AFTER: Duration = Duration::from_secs(60);

impl Registry {
    /// What this process announces of others, by key.
    pub(crate) fn relayed(&self) -> Texts {
        let relays = self.is_relay();
        let mut texts = Texts::new();
        for (name, generation) in &self.forgotten {
            if relays || self.forgotten_here.contains(name) {
                texts.insert(format!("{FORGOTTEN}{name}"), generation.to_string());
            }
        }
        let is_old = |entry: &RosterEntry| {
            entry
                .silent_since
                .is_some_and(|since| self.listened.saturating_sub(since) > RELAY_AFTER)
        };
        for (name, entry) in self.roster.iter().filter(|(_, entry)| relays && is_old(entry)) {
            let stays = announcement::encode_static(&entry.member);
            let changes = announcement::encode_changing(&entry.member, Micros(0));
            let text = format!("{}{PART}{stays}{PART}{changes}", entry.generation);
            texts.insert(format!("{SILENT}{name}"), text);
        }
        texts
    }

    /// Whether this process is the live member whose name sorts first.
    fn is_relay(&self) -> bool {
        let first = self.roster.iter().find(|(_, entry)| !entry.is_silent());
        first.is_some_and(|(name, entry)| {
            *name == self.local.name && entry.generation == self.local.generation
        })
    }

    /// Takes in what a process announces of others; what cannot be read is left out.
    pub(super) fn read_relayed(&mut self, texts: &Texts) {
        for (key, text) in texts {
            if let Some(name) = key.strip_prefix(FORGOTTEN).and_then(read_name) {
                if let Ok(generation) = text.parse() {
                    self.set_forgotten(name, generation);
                }
            } else if let Some(name) = key.strip_prefix(SILENT).and_then(read_name) {
                self.read_silent(name, text);
            }
        }
    }

    fn read_silent(&mut self, name: LeafName, text: &str) {
        if text.len() > 3 * ANNOUNCEMENT_BYTES_MAX || self.roster.len() >= MEMBERS_MAX {
            return;
        }
        let mut parts = text.splitn(3, PART);
        let (Some(generation), Some(stays), Some(changes)) =
            (parts.next(), parts.next(), parts.next())
        else {
            return;
        };
        let Ok(generation) = generation.parse() else { return };
        let is_new = self.roster.get(&name).is_none_or(|entry| entry.generation < generation);
        if !is_new || self.is_forgotten(&name, generation) {
            return;
        }
        if let Ok((member, _)) = announcement::decode(&name, stays, changes) {
            self.roster.insert(name, RosterEntry::silent(generation, member, self.listened));
        }
    }
}

fn read_name(name: &str) -> Option<LeafName> {
    announcement::check_name(name).ok().map(|()| LeafName(name.into()))
}
