//! Names that were seen: rows tend to have the fields of the rows before, in their order.
//!
//! Each name remembers the two that followed it last. So telling a name is one comparison as long
//! as rows are alike, without looking for its end, two where rows of two shapes come by turns, and
//! one look-up where a row of another shape begins to differ.

use std::collections::HashMap;

/// Names by the order in which they were first seen.
#[derive(Debug)]
pub(crate) struct NameCache {
    /// The first stands for the beginning of a row.
    known: Vec<CachedName>,
    by_name: HashMap<String, NameId>,
    /// The name that came before.
    last: NameId,
}

#[derive(Debug)]
struct CachedName {
    /// The first bytes of how JSON spells it before its value: quotes around it, and a colon.
    head: u128,
    /// Ones where `head` has bytes; none where JSON may spell it otherwise.
    head_mask: u128,
    /// The names that followed it, the last time and before; the first name for none.
    next: [NameId; 2],
    /// All of that spelling.
    spelled: String,
}

/// So many bytes are compared in one step.
const HEAD_BYTES: usize = 16;

impl CachedName {
    fn new(name: &str) -> Self {
        let is_special = |c: char| c == '"' || c == '\\' || c.is_ascii_control();
        let is_plain = !name.is_empty() && !name.contains(is_special);
        let spelled = format!("\"{name}\":");
        let (mut head, mut mask) = ([0; HEAD_BYTES], [0; HEAD_BYTES]);
        if is_plain {
            let length = spelled.len().min(HEAD_BYTES);
            head[..length].copy_from_slice(&spelled.as_bytes()[..length]);
            mask[..length].fill(u8::MAX);
        }
        let (head, head_mask) = (u128::from_le_bytes(head), u128::from_le_bytes(mask));
        Self { head, head_mask, next: [NameId(0); 2], spelled }
    }

    fn name(&self) -> &str {
        &self.spelled[1..self.spelled.len() - 2]
    }

    /// Whether JSON text begins with the name, spelled as usual.
    #[inline]
    fn begins(&self, text: &[u8]) -> bool {
        let spelled = self.spelled.as_bytes();
        match text.first_chunk() {
            Some(head) => {
                self.head_mask != 0
                    && (u128::from_le_bytes(*head) ^ self.head) & self.head_mask == 0
                    && (spelled.len() <= HEAD_BYTES || text.starts_with(spelled))
            }
            None => self.head_mask != 0 && text.starts_with(spelled),
        }
    }
}

/// A name that was seen; they count up from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameId(u32);

impl NameId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Default for NameCache {
    fn default() -> Self {
        Self { known: vec![CachedName::new("")], by_name: HashMap::new(), last: NameId(0) }
    }
}

impl NameCache {
    /// Begins another row.
    pub(crate) fn begin_row(&mut self) {
        self.last = NameId(0);
    }

    /// The name that JSON text begins with, spelled with quotes and a colon, if it is one that is
    /// expected; and the bytes of that.
    #[inline]
    pub(crate) fn expected(&mut self, text: &[u8]) -> Option<(NameId, usize)> {
        let [likely, other] = self.known[self.last.index()].next;
        let known = &self.known[likely.index()];
        if known.begins(text) {
            self.last = likely;
            return Some((likely, known.spelled.len()));
        }
        let known = &self.known[other.index()];
        if !known.begins(text) {
            return None;
        }
        let length = known.spelled.len();
        self.follow(other);
        Some((other, length))
    }

    /// The name that comes next, if it was seen before.
    pub(crate) fn find(&mut self, name: &str) -> Option<NameId> {
        let [guess, _] = self.known[self.last.index()].next;
        let found = match guess.0 != 0 && self.known[guess.index()].name() == name {
            true => guess,
            false => *self.by_name.get(name)?,
        };
        self.follow(found);
        Some(found)
    }

    /// Adds a name that was not seen before.
    pub(crate) fn add(&mut self, name: &str) -> NameId {
        let id = NameId(u32::try_from(self.known.len()).unwrap_or(u32::MAX));
        self.known.push(CachedName::new(name));
        self.by_name.insert(name.to_owned(), id);
        self.follow(id);
        id
    }

    fn follow(&mut self, id: NameId) {
        let next = &mut self.known[self.last.index()].next;
        if next[0] != id {
            *next = [id, next[0]];
        }
        self.last = id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_expected_after_the_one_before() {
        let mut names = NameCache::default();
        assert_eq!(names.expected(b"\"\":"), None);
        let (a, b, c) = (names.add("a"), names.add("b\u{e9}"), names.add("c"));
        assert_eq!((a.index(), b.index(), c.index()), (1, 2, 3));
        names.begin_row();
        assert_eq!(names.expected(b"\"a\":1"), Some((a, 4)));
        for other in ["\"bé", "\"b\":1", "\"béé\":", "", "\"c\":"] {
            assert_eq!(names.expected(other.as_bytes()), None, "{other}");
        }
        assert_eq!(names.expected("\"bé\":".as_bytes()), Some((b, 6)));
        // Another shape, and the first one still.
        names.begin_row();
        assert_eq!(names.find("a"), Some(a));
        assert_eq!(names.find("c"), Some(c));
        assert_eq!(names.find("d"), None);
        for (name, id, length) in [("\"c\":", c, 4), ("\"bé\":", b, 6), ("\"c\":", c, 4)] {
            names.begin_row();
            assert_eq!(names.expected(b"\"a\":"), Some((a, 4)));
            assert_eq!(names.expected(name.as_bytes()), Some((id, length)));
        }
        assert_eq!(names.expected(b"\"a\":"), None, "nothing came after it");
    }

    #[test]
    fn names_of_any_length_are_expected() {
        for length in 1..40 {
            let name = "abcdefgh".repeat(5)[..length].to_owned();
            let mut names = NameCache::default();
            let id = names.add(&name);
            for after in ["", "1", " \"and more of it, and yet more\""] {
                let mut is_expected = |text: String| {
                    names.begin_row();
                    names.expected(text.as_bytes())
                };
                assert_eq!(is_expected(format!("\"{name}{after}")), None);
                assert_eq!(is_expected(format!("\"{name}\"{after}")), None);
                assert_eq!(is_expected(format!("\"{name}x\":{after}")), None);
                assert_eq!(is_expected(format!("\"x{name}\":{after}")), None);
                let whole = format!("\"{name}\":{after}");
                assert_eq!(is_expected(whole), Some((id, length + 3)));
            }
        }
    }

    #[test]
    fn what_json_spells_otherwise_is_not_expected() {
        for name in ["a\"b", "a\\b", "a\nb", ""] {
            let mut names = NameCache::default();
            let id = names.add(name);
            names.begin_row();
            assert_eq!(names.expected(format!("\"{name}\":").as_bytes()), None, "{name:?}");
            assert_eq!(names.expected(&[0; 20]), None);
            assert_eq!(names.find(name), Some(id));
        }
    }
}
