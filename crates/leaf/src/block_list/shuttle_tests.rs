//! Random schedules of a reader, a writer and a merge (`cargo test --features shuttle`).

use shuttle::sync::Arc;
use shuttle::thread;

use super::BlockList;

/// Blocks are lists of row numbers here; every snapshot must hold each row exactly once.
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
            let seen = rows(&list);
            assert!(seen == [0, 1, 2, 3] || seen == [0, 1, 2, 3, 4], "{seen:?}");
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
