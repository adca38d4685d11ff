//! Limits of the settings of a table.

/// Columns by which subsampling groups rows.
pub const SAMPLE_COLUMNS_MAX: usize = 8;
/// Columns of a table that have a unit set for them.
pub const COLUMN_UNITS_MAX: usize = 200;
