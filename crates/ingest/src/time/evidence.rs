//! What the values of columns in the first rows say about times.

use std::collections::HashMap;

use hadal_types::Micros;

use super::civil::is_other_year;
use super::column_names::suggests_time;
use super::numbers::{number, plausible};
use super::reader::{TimeReader, Wording};
use super::spelling::DayOrder;
use crate::json::{self, Field, RowSink, Scratch};
use crate::name_cache::{NameCache, NameId};

/// The most columns that are considered.
const COLUMNS_MAX: usize = 4_096;
/// Times later than this after the present are no times of events.
const FUTURE_MICROS: i64 = 86_400 * Micros::SECOND;

/// The first rows of an input, as evidence for its time column.
pub(crate) struct Evidence {
    pub(super) columns: Vec<ColumnEvidence>,
    places: HashMap<String, usize>,
    pub(super) rows: u64,
    pub(super) reader: TimeReader,
    names: NameCache,
}

/// The values of a column in the first rows.
#[derive(Debug, Default)]
pub(super) struct ColumnEvidence {
    pub(super) name: String,
    /// Whether its type makes it a time.
    pub(super) is_typed: bool,
    /// Values that are not null.
    pub(super) values: u64,
    /// Texts that begin with a date of ISO 8601.
    pub(super) iso: u64,
    /// Of these, texts that are not ISO 8601 as a whole: `2026-11-21 03:51:42 UTC`.
    pub(super) iso_variants: u64,
    /// Texts in other spellings.
    pub(super) spelled: u64,
    /// Numbers of the size of a time since 2001.
    pub(super) plausible: u64,
    /// Other numbers.
    pub(super) numbers: u64,
    /// Times, of any of these forms, after tomorrow.
    pub(super) future: u64,
    /// Dates of years before 1 or after 9999.
    pub(super) other_years: u64,
    /// Texts that are times with the day first, with the month first, and with either.
    pub(super) orders: [u64; 3],
    /// The first text that is no time.
    pub(super) no_time: Option<String>,
    /// The first number that is no plausible time.
    pub(super) no_plausible: Option<String>,
    /// The first text in which day and month can be exchanged.
    pub(super) ambiguous: Option<String>,
    /// The first text that is a time.
    pub(super) time: Option<String>,
}

impl ColumnEvidence {
    /// Values that are times.
    pub(super) const fn times(&self) -> u64 {
        self.iso + self.spelled + self.plausible
    }

    /// The order of day and month that most texts show; `None` if none shows one.
    pub(super) fn order(&self) -> Option<DayOrder> {
        let [day_first, month_first, _] = self.orders;
        match day_first.cmp(&month_first) {
            std::cmp::Ordering::Greater => Some(DayOrder::DayFirst),
            std::cmp::Ordering::Less => Some(DayOrder::MonthFirst),
            std::cmp::Ordering::Equal => None,
        }
    }

    /// Adds a value that is not null.
    pub(super) fn add(&mut self, field: &Field<'_>, reader: &TimeReader) {
        self.values += 1;
        let time = match field {
            Field::String(text) => self.add_text(text, reader),
            _ => self.add_number(field, reader),
        };
        let is_future =
            time.is_some_and(|time| time.0 > reader.now().0.saturating_add(FUTURE_MICROS));
        self.future += u64::from(is_future);
    }

    fn add_text(&mut self, text: &str, reader: &TimeReader) -> Option<Micros> {
        if is_digits(text) {
            return self.add_number(&Field::String(text.into()), reader);
        }
        if let Some(time) = reader.read_usual(text) {
            self.iso += 1;
            self.time.get_or_insert_with(|| text.to_owned());
            return Some(time);
        }
        let orders = reader.orders(text);
        if let Some((is_day_first, is_month_first)) = orders {
            let place =
                usize::from(!is_day_first) + 2 * usize::from(is_day_first && is_month_first);
            if let Some(order) = self.orders.get_mut(place) {
                *order += 1;
            }
            if is_day_first && is_month_first {
                self.ambiguous.get_or_insert_with(|| text.to_owned());
            }
        }
        // Which order is the column's is decided later; either makes a time.
        let time = reader.read(text).or_else(|| {
            let (is_day_first, _) = orders?;
            let order = if is_day_first { DayOrder::DayFirst } else { DayOrder::MonthFirst };
            reader.clone().with_order(Some(order)).read(text)
        });
        if time.is_some() {
            match is_iso(text) {
                true => {
                    self.iso += 1;
                    self.iso_variants += 1;
                }
                false => self.spelled += 1,
            }
            self.time.get_or_insert_with(|| text.to_owned());
            return time;
        }
        if text.trim().is_empty() {
            self.values -= 1;
            return None;
        }
        let number_time = self.add_number(&Field::String(text.into()), reader);
        if number_time.is_none() && number(&Field::String(text.into())).is_none() {
            self.other_years += u64::from(is_other_year(text));
            self.no_time.get_or_insert_with(|| text.to_owned());
        }
        number_time
    }

