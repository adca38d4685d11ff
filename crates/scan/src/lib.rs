//! One query over one row block.
//!
//! A [`Scan`] is made once per query and leaf; [`Scan::block`] adds one block to a `Partial`. Work
//! is done a block at a time, on dictionary codes where possible. Scuba (VLDB 2013, section 3.5)
//! caches a regular expression's result per dictionary entry; Hadal caches the result of every
//! function.
//!
//! 1. `expr/zone_map`: a block is skipped when its zones say that no row can match.
//! 2. `expr/eval`: expressions over whole columns. An expression of one dictionary column is
//!    computed once per entry. `column/encoded_filter` compares columns with literals as they are
//!    encoded, without decoding them.
//! 3. `group/group_ids`: the selected rows get group ids, by arrays where keys have few values.
//! 4. `aggregate/measures`: measures run over arrays indexed by group id. Then `aggregate/block`
//!    adds each group once to the partial, where `group/group_lookup` finds it.
//!    `aggregate/sketches` adds distributions and distinct values group by group.
//!    `aggregate/ungrouped` answers a query without groups from zones, or sums encoded values.
//! 5. `top_list`: of a top list over many groups, a first scan counts rows by the hash of their key
//!    (`group/key_counters`), and a second leaves out rows whose group cannot be in the list.
//! 6. `top_k/rows`: a query for raw rows keeps the best rows. `top_k/sort_ranks` compares rows by
//!    one value; other rows, and blocks whose zones hold no better row, are skipped.
//!
//! Decoded and computed bytes are reserved from the query's memory (`scan_memory`). Rows with large
//! values are processed in pieces (`piecewise`).
//!
//! This crate does not know where blocks are stored or who asks.

mod aggregate;
mod column;
mod expr;
mod group;
mod piecewise;
mod scan;
mod scan_memory;
mod top_k;
mod top_list;

pub use column::interner::{BlockContext, InternedIds, SharedInterner};
pub use group::key_counters::{KeyBound, KeyCounters};
pub use scan::{BlockOrder, Scan, ScanError};

/// The name of the instruction set that scans use: `baseline`, `avx2` or `avx512`. It is the best
/// that the processor has, or a lower one set by the environment.
#[must_use]
pub fn cpu_path() -> &'static str {
    hadal_encoding::kernels::Level::current().name()
}
