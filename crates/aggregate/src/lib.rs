//! Partial results: group states, how they merge, and how the root finishes them.
//!
//! `scan` fills partial results from row blocks. `tree` merges them on their way up and finishes
//! them at the root. The two crates meet only here. This is floor 2. Nothing here knows a row
//! block, a socket or SQL.

mod query_error;
mod sort_order;
mod sparse_row;

mod covered_seconds;
mod finish;
mod groups;
mod partial;
mod state;

pub use finish::{ResultSet, finish};
pub use groups::accumulators::{AccumulatorColumn, AccumulatorInput, AccumulatorLayout, SumInput};
pub use groups::group::{Group, KeyedGroup};
pub use groups::key_dictionary::KeyDictionary;
pub use groups::string_table::StringInterner;
pub use groups::{DeferredKeys, Groups};
pub use partial::coverage::{Coverage, LeafCoverage, LeafOutcome, ScanStats};
pub use partial::top_rows::{SortColumns, TopRows};
pub use partial::warnings::{Warning, WarningCode, Warnings};
pub use partial::{Partial, PartialBody};
pub use query_error::{
    FinishError, QueryError, QueryErrorCode, QueryErrors, out_of_memory, over_memory_limit,
};
pub use sort_order::SortDirection;
pub use sparse_row::SparseRow;
pub use state::distinct::{
    DISTINCT_REGISTER_BITS, DISTINCT_REGISTERS, DISTINCT_VERSION, Distinct, DistinctParts,
    DistinctRegisters,
};
pub use state::histogram::grid::{HistogramGrid, Steps};
pub use state::histogram::{Histogram, HistogramParts};
pub use state::min_max::MinMax;
pub use state::quantiles::buckets::{
    BUCKET_FRACTION_BITS, BUCKET_OFFSET, bucket_of, bucket_of_decimal,
};
pub use state::quantiles::counts::{BucketInput, QuantileCounts};
pub use state::quantiles::weights::QuantileWeights;
pub use state::quantiles::{QUANTILES_VERSION, Quantiles, QuantilesParts};
pub use state::sum::{Sum, SumParts, weighted};
pub use state::user::UserState;
pub use state::value_hash::{INTEGER_SALT, hash_decimal, hash_text, hash_value};
pub use state::weighted_count::WeightedCount;
pub use state::{Moments, State};
