//! Counts rejected records by kind: their reasons, with the values left out.

use hadal_types::limits::REJECT_KINDS_MAX;

use crate::rejects::Reject;

/// What stands for a value.
const ELLIPSIS: &str = "…";
/// The kind of all records beyond [`REJECT_KINDS_MAX`] kinds.
const OTHER: &str = "other reasons";

/// The rejected records whose reasons differ only in their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectKind {
    /// The reason without its values.
    pub kind: String,
    /// The number of records.
    pub count: u64,
    /// The first of them.
    pub first: Reject,
}

/// Counts of rejected records, in the order in which the kinds came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RejectKinds(Vec<RejectKind>);

impl RejectKinds {
    /// Adds a record.
    pub(crate) fn add(&mut self, reject: &Reject) {
        self.merge(RejectKind { kind: kind_of(&reject.reason), count: 1, first: reject.clone() });
    }

    /// Adds records of one kind, of another part of the same input.
    pub fn merge(&mut self, other: RejectKind) {
        let RejectKind { kind, count, first } = other;
        let is_full = self.0.len() + 1 >= REJECT_KINDS_MAX;
        let kind = match self.0.iter().any(|existing| existing.kind == kind) || !is_full {
            true => kind,
            false => OTHER.to_owned(),
        };
        match self.0.iter_mut().find(|existing| existing.kind == kind) {
            Some(existing) => {
                existing.count += count;
                if first.line < existing.first.line {
                    existing.first = first;
                }
            }
            None => self.0.push(RejectKind { kind, count, first }),
        }
    }

    /// Returns the kinds, at most [`REJECT_KINDS_MAX`], the most frequent first.
    #[must_use]
    pub fn into_list(mut self) -> Vec<RejectKind> {
        self.0.sort_by_key(|kind| (std::cmp::Reverse(kind.count), kind.first.line));
        self.0
    }
}

/// Returns a reason without its values: quoted texts, and words with digits, become `…`. The name
/// after `column` is no value.
fn kind_of(reason: &str) -> String {
    let mut kind = String::new();
    let mut is_name = false;
    for word in words(reason) {
        let is_value = word.starts_with('"') || word.contains(|c: char| c.is_ascii_digit());
        let word = if is_value && !is_name { ELLIPSIS } else { word };
        is_name = word == "column";
        if word == ELLIPSIS && kind.ends_with(ELLIPSIS) {
            continue;
        }
        if !kind.is_empty() {
            kind.push(' ');
        }
        kind.push_str(word);
    }
    kind
}

/// The words of a reason; a quoted text is one word.
fn words(reason: &str) -> Vec<&str> {
    let (mut words, mut start) = (Vec::new(), None);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, character) in reason.char_indices() {
        if character == ' ' && !is_quoted {
            words.extend(start.take().map(|start| &reason[start..at]));
            continue;
        }
        start.get_or_insert(at);
        if character == '"' && !is_escaped {
            is_quoted = !is_quoted;
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    words.extend(start.map(|start| &reason[start..]));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_left_out_of_kinds() {
        for (reason, kind) in [
            ("not a JSON object", "not a JSON object"),
            ("expected a value at character 12", "expected a value at character …"),
            ("column t2: \"a \\\" b\" is not a time", "column t2: … is not a time"),
            ("column x: 1e400 is beyond ±1.8e308", "column x: … is beyond …"),
            ("its time 2026-11-21 03:51:42 is too old", "its time … is too old"),
            ("\"no end", "…"),
            ("", ""),
        ] {
            assert_eq!(kind_of(reason), kind, "{reason}");
        }
    }

    #[test]
    fn kinds_are_counted_with_their_first_record() {
        let reject = |line, reason: &str| Reject::new(line, reason.to_owned(), b"{}");
        let mut kinds = RejectKinds::default();
        kinds.add(&reject(1, "not a JSON object"));
        kinds.add(&reject(9, "column a: \"x\" is not a time"));
        kinds.add(&reject(7, "column a: \"y\" is not a time"));
        let list = kinds.into_list();
        let counts: Vec<_> = list.iter().map(|kind| (kind.count, kind.first.line)).collect();
        assert_eq!(counts, [(2, 7), (1, 1)]);
        assert_eq!(list[0].first.reason, "column a: \"y\" is not a time");
    }

    #[test]
    fn the_number_of_kinds_has_a_limit() {
        let mut kinds = RejectKinds::default();
        for line in 0..1_000 {
            let name: String = format!("{line:04}").bytes().map(|b| char::from(b + 49)).collect();
            kinds.add(&Reject::new(line, format!("column {name}: no"), b""));
        }
        let list = kinds.into_list();
        assert_eq!(list.len(), REJECT_KINDS_MAX);
        assert_eq!(
            (list[0].kind.as_str(), list[0].count),
            (OTHER, 1_001 - REJECT_KINDS_MAX as u64)
        );
    }
}
