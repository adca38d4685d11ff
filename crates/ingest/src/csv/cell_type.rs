//! The type of a column's cells, decided by a sample of them.

use super::null_words::{NullWords, Nullness};
use super::number_format::{is_json_number, read};
use crate::time::is_time_text;

/// The least share of numbers, in percent, among the cells of a column of numbers.
const NUMBERS_PERCENT_MIN: u64 = 75;
/// The least number of numbers in a column that has other cells too.
const NUMBERS_MIN: u64 = 3;

/// The type of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellType {
    /// Numbers as JSON spells them.
    Numbers,
    /// Numbers with this decimal mark, and perhaps with marks between thousands and a unit.
    MarkedNumbers {
        decimal: u8,
    },
    Truths,
    Strings,
}

/// What is stated and found about the decimal marks of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DecimalMarks {
    /// The mark that the user states.
    pub(super) stated: Option<u8>,
    /// The mark of the columns in which there is no doubt.
    pub(super) of_others: Option<u8>,
    /// Whether cells are separated by commas, so that a decimal comma would need quotes.
    pub(super) is_comma_separator: bool,
}

/// The cells of a column's sample, counted by what they are.
#[derive(Clone, Debug, Default)]
pub(super) struct CellCounts {
    pub(super) all: u64,
    /// Cells that are not null, and no usual word for null.
    values: u64,
    /// Numbers as JSON spells them.
    plain: u64,
    /// Cells that are numbers with a decimal point, or with a decimal comma, or with one of them
    /// only.
    with_point: u64,
    with_comma: u64,
    point_only: u64,
    comma_only: u64,
    /// Cells like `007` or `12A`: codes, although most of their column may be numbers.
    codes: u64,
    truths: u64,
    times: u64,
    /// Cells that are a plus, beside which a dash is a sign, not a word for null.
    pub(super) pluses: u64,
    /// The unit of the numbers, and whether there are several.
    unit: &'static str,
    has_units: bool,
    /// The first number that is not plain.
    pub(super) marked: Option<String>,
}

impl CellCounts {
    pub(super) fn add(&mut self, cell: &str, words: &NullWords) {
        self.all += 1;
        if words.nullness(cell) != Nullness::Value {
            return;
        }
        self.values += 1;
        self.truths += u64::from(truth(cell).is_some());
        self.times += u64::from(is_time_text(cell));
        self.pluses += u64::from(cell.trim() == "+");
        self.plain += u64::from(is_json_number(cell.trim()));
        let (point, comma) = (read(cell, b'.'), read(cell, b','));
        self.with_point += u64::from(point.is_some());
        self.with_comma += u64::from(comma.is_some());
        self.point_only += u64::from(comma.is_none() && point.is_some());
        self.comma_only += u64::from(point.is_none() && comma.is_some());
        let Some(number) = point.or(comma) else {
            self.codes += u64::from(is_code(cell.trim()));
            return;
        };
        if !number.unit.is_empty() {
            self.has_units |= !self.unit.is_empty() && self.unit != number.unit;
            self.unit = number.unit;
        }
        if self.marked.is_none() && !is_json_number(cell.trim()) {
            self.marked = Some(cell.trim().to_owned());
        }
    }

    /// The type of the column's cells.
    pub(super) fn cell_type(&self, marks: DecimalMarks) -> CellType {
        let is_enough = |numbers: u64| self.is_mostly(numbers);
        if self.truths == self.values && self.truths > 0 {
            return CellType::Truths;
        }
        if let Some(decimal) = marks.stated {
            let numbers = if decimal == b',' { self.with_comma } else { self.with_point };
            let is_plain = decimal == b'.' && self.plain == self.with_point;
            return match is_enough(numbers) {
                true if is_plain => CellType::Numbers,
                true => CellType::MarkedNumbers { decimal },
                false => CellType::Strings,
            };
        }
        if self.plain == self.values && self.plain > 0 {
            return CellType::Numbers;
        }
        match self.decimal(marks) {
            Some(b'.') if is_enough(self.plain) && self.plain == self.with_point => {
                CellType::Numbers
            }
            Some(decimal) if !self.has_units => CellType::MarkedNumbers { decimal },
            _ if is_enough(self.plain) => CellType::Numbers,
            _ => CellType::Strings,
        }
    }

    /// The decimal mark of a column of numbers; `None` if there are too few numbers, or in doubt.
    fn decimal(&self, marks: DecimalMarks) -> Option<u8> {
        let (is_point, is_comma) =
            (self.is_mostly(self.with_point), self.is_mostly(self.with_comma));
        match (is_point, is_comma) {
            (true, false) => Some(b'.'),
            // In a text separated by commas, `1,5` may also be a list.
            (false, true) => (!marks.is_comma_separator).then_some(b','),
            (false, false) => None,
            (true, true) if self.point_only > self.comma_only => Some(b'.'),
            (true, true) if self.comma_only > self.point_only => Some(b','),
            (true, true) if self.is_same_with_both() => Some(b'.'),
            (true, true) if marks.is_comma_separator => Some(b'.'),
            (true, true) => marks.of_others,
        }
    }

    /// The decimal mark, if the column leaves no doubt about it.
    pub(super) fn sure_decimal(&self) -> Option<u8> {
        let is_comma = self.is_mostly(self.with_comma) && self.comma_only > self.point_only;
        let has_marked_point = self.point_only > 0 && self.plain < self.with_point;
        let is_point = self.is_mostly(self.with_point) && has_marked_point;
        if is_comma { Some(b',') } else { is_point.then_some(b'.') }
    }

