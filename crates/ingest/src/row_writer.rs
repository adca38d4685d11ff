//! Writes fields as a row of the current batch: kinds, limits, the weight, the time.

use std::collections::HashSet;
use std::sync::Arc;

use hadal_block::{BlockBuilder, ColumnId, PushError};
use hadal_types::limits::{FUTURE_SECONDS_MAX, LIST_ELEMENTS_MAX, STRING_BYTES_MAX};
use hadal_types::{AgeLimit, ColumnName, Kind, Micros, Number, Weight};

use crate::age_policy::{AgePolicy, RowAge};
use crate::columns::{Columns, FastPath, TableColumns, Target};
use crate::json::{self, Element, Field, Pushed, RowSink, Scratch, Token};
use crate::name_cache::{NameCache, NameId};
use crate::summary::{self, Warnings};
use crate::time::{CANDIDATES, TimeReader, Units, is_other_year, is_plausible_or_text};

/// The column for fields beyond the table's maximum of columns, as JSON text.
const OVERFLOW_COLUMN: &str = "_overflow";

/// The number of columns with arrays of objects that a warning names.
const OBJECT_ARRAYS_MAX: usize = 4;

/// Arrival times within one microsecond are made distinct up to this lead over the clock.
const ARRIVAL_LEAD: i64 = Micros::SECOND;

/// Whole sample rates up to this are valid without further checks.
const RATE_USUAL_MAX: i64 = Weight::MILLIONTHS_MAX / Weight::UNIT;

/// Converts records to rows.
#[derive(Debug)]
pub(crate) struct RowWriter {
    /// The table's time column.
    pub(crate) time_column: ColumnName,
    /// The fields that may hold the time, the best first, with the number of rows that used each.
    sources: Vec<(String, u64)>,
    /// Whether the caller names the field with the time.
    is_time_named: bool,
    /// Whether rows without a time are rejected.
    pub(crate) rejects_untimed: bool,
    units: Units,
    reader: TimeReader,
    pub(crate) columns: Columns,
    sets: HashSet<String>,
    /// The age limit of rows.
    pub(crate) age: AgePolicy,
    now: Micros,
    /// The time of the next row without a time of its own.
    pub(crate) arrival: Micros,
    /// The time of the last row that was completed, accepted or not.
    pub(crate) last_time: Option<Micros>,
    pub(crate) warnings: Warnings,
    /// The first columns with arrays of objects.
    pub(crate) object_arrays: Vec<String>,
    scratch: Scratch,
}

/// The time candidates of the row being written.
#[derive(Default)]
struct RowTime {
    /// The best source's index and its time.
    best: Option<(usize, Micros)>,
    /// The index of the table's time column among the sources, if the row has a value in it.
    stored: Option<usize>,
    /// The text in the table's time column that is no time.
    unread: Option<String>,
}

/// What became of a field of the time column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TimeField {
    /// It is the row's time.
    Time,
    /// It is no time.
    Unread,
}

/// A JSON object whose fields are being read.
struct OpenRow<'w> {
    writer: &'w mut RowWriter,
    builder: &'w mut BlockBuilder,
    time: RowTime,
    overflow: Option<serde_json::Map<String, serde_json::Value>>,
}

impl<'j> RowSink<'j> for OpenRow<'_> {
    fn names(&mut self) -> &mut NameCache {
        &mut self.writer.columns.names
    }

    #[inline]
    fn push_fast(&mut self, name: NameId, token: Token<'j>) -> Pushed {
        let kind = match token {
            Token::String(_) => Kind::String,
            Token::Decimal { .. } | Token::Bool(_) => Kind::Number,
            Token::Null | Token::Raw(_) => return Pushed::Refused,
        };
        let id = match self.writer.columns.fast_path(name, kind) {
            FastPath::Column(id) => id,
            FastPath::Special => return Pushed::Deferred,
            FastPath::None => return Pushed::Refused,
        };
        let pushed = match token {
            Token::String(text) => self.builder.push_string(id, text),
            Token::Decimal { mantissa, scale } => self.builder.push_decimal(id, mantissa, scale),
            Token::Bool(truth) => self.builder.push_bool(id, truth),
            Token::Null | Token::Raw(_) => return Pushed::Refused,
        };
        // A refused push changes nothing; the slow path gives the reason.
        if pushed.is_ok() { Pushed::Done } else { Pushed::Refused }
    }

    fn restart(&mut self) {
        self.builder.abandon_row();
    }

    fn field(
        &mut self,
        name: &str,
        name_id: Option<NameId>,
        field: &Field<'j>,
    ) -> Result<(), String> {
        let Self { writer, builder, time, overflow } = self;
        let name_id = name_id.or_else(|| writer.columns.names.find(name));
        if let Some(place) = name_id.and_then(|name_id| writer.columns.source(name_id))
            && let Some(taken) = writer.take_time(place, field, time)?
        {
            if taken == TimeField::Unread {
                // The time column has a time in every row, and so no place for a text.
                overflow.get_or_insert_default().insert(name.to_owned(), to_json(field));
            }
            return Ok(());
        }
        writer.push(builder, name_id, name, field, overflow)
    }
}

