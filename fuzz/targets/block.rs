//! Any bytes: never a panic, no access out of bounds, no unbounded memory.
#![no_main]

use hadal_block::{BlockView, Chill, chill};
use hadal_fuzz::{access, seal};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(block) = BlockView::parse(bytes) {
        access::read_all(&block);
    }
    if let Some(bytes) = seal::sealed(bytes)
        && let Ok(block) = BlockView::parse(&bytes)
    {
        access::read_all(&block);
        // The contents of a frame may be arbitrary too.
        if let Ok(Some(cold)) = chill(&block, Chill::All) {
            access::read_all(&BlockView::parse(&cold).expect("the front is in order"));
        }
    }
});
