//! Partial answers: what is kept of rows, how it merges, and how it is finished.
//!
//! `scan` fills partial answers from row blocks; `tree` merges them on their way up and finishes
//! them at the root; the two meet only here. This is floor 2. Nothing here knows a row block, a
//! socket or SQL.

mod ascending;
mod average;
mod bucket_counts;
mod bucket_weights;
mod buckets;
mod candidates;
mod cells;
mod coverage;
mod distinct;
mod double_sum;
mod extremes;
mod finish;
mod grid;
mod group;
mod groups;
mod hash;
mod histogram;
mod key_dictionary;
mod lifted;
mod order;
mod partial;
mod pending;
mod pending_texts;
mod places;
mod quantiles;
mod row_values;
mod seconds;
mod series;
mod slots;
mod state;
mod state_column;
mod sum;
mod tally;
mod texts;
mod top_rows;
mod warning;
mod wholes;
mod wide;

pub use bucket_counts::{BucketCounts, IncomingBuckets};
pub use bucket_weights::BucketWeights;
pub use buckets::{
    BUCKET_FRACTION_BITS, BUCKET_MAX, BUCKET_OFFSET, bucket_of, bucket_of_decimal, bucket_of_number,
};
pub use cells::{CellColumn, Incoming, IncomingSum, Layout};
pub use coverage::{Coverage, LeafCoverage, LeafOutcome, ScanStats};
pub use distinct::{
    DISTINCT_REGISTER_BITS, DISTINCT_REGISTERS, DISTINCT_VERSION, Distinct, DistinctParts,
    DistinctRegisters,
};
pub use extremes::Extremes;
pub use finish::{Answer, Unfinished, finish};
pub use grid::{Grid, Steps};
pub use group::{Group, KeyedGroup};
pub use groups::{Groups, Later};
pub use hash::{INTEGER_SALT, hash_decimal, hash_number, hash_text, hash_value};
pub use histogram::{Histogram, HistogramParts};
pub use key_dictionary::KeyDictionary;
pub use order::Direction;
pub use partial::{Answering, Partial, never_room, no_room};
pub use quantiles::{QUANTILES_VERSION, Quantiles, QuantilesParts};
pub use row_values::RowValues;
pub use state::{Moments, State};
pub use sum::{Sum, SumOverflow, SumParts, weighted};
pub use tally::Tally;
pub use texts::TextNumbers;
pub use top_rows::{Comparison, TopRows};
pub use warning::{Fault, FaultCode, Faults, Warning, WarningCode, Warnings};
