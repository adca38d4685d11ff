//! Parses the text of a statement to a syntax tree, without a catalog.

pub(crate) mod compare;
pub(crate) mod create_function;
pub(crate) mod duration;
pub(crate) mod explain;
pub(crate) mod parameters;
pub(crate) mod parse;
pub(crate) mod select_ast;
pub(crate) mod source_position;
pub(crate) mod wrapped;
