//! The list of blocks under random schedules of a reader, a writer and a merge.
//!
//! The same source is compiled with the locks of shuttle, which tries the possible thread
//! interleavings. These locks work only inside shuttle's runs.

mod locks {
    pub(crate) use shuttle::sync::{Arc, RwLock};
}
#[path = "block_list.rs"]
#[expect(clippy::duplicate_mod, reason = "the same source over other locks")]
mod block_list;

use shuttle::sync::Arc;
use shuttle::thread;

use self::block_list::BlockList;

fn listed(list: &BlockList<u32>) -> Vec<u32> {
    list.snapshot().iter().map(|block| **block).collect()
}

#[test]
fn a_swap_keeps_the_place() {
    let swap = || {
        let list = BlockList::default();
        (0..5).for_each(|block| list.push(Arc::new(block)));
        let before = list.snapshot();
        let removed = [Arc::clone(&before[1]), Arc::clone(&before[3])];
        assert!(list.swap(&removed, vec![Arc::new(13)]));
        assert_eq!(listed(&list), [0, 13, 2, 4]);
        assert_eq!(before.len(), 5, "a snapshot does not change");
        list.put_first(vec![Arc::new(20), Arc::new(21)]);
        assert_eq!(listed(&list), [20, 21, 0, 13, 2, 4]);
        assert_eq!(list.clear().len(), 6);
        assert!(listed(&list).is_empty());
    };
    shuttle::check_random(swap, 1);
}

#[test]
fn what_is_gone_cannot_be_swapped() {
    let swap = || {
        let list = BlockList::default();
        list.push(Arc::new(1));
        let stranger = Arc::new(1);
        assert!(!list.swap(&[stranger], vec![Arc::new(2)]));
        assert_eq!(listed(&list), [1]);
    };
    shuttle::check_random(swap, 1);
}

/// A block is a list of row numbers in these tests; every snapshot must hold each row exactly once.
fn rows(list: &BlockList<Vec<u32>>) -> Vec<u32> {
    let mut rows: Vec<u32> = list.snapshot().iter().flat_map(|block| block.to_vec()).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn every_row_is_in_exactly_one_visible_block() {
    let schedule = || {
        let list = Arc::new(BlockList::default());
        (0..4).for_each(|row| list.push(Arc::new(vec![row])));
        let merging = Arc::clone(&list);
        let merge = thread::spawn(move || {
            let taken: Vec<_> = merging.snapshot().iter().take(3).cloned().collect();
            let merged = taken.iter().flat_map(|block| block.to_vec()).collect();
            assert!(merging.swap(&taken, vec![Arc::new(merged)]));
        });
        let writing = Arc::clone(&list);
        let write = thread::spawn(move || writing.push(Arc::new(vec![4])));
        for _ in 0..3 {
            let rows = rows(&list);
            assert!(rows == [0, 1, 2, 3] || rows == [0, 1, 2, 3, 4], "{rows:?}");
        }
        merge.join().unwrap();
        write.join().unwrap();
        assert_eq!(rows(&list), [0, 1, 2, 3, 4]);
    };
    shuttle::check_random(schedule, 10_000);
}

#[test]
fn of_two_merges_of_the_same_blocks_one_wins() {
    let schedule = || {
        let list = Arc::new(BlockList::default());
        (0..2).for_each(|row| list.push(Arc::new(vec![row])));
        let taken: Vec<_> = list.snapshot().iter().cloned().collect();
        let merges: Vec<_> = (0..2)
            .map(|_| {
                let (list, taken) = (Arc::clone(&list), taken.clone());
                thread::spawn(move || list.swap(&taken, vec![Arc::new(vec![0, 1])]))
            })
            .collect();
        let wins = merges.into_iter().map(|merge| merge.join().unwrap()).filter(|won| *won).count();
        assert_eq!(wins, 1);
        assert_eq!(rows(&list), [0, 1]);
    };
    shuttle::check_random(schedule, 10_000);
}

#[test]
fn of_two_swaps_that_share_one_block_one_wins() {
    let schedule = || {
        let list = Arc::new(BlockList::default());
        (0..3).for_each(|row| list.push(Arc::new(vec![row])));
        let all = list.snapshot();
        let merges: Vec<_> = [&all[..2], &all[1..]]
            .map(|taken| (Arc::clone(&list), taken.to_vec()))
            .into_iter()
            .map(|(list, taken)| {
                let merged = taken.iter().flat_map(|block| block.to_vec()).collect();
                thread::spawn(move || list.swap(&taken, vec![Arc::new(merged)]))
            })
            .collect();
        let wins = merges.into_iter().map(|merge| merge.join().unwrap()).filter(|won| *won).count();
        assert_eq!((wins, rows(&list)), (1, vec![0, 1, 2]));
    };
    shuttle::check_random(schedule, 1_000);
}
