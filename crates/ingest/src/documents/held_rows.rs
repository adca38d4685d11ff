//! Rows of a document that wait for its end, and problems, in their order.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use serde::de::IgnoredAny;

/// A member that is added to rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) name: String,
    /// The name and the value, as JSON.
    pub(super) text: String,
}

/// Rows that wait, and rows that may be taken.
#[derive(Debug, Default)]
pub(super) struct HeldRows {
    /// Each is a JSON object, or a reason why there is no row.
    items: VecDeque<Result<String, String>>,
    bytes: usize,
    /// The number of items before the first one.
    taken: u64,
    /// The number of items that may be taken.
    released: usize,
    /// Rows that were released before a member of theirs came.
    pub(super) incomplete: u64,
}

impl HeldRows {
    /// Adds a row: the members of an object, and the lists of members around it.
    pub(super) fn push(&mut self, row: Result<String, String>, outer: &[&[Member]]) {
        let row = row.map(|mut row| {
            outer.iter().for_each(|members| append(&mut row, members));
            row
        });
        self.bytes += row.as_ref().map_or(0, String::len);
        self.items.push_back(row);
    }

    /// Adds a reason why there is no row.
    pub(super) fn reject(&mut self, reason: String) {
        self.push(Err(reason), &[]);
    }

    /// Adds members to the rows from number `from` on, counted from 0.
    pub(super) fn append(&mut self, from: u64, members: &[Member]) {
        let first = from.saturating_sub(self.taken);
        self.incomplete += self.taken.saturating_sub(from);
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        for row in self.items.iter_mut().skip(first).flatten() {
            let before = row.len();
            append(row, members);
            self.bytes += row.len() - before;
        }
    }

    /// The number of rows so far.
    pub(super) fn count(&self) -> u64 {
        self.taken + self.items.len() as u64
    }

    /// The bytes of the rows that were not taken.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Lets all rows be taken.
    pub(super) fn release(&mut self) {
        self.released = self.items.len();
    }

    /// Whether rows may be taken.
    pub(super) const fn is_released(&self) -> bool {
        self.released > 0
    }

    /// Takes the next row with its number, counted from 1.
    pub(super) fn next(&mut self) -> Option<(u64, Result<String, String>)> {
        self.released = self.released.checked_sub(1)?;
        let row = self.items.pop_front()?;
        self.bytes = self.bytes.saturating_sub(row.as_ref().map_or(0, String::len));
        self.taken += 1;
        Some((self.taken, row))
    }
}

/// Adds members to the text of an object, unless it has members of their names.
fn append(object: &mut String, members: &[Member]) {
    if members.is_empty() {
        return;
    }
    let names = match serde_json::from_str::<HashMap<Cow<'_, str>, IgnoredAny>>(object) {
        Ok(own) => members.iter().map(|member| !own.contains_key(member.name.as_str())).collect(),
        // Its reader will say what is wrong with it.
        Err(_) => vec![true; members.len()],
    };
    let mut new = members.iter().zip(names).filter(|(_, is_new)| *is_new).peekable();
    if new.peek().is_none() || object.pop() != Some('}') {
        return;
    }
    for (member, _) in new {
        if !object.trim_end().ends_with('{') {
            object.push(',');
        }
        object.push_str(&member.text);
    }
    object.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_added_to_the_rows_that_wait() {
        let member = |name: &str, value| {
            [Member { name: name.to_owned(), text: format!("\"{name}\":{value}") }]
        };
        let mut rows = HeldRows::default();
        rows.push(Ok("{}".to_owned()), &[&member("a", 1), &[]]);
        rows.push(Ok("{\"b\":2}".to_owned()), &[&member("a", 1), &member("b", 9), &member("c", 3)]);
        assert_eq!(rows.next(), None);
        rows.append(1, &member("d", 4));
        rows.release();
        rows.reject("no".to_owned());
        assert_eq!(rows.next(), Some((1, Ok("{\"a\":1}".to_owned()))));
        assert_eq!(rows.next(), Some((2, Ok("{\"b\":2,\"a\":1,\"c\":3,\"d\":4}".to_owned()))));
        assert_eq!((rows.next(), rows.count()), (None, 3));
        rows.append(0, &member("e", 5));
        assert_eq!(rows.incomplete, 2);
        rows.release();
        assert_eq!(rows.next(), Some((3, Err("no".to_owned()))));
        assert_eq!(rows.bytes(), 0);
    }
}
