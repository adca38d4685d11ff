//! Runs work on many items on several threads.

use std::sync::Mutex;

use crate::sync::lock;

/// Calls `work` on the items from the last to the first, on up to `threads` threads, until it
/// returns false. Neighbouring items for which `are_of_one` holds go to the same thread.
pub(crate) fn parallel_from_last<T: Send>(
    things: Vec<T>,
    threads: usize,
    are_of_one: impl Fn(&T, &T) -> bool + Sync,
    work: impl Fn(T) -> bool + Sync,
) {
    let threads = threads.min(things.len());
    let things = Mutex::new(things);
    let next = || {
        let mut things = lock(&things);
        let length = things.chunk_by(&are_of_one).next_back()?.len();
        let first = things.len() - length;
        Some(things.split_off(first))
    };
    let each = || while next().is_some_and(|things| things.into_iter().rev().all(&work)) {};
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If a thread cannot be started, the others do its work.
            let _ =
                std::thread::Builder::new().name("recover".to_owned()).spawn_scoped(scope, each);
        }
        each();
    });
}

#[cfg(test)]
mod tests {
    use std::thread::current;

    use super::*;

    #[test]
    fn neighbours_are_one_threads_from_the_last_on() {
        let things: Vec<(u32, u32)> = (0..40).map(|at| (at / 10, at)).collect();
        for threads in [0, 1, 2, 7] {
            let done = Mutex::new(Vec::new());
            let work = |thing| {
                lock(&done).push((thing, current().id()));
                true
            };
            parallel_from_last(things.clone(), threads, |(one, _), (other, _)| one == other, work);
            for group in 0..4 {
                let of_group: Vec<_> =
                    lock(&done).iter().filter(|((of, _), _)| *of == group).copied().collect();
                assert!(of_group.iter().rev().map(|(thing, _)| thing).is_sorted(), "{of_group:?}");
                assert!(
                    of_group.iter().all(|(_, thread)| *thread == of_group[0].1),
                    "{of_group:?}"
                );
                assert_eq!(of_group.len(), 10);
            }
        }
    }

    #[test]
    fn nothing_more_is_done_once_work_says_so() {
        let done = Mutex::new(Vec::new());
        let work = |thing: u32| {
            lock(&done).push(thing);
            thing != 7
        };
        parallel_from_last((0..10).collect(), 1, |_, _| true, work);
        assert_eq!(*lock(&done), [9, 8, 7]);
    }
}
