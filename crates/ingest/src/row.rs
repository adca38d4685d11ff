//! Fields to a row of the batch in the making: kinds, limits, the weight, the time.

use std::borrow::Cow;
use std::collections::HashSet;

use hadal_block::{BlockBuilder, ColumnId, PushError};
use hadal_types::limits::{FUTURE_SECONDS_MAX, LIST_ELEMENTS_MAX, STRING_BYTES_MAX};
use hadal_types::time::TimeUnit;
use hadal_types::{ColumnName, Kind, Micros, Weight};

use crate::columns::{Columns, Place};
use crate::json::{self, Field};
use crate::lines;
use crate::summary::{self, Warnings};
use crate::time_column::{CANDIDATES, read};

/// The column that holds what has no room for a column of its own, as JSON text.
const OVERFLOW_COLUMN: &str = "_overflow";

/// Where a row's time may be found: the caller's choice, the table's, then the usual names.
const SOURCES: usize = 2 + CANDIDATES.len();

/// Makes rows of records.
#[derive(Debug)]
pub(crate) struct RowWriter {
    /// The table's time column.
    pub(crate) time_column: ColumnName,
    /// Fields that may hold the time, the best first.
    sources: Vec<String>,
    units: [Option<TimeUnit>; SOURCES],
    /// How many rows had their time from each.
    used: [u64; SOURCES],
    pub(crate) columns: Columns,
    sets: HashSet<String>,
    pub(crate) age_limit_seconds: Option<i64>,
    now: Micros,
    /// When the last row was that came to its end, whether or not it was taken.
    pub(crate) last_time: Option<Micros>,
    pub(crate) warnings: Warnings,
}

/// Where the row being written may have its time.
struct RowTime {
    /// The place among the sources, and the time.
    found: Option<(usize, Micros)>,
}

impl RowWriter {
    pub(crate) fn new(
        time_column: ColumnName,
        caller: Option<&ColumnName>,
        columns: Columns,
        sets: HashSet<String>,
        now: Micros,
    ) -> Self {
        let mut sources: Vec<String> = Vec::new();
        let named = caller.into_iter().map(ColumnName::as_str).chain([time_column.as_str()]);
        for source in named.chain(CANDIDATES) {
            if !sources.iter().any(|own| own == source) {
                sources.push(source.to_owned());
            }
        }
        Self {
            time_column,
            sources,
            units: [None; SOURCES],
            used: [0; SOURCES],
            columns,
            sets,
            age_limit_seconds: None,
            now,
            last_time: None,
            warnings: Warnings::default(),
        }
    }

    /// Begins another batch.
    pub(crate) fn begin_batch(&mut self) {
        self.columns.begin_batch();
        self.units = [None; SOURCES];
    }

    /// The field that most rows had their time from; `None` if all got the time of arrival.
    pub(crate) fn main_source(&self) -> Option<&str> {
        let used = self.sources.iter().zip(self.used).filter(|(_, rows)| *rows > 0);
        // Of equals the first.
        used.rev().max_by_key(|(_, rows)| *rows).map(|(source, _)| source.as_str())
    }

    /// Adds the row of a JSON object.
    ///
    /// # Errors
    /// The reason why it is no row; the row in the making is then to be abandoned.
    pub(crate) fn json(&mut self, builder: &mut BlockBuilder, text: &str) -> Result<(), String> {
        self.columns.begin_row();
        let mut time = RowTime { found: None };
        let mut overflow = serde_json::Map::new();
        json::fields(text, &mut |name, field| {
            if self.take_time(name, &field, &mut time)? {
                return Ok(());
            }
            self.push(builder, name, field, &mut overflow)
        })?;
        if !overflow.is_empty() {
            let text = serde_json::Value::Object(overflow).to_string();
            self.push_overflow(builder, &text)?;
        }
        self.end(builder, time)
    }

    /// Adds the row of a plain line.
    ///
    /// # Errors
    /// The reason why it is no row.
    pub(crate) fn line(&mut self, builder: &mut BlockBuilder, text: &str) -> Result<(), String> {
        self.columns.begin_row();
        let found = lines::leading_time(text).map(|time| (0, time));
        let mut overflow = serde_json::Map::new();
        self.push(builder, lines::MESSAGE, Field::String(text.into()), &mut overflow)?;
        self.end(builder, RowTime { found })
    }

    /// Looks whether a field is the row's time; returns whether it is spent on that.
    fn take_time(
        &mut self,
        name: &str,
        field: &Field<'_>,
        time: &mut RowTime,
    ) -> Result<bool, String> {
        let Some(place) = self.sources.iter().position(|source| source == name) else {
            return Ok(false);
        };
        let is_stored = name == self.time_column.as_str();
        if time.found.is_some_and(|(found, _)| found <= place) {
            // A better one was there already; the time column can hold only that.
            return Ok(is_stored);
        }
        match read(field, &mut self.units[place]) {
            Some(found) => time.found = Some((place, found)),
            None if is_stored => {
                return Err(format!("column {name}: {} is not a time", shown(field)));
            }
            None => return Ok(false),
        }
        Ok(is_stored)
    }

