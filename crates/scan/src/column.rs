//! The columns of one block: filtered in encoded form, or decoded on first use.

pub(crate) mod bitmaps;
pub(crate) mod column_values;
pub(crate) mod decimals;
pub(crate) mod encoded_filter;
pub(crate) mod filter_dictionary;
pub(crate) mod filter_numbers;
pub(crate) mod interner;
pub(crate) mod lazy_columns;
pub(crate) mod lists;
pub(crate) mod random;
pub(crate) mod selection;
pub(crate) mod text_search;
pub(crate) mod weight_classes;
pub(crate) mod weights;
pub(crate) mod wide_division;
