//! Which column a field goes to.

use std::collections::HashSet;

use hadal_block::{BlockBuilder, ColumnId};
use hadal_types::limits::TABLE_COLUMNS_MAX;
use hadal_types::{ColumnName, Kind, Weight};

use crate::known_names::{KnownNames, NameId};

/// The columns of the builder, which must always be the same one, and of the table it builds for.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) names: KnownNames,
    /// By name.
    fields: Vec<FieldPlaces>,
    /// Names of the table's columns, as far as they are known.
    live: HashSet<String>,
}

/// Where the fields of one name go.
#[derive(Debug, Default)]
struct FieldPlaces {
    /// The place among the fields that may hold the time.
    source: Option<usize>,
    /// The columns in the builder, by kind.
    columns: [Option<ColumnId>; Kind::ALL.len()],
    /// Its values are looked into: the field may hold the time, or the weight.
    is_special: bool,
}

/// Where a field goes whose value is not looked into.
pub(crate) enum Usual {
    Column(ColumnId),
    /// Its value is.
    Special,
    /// It has no column yet.
    None,
}

/// Where a field goes.
pub(crate) enum Place {
    Column(ColumnId),
    /// The table has as many columns as it may have.
    Overflow,
}

impl Columns {
    /// The columns of a table that has those of `live`; the time is looked for in `sources`.
    pub(crate) fn new<'s>(live: HashSet<String>, sources: impl Iterator<Item = &'s str>) -> Self {
        let mut columns = Self { names: KnownNames::default(), fields: Vec::new(), live };
        for (place, source) in sources.enumerate() {
            let name = columns.names.add(source);
            let field = columns.of(name);
            (field.source, field.is_special) = (Some(place), true);
        }
        columns
    }

    fn of(&mut self, name: NameId) -> &mut FieldPlaces {
        if self.fields.len() <= name.index() {
            self.fields.resize_with(name.index() + 1, FieldPlaces::default);
        }
        &mut self.fields[name.index()]
    }

    /// The place among the fields that may hold the time.
    pub(crate) fn source(&self, name: NameId) -> Option<usize> {
        self.fields.get(name.index())?.source
    }

    /// Where the fields of this name and kind go that are as others.
    #[inline]
    pub(crate) fn usual(&self, name: NameId, kind: Kind) -> Usual {
        match self.fields.get(name.index()) {
            Some(field) if field.is_special => Usual::Special,
            Some(field) => field.columns[kind as usize].map_or(Usual::None, Usual::Column),
            None => Usual::None,
        }
    }

    /// The place of a field that has this name, which was seen before or not.
    ///
    /// # Errors
    /// A reason, when the name cannot be a column's.
    pub(crate) fn place(
        &mut self,
        builder: &mut BlockBuilder,
        seen: Option<NameId>,
        name: &str,
        kind: Kind,
    ) -> Result<Place, String> {
        let fields = seen.and_then(|seen| self.fields.get(seen.index()));
        match fields.and_then(|fields| fields.columns[kind as usize]) {
            Some(id) => Ok(Place::Column(id)),
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
    ) -> Result<Place, String> {
        let column = ColumnName::new(name).map_err(|error| error.to_string())?;
        if !self.live.contains(name) {
            if self.live.len() >= TABLE_COLUMNS_MAX {
                return Ok(Place::Overflow);
            }
            self.live.insert(name.to_owned());
        }
        let id = builder.column(&column, kind);
        let seen = seen.unwrap_or_else(|| self.names.add(name));
        let field = self.of(seen);
        field.columns[kind as usize] = Some(id);
        field.is_special |= name == Weight::COLUMN;
        Ok(Place::Column(id))
    }
}
