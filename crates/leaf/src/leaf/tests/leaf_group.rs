//! Leaves of one process that answer together.

use super::memory::groups_by_value;
use super::*;
use crate::LeafGroup;

/// Three leaves and a group of all three. The first two leaves have rows of the table.
async fn three() -> (Vec<Arc<Leaf>>, LeafGroup) {
    let budget = MemoryPool::new(usize::MAX);
    let pool = ScanPool::new(2).expect("threads");
    let leaf = |index: usize| {
        let name = LeafName(format!("leaf-{index}").into());
        let (budget, pool) = (Arc::clone(&budget), Arc::clone(&pool));
        Arc::new(Leaf::open(LeafConfig { name, budget, pool, ..config(None) }).expect("opens"))
    };
    let leaves: Vec<Arc<Leaf>> = (0..3).map(leaf).collect();
    leaves[0].accept(batch("a", 1, 0..3_000)).await.expect("taken");
    leaves[0].accept(batch("b", 1, 0..500)).await.expect("taken");
    leaves[1].accept(batch("c", 1, 2_000..5_000)).await.expect("taken");
    let group = LeafGroup::new(leaves.iter().rev().cloned().collect());
    (leaves, group)
}

/// The number of groups, and for each leaf its name, its outcome, and its scanned and expected
/// rows.
fn groups_and_leaves(partial: &Partial) -> (usize, Vec<(String, LeafOutcome, u64, u64)>) {
    let PartialBody::Groups(groups) = &partial.body else { panic!("groups") };
    let leaves =
        partial.coverage.leaves.iter().map(|leaf| {
            (leaf.name.to_string(), leaf.outcome, leaf.rows_scanned, leaf.rows_expected)
        });
    let mut leaves: Vec<_> = leaves.collect();
    leaves.sort();
    (groups.len(), leaves)
}

#[tokio::test]
async fn an_answer_of_all_is_told_for_each() {
    let (leaves, group) = three().await;
    let query = Arc::new(groups_by_value(1_000_000));
    let hour = Instant::now() + Duration::from_secs(3_600);
    let all = group.query(Arc::clone(&query), hour).await;
    let expected = [("leaf-0", 3_500), ("leaf-1", 3_000), ("leaf-2", 0)];
    let expected = expected.map(|(name, rows)| (name.into(), LeafOutcome::Answered, rows, rows));
    assert_eq!(groups_and_leaves(&all), (5_000, expected.to_vec()));
    assert_eq!((all.coverage.leaves_asked, all.coverage.leaves_with_table), (3, 2));
    // As if each leaf had answered separately.
    let mut merged = Partial::empty(&query);
    for leaf in &leaves {
        merged.merge(leaf.query(Arc::clone(&query), hour).await);
    }
    assert_eq!(groups_and_leaves(&merged), groups_and_leaves(&all));
    assert!(merged.body == all.body);
    assert_eq!(merged.stats.rows_read, all.stats.rows_read);
    // Rows that were not scanned for lack of time are reported for each leaf too.
    let late = group.query(query, Instant::now()).await;
    let expected = [("leaf-0", LeafOutcome::Late, 3_500), ("leaf-1", LeafOutcome::Late, 3_000)];
    let mut expected = expected.map(|(name, how, rows)| (name.into(), how, 0, rows)).to_vec();
    expected.push(("leaf-2".into(), LeafOutcome::Answered, 0, 0));
    assert_eq!(groups_and_leaves(&late), (0, expected));
}

#[tokio::test]
async fn they_are_seen_as_one_peer() {
    let (leaves, group) = three().await;
    let names: Vec<LeafName> = leaves.iter().map(|leaf| leaf.name().clone()).collect();
    for scope in [StatusScope::All, StatusScope::Leaves] {
        let status = group.status(&scope).await;
        assert_eq!(status.leaves.iter().map(|leaf| leaf.name.clone()).collect::<Vec<_>>(), names);
    }
    let rows = group.blocks(&name("t")).await.blocks.iter().map(|block| block.rows).sum::<u64>();
    assert_eq!(rows, 6_500);
    let nobody = LeafGroup::new(Vec::new());
    let query = Arc::new(groups_by_value(1_000_000));
    assert_eq!(groups_and_leaves(&nobody.query(query, Instant::now()).await), (0, Vec::new()));
}
