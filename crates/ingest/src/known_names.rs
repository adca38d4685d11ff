//! Names that were seen: rows tend to have the fields of the rows before, in their order.
//!
//! Each name remembers which one followed it last time. So telling a name is one comparison as
//! long as rows are alike, without looking for its end, and one look-up where a row of another
//! shape begins to differ.

use std::collections::HashMap;

/// Names by the order in which they were first seen.
#[derive(Debug)]
pub(crate) struct KnownNames {
    /// The first stands for the beginning of a row.
    known: Vec<Known>,
    by_name: HashMap<String, NameId>,
    /// The name that came before.
    last: NameId,
}

#[derive(Debug)]
struct Known {
    name: String,
    /// The name that followed it last time; the first for none.
    next: NameId,
    /// In JSON it is spelled as it is.
    is_plain: bool,
    /// The name and its quote, which are compared in one step where they are short.
    head: u128,
    /// Ones where `head` has bytes; 0 where they are too many, or where it is not plain.
    head_mask: u128,
}

impl Known {
    fn new(name: &str) -> Self {
        let is_special = |c: char| c == '"' || c == '\\' || c.is_ascii_control();
        let is_plain = !name.is_empty() && !name.contains(is_special);
        let (mut head, mut mask) = ([0; HEAD_BYTES], [0; HEAD_BYTES]);
        if is_plain && name.len() < HEAD_BYTES {
            head[..name.len()].copy_from_slice(name.as_bytes());
            head[name.len()] = b'"';
            mask[..=name.len()].fill(u8::MAX);
        }
        let (head, head_mask) = (u128::from_le_bytes(head), u128::from_le_bytes(mask));
        Self { name: name.to_owned(), next: NameId(0), is_plain, head, head_mask }
    }

    /// Whether JSON text begins with the name, and the quote at its end.
    fn begins(&self, text: &[u8]) -> bool {
        if self.head_mask != 0
            && let Some(head) = text.first_chunk()
        {
            return (u128::from_le_bytes(*head) ^ self.head) & self.head_mask == 0;
        }
        let length = self.name.len();
        self.is_plain && text.get(length) == Some(&b'"') && text[..length] == *self.name.as_bytes()
    }
}

/// Names with as many bytes, and more, are compared byte by byte.
const HEAD_BYTES: usize = 16;

/// A name that was seen; they count up from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameId(usize);

impl NameId {
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

impl Default for KnownNames {
    fn default() -> Self {
        Self { known: vec![Known::new("")], by_name: HashMap::new(), last: NameId(0) }
    }
}

impl KnownNames {
    /// Begins another row.
    pub(crate) fn begin_row(&mut self) {
        self.last = NameId(0);
    }

    /// The name that JSON text begins with, up to its quote, if it is the one that is expected.
    pub(crate) fn expected(&mut self, text: &[u8]) -> Option<(NameId, usize)> {
        let id = self.known[self.last.0].next;
        let known = &self.known[id.0];
        if !known.begins(text) {
            return None;
        }
        self.last = id;
        Some((id, known.name.len()))
    }

    /// The name that comes next, if it was seen before.
    pub(crate) fn find(&mut self, name: &str) -> Option<NameId> {
        let guess = self.known[self.last.0].next;
        let found = match guess.0 != 0 && self.known[guess.0].name == name {
            true => guess,
            false => *self.by_name.get(name)?,
        };
        self.follow(found);
        Some(found)
    }

    /// Adds a name that was not seen before.
    pub(crate) fn add(&mut self, name: &str) -> NameId {
        let id = NameId(self.known.len());
        self.known.push(Known::new(name));
        self.by_name.insert(name.to_owned(), id);
        self.follow(id);
        id
    }

    fn follow(&mut self, id: NameId) {
        self.known[self.last.0].next = id;
        self.last = id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_expected_after_the_one_before() {
        let mut names = KnownNames::default();
        assert_eq!(names.expected(b"\""), None);
        let (a, b, c) = (names.add("a"), names.add("b\u{e9}"), names.add("c"));
        assert_eq!((a.index(), b.index(), c.index()), (1, 2, 3));
        names.begin_row();
        assert_eq!(names.expected(b"a\":1"), Some((a, 1)));
        for other in ["bé", "b\":1", "béé\"", "", "c\""] {
            assert_eq!(names.expected(other.as_bytes()), None, "{other}");
        }
        assert_eq!(names.expected("bé\"".as_bytes()), Some((b, 3)));
        // Another shape, from then on.
        names.begin_row();
        assert_eq!(names.find("a"), Some(a));
        assert_eq!(names.find("c"), Some(c));
        assert_eq!(names.find("d"), None);
        names.begin_row();
        assert_eq!(names.expected(b"a\""), Some((a, 1)));
        assert_eq!(names.expected(b"c\""), Some((c, 1)));
        assert_eq!(names.expected(b"a\""), None, "nothing came after it");
    }

    #[test]
    fn names_of_any_length_are_expected() {
        for length in 1..40 {
            let name = "abcdefgh".repeat(5)[..length].to_owned();
            let mut names = KnownNames::default();
            let id = names.add(&name);
            for after in ["", ":1", ": \"and more of it, and yet more\""] {
                names.begin_row();
                assert_eq!(names.expected(format!("{name}{after}").as_bytes()), None);
                assert_eq!(names.expected(format!("{name}x\"{after}").as_bytes()), None);
                assert_eq!(names.expected(format!("x{name}\"{after}").as_bytes()), None);
                let whole = format!("{name}\"{after}");
                assert_eq!(names.expected(whole.as_bytes()), Some((id, length)));
            }
        }
    }

    #[test]
    fn what_json_spells_otherwise_is_not_expected() {
        for name in ["a\"b", "a\\b", "a\nb"] {
            let mut names = KnownNames::default();
            let id = names.add(name);
            names.begin_row();
            assert_eq!(names.expected(format!("{name}\"").as_bytes()), None, "{name:?}");
            assert_eq!(names.find(name), Some(id));
        }
    }
}
