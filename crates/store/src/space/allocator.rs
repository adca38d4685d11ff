//! Returns memory to the system that was freed but is kept by the allocator.
//!
//! This file is in `store` because a call of C is `unsafe`.
#![allow(unsafe_code)]

/// Makes mimalloc give free memory back to the system: all of it (`at_once`), or only memory that
/// has been free for about a second. By itself, mimalloc gives that back only when more memory is
/// freed. A gibibyte takes about 0.1 s, and the same time again when it is allocated again. Does
/// nothing in a program with another allocator.
pub fn give_free_memory_back(at_once: bool) {
    // SAFETY: it takes no pointer and may be called by any thread at any time. Of the pages of
    // threads it examines only the caller's own; of shared pages only free ones, which it claims
    // first.
    unsafe { libmimalloc_sys::mi_collect(at_once) }
}
