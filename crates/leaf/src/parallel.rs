//! Runs work on many items on several threads.

use parking_lot::Mutex;

/// Calls `work` on the items from the last to the first, on up to `threads` threads. A thread stops
/// once `work` returns false on it; the other threads continue. Neighbouring items for which
/// `are_grouped` holds go to the same thread.
pub(crate) fn parallel_from_last<T: Send>(
    items: Vec<T>,
    threads: usize,
    are_grouped: impl Fn(&T, &T) -> bool + Sync,
    work: impl Fn(T) -> bool + Sync,
) {
    let threads = threads.min(items.len());
    let items = Mutex::new(items);
    let next = || {
        let mut items = items.lock();
        let length = items.chunk_by(&are_grouped).next_back()?.len();
        let first = items.len() - length;
        Some(items.split_off(first))
    };
    let each = || while next().is_some_and(|items| items.into_iter().rev().all(&work)) {};
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
        let items: Vec<(u32, u32)> = (0..40).map(|at| (at / 10, at)).collect();
        for threads in [0, 1, 2, 7] {
            let done = Mutex::new(Vec::new());
            let work = |item| {
                done.lock().push((item, current().id()));
                true
            };
            parallel_from_last(items.clone(), threads, |(one, _), (other, _)| one == other, work);
            for group in 0..4 {
                let of_group: Vec<_> =
                    done.lock().iter().filter(|((of, _), _)| *of == group).copied().collect();
                assert!(of_group.iter().rev().map(|(item, _)| item).is_sorted(), "{of_group:?}");
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
        let work = |item: u32| {
            done.lock().push(item);
            item != 7
        };
        parallel_from_last((0..10).collect(), 1, |_, _| true, work);
        assert_eq!(*done.lock(), [9, 8, 7]);
    }
}
