//! Expressions over whole columns of a block.

pub(crate) mod arithmetic;
mod calendar;
pub(crate) mod eval;
pub(crate) mod plan;
pub(crate) mod time_bucket;
mod user_call;
pub(crate) mod visible_kinds;
mod whole_columns;
pub(crate) mod zone_map;
