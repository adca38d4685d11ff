//! A member as the texts that it gossips, and back (`spec/gossip.md`).
//!
//! A member has two texts: one that stays and one that changes. Each has its fields in a fixed
//! order, separated by tabs. A later release may add fields at the end; readers ignore them.

use std::net::SocketAddr;
use std::str::FromStr;

use hadal_peer::{Member, MemberRole, MemberState, WIRE_VERSION};
use hadal_types::limits::{ANNOUNCEMENT_BYTES_MAX, NAME_BYTES_MAX};
use hadal_types::{LeafName, LeafState, MachineName, Micros};

/// The key of the text that stays.
pub(crate) const STATIC: &str = "m";
/// The key of the text that changes.
pub(crate) const CHANGING: &str = "c";
/// The key that says that the member has ended in an orderly way.
pub(crate) const LEFT: &str = "x";

/// The states that are announced.
const STATES: [LeafState; 4] =
    [LeafState::Alive, LeafState::MemoryRecovery, LeafState::DiskRecovery, LeafState::Prepare];

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// Its sender speaks another version of the wire, so the rest was not read.
    WireVersion(u32),
    /// It breaks the format.
    Reason(String),
}

/// The text that stays.
pub(crate) fn encode_static(member: &Member) -> String {
    let Member { role, machine, rack, address, url, started, release, wire_version, .. } = member;
    let (role, joined) = (role.name(), member.joined);
    format!(
        "{wire_version}\t{role}\t{machine}\t{rack}\t{address}\t{url}\t{started}\t{release}\t{joined}"
    )
}

/// The text that changes, with the sender's clock.
pub(crate) fn encode_changing(member: &Member, clock: Micros) -> String {
    let state = match member.state {
        MemberState::Announced(state) => state,
        // Nobody announces silence.
        MemberState::Silent => LeafState::Prepare,
    };
    let Member { used_bytes, free_bytes, catalog_version, expected_rows_version, .. } = member;
    let (state, definitions, clock) = (state.name(), u8::from(member.has_definitions), clock.0);
    format!(
        "{state}\t{used_bytes}\t{free_bytes}\t{catalog_version}\t{expected_rows_version}\t\
         {definitions}\t{clock}"
    )
}

/// Checks that others will be able to read a member's announcement.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check(member: &Member) -> Result<(), String> {
    check_name(&member.name.0)?;
    let texts = (encode_static(member), encode_changing(member, Micros(0)));
    let read = decode(&member.name, &texts.0, &texts.1);
    match read {
        Ok((read, _)) if read == *member => Ok(()),
        Ok(_) => Err("a text has a tab in it".to_owned()),
        Err(Unreadable::Reason(reason)) => Err(reason),
        Err(Unreadable::WireVersion(version)) => Err(format!("unknown wire version {version}")),
    }
}

/// Checks a member's name.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    match name {
        "" => Err("its name is empty".to_owned()),
        _ if name.len() > NAME_BYTES_MAX => {
            Err(format!("its name has more than {NAME_BYTES_MAX} bytes"))
        }
        _ if name.chars().any(char::is_control) => {
            Err("its name has a control character".to_owned())
        }
        _ => Ok(()),
    }
}

/// Reads both texts of the member `name`: the member, and its clock when it wrote the second.
///
/// # Errors
/// [`Unreadable`].
pub(crate) fn decode(
    name: &LeafName,
    stays: &str,
    changes: &str,
) -> Result<(Member, Micros), Unreadable> {
    let mut fields = Fields::new(stays)?;
    let wire_version: u32 = fields.number("wire_version")?;
    if wire_version.abs_diff(WIRE_VERSION) > 1 {
        return Err(Unreadable::WireVersion(wire_version));
    }
    let role = match fields.text("role")? {
        "leaf" => MemberRole::Leaf,
        "aggregator" => MemberRole::Aggregator,
        other => return Err(wrong("role", other)),
    };
    let machine = fields.text("machine")?;
    if machine.is_empty() || machine.len() > NAME_BYTES_MAX {
        return Err(wrong("machine", machine));
    }
    let rack = fields.text("rack")?.to_owned();
    let address: SocketAddr = fields.number("address")?;
    let url = fields.text("url")?.to_owned();
    let started = fields.number("started")?;
    let release = fields.text("release")?.to_owned();
    let joined = fields.number("joined")?;
    let mut fields = Fields::new(changes)?;
    let state = fields.text("state")?;
    let state = STATES
        .into_iter()
        .find(|listed| listed.name() == state)
        .ok_or_else(|| wrong("state", state))?;
    let member = Member {
        name: name.clone(),
        role,
        machine: MachineName(machine.into()),
        rack,
        address,
        url,
        started,
        joined,
        release,
        wire_version,
        state: MemberState::Announced(state),
        used_bytes: fields.number("used_bytes")?,
        free_bytes: fields.number("free_bytes")?,
        catalog_version: fields.number("catalog_version")?,
        expected_rows_version: fields.number("expected_rows_version")?,
        has_definitions: fields.number::<u8>("has_definitions")? == 1,
    };
    Ok((member, Micros(fields.number("clock")?)))
}

/// The fields of a text, in their order.
struct Fields<'a>(std::str::Split<'a, char>);

impl<'a> Fields<'a> {
    fn new(text: &'a str) -> Result<Self, Unreadable> {
        if text.len() > ANNOUNCEMENT_BYTES_MAX {
            let bytes = text.len();
            let reason = format!("it has {bytes} bytes, more than {ANNOUNCEMENT_BYTES_MAX}");
            return Err(Unreadable::Reason(reason));
        }
        if text.chars().any(|character| character.is_control() && character != '\t') {
            return Err(Unreadable::Reason("it has a control character".to_owned()));
        }
        Ok(Self(text.split('\t')))
    }

    fn text(&mut self, field: &str) -> Result<&'a str, Unreadable> {
        self.0.next().ok_or_else(|| Unreadable::Reason(format!("it has no {field}")))
    }

    fn number<T: FromStr>(&mut self, field: &str) -> Result<T, Unreadable> {
        let text = self.text(field)?;
        text.parse().map_err(|_| wrong(field, text))
    }
}

/// Says that a field's text is wrong, with its beginning.
fn wrong(field: &str, text: &str) -> Unreadable {
    let begin: String = text.chars().take(40).collect();
    Unreadable::Reason(format!("its {field} is {begin:?}"))
}

#[cfg(test)]
pub(crate) mod tests;
