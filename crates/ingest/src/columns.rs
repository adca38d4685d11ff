//! Which column a field goes to, looked up by the order of the fields of the row before.

use std::collections::HashSet;

use hadal_block::{BlockBuilder, ColumnId};
use hadal_types::limits::TABLE_COLUMNS_MAX;
use hadal_types::{ColumnName, Kind};

/// The columns of the batch in the making, and of the table that it goes to.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// What the fields of the row before went to, in their order.
    before: Vec<(String, Kind, ColumnId)>,
    next: usize,
    /// Names of the table's columns, as far as they are known.
    live: HashSet<String>,
}

/// Where a field goes.
pub(crate) enum Place {
    Column(ColumnId),
    /// The table has as many columns as it may have.
    Overflow,
}

impl Columns {
    pub(crate) fn new(live: HashSet<String>) -> Self {
        Self { live, ..Self::default() }
    }

    /// Begins another row.
    pub(crate) fn begin_row(&mut self) {
        self.next = 0;
    }

    /// Begins another batch, whose builder has ids of its own.
    pub(crate) fn begin_batch(&mut self) {
        self.before.clear();
        self.next = 0;
    }

    /// The place of a field.
    ///
    /// # Errors
    /// A reason, when the name cannot be a column's.
    pub(crate) fn place(
        &mut self,
        builder: &mut BlockBuilder,
        name: &str,
        kind: Kind,
    ) -> Result<Place, String> {
        let at = self.next;
        self.next += 1;
        if let Some((own, own_kind, id)) = self.before.get(at)
            && *own_kind == kind
            && own == name
        {
            return Ok(Place::Column(*id));
        }
        let id = match builder.known_column(name, kind) {
            Some(id) => id,
            None => {
                let column = ColumnName::new(name).map_err(|error| error.to_string())?;
                if !self.live.contains(name) {
                    if self.live.len() >= TABLE_COLUMNS_MAX {
                        self.next -= 1;
                        return Ok(Place::Overflow);
                    }
                    self.live.insert(name.to_owned());
                }
                builder.column(&column, kind)
            }
        };
        let entry = (name.to_owned(), kind, id);
        match self.before.get_mut(at) {
            Some(before) => *before = entry,
            None => self.before.push(entry),
        }
        Ok(Place::Column(id))
    }
}
