//! What the allocator keeps of memory that was freed.
//!
//! It is here because a call of C is `unsafe`, which has its place in this crate.
#![allow(unsafe_code)]

/// Has mimalloc give free memory back to the system: all of it (`at_once`), or what has been free for about a
/// second, which it gives back by itself only when more is freed then. A gibibyte takes about 0.1 s, and as
/// much again when it is taken anew. Does nothing in a program with another allocator.
pub fn give_free_memory_back(at_once: bool) {
    // SAFETY: it takes no pointer and may be called by any thread at any time: of threads it looks only at
    // the caller's own pages, and of what all share at those that are free, which it claims first.
    unsafe { libmimalloc_sys::mi_collect(at_once) }
}
