//! The text of a statement as a syntax tree, without any knowledge of tables.

pub(crate) mod duration;
pub(crate) mod parse;
pub(crate) mod select_ast;
pub(crate) mod source_position;
