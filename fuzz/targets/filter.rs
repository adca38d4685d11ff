//! Any filter: a scan of encoded blocks finds the rows for which the filter is true.
#![no_main]

use hadal_fuzz::filter;

libfuzzer_sys::fuzz_target!(|question: filter::Question| filter::ask(&question));
