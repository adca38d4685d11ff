//! Rows of any shape: their blocks, and the merged ones, return the values that were written.
#![no_main]

use hadal_fuzz::{read, rows::Table};

libfuzzer_sys::fuzz_target!(|table: Table| read::round_trip(&table));
