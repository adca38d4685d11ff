//! Chunks of rows that several threads generate, and that the thread that writes the file takes in
//! order.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use crate::error::Error;

/// A file to write, and the number of threads that generate its contents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output<'a> {
    pub(crate) path: &'a Path,
    pub(crate) threads: NonZeroUsize,
}

/// Generates chunks 0 to `chunks` - 1 and takes them in that order. Ends early if taking fails.
pub(crate) fn in_order<T: Send, E: From<Error>>(
    chunks: u64,
    threads: NonZeroUsize,
    make: impl Fn(u64) -> T + Sync,
    take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicU64::new(0);
    let (done, made) = sync_channel(threads.get());
    thread::scope(|scope| {
        for _ in 0..threads.get() {
            let (done, next, make) = (done.clone(), &next, &make);
            scope.spawn(move || {
                loop {
                    let chunk = next.fetch_add(1, Ordering::Relaxed);
                    if chunk >= chunks || done.send((chunk, make(chunk))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(done);
        take_in_order(chunks, made, take)
    })
}

fn take_in_order<T, E: From<Error>>(
    chunks: u64,
    made: Receiver<(u64, T)>,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let mut early = BTreeMap::new();
    for chunk_index in 0..chunks {
        let chunk = loop {
            if let Some(chunk) = early.remove(&chunk_index) {
                break chunk;
            }
            let (place, chunk) = made.recv().map_err(|_| Error::Thread)?;
            early.insert(place, chunk);
        };
        take(chunk)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREADS: NonZeroUsize = NonZeroUsize::new(3).unwrap();

    #[test]
    fn chunks_are_taken_in_order() {
        let mut taken = Vec::new();
        let result = in_order(
            100,
            THREADS,
            |chunk| chunk,
            |chunk| {
                taken.push(chunk);
                Ok::<_, Error>(())
            },
        );
        assert!(result.is_ok());
        assert_eq!(taken, (0..100).collect::<Vec<u64>>());
    }

    #[test]
    fn a_failure_ends_it() {
        let result = in_order(1_000_000_000, THREADS, |chunk| chunk, |_| Err(Error::Thread));
        assert!(result.is_err());
    }
}
