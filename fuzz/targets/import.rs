//! Any bytes as any format of import.
#![no_main]

use hadal_fuzz::import;

libfuzzer_sys::fuzz_target!(|body: import::Body| import::ingest(&body));