    fn add_number(&mut self, field: &Field<'_>, reader: &TimeReader) -> Option<Micros> {
        let value = number(field)?;
        if let Some(time) = reader.read_number(value).or_else(|| plausible(value, reader)) {
            self.plausible += 1;
            return Some(time);
        }
        self.numbers += 1;
        self.no_plausible.get_or_insert_with(|| value.to_string());
        None
    }

    /// How the first time is written, in the order of the column.
    pub(super) fn wording(&self, reader: &TimeReader) -> Option<Wording> {
        reader.clone().with_order(self.order()).wording(self.time.as_deref()?)
    }
}

fn is_digits(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text begins with a year, a dash and a month.
fn is_iso(text: &str) -> bool {
    let start = text.trim_start().as_bytes();
    start.get(4) == Some(&b'-')
        && start.get(..4).is_some_and(|year| year.iter().all(u8::is_ascii_digit))
        && start.get(5).is_some_and(u8::is_ascii_digit)
}

impl Evidence {
    pub(crate) fn new(reader: TimeReader) -> Self {
        Self {
            columns: Vec::new(),
            places: HashMap::new(),
            rows: 0,
            reader,
            names: NameCache::default(),
        }
    }

    /// Adds a row of JSON. A record that is no row does not count; it is rejected when it is
    /// written.
    pub(crate) fn add_row(&mut self, record: &str, scratch: &mut Scratch) {
        if json::read(record, scratch, self).is_ok() {
            self.rows += 1;
        }
    }

    /// Adds a cell of a row that is a text.
    pub(crate) fn add_cell(&mut self, name: &str, cell: &str) {
        self.add(name, &Field::String(cell.into()));
    }

    /// Ends a row of cells.
    pub(crate) const fn end_row(&mut self) {
        self.rows += 1;
    }

    /// Declares a column whose type is a time.
    pub(crate) fn add_typed(&mut self, name: &str) {
        if let Some(column) = column(&mut self.columns, &mut self.places, name) {
            column.is_typed = true;
        }
    }

    /// Adds a value that is not null.
    fn add(&mut self, name: &str, field: &Field<'_>) {
        let Self { columns, places, reader, .. } = self;
        let Some(column) = column(columns, places, name) else { return };
        // Numbers are times only in columns with names for them.
        if matches!(field, Field::String(_)) || suggests_time(name) {
            column.add(field, reader);
        } else {
            column.values += 1;
        }
    }

    /// The reader of a column's texts, if all are times, and some of them have to be converted to
    /// be ISO 8601 in UTC.
    pub(crate) fn converter(&self, name: &str) -> Option<TimeReader> {
        let column = self.find(name)?;
        let is_converted = column.spelled + column.iso_variants > 0 || self.reader.has_other_zone();
        let is_whole = column.iso + column.spelled == column.values && column.values > 0;
        (is_converted && is_whole).then(|| self.reader.clone().with_order(column.order()))
    }

    /// The evidence of a column.
    fn find(&self, name: &str) -> Option<&ColumnEvidence> {
        self.columns.get(*self.places.get(name)?)
    }

    /// Whether a row has a column of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }
}

/// The column of this name, which is added if there is room for it.
fn column<'c>(
    columns: &'c mut Vec<ColumnEvidence>,
    places: &mut HashMap<String, usize>,
    name: &str,
) -> Option<&'c mut ColumnEvidence> {
    let place = match places.get(name) {
        Some(place) => *place,
        None if columns.len() >= COLUMNS_MAX => return None,
        None => {
            columns.push(ColumnEvidence { name: name.to_owned(), ..ColumnEvidence::default() });
            places.insert(name.to_owned(), columns.len() - 1);
            columns.len() - 1
        }
    };
    columns.get_mut(place)
}

impl<'j> RowSink<'j> for Evidence {
    fn names(&mut self) -> &mut NameCache {
        &mut self.names
    }

    fn field(
        &mut self,
        name: &str,
        _name_id: Option<NameId>,
        field: &Field<'j>,
    ) -> Result<(), String> {
        self.add(name, field);
        Ok(())
    }
}
