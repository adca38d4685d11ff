//! The table: 29 hours of events of ten services, in order of time, as batches of row blocks.

use hadal_block::BlockBuilder;
use hadal_peer::Batch;
use hadal_random::Random;
use hadal_types::limits::BLOCK_ROWS_MAX;
use hadal_types::{
    BatchId, ColumnName, ColumnPart, ColumnSchema, Kind, Logical, Micros, Number, TableName,
    TableSchema, TimeRange,
};

use crate::error::Error;

/// The table's name.
pub(crate) const TABLE: &str = "events";
/// The time of the first row, in seconds since 1970.
pub(crate) const START: i64 = 1_767_571_200;
/// Hours of all rows.
pub(crate) const HOURS: u32 = 29;
/// Services: the lines of the time series.
pub(crate) const SERVICES: usize = 10;
/// A text column, then number columns. Rows are sampled, as in most tables.
const COLUMNS: [(&str, Kind); 4] = [
    ("service", Kind::String),
    ("sample_rate", Kind::Number),
    ("column1", Kind::Number),
    ("column2", Kind::Number),
];
/// How many events one row stands for.
const SAMPLE_RATES: [i64; 4] = [1, 10, 100, 1_000];

/// The rows of one unit of data, in batches of a full block each. `copy` makes other batch ids.
///
/// # Errors
/// When a block cannot be made, which no row here can cause.
pub(crate) fn batches(rows: u64, copy: usize) -> Result<Vec<Batch>, Error> {
    let mut random = Random::new(1, 0);
    let names: Vec<ColumnName> =
        COLUMNS.iter().map(|(name, _)| ColumnName::new(name)).collect::<Result<_, _>>()?;
    let services: Vec<String> = (0..SERVICES).map(|index| format!("service-{index}")).collect();
    let mut made = Vec::new();
    let mut row = 0;
    while row < rows {
        let mut builder = BlockBuilder::new(ColumnName::new("time")?);
        let ids: Vec<_> =
            names.iter().zip(COLUMNS).map(|(name, (_, kind))| builder.column(name, kind)).collect();
        let end = rows.min(row + BLOCK_ROWS_MAX as u64);
        for at in row..end {
            // The least of two draws: the first services have more rows than the last.
            let service = random.index(SERVICES).min(random.index(SERVICES));
            builder.push_string(ids[0], &services[service])?;
            let rate = SAMPLE_RATES[random.index(SAMPLE_RATES.len())];
            builder.push_number(ids[1], Number::integer(rate))?;
            for (id, median) in ids[2..].iter().zip([10_000.0, 3_000.0]) {
                let value = random.lognormal(median, 1.1).round();
                builder.push_number(*id, Number::from_f64(value).unwrap_or(Number::integer(0)))?;
            }
            builder.end_row(time_of(at, rows));
        }
        let id = BatchId::new(&format!("unit-{copy}-{row}")).ok_or(Error::NoSamples)?;
        let block = builder.finish(Micros(0), Some((&id, row)))?;
        let count = usize::try_from(end - row).unwrap_or(usize::MAX);
        made.push(Batch::encoded(TableName::new(TABLE)?, id, row, count, block));
        row = end;
    }
    Ok(made)
}

/// The time of a row: evenly over all hours, in whole seconds.
fn time_of(row: u64, rows: u64) -> Micros {
    let seconds = u128::from(HOURS) * 3_600 * u128::from(row) / u128::from(rows.max(1));
    Micros((START + i64::try_from(seconds).unwrap_or(0)) * Micros::SECOND)
}

/// How many of a unit's rows are in a range.
pub(crate) fn rows_in(range: &TimeRange, rows: u64) -> u64 {
    (0..rows).filter(|row| range.contains(time_of(*row, rows))).count() as u64
}

/// The schema of the table.
pub(crate) fn schema() -> Result<TableSchema, Error> {
    let time_column = ColumnName::new("time")?;
    let part = |kind, logical| vec![ColumnPart { kind, logical, rows: 1 }];
    let mut columns =
        vec![ColumnSchema { name: time_column.clone(), parts: part(Kind::Number, Logical::Time) }];
    for (name, kind) in COLUMNS {
        let name = ColumnName::new(name)?;
        columns.push(ColumnSchema { name, parts: part(kind, Logical::Plain) });
    }
    columns.sort_by(|one, other| one.name.cmp(&other.name));
    let name = TableName::new(TABLE)?;
    Ok(TableSchema { name, time_column, columns, rows: 1, time_range: None })
}
