//! The data for measuring Hadal and its rivals, and the speed of this machine's memory.
//!
//! `hadal-bench requests` and `hadal-bench readings` write the two benchmark tables as JSON lines
//! or Parquet. `hadal-bench druid` and `hadal-bench year` write the tables of two published
//! benchmarks as Parquet. `hadal-bench bandwidth` prints how many GB/s one core reads. The same
//! seed and rows give the same files, whatever the number of threads: rows are generated in chunks,
//! each from its own random stream.
//!
//! A program that needs the rows in memory gets them from [`in_batches`].
//!
//! The tables are invented, with the shapes of event data: a few columns with few values, some with
//! thousands by a Zipf law, an id with millions, a string that hardly repeats, numbers with a long
//! tail, columns that only some rows have, times that are almost in order.

mod bandwidth;
mod batches;
mod chunks;
mod command;
mod druid;
mod error;
mod json;
mod parquet_file;
mod readings;
mod requests;
mod rounding;
mod vocabulary;
mod year;
mod zipf;

pub use bandwidth::{numbers, read_speed};
pub use batches::{Table, in_batches};
pub use command::main;
pub use error::Error;