impl RowWriter {
    pub(crate) fn new(
        time_column: ColumnName,
        caller: Option<&ColumnName>,
        table_columns: Arc<TableColumns>,
        sets: HashSet<String>,
        age: AgePolicy,
        reader: TimeReader,
    ) -> Self {
        let now = reader.now();
        let mut sources: Vec<(String, u64)> = Vec::new();
        let named = caller.into_iter().map(ColumnName::as_str).chain([time_column.as_str()]);
        // A caller that names a column excludes the usual ones.
        let usual = CANDIDATES.into_iter().filter(|_| caller.is_none());
        for source in named.chain(usual) {
            if !sources.iter().any(|(other, _)| other == source) {
                sources.push((source.to_owned(), 0));
            }
        }
        Self {
            time_column,
            is_time_named: caller.is_some(),
            rejects_untimed: false,
            units: Units::new(sources.len()),
            reader,
            columns: Columns::new(table_columns, sources.iter().map(|(name, _)| name.as_str())),
            sources,
            sets,
            age,
            now,
            arrival: now,
            last_time: None,
            warnings: Warnings::default(),
            object_arrays: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Begins another batch.
    pub(crate) fn begin_batch(&mut self) {
        self.units = Units::new(self.sources.len());
    }

    /// Sets the arrival time of the records from now on.
    pub(crate) fn arrive(&mut self, now: Micros) {
        self.now = self.now.max(now);
        self.reader.arrive(self.now);
        self.arrival = self.arrival.max(now);
    }

    /// The arrival time of one row, a microsecond after the row before, so that rows that arrive
    /// together keep their order.
    fn next_arrival(&mut self) -> Micros {
        let time = self.arrival;
        self.arrival = Micros(time.0 + 1).min(Micros(self.now.0 + ARRIVAL_LEAD));
        time
    }

    /// The number of rows with a time of their own.
    pub(crate) fn timed_rows(&self) -> u64 {
        self.sources.iter().map(|(_, rows)| rows).sum()
    }

    /// The field that most rows had their time from; `None` if all rows got the arrival time.
    pub(crate) fn main_source(&self) -> Option<&str> {
        let used = self.sources.iter().filter(|(_, rows)| *rows > 0);
        // Of equals, the first.
        used.rev().max_by_key(|(_, rows)| *rows).map(|(source, _)| source.as_str())
    }

    /// Adds the row of a JSON object.
    ///
    /// # Errors
    /// The reason why it is not a row; the caller must then abandon the row.
    pub(crate) fn json(&mut self, builder: &mut BlockBuilder, text: &str) -> Result<(), String> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let (time, overflow) = (RowTime::default(), None);
        let mut row = OpenRow { writer: self, builder: &mut *builder, time, overflow };
        let read = json::read(text, &mut scratch, &mut row);
        let OpenRow { time, overflow, .. } = row;
        self.scratch = scratch;
        read?;
        if let Some(overflow) = overflow {
            let text = serde_json::Value::Object(overflow).to_string();
            self.push_overflow(builder, &text)?;
        }
        self.end(builder, time)
    }

    /// Checks whether a field, the source of index `place`, is the row's time. Returns what became
    /// of a field of the table's time column, and `None` for one that is a value as well.
    fn take_time(
        &mut self,
        place: usize,
        field: &Field<'_>,
        time: &mut RowTime,
    ) -> Result<Option<TimeField>, String> {
        let name = &self.sources[place].0;
        let is_stored = name == self.time_column.as_str();
        if is_stored && time.stored.replace(place).is_some() {
            self.warnings.add(summary::DUPLICATE_KEY);
            return Ok(Some(TimeField::Time));
        }
        // Other columns than the named one are times only if they look like times.
        let is_considered =
            is_stored || self.is_time_named || is_plausible_or_text(field, &self.reader);
        let read = is_considered.then(|| self.units.read(place, field, &self.reader)).flatten();
        match read {
            Some((read, is_mixed)) if is_stored || !self.is_future(read) => {
                if is_mixed {
                    self.warnings.add(summary::MIXED_TIME_UNITS);
                }
                if time.best.is_none_or(|(source, _)| place < source) {
                    time.best = Some((place, read));
                }
            }
            None if is_stored => {
                let unit = self.units.assumed(place, field);
                let reason = format!("column {name}: {} is not a time{unit}", shown(field));
                let is_text = matches!(field, Field::String(text) if !is_other_year(text));
                if self.is_time_named || !is_text {
                    return Err(reason);
                }
                time.stored = None;
                time.unread = Some(reason);
                return Ok(Some(TimeField::Unread));
            }
            _ => {}
        }
        Ok(is_stored.then_some(TimeField::Time))
    }

    /// Whether a time is too far in the future for a row.
    const fn is_future(&self, time: Micros) -> bool {
        (time.0 - self.now.0) / Micros::SECOND > FUTURE_SECONDS_MAX
    }

    fn end(&mut self, builder: &mut BlockBuilder, time: RowTime) -> Result<(), String> {
        if let (Some((place, _)), Some(stored)) = (time.best, time.stored)
            && place != stored
        {
            let (named, column) = (&self.sources[place].0, &self.time_column);
            return Err(format!(
                "it has a value in {named}, named as its time, and one in {column}, which is the \
                 time column of its table; name {column} or none"
            ));
        }
        let is_unread = time.unread.is_some();
        let (source, time) = match time.best {
            Some((source, time)) => (Some(source), time),
            None if self.rejects_untimed => {
                let reason = time.unread.unwrap_or_else(|| "it has no time".to_owned());
                return Err(format!(
                    "{reason}; --untimed received takes it with its time of arrival"
                ));
            }
            None => (None, self.next_arrival()),
        };
        self.last_time = Some(time);
        // Both times are in range, so 64 bits suffice.
        let age_seconds = (self.now.0 - time.0) / Micros::SECOND;
        if self.is_future(time) {
            return Err(format!(
                "its time {time} is more than a day in the future; --time received takes the time \
                 of arrival"
            ));
        }
        match self.age.judge(age_seconds) {
            RowAge::Recent => {}
            RowAge::Old if self.age.limit() == AgeLimit::Unlimited => {
                self.warnings.add(summary::NO_AGE_LIMIT);
            }
            RowAge::Old => {}
            RowAge::BeyondLimit => {
                self.warnings.add(summary::TOO_OLD);
                let limit = self.age.limit().words();
                return Err(format!("its time {time} is older than the table's limit of {limit}"));
            }
        }
        match source {
            Some(source) => self.sources[source].1 += 1,
            None if is_unread => self.warnings.add(summary::UNREAD_TIME),
            None => self.warnings.add(summary::ARRIVAL_TIME),
        }
        builder.end_row(time);
        Ok(())
    }

    fn push(
        &mut self,
        builder: &mut BlockBuilder,
        name_id: Option<NameId>,
        name: &str,
        field: &Field<'_>,
        overflow: &mut Option<serde_json::Map<String, serde_json::Value>>,
    ) -> Result<(), String> {
        if name == Weight::COLUMN {
            check_weight(field)?;
        }
        if let Field::Text(text) = field {
            self.note_objects(name, text);
        }
        let kind = self.kind(name, field);
        let id = match self.columns.target(builder, name_id, name, kind)? {
            Target::Column(id) => id,
            Target::Overflow => {
                self.warnings.add(summary::OVERFLOW);
                overflow.get_or_insert_default().insert(name.to_owned(), to_json(field));
                return Ok(());
            }
        };
        match self.push_field(builder, id, field) {
            Err(PushError::SecondValue) => {
                self.warnings.add(summary::DUPLICATE_KEY);
                Ok(())
            }
            other => other.map_err(|error| format!("column {name}: {error}")),
        }
    }

    /// Notes the name of a column with an array of objects.
    fn note_objects(&mut self, name: &str, array: &str) {
        let first = array.trim_start_matches('[').trim_start();
        let is_new = !self.object_arrays.iter().any(|other| other == name);
        if first.starts_with('{') && is_new && self.object_arrays.len() < OBJECT_ARRAYS_MAX {
            self.object_arrays.push(name.to_owned());
        }
    }

    fn kind(&self, name: &str, field: &Field<'_>) -> Kind {
        match field {
            Field::Decimal { .. } | Field::Number { .. } | Field::Bool(_) => Kind::Number,
            Field::String(_) | Field::Text(_) => Kind::String,
            Field::Set(_) => Kind::Set,
            Field::Vector(_) => Kind::Vector,
            Field::List(_) if self.sets.contains(name) => Kind::Set,
            Field::List(_) => Kind::Vector,
        }
    }

    fn push_field(
        &mut self,
        builder: &mut BlockBuilder,
        id: ColumnId,
        field: &Field<'_>,
    ) -> Result<(), PushError> {
        match field {
            Field::Decimal { mantissa, scale } => builder.push_decimal(id, *mantissa, *scale),
            Field::Number { number, rounded } => {
                if *rounded {
                    self.warnings.add(summary::ROUNDED);
                }
                builder.push_number(id, *number)
            }
            Field::Bool(truth) => builder.push_bool(id, *truth),
            Field::String(text) => builder.push_string(id, self.cut(text)),
            Field::Text(text) => {
                self.warnings.add(summary::NESTED_ARRAY);
                builder.push_string(id, self.cut(text))
            }
            Field::List(elements) | Field::Set(elements) | Field::Vector(elements) => {
                let list = self.cut_list(elements);
                builder.push_list(id, &list)
            }
        }
    }

    /// The text, cut to the limit at a character boundary.
    fn cut<'t>(&mut self, text: &'t str) -> &'t str {
        if text.len() <= STRING_BYTES_MAX {
            return text;
        }
        self.warnings.add(summary::CUT);
        &text[..text.floor_char_boundary(STRING_BYTES_MAX)]
    }

    fn cut_list<'t>(&mut self, elements: &'t [Element<'_>]) -> Vec<&'t str> {
        let texts = elements.iter().flatten();
        let count = texts.clone().count();
        if count < elements.len() {
            self.warnings.add(summary::NULL_ELEMENT);
        }
        if count > LIST_ELEMENTS_MAX {
            self.warnings.add(summary::CUT);
        }
        texts.take(LIST_ELEMENTS_MAX).map(|text| self.cut(text)).collect()
    }

    fn push_overflow(&mut self, builder: &mut BlockBuilder, text: &str) -> Result<(), String> {
        let column = ColumnName::new(OVERFLOW_COLUMN).map_err(|error| error.to_string())?;
        let id = builder.column(&column, Kind::String);
        let text = self.cut(text);
        builder.push_string(id, text).map_err(|error| error.to_string())
    }
}

/// Checks that a sample rate is valid.
fn check_weight(field: &Field<'_>) -> Result<(), String> {
    if let Field::Decimal { mantissa: 1..=RATE_USUAL_MAX, scale: 0 } = field {
        return Ok(());
    }
    let number = field.number();
    let number = number.ok_or_else(|| format!("sample_rate {} is not a number", shown(field)))?;
    Weight::from_rate(number).map(drop).map_err(|error| error.to_string())
}

/// The first characters of the value, for messages.
fn shown(field: &Field<'_>) -> String {
    to_json(field).to_string().chars().take(60).collect()
}

fn to_json(field: &Field<'_>) -> serde_json::Value {
    match field {
        // As text, because a JSON number in serde has no more digits than a double.
        Field::Decimal { .. } | Field::Number { .. } => {
            field.number().unwrap_or(Number::ZERO).to_string().into()
        }
        Field::Bool(truth) => (*truth).into(),
        Field::String(text) => text.as_ref().into(),
        Field::Text(text) => (*text).into(),
        Field::List(elements) | Field::Set(elements) | Field::Vector(elements) => {
            elements.iter().map(Option::as_deref).collect::<Vec<_>>().into()
        }
    }
}
