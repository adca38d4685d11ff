//! An item of a SELECT list after binding.

use sqlparser::tokenizer::Location;

use crate::bind::bound_expr::TypedExpr;

/// One output column before it is split into slots.
pub(crate) struct Selected {
    pub(crate) name: String,
    pub(crate) bound: TypedExpr,
    /// Whether the name was given with AS.
    pub(crate) aliased: bool,
    /// Whether it is one of the columns of `*`.
    pub(crate) of_star: bool,
    /// The position where the item begins.
    pub(crate) at: Location,
}
