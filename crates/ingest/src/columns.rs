//! Maps fields to columns.

use std::collections::HashSet;
use std::sync::Arc;

use hadal_block::{BlockBuilder, ColumnId};
use hadal_types::limits::TABLE_COLUMNS_MAX;
use hadal_types::{ColumnName, Kind, Weight};
use parking_lot::Mutex;

use crate::name_cache::{NameCache, NameId};

/// The names of a table's columns, including those that current bodies are about to add. All bodies
/// of a table share them, so that concurrent bodies cannot exceed [`TABLE_COLUMNS_MAX`].
#[derive(Debug, Default)]
pub struct TableColumns(Mutex<HashSet<String>>);

impl TableColumns {
    /// Adds existing columns.
    pub fn add<'n>(&self, names: impl IntoIterator<Item = &'n str>) {
        let mut all = self.0.lock();
        for name in names {
            if !all.contains(name) {
                all.insert(name.to_owned());
            }
        }
    }

    /// Whether the table has the maximum number of columns.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.0.lock().len() >= TABLE_COLUMNS_MAX
    }

    /// Whether the table has a column of this name or can add it; if so, the column is added.
    fn take(&self, name: &str) -> bool {
        let mut all = self.0.lock();
        if all.contains(name) {
            return true;
        }
        let has_room = all.len() < TABLE_COLUMNS_MAX;
        if has_room {
            all.insert(name.to_owned());
        }
        has_room
    }
}

/// The columns of one builder and of its table. Every call must pass the same builder.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) names: NameCache,
    /// The columns of each field name, by its id.
    fields: Vec<FieldColumns>,
    /// The columns of the table.
    of_table: Arc<TableColumns>,
}

/// The columns for the fields of one name.
#[derive(Debug, Default)]
struct FieldColumns {
    /// The field's index among those that may hold the time.
    source: Option<usize>,
    /// The builder's columns, by kind.
    columns: [Option<ColumnId>; Kind::ALL.len()],
    /// Whether the values are inspected: the field may hold the time or the weight.
    is_special: bool,
}

/// The column of a field whose value is not inspected.
pub(crate) enum FastPath {
    Column(ColumnId),
    /// The value is inspected.
    Special,
    /// The field has no column yet.
    None,
}

/// The target of a field.
pub(crate) enum Target {
    Column(ColumnId),
    /// The table has the maximum number of columns.
    Overflow,
}

impl Columns {
    /// The columns of a table; `sources` are the fields that may hold the time.
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

    /// The field's index among those that may hold the time.
    pub(crate) fn source(&self, name: NameId) -> Option<usize> {
        self.fields.get(name.index())?.source
    }

    /// The fast path for fields of this name and kind.
    #[inline]
    pub(crate) fn fast_path(&self, name: NameId, kind: Kind) -> FastPath {
        match self.fields.get(name.index()) {
            Some(field) if field.is_special => FastPath::Special,
            Some(field) => field.columns[kind as usize].map_or(FastPath::None, FastPath::Column),
            None => FastPath::None,
        }
    }

    /// The target of a field of this name, which may be new.
    ///
    /// # Errors
    /// The reason why the name cannot be a column's.
    pub(crate) fn target(
        &mut self,
        builder: &mut BlockBuilder,
        name_id: Option<NameId>,
        name: &str,
        kind: Kind,
    ) -> Result<Target, String> {
        let fields = name_id.and_then(|name_id| self.fields.get(name_id.index()));
        match fields.and_then(|fields| fields.columns[kind as usize]) {
            Some(id) => Ok(Target::Column(id)),
            None => self.new_place(builder, name_id, name, kind),
        }
    }

    #[cold]
    fn new_place(
        &mut self,
        builder: &mut BlockBuilder,
        name_id: Option<NameId>,
        name: &str,
        kind: Kind,
    ) -> Result<Target, String> {
        let column = ColumnName::new(name).map_err(|error| error.to_string())?;
        if !self.of_table.take(name) {
            return Ok(Target::Overflow);
        }
        let id = builder.column(&column, kind);
        let name_id = name_id.unwrap_or_else(|| self.names.add(name));
        let field = self.of(name_id);
        field.columns[kind as usize] = Some(id);
        field.is_special |= name == Weight::COLUMN;
        Ok(Target::Column(id))
    }
}
