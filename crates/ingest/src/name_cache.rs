//! A cache of field names: rows mostly have the same fields as the rows before, in the same order.
//!
//! Each name remembers the two names that followed it last. If rows are alike, recognizing a name
//! is one comparison, without searching for its end. If rows alternate between two shapes, it is
//! two comparisons. If a row has a new shape, it is one hash lookup where the row first differs.

use std::collections::HashMap;

/// The known names, in the order of their first occurrence.
#[derive(Debug)]
pub(crate) struct NameCache {
    /// The first entry stands for the start of a row.
    names: Vec<CachedName>,
    by_name: HashMap<String, NameId>,
    /// The previous name of the row.
    last: NameId,
}

#[derive(Debug)]
struct CachedName {
    /// The first bytes of the name in JSON: with quotes around it and a colon.
    head: u128,
    /// All ones for the bytes that `head` has; zero if JSON may write the name in another way.
    head_mask: u128,
    /// The names that followed it, the latest first; the first entry of `names` if none.
    next: [NameId; 2],
    /// The complete JSON form.
    spelled: String,
}

/// The number of bytes compared in one step.
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

    /// Whether JSON text begins with the name in its usual form.
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

/// The id of a known name, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameId(u32);

impl NameId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Default for NameCache {
    fn default() -> Self {
        Self { names: vec![CachedName::new("")], by_name: HashMap::new(), last: NameId(0) }
    }
}

impl NameCache {
    /// Begins the next row.
    pub(crate) fn begin_row(&mut self) {
        self.last = NameId(0);
    }

    /// The expected name that JSON text begins with, if any, and the length of its form with quotes
    /// and colon.
    #[inline]
    pub(crate) fn expected(&mut self, text: &[u8]) -> Option<(NameId, usize)> {
        let [likely, other] = self.names[self.last.index()].next;
        let candidate = &self.names[likely.index()];
        if candidate.begins(text) {
            self.last = likely;
            return Some((likely, candidate.spelled.len()));
        }
        let candidate = &self.names[other.index()];
        if !candidate.begins(text) {
            return None;
        }
        let length = candidate.spelled.len();
        self.follow(other);
        Some((other, length))
    }

    /// Finds the next name, if it is known.
    pub(crate) fn find(&mut self, name: &str) -> Option<NameId> {
        let [guess, _] = self.names[self.last.index()].next;
        let id = match guess.0 != 0 && self.names[guess.index()].name() == name {
            true => guess,
            false => *self.by_name.get(name)?,
        };
        self.follow(id);
        Some(id)
    }

    /// Adds a new name.
    pub(crate) fn add(&mut self, name: &str) -> NameId {
        let id = NameId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(CachedName::new(name));
        self.by_name.insert(name.to_owned(), id);
        self.follow(id);
        id
    }

    fn follow(&mut self, id: NameId) {
        let next = &mut self.names[self.last.index()].next;
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
        // A row of another shape, with the first one still known.
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
