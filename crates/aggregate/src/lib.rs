//! Partial results: group states, how they merge, and how the root finishes them.
//!
//! `scan` fills partial results from row blocks, as [`accumulate`] says. `tree` merges them on
//! their way up and finishes them at the root. `scan` and `tree` meet only in this crate. It is
//! floor 2. Nothing here knows a row block, a socket or SQL.

mod query_error;
mod row_columns;
mod sort_order;
mod sparse_row;
mod top_list;

mod covered_seconds;
mod finish;
mod groups;
mod leaf_totals;
mod partial;
mod state;

pub use finish::interval::Interval;
pub use finish::raw_rows::finish_columns;
pub use finish::{ResultSet, RowKind, finish};
pub use groups::Groups;
pub use groups::accumulate;
pub use groups::columns::{GroupColumns, KeyColumn};
pub use groups::group::{Group, KeyedGroup};
pub use groups::key_dictionary::distinct_values::DistinctValues;
pub use groups::pruning::CutParts;
pub use groups::state_column::measure_column::MeasureColumn;
pub use groups::string_table::StringInterner;
pub use leaf_totals::add_leaf_totals;
pub use partial::coverage::{Coverage, LeafCoverage, LeafOutcome, ScanStats};
pub use partial::top_rows::{SortColumns, TopRows};
pub use partial::warnings::{Warning, WarningCode, Warnings};
pub use partial::{Partial, PartialBody};
pub use query_error::{
    FinishError, QueryError, QueryErrorCode, QueryErrors, out_of_memory, over_memory_limit,
};
pub use row_columns::RowColumns;
pub use row_columns::sparse_column::SparseColumn;
pub use row_columns::typed_values::TypedValues;
pub use row_columns::value_column::{SPARSE_PART, ValueColumn};
pub use sort_order::SortDirection;
pub use sparse_row::SparseRow;
pub use state::arg_min_max::ArgMinMax;
pub use state::comoments::{Comoments, ComomentsParts};
pub use state::distinct::{DISTINCT_REGISTERS, DISTINCT_VERSION, Distinct, DistinctParts};
pub use state::edge_histogram::{EdgeHistogram, EdgeHistogramParts};
pub use state::histogram::{Histogram, HistogramParts};
pub use state::log_histogram::LogHistogram;
pub use state::min_max::MinMax;
pub use state::quantiles::buckets::QUANTILE_BUCKET_MAX;
pub use state::quantiles::{QUANTILES_VERSION, Quantiles, QuantilesParts};
pub use state::random_groups::{KeyGroup, RandomGroups};
pub use state::sum::{Sum, SumParts, weighted};
pub use state::top_values::{TopValues, TopValuesParts};
pub use state::user::UserState;
pub use state::weighted_count::WeightedCount;
pub use state::{Moments, State};
pub use top_list::{NextRound, Rank, TopList};
