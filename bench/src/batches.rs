//! The tables for programs that need the rows in memory.

use std::num::NonZeroUsize;

use arrow_array::RecordBatch;

use crate::chunks::in_order;
use crate::error::Error;
use crate::parquet_file::{RequestColumns, readings_batch};
use crate::readings::{Layout, Readings};
use crate::requests::Requests;

/// One of the two tables for which speeds are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Events of a web shop, 18 columns.
    Requests {
        /// The name of the column of weights.
        weight_column: &'static str,
    },
    /// Temperatures of 10,000 sensors, with the rows of a minute together.
    Readings,
}

/// Generates the table's `rows` from its seed, in chunks of up to 2^20. `make` converts chunks on
/// several threads, and `take` gets the results in the order of the chunks. Times are whole seconds
/// since 1970.
///
/// # Errors
/// The first error of `take`, or of generating rows.
pub fn in_batches<T: Send, E: From<Error>>(
    table: Table,
    (seed, rows): (u64, u64),
    threads: NonZeroUsize,
    make: impl Fn(RecordBatch) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let taken = |made: Result<T, Error>| take(made?);
    match table {
        Table::Requests { weight_column } => {
            let requests = Requests::new(seed, rows, false);
            let columns = RequestColumns::new(&requests, weight_column);
            let made = |chunk| columns.batch(&requests.chunk(chunk)).map(&make);
            in_order(requests.chunks(), threads, made, taken)
        }
        Table::Readings => {
            let readings = Readings::new(seed, rows, Layout::TimeMajor);
            let made = |chunk| readings_batch(&readings.chunk(chunk)).map(&make);
            in_order(readings.chunks(), threads, made, taken)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREADS: NonZeroUsize = NonZeroUsize::new(2).unwrap();

    fn columns_and_rows(table: Table, rows: u64) -> (usize, usize) {
        let (mut columns, mut taken) = (0, 0);
        let make = |batch: RecordBatch| (batch.num_columns(), batch.num_rows());
        let count = |(width, rows)| {
            (columns, taken) = (width, taken + rows);
            Ok::<_, Error>(())
        };
        in_batches(table, (1, rows), THREADS, make, count).unwrap();
        (columns, taken)
    }

    #[test]
    fn all_rows_come() {
        let requests = Table::Requests { weight_column: "rate" };
        assert_eq!(columns_and_rows(requests, 65_536 + 10), (18, 65_546));
        assert_eq!(columns_and_rows(Table::Readings, 1_048_580), (3, 1_048_580));
    }

    #[test]
    fn a_taker_that_fails_ends_it() {
        let take = |_| Err(Error::Thread);
        assert!(in_batches(Table::Readings, (1, 1), THREADS, |_| (), take).is_err());
    }
}
