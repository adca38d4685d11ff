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

pub use bucket_counts::{BucketInput, QuantileCounts};
pub use bucket_weights::QuantileWeights;
pub use buckets::{
    BUCKET_FRACTION_BITS, BUCKET_MAX, BUCKET_OFFSET, bucket_of, bucket_of_decimal, bucket_of_number,
};
pub use cells::{AccumulatorColumn, AccumulatorInput, AccumulatorLayout, SumInput};
pub use coverage::{Coverage, LeafCoverage, LeafOutcome, ScanStats};
pub use distinct::{
    DISTINCT_REGISTER_BITS, DISTINCT_REGISTERS, DISTINCT_VERSION, Distinct, DistinctParts,
    DistinctRegisters,
};
pub use extremes::MinMax;
pub use finish::{FinishError, ResultSet, finish};
pub use grid::{HistogramGrid, Steps};
pub use group::{Group, KeyedGroup};
pub use groups::{DeferredKeys, Groups};
pub use hash::{INTEGER_SALT, hash_decimal, hash_number, hash_text, hash_value};
pub use histogram::{Histogram, HistogramParts};
pub use key_dictionary::KeyDictionary;
pub use order::SortDirection;
pub use partial::{Partial, PartialBody, out_of_memory, over_memory_limit};
pub use quantiles::{QUANTILES_VERSION, Quantiles, QuantilesParts};
pub use row_values::SparseRow;
pub use state::{Moments, State};
pub use sum::{Sum, SumOverflow, SumParts, weighted};
pub use tally::WeightedCount;
pub use texts::StringInterner;
pub use top_rows::{SortColumns, TopRows};
pub use warning::{QueryError, QueryErrorCode, QueryErrors, Warning, WarningCode, Warnings};
