//! The columns of one line, as members of a JSON object.

use std::borrow::Cow;

use hadal_types::Micros;

/// The most columns that one line may give; what is beyond them stays in `message` only.
pub(super) const FIELDS_MAX: usize = 200;

/// The most columns of one line with the same name; further ones stay in `message` only.
const REPEATS_MAX: usize = 4;

/// Names that every row may have besides the columns of its layout.
const RESERVED: [&str; 3] = ["time", "message", "stack"];

/// The columns of one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields {
    /// The time of the event.
    pub(super) time: Option<Micros>,
    /// The text that stands for a time, and is none.
    pub(super) doubt: Option<String>,
    /// The value of the column `level`, if it is one of the six words.
    pub(super) level: Option<&'static str>,
    /// Whether the line explains the one before, and is of its level.
    pub(super) is_explanation: bool,
    names: Vec<String>,
    /// Members with a comma after each: `"status":200,"path":"/",`.
    members: Vec<u8>,
}

impl Fields {
    /// The members of the JSON object, with a comma after each.
    pub(super) fn members(&self) -> &[u8] {
        &self.members
    }

    /// Whether there is a column of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|other| other == name)
    }

    /// Whether no further column is taken.
    pub(super) fn is_full(&self) -> bool {
        self.names.len() >= FIELDS_MAX
    }

    /// Adds a column of text. A dash and an empty text are no value.
    pub(super) fn text(&mut self, name: &str, text: &str) {
        if !matches!(text, "" | "-") && self.name(name) {
            string(text, &mut self.members);
            self.members.push(b',');
        }
    }

    /// Adds a column whose text is a number, where it is one; otherwise the text.
    pub(super) fn number(&mut self, name: &str, text: &str) {
        let digits = text.strip_prefix('+').unwrap_or(text);
        if is_json_number(digits) { self.raw(name, digits) } else { self.text(name, text) }
    }

    /// Adds a column whose value is JSON.
    pub(super) fn raw(&mut self, name: &str, json: &str) {
        if self.name(name) {
            self.members.extend_from_slice(json.as_bytes());
            self.members.push(b',');
        }
    }

    /// Takes over the level of the event that these columns explain, if they have none of a level.
    pub(super) fn explain(&mut self, before: &Self) {
        let Some(level) = before.level.filter(|_| self.is_explanation) else { return };
        self.is_explanation = false;
        self.text("level", level);
        self.level = Some(level);
    }

    /// Adds the name of a member, with a number after it if the name is taken. Returns false if
    /// there are too many columns.
    fn name(&mut self, name: &str) -> bool {
        if self.is_full() || name.is_empty() {
            return false;
        }
        let Some(name) = self.free_name(name).map(Cow::into_owned) else { return false };
        string(&name, &mut self.members);
        self.members.push(b':');
        self.names.push(name);
        true
    }

    fn free_name<'n>(&self, name: &'n str) -> Option<Cow<'n, str>> {
        let is_free = |name: &str| !RESERVED.contains(&name) && !self.has(name);
        if is_free(name) {
            return Some(name.into());
        }
        if name == "message" && is_free("msg") {
            return Some("msg".into());
        }
        let numbered = (2..=REPEATS_MAX).map(|number| format!("{name}_{number}"));
        numbered.into_iter().find(|name| is_free(name)).map(Cow::Owned)
    }
}

/// Appends a JSON string.
pub(super) fn string(text: &str, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// Whether a text is a number as JSON spells it.
pub(super) fn is_json_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.trim_start_matches(['+', '-']))),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let has_zeros = whole.len() > 1 && whole.starts_with('0');
    digits(whole)
        && !has_zeros
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent) && exponent.len() <= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_as_in_json() {
        for text in ["0", "-1", "12.50", "1e5", "1.5E-3", "99999999999999999999"] {
            assert!(is_json_number(text), "{text}");
        }
        for text in ["", "-", "007", "+1", "1.", ".5", "1e", "0x1", "1_000", "NaN", "1e9999"] {
            assert!(!is_json_number(text), "{text}");
        }
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let mut fields = Fields::default();
        fields.text("a", "x");
        fields.number("a", "1");
        fields.text("message", "m");
        fields.text("message", "n");
        fields.text("time", "-");
        fields.number("time", "+7");
        let members = String::from_utf8(fields.members().to_vec()).expect("UTF-8");
        assert_eq!(members, r#""a":"x","a_2":1,"msg":"m","message_2":"n","time_2":7,"#);
    }

    #[test]
    fn the_number_of_columns_is_bounded() {
        let mut fields = Fields::default();
        (0..9).for_each(|_| fields.number("a", "1"));
        assert_eq!(fields.names, ["a", "a_2", "a_3", "a_4"]);
        (0..2 * FIELDS_MAX).for_each(|number| fields.number(&number.to_string(), "1"));
        assert!(fields.is_full() && fields.names.len() == FIELDS_MAX);
    }
}
