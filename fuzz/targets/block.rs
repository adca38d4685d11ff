//! Any bytes: never a panic, nothing out of bounds, no memory without bound.
#![no_main]

use hadal_block::BlockView;
use hadal_fuzz::{access, seal};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(block) = BlockView::parse(bytes) {
        access::read_all(&block);
    }
    if let Some(bytes) = seal::sealed(bytes)
        && let Ok(block) = BlockView::parse(&bytes)
    {
        access::read_all(&block);
    }
});
