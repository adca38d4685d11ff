//! Which column a field goes to.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hadal_block::{BlockBuilder, ColumnId};
use hadal_types::limits::TABLE_COLUMNS_MAX;
use hadal_types::{ColumnName, Kind, Weight};

use crate::name_cache::{NameCache, NameId};

/// Names of a table's columns, with those that bodies under way are about to add: all bodies of a
/// table share them, so that the table has no more than [`TABLE_COLUMNS_MAX`], however many add some
/// at once.
#[derive(Debug, Default)]
pub struct TableColumns(Mutex<HashSet<String>>);

impl TableColumns {
    /// The columns of these names are there.
    pub fn add<'n>(&self, names: impl IntoIterator<Item = &'n str>) {
        let mut all = self.lock();
        for name in names {
            if !all.contains(name) {
                all.insert(name.to_owned());
            }
        }
    }

    /// Whether the table may have no more columns.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.lock().len() >= TABLE_COLUMNS_MAX
    }

    /// Whether the table has a column of this name, or may have one more, which it has from then on.
    fn take(&self, name: &str) -> bool {
        let mut all = self.lock();
        if all.contains(name) {
            return true;
        }
        let has_room = all.len() < TABLE_COLUMNS_MAX;
        if has_room {
            all.insert(name.to_owned());
        }
        has_room
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The columns of the builder, which must always be the same one, and of the table it builds for.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) names: NameCache,
    /// By name.
    fields: Vec<FieldColumns>,
    /// Those of the table.
    of_table: Arc<TableColumns>,
}

/// Where the fields of one name go.
#[derive(Debug, Default)]
struct FieldColumns {
    /// The place among the fields that may hold the time.
    source: Option<usize>,
    /// The columns in the builder, by kind.
    columns: [Option<ColumnId>; Kind::ALL.len()],
    /// Its values are looked into: the field may hold the time, or the weight.
    is_special: bool,
}

/// Where a field goes whose value is not looked into.
pub(crate) enum FastPath {
    Column(ColumnId),
    /// Its value is.
    Special,
    /// It has no column yet.
    None,
}

/// Where a field goes.
pub(crate) enum Target {
    Column(ColumnId),
    /// The table has as many columns as it may have.
    Overflow,
}

impl Columns {
    /// The columns of a table; the time is looked for in `sources`.
    pub(crate) fn new<'s>(
        of_table: Arc<TableColumns>,
        sources: impl Iterator<Item = &'s str>,
    ) -> Self {
        let mut columns = Self { names: NameCache::default(), fields: Vec::new(), of_table };
        for (place, source) in sources.enumerate() {
            let name = columns.names.add(source);
            let field = columns.of(name);
            (field.source, field.is_special) = (Some(place), true);
        }
        columns
    }

    fn of(&mut self, name: NameId) -> &mut FieldColumns {
        if self.fields.len() <= name.index() {
            self.fields.resize_with(name.index() + 1, FieldColumns::default);
        }
        &mut self.fields[name.index()]
    }

    /// The place among the fields that may hold the time.
    pub(crate) fn source(&self, name: NameId) -> Option<usize> {
        self.fields.get(name.index())?.source
    }

    /// Where the fields of this name and kind go that are as others.
    #[inline]
    pub(crate) fn fast_path(&self, name: NameId, kind: Kind) -> FastPath {
        match self.fields.get(name.index()) {
            Some(field) if field.is_special => FastPath::Special,
            Some(field) => field.columns[kind as usize].map_or(FastPath::None, FastPath::Column),
            None => FastPath::None,
        }
    }

    /// The place of a field that has this name, which was seen before or not.
    ///
    /// # Errors
    /// A reason, when the name cannot be a column's.
    pub(crate) fn target(
        &mut self,
        builder: &mut BlockBuilder,
        seen: Option<NameId>,
        name: &str,
        kind: Kind,
    ) -> Result<Target, String> {
        let fields = seen.and_then(|seen| self.fields.get(seen.index()));
        match fields.and_then(|fields| fields.columns[kind as usize]) {
            Some(id) => Ok(Target::Column(id)),
            None => self.new_place(builder, seen, name, kind),
        }
    }

    #[cold]
    fn new_place(
        &mut self,
        builder: &mut BlockBuilder,
        seen: Option<NameId>,
        name: &str,
        kind: Kind,
    ) -> Result<Target, String> {
        let column = ColumnName::new(name).map_err(|error| error.to_string())?;
        if !self.of_table.take(name) {
            return Ok(Target::Overflow);
        }
        let id = builder.column(&column, kind);
        let seen = seen.unwrap_or_else(|| self.names.add(name));
        let field = self.of(seen);
        field.columns[kind as usize] = Some(id);
        field.is_special |= name == Weight::COLUMN;
        Ok(Target::Column(id))
    }
}
