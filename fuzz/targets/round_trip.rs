//! Rows of any shape: what is read of their blocks, and of merged ones, is what was put in.
#![no_main]

use hadal_fuzz::{read, rows::Table};

libfuzzer_sys::fuzz_target!(|table: Table| read::round_trip(&table));