    fn end(&mut self, builder: &mut BlockBuilder, time: RowTime) -> Result<(), String> {
        let (source, time) = match time.found {
            Some((source, time)) => (Some(source), time),
            None => (None, self.now),
        };
        self.last_time = Some(time);
        let age_seconds = self.now.seconds_since(time);
        if -age_seconds > FUTURE_SECONDS_MAX {
            return Err(format!("its time {time} is more than a day in the future"));
        }
        if let Some(limit) = self.age_limit_seconds.filter(|&limit| age_seconds > limit) {
            let days = limit / 86_400;
            return Err(format!("its time {time} is older than the table's limit of {days} days"));
        }
        match source {
            Some(source) => self.used[source] += 1,
            None => self.warnings.add(summary::ARRIVAL_TIME),
        }
        builder.end_row(time);
        Ok(())
    }

    fn push(
        &mut self,
        builder: &mut BlockBuilder,
        name: &str,
        field: Field<'_>,
        overflow: &mut serde_json::Map<String, serde_json::Value>,
    ) -> Result<(), String> {
        if name == Weight::COLUMN {
            check_weight(&field)?;
        }
        let kind = self.kind(name, &field);
        let id = match self.columns.place(builder, name, kind)? {
            Place::Column(id) => id,
            Place::Overflow => {
                self.warnings.add(summary::OVERFLOW);
                overflow.insert(name.to_owned(), to_json(&field));
                return Ok(());
            }
        };
        match self.push_field(builder, id, &field) {
            Err(PushError::SecondValue) => {
                self.warnings.add(summary::DUPLICATE_KEY);
                Ok(())
            }
            other => other.map_err(|error| format!("column {name}: {error}")),
        }
    }

    fn kind(&self, name: &str, field: &Field<'_>) -> Kind {
        match field {
            Field::Number { .. } | Field::Bool(_) => Kind::Number,
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

    /// The text, up to the limit and a character boundary.
    fn cut<'t>(&mut self, text: &'t str) -> &'t str {
        if text.len() <= STRING_BYTES_MAX {
            return text;
        }
        self.warnings.add(summary::CUT);
        &text[..text.floor_char_boundary(STRING_BYTES_MAX)]
    }

    fn cut_list<'t>(&mut self, elements: &'t [Cow<'_, str>]) -> Vec<&'t str> {
        if elements.len() > LIST_ELEMENTS_MAX {
            self.warnings.add(summary::CUT);
        }
        elements.iter().take(LIST_ELEMENTS_MAX).map(|element| self.cut(element)).collect()
    }

    fn push_overflow(&mut self, builder: &mut BlockBuilder, text: &str) -> Result<(), String> {
        let column = ColumnName::new(OVERFLOW_COLUMN).map_err(|error| error.to_string())?;
        let id = builder.column(&column, Kind::String);
        let text = self.cut(text);
        builder.push_string(id, text).map_err(|error| error.to_string())
    }
}

/// A row's sample rate must be one.
fn check_weight(field: &Field<'_>) -> Result<(), String> {
    match field {
        Field::Number { number, .. } => {
            Weight::from_rate(*number).map(drop).map_err(|error| error.to_string())
        }
        other => Err(format!("sample_rate {} is not a number", shown(other))),
    }
}

/// The value for people, its first characters.
fn shown(field: &Field<'_>) -> String {
    to_json(field).to_string().chars().take(60).collect()
}

fn to_json(field: &Field<'_>) -> serde_json::Value {
    match field {
        // As text: a JSON number of serde has no more digits than a double.
        Field::Number { number, .. } => number.to_string().into(),
        Field::Bool(truth) => (*truth).into(),
        Field::String(text) => text.as_ref().into(),
        Field::Text(text) => (*text).into(),
        Field::List(elements) | Field::Set(elements) | Field::Vector(elements) => {
            elements.iter().map(|element| element.as_ref()).collect::<Vec<_>>().into()
        }
    }
}

/// The time column of a table whose first record this is: the caller's, or the first of the
/// usual names whose value is a time; `time` where there is none.
pub(crate) fn choose_time_column(text: &str, caller: Option<&ColumnName>) -> Option<ColumnName> {
    if let Some(caller) = caller {
        return Some(caller.clone());
    }
    let mut best: Option<usize> = None;
    // A record that is no row chooses nothing; it is rejected when it is written.
    let _ = json::fields(text, &mut |name, field| {
        let place = CANDIDATES.iter().position(|candidate| *candidate == name);
        if let Some(place) = place
            && best.is_none_or(|best| place < best)
            && read(&field, &mut None).is_some()
        {
            best = Some(place);
        }
        Ok(())
    });
    ColumnName::new(CANDIDATES[best.unwrap_or(0)]).ok()
}
