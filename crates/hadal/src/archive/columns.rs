//! Chooses the columns of a file: one for each kind of value in a column's rows.
//!
//! A column of Hadal may hold numbers in some rows and strings in other rows; a column of Parquet
//! may not. If all values of a column have one kind, the column of the file has the same name.
//! Otherwise there is one column per kind, named `name (number)`, `name (string)` and so on.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use hadal_block::{ColumnView, Zone};
use hadal_ingest::distinct_names;
use hadal_leaf::ArchivePart;
use hadal_types::{ColumnName, Kind, Logical};

/// The digits of a decimal of 8 bytes, and of one of 16 bytes.
const DIGITS: [u8; 2] = [18, 38];

/// A column of a file.
#[derive(Clone, Debug)]
pub(super) struct FileColumn {
    pub(super) name: ColumnName,
    pub(super) kind: Kind,
    pub(super) form: Form,
}

/// The type of a column's values in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Points in time, to the microsecond, in UTC.
    Time,
    Bool,
    /// Integers.
    Whole,
    /// Decimals with `digits` digits, `scale` of them after the point.
    Decimal {
        digits: u8,
        scale: u8,
    },
    Double,
    Text,
    Texts,
}

impl Form {
    pub(super) fn data_type(self) -> DataType {
        match self {
            Self::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::Bool => DataType::Boolean,
            Self::Whole => DataType::Int64,
            Self::Decimal { digits, scale } => DataType::Decimal128(digits, scale.cast_signed()),
            Self::Double => DataType::Float64,
            Self::Text => DataType::Utf8,
            Self::Texts => DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, false))),
        }
    }
}

/// The range of the numbers of a column, merged part by part.
#[derive(Clone, Copy, Debug)]
enum Numbers {
    /// The largest mantissa of each scale.
    Decimals {
        largest: [u64; 19],
    },
    Doubles,
}

impl Numbers {
    fn of(zone: Zone) -> Self {
        match zone {
            Zone::Decimals { scale, min, max, .. } => {
                let mut largest = [0; 19];
                if let Some(mantissa) = largest.get_mut(usize::from(scale)) {
                    *mantissa = min.unsigned_abs().max(max.unsigned_abs()).max(1);
                }
                Self::Decimals { largest }
            }
            Zone::Doubles { .. } | Zone::None => Self::Doubles,
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Decimals { largest: left }, Self::Decimals { largest: right }) => {
                Self::Decimals {
                    largest: std::array::from_fn(|scale| left[scale].max(right[scale])),
                }
            }
            _ => Self::Doubles,
        }
    }

    fn form(self, logical: Logical) -> Form {
        match (logical, self) {
            (Logical::Time, _) => Form::Time,
            (Logical::Bool, _) => Form::Bool,
            (Logical::Plain, Self::Doubles) => Form::Double,
            (Logical::Plain, Self::Decimals { largest }) => decimal(&largest),
        }
    }
}

/// The narrowest form that holds all decimals of these scales.
fn decimal(largest: &[u64; 19]) -> Form {
    let used = || (0u8..).zip(largest).filter(|(_, largest)| **largest > 0);
    let scale = used().map(|(scale, _)| scale).max().unwrap_or(0);
    if scale == 0 {
        return Form::Whole;
    }
    let scaled = used().map(|(mantissa_scale, &largest)| {
        u128::from(largest) * 10u128.pow((scale - mantissa_scale).into())
    });
    let digits = scaled.max().map_or(1, |largest| largest.ilog10() + 1);
    let fits = |most: &&u8| digits <= u32::from(**most) && scale <= **most;
    Form::Decimal { digits: DIGITS.iter().find(fits).copied().unwrap_or(DIGITS[1]), scale }
}

/// The columns of a file with these parts: the time column first, then by name and kind.
pub(super) fn columns(parts: &[ArchivePart<'_>]) -> (Vec<FileColumn>, SchemaRef) {
    let mut all: BTreeMap<(&ColumnName, Kind), (Logical, Numbers)> = BTreeMap::new();
    for column in parts.iter().flat_map(|part| part.block.columns()) {
        let part = (column.logical(), Numbers::of(column.zone()));
        let merged = all.entry((column.name(), column.kind())).or_insert(part);
        *merged = (merged.0.and(part.0), merged.1.and(part.1));
    }
    let form = |kind, (logical, numbers): (Logical, Numbers)| match kind {
        Kind::Number => numbers.form(logical),
        Kind::String => Form::Text,
        Kind::Set | Kind::Vector => Form::Texts,
    };
    let column = |((name, kind), merged): (&(&ColumnName, Kind), &(Logical, Numbers))| FileColumn {
        name: (*name).clone(),
        kind: *kind,
        form: form(*kind, *merged),
    };
    let mut columns: Vec<FileColumn> = all.iter().map(column).collect();
    let time = parts.last().map(|part| part.block.time_column());
    let is_other = |column: &FileColumn| !time.is_some_and(|time| is_of(column, time));
    columns.sort_by_key(is_other);
    let fields = names(&columns).into_iter().zip(&columns);
    let fields = fields.map(|(name, column)| Field::new(name, column.form.data_type(), true));
    let schema = Schema::new(fields.collect::<Fields>());
    (columns, Arc::new(schema))
}

fn is_of(column: &FileColumn, view: &ColumnView<'_>) -> bool {
    (&column.name, column.kind) == (view.name(), view.kind())
}

/// The names of the columns in the file.
fn names(columns: &[FileColumn]) -> Vec<String> {
    let has_others = |file_column: &FileColumn| {
        columns
            .iter()
            .any(|column| column.name == file_column.name && column.kind != file_column.kind)
    };
    let name = |column: &FileColumn| match has_others(column) {
        true => format!("{} ({})", column.name, column.kind.name()),
        false => column.name.to_string(),
    };
    let names: Vec<String> = columns.iter().map(name).collect();
    distinct_names(names.iter().map(String::as_str))
}