    /// Whether all numbers mean the same with both decimal marks: they have none, at most units or
    /// spaces between thousands.
    fn is_same_with_both(&self) -> bool {
        self.marked.as_deref().is_some_and(|marked| !marked.contains([',', '.']))
    }

    /// Whether the column has numbers that can be read in two ways, and nothing decides.
    pub(super) fn is_in_doubt(&self, marks: DecimalMarks) -> bool {
        let is_numbers = self.is_mostly(self.with_point.max(self.with_comma));
        marks.stated.is_none()
            && is_numbers
            && self.plain < self.values
            && self.marked.is_some()
            && self.decimal(marks).is_none()
    }

    /// Whether numbers have units of several kinds, so that the column is text.
    pub(super) fn has_several_units(&self) -> bool {
        self.has_units && self.is_mostly(self.with_point.max(self.with_comma))
    }

    /// Whether the column is of numbers, of truth values or of times: words for null count.
    pub(super) const fn is_typed(&self) -> bool {
        self.values > 0
            && (self.plain == self.values
                || self.truths == self.values
                || self.times == self.values)
    }

    /// Whether this number of numbers makes a column of numbers. Codes make it a column of texts.
    const fn is_mostly(&self, numbers: u64) -> bool {
        if numbers == self.values {
            return numbers > 0;
        }
        self.codes == 0
            && numbers >= NUMBERS_MIN
            && 100 * numbers >= NUMBERS_PERCENT_MIN * self.values
    }
}

/// Whether a text that is no number begins like one: `007`, `12A`, `1.2.3`. Among numbers, it shows
/// that these are parts of codes.
fn is_code(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || "+.".contains(c));
    begins && text.contains(|c: char| c.is_ascii_digit()) && !text.contains(' ')
}

/// Whether a cell is a number, a time or a truth value.
pub(super) fn is_typed(cell: &str) -> bool {
    read(cell, b'.').is_some()
        || read(cell, b',').is_some()
        || truth(cell).is_some()
        || is_time_text(cell)
}

/// The truth value that a cell spells, in any case.
pub(super) fn truth(cell: &str) -> Option<bool> {
    let is = |word: &str| cell.trim().eq_ignore_ascii_case(word);
    if is("true") { Some(true) } else { is("false").then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(cells: &[&str]) -> CellCounts {
        let mut counts = CellCounts::default();
        let words = NullWords::new(&[]);
        cells.iter().for_each(|cell| counts.add(cell, &words));
        counts
    }

    const COMMA: CellType = CellType::MarkedNumbers { decimal: b',' };
    const POINT: CellType = CellType::MarkedNumbers { decimal: b'.' };

    fn semicolons() -> DecimalMarks {
        DecimalMarks::default()
    }

    fn commas() -> DecimalMarks {
        DecimalMarks { is_comma_separator: true, ..DecimalMarks::default() }
    }

    #[test]
    fn cells_decide_the_type() {
        for (cells, expected) in [
            (&["1", "-2.5", "1e3"][..], CellType::Numbers),
            (&["true", "FALSE"], CellType::Truths),
            (&["1", "007"], CellType::Strings),
            (&["1", "2", "3", "4", "5", "007"], CellType::Strings),
            (&["1", "2", "3", "4", "5", "12A"], CellType::Strings),
            (&["1.1", "1.2", "1.3", "1.4", "1.4.1"], CellType::Strings),
            (&["1", "x"], CellType::Strings),
            (&["1", "2", "3", "unknown"], CellType::Numbers),
            (&["1", "2", "3", "< 5"], CellType::Numbers),
            (&["10,20", "1.299,99"], COMMA),
            (&["1,234.50", "€12.30", "7"], POINT),
            (&["1,234", "5,678.5"], POINT),
            (&["5%", "12 %"], POINT),
            (&["$5", "€5"], CellType::Strings),
            (&["1,234", "5,678"], CellType::Strings),
            (&["2024-01-01", "2024-01-02"], CellType::Strings),
            (&[], CellType::Strings),
        ] {
            assert_eq!(counts(cells).cell_type(semicolons()), expected, "{cells:?}");
        }
    }

    #[test]
    fn commas_between_cells_exclude_decimal_commas() {
        assert_eq!(counts(&["1,234", "5,678"]).cell_type(commas()), POINT);
        assert_eq!(counts(&["1,5", "2,5"]).cell_type(commas()), CellType::Strings);
        assert!(counts(&["1,5", "2,5"]).is_in_doubt(commas()));
    }

    #[test]
    fn other_columns_decide_in_doubt() {
        let doubtful = counts(&["1,234", "5,678"]);
        assert!(doubtful.is_in_doubt(semicolons()));
        let of_others = DecimalMarks { of_others: Some(b','), ..semicolons() };
        assert_eq!(doubtful.cell_type(of_others), COMMA);
        assert_eq!(counts(&["10,20"]).sure_decimal(), Some(b','));
        assert_eq!(counts(&["1,234.50"]).sure_decimal(), Some(b'.'));
        assert_eq!(doubtful.sure_decimal(), None);
        assert_eq!(counts(&["1.5"]).sure_decimal(), None);
    }

    #[test]
    fn a_stated_mark_counts() {
        let stated = |decimal, cells: &[&str]| {
            counts(cells).cell_type(DecimalMarks { stated: Some(decimal), ..commas() })
        };
        assert_eq!(stated(b',', &["1.234", "5"]), COMMA);
        assert_eq!(stated(b',', &["10.5", "7.25"]), CellType::Strings);
        assert_eq!(stated(b'.', &["10,5", "7,25"]), CellType::Strings);
        assert_eq!(stated(b'.', &["10.5", "7"]), CellType::Numbers);
        assert_eq!(stated(b'.', &["1,234"]), POINT);
    }
}
