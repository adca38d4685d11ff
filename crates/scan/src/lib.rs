//! One query over one row block.
//!
//! A [`Scan`] is made once per query and leaf; [`Scan::block`] then adds what one block has to
//! say to a `Partial`. Everything happens a block at a time, in *code space* where it can
//! (design: Scuba, VLDB 2013, section 3.5, which caches a regular expression's result per
//! dictionary entry; here that holds for every function):
//!
//! 1. `prune`: the block's zones may already say that no row can match.
//! 2. `eval`: expressions over whole columns. What depends on one dictionary column only is
//!    computed once per dictionary entry and then goes by codes. `stored`: what compares a column
//!    with literals is asked of its packed integers or codes, which are then not decoded.
//! 3. `keys`: the rows that are left get group numbers, by arrays where key values are few.
//! 4. `accumulate`: measures run over arrays indexed by group number; then, once per group and
//!    block, `groups` adds them to the partial, where `places` finds them. `sketching`:
//!    distributions and sets of values have no arrays; they are added group by group, over the rows
//!    in the order of their groups. `whole`: what a question without groups takes of a block is
//!    answered from its zones, or adds up as it is encoded.
//! 5. `raw_rows`: of a query for the rows themselves, those that are among the best are found by
//!    `ranks` of one value; the others are not looked at, nor blocks whose zones say that no row of
//!    theirs can be among the best.
//!
//! What is decoded and computed is drawn from the query's memory (`room`); rows whose values are
//! large are looked at piece by piece (`pieces`).
//!
//! This crate knows neither where blocks live nor who asks.

mod aggregate;
mod column;
mod expr;
mod group;
mod piecewise;
mod scan;
mod scan_memory;
mod top_k;

pub use column::interner::{Holder, Interned, Interner};
pub use expr::plan::PlanError;
pub use scan::{BlockOrder, Scan, Unlooked};

/// The instructions that scans use: those of this processor, or fewer where the environment asks
/// for that; `baseline`, `avx2` or `avx512`.
#[must_use]
pub fn cpu_path() -> &'static str {
    hadal_encoding::kernels::Level::current().name()
}
