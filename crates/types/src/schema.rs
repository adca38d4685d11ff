//! The columns of a table, by kinds. Nobody declares types.

use std::fmt;

use crate::name::{ColumnName, TableName};
use crate::time::Micros;

/// How a part of a column is stored. Each row is in exactly one part of a column, or null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Decimals or doubles; also truth values and times.
    Number,
    /// Strings.
    String,
    /// Sets of strings.
    Set,
    /// Vectors of strings.
    Vector,
}

impl Kind {
    /// All kinds, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Number, Self::String, Self::Set, Self::Vector];

    /// The kind's name in SQL casts: `number`, `string`, `set`, `vector`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::String => "string",
            Self::Set => "set",
            Self::Vector => "vector",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The meaning of the numbers of a number part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Logical {
    /// Numbers.
    #[default]
    Plain,
    /// Truth values: 0 and 1, shown as false and true.
    Bool,
    /// Points in time, in microseconds since the Unix epoch.
    Time,
}

impl Logical {
    /// The meaning of a part in which some rows mean `self` and others `other`.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::Plain }
    }
}

/// One stored part of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnPart {
    /// How the part is stored.
    pub kind: Kind,
    /// The meaning of its numbers; [`Logical::Plain`] for other kinds.
    pub logical: Logical,
    /// How many rows are in this part.
    pub rows: u64,
}

/// One column: a name with one part per kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSchema {
    /// The column's name.
    pub name: ColumnName,
    /// Its parts, in the order of [`Kind`]; never empty.
    pub parts: Vec<ColumnPart>,
}

impl ColumnSchema {
    /// The part that a query means when it names no kind: the one with most rows, ties by the
    /// kinds' names.
    #[must_use]
    pub fn main_part(&self) -> Option<&ColumnPart> {
        let by_rows = |part: &&ColumnPart| (part.rows, std::cmp::Reverse(part.kind.name()));
        self.parts.iter().max_by_key(by_rows)
    }

    /// The part of this kind, if any.
    #[must_use]
    pub fn part(&self, kind: Kind) -> Option<&ColumnPart> {
        self.parts.iter().find(|part| part.kind == kind)
    }
}

/// One table as the catalog knows it at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSchema {
    /// The table's name.
    pub name: TableName,
    /// The column that holds each row's time; `time` in SQL means it.
    pub time_column: ColumnName,
    /// The columns, the time column included, sorted by name.
    pub columns: Vec<ColumnSchema>,
    /// Rows in the table.
    pub rows: u64,
    /// The first and the last time in the table, both inclusive; `None` when it has no rows.
    pub time_range: Option<(Micros, Micros)>,
}

impl TableSchema {
    /// The column of this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&ColumnSchema> {
        let at = self.columns.binary_search_by(|column| column.name.as_str().cmp(name)).ok()?;
        self.columns.get(at)
    }

    /// The same table without rows: its name, and the columns that it had.
    #[must_use]
    pub fn emptied(mut self) -> Self {
        self.rows = 0;
        self.time_range = None;
        let parts = self.columns.iter_mut().flat_map(|column| &mut column.parts);
        parts.for_each(|part| part.rows = 0);
        self
    }

    /// Whether it describes only rows that are gone.
    fn is_emptied(&self) -> bool {
        let parts = self.columns.iter().flat_map(|column| &column.parts);
        self.rows == 0 && parts.map(|part| part.rows).all(|rows| rows == 0)
    }

    /// Merges both schemas: rows are added, columns and parts united.
    ///
    /// Both must be of the same table. The time column is taken from the schema with more rows. An
    /// [emptied](Self::emptied) schema is ignored if the other one has rows.
    #[must_use]
    pub fn merge(mut self, other: &Self) -> Self {
        match (self.is_emptied(), other.is_emptied()) {
            (true, false) => return other.clone(),
            (false, true) => return self,
            (true, true) | (false, false) => (),
        }
        if other.rows > self.rows {
            self.time_column = other.time_column.clone();
        }
        self.rows += other.rows;
        self.time_range = match (self.time_range, other.time_range) {
            (Some(left), Some(right)) => Some((left.0.min(right.0), left.1.max(right.1))),
            (left, right) => left.or(right),
        };
        for column in &other.columns {
            self.merge_column(column);
        }
        self
    }

    fn merge_column(&mut self, column: &ColumnSchema) {
        let at = match self.columns.binary_search_by(|merged| merged.name.cmp(&column.name)) {
            Ok(at) => at,
            Err(at) => return self.columns.insert(at, column.clone()),
        };
        let merged = &mut self.columns[at];
        for part in &column.parts {
            match merged.parts.iter_mut().find(|merged_part| merged_part.kind == part.kind) {
                Some(merged_part) => {
                    merged_part.rows += part.rows;
                    merged_part.logical = merged_part.logical.and(part.logical);
                }
                None => merged.parts.push(*part),
            }
        }
        merged.parts.sort_unstable_by_key(|part| part.kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(time_column: &str, column: &str, rows: u64) -> TableSchema {
        let name = |name: &str| ColumnName::new(name).expect("a name");
        let part = ColumnPart { kind: Kind::Number, logical: Logical::Plain, rows };
        TableSchema {
            name: TableName::new("t").expect("a name"),
            time_column: name(time_column),
            columns: vec![ColumnSchema { name: name(column), parts: vec![part] }],
            rows,
            time_range: Some((Micros(1), Micros(2))),
        }
    }

    #[test]
    fn what_has_no_rows_any_more_is_of_no_account_where_there_are_some() {
        let (full, gone) = (schema("ts", "a", 3), schema("time", "b", 2).emptied());
        assert_eq!((gone.rows, gone.time_range), (0, None));
        assert_eq!(gone.clone().merge(&full), full);
        assert_eq!(full.clone().merge(&gone), full);
        let both = gone.clone().merge(&full.clone().emptied());
        let names: Vec<&str> = both.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!((names, both.rows), (vec!["a", "b"], 0));
        // Damaged rows are not counted, but their columns are.
        let unknown = TableSchema { rows: 0, columns: Vec::new(), ..full };
        assert_eq!(unknown.merge(&gone).columns, gone.columns);
        let damaged = TableSchema { rows: 0, ..schema("ts", "a", 3) };
        assert_eq!(damaged.clone().merge(&gone), damaged);
    }
}
