//! An item of a SELECT list after binding.

use sqlparser::tokenizer::Location;

use crate::bind::bound_expr::TypedExpr;

/// One output column before it is known what it is computed from.
pub(crate) struct Selected {
    pub(crate) name: String,
    pub(crate) bound: TypedExpr,
    /// Whether the name was given with AS.
    pub(crate) aliased: bool,
    /// Where the item begins that it comes from.
    pub(crate) at: Location,
}
