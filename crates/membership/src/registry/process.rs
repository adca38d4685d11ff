//! What was seen of one process.

use std::time::Duration;

use hadal_peer::Member;
use hadal_types::Micros;

use super::{SILENT_AFTER, Sighting, Texts};
use crate::announcement::{self, CHANGING, LEFT, STATIC, Unreadable};

/// One start of a member.
pub(super) struct Process {
    /// The version of its texts that was read last.
    pub(super) version: u64,
    /// Whether chitchat still has it.
    pub(super) is_present: bool,
    /// What it announced; `None` until it has come.
    pub(super) announced: Option<Result<Member, Unreadable>>,
    /// By how many seconds its clock is ahead, once its texts arrived while it lived.
    pub(super) ahead_seconds: Option<i64>,
    /// When it was first seen.
    pub(super) first_seen: Duration,
    /// When its heartbeat last rose. A process that was already dead when it was first seen has
    /// a heartbeat that never rises.
    pub(super) heard: Option<Duration>,
    has_left: bool,
    heartbeat: u64,
    /// Its clock when it wrote its texts.
    clock: Option<Micros>,
}

impl Process {
    pub(super) fn new(now: Duration) -> Self {
        Self {
            version: 0,
            is_present: true,
            announced: None,
            ahead_seconds: None,
            first_seen: now,
            heard: None,
            has_left: false,
            heartbeat: 0,
            clock: None,
        }
    }

    /// Takes in this program's own state.
    pub(super) fn be_own(&mut self, local: &Member, version: u64, now: Duration) {
        self.is_present = true;
        self.version = version;
        self.heard = Some(now);
        self.announced = Some(Ok(local.clone()));
    }

    /// Takes in another process's state.
    pub(super) fn observe(&mut self, sighting: &Sighting, now: Duration, clock: Micros) {
        self.is_present = true;
        // The first heartbeat may be of a process that died long ago.
        let was_heard = self.heard.is_some();
        if self.heartbeat != 0 && sighting.heartbeat > self.heartbeat {
            self.heard = Some(now);
        }
        self.heartbeat = self.heartbeat.max(sighting.heartbeat);
        if let Some(texts) = &sighting.texts {
            self.version = sighting.version;
            self.read(sighting, texts);
        }
        if self.heard.is_some() && (sighting.texts.is_some() || !was_heard) {
            let ahead = self.clock.map(|theirs| theirs.0.saturating_sub(clock.0) / Micros::SECOND);
            self.ahead_seconds = ahead;
        }
    }

    fn read(&mut self, sighting: &Sighting, texts: &Texts) {
        self.has_left = texts.contains_key(LEFT);
        if let Err(reason) = announcement::check_name(&sighting.id.name.0) {
            self.announced = Some(Err(Unreadable::Reason(reason)));
            return;
        }
        // Both texts are announced at once, but need not arrive at once.
        let (Some(stays), Some(changes)) = (texts.get(STATIC), texts.get(CHANGING)) else { return };
        match announcement::decode(&sighting.id.name, stays, changes) {
            Ok((member, clock)) => {
                self.announced = Some(Ok(member));
                self.clock = Some(clock);
            }
            Err(error) => self.announced = Some(Err(error)),
        }
    }

    /// Whether it lives.
    pub(super) fn is_alive(&self, now: Duration) -> bool {
        !self.has_left && self.heard.is_some_and(|heard| now.saturating_sub(heard) <= SILENT_AFTER)
    }

    /// Whether it is known not to live. A process that was seen just now is neither alive nor
    /// silent.
    pub(super) fn is_silent(&self, now: Duration) -> bool {
        let last = self.heard.unwrap_or(self.first_seen);
        self.has_left || now.saturating_sub(last) > SILENT_AFTER
    }

    /// The member, if its announcement could be read.
    pub(super) fn member(&self) -> Option<&Member> {
        self.announced.as_ref().and_then(|announced| announced.as_ref().ok())
    }
}
