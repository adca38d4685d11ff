use std::time::Duration;

use hadal_aggregate::{LeafOutcome, PartialBody, WeightedCount};
use hadal_query::{Expr, QueryKind, RowInput};
use hadal_types::{MemoryPool, TableName, Value, Weight};

use super::*;

fn query() -> Query {
    let table = TableName::new("t").expect("a name");
    let kind = QueryKind::Groups { keys: Vec::new(), measures: Vec::new() };
    Query { deadline: Duration::from_secs(1), ..Query::new(table, kind) }
}

fn leaf(name: &str, outcome: LeafOutcome, rows_scanned: u64) -> LeafCoverage {
    let name = LeafName(name.into());
    LeafCoverage { name, outcome, rows_expected: 100, rows_scanned, micros: 1, as_of: (0, 0) }
}

/// The coverage of a leaf that has the table.
fn covered(name: &str, outcome: LeafOutcome, rows_scanned: u64) -> Coverage {
    Coverage::of_leaf(leaf(name, outcome, rows_scanned), true)
}

/// The coverage of a leaf that has not answered.
fn silent(name: &str) -> Coverage {
    Coverage::of_leaf(leaf(name, LeafOutcome::Late, 0), false)
}

/// A partial with a number of rows, of these leaves.
fn partial(rows: u64, leaves: &[Coverage]) -> Partial {
    let mut partial = Partial::empty(&query());
    if let PartialBody::Groups(groups) = &mut partial.body
        && let Some(group) = groups.find_or_insert(&[])
    {
        let mut count = WeightedCount::default();
        count.add_rows(rows);
        groups.add_count(group, count);
    }
    leaves.iter().for_each(|leaf| partial.coverage.merge(leaf.clone()));
    partial
}

/// The number of counted rows.
fn rows(partial: &Partial) -> u64 {
    let PartialBody::Groups(groups) = partial.body.clone() else { panic!("groups") };
    groups.into_sorted().0.iter().map(|(_, group)| group.count.rows()).sum()
}

#[test]
fn a_leaf_counts_once_though_two_holders_show_its_rows() {
    let watch = QueryWatch::new();
    let (scan, merged) = (watch.part(), watch.part());
    scan.begin_scan(vec![covered("b", LeafOutcome::Late, 10)]);
    merged.show(&Partial::empty(&query()), vec![silent("a"), silent("b")]);
    let (progress, shown) = watch.collect(&query(), 10);
    assert_eq!((progress.leaves_asked, progress.leaves_answered), (2, 0));
    assert_eq!((progress.rows_scanned, progress.rows_expected), (10, 200));
    assert!(shown.is_none(), "there are no more rows than before");

    watch.begin_round();
    assert_eq!(scan.round(), 1);
    scan.count_rows(30);
    for rows in [5, 15] {
        scan.add(1, &partial(rows, &[]), [rows].into_iter());
    }
    let (progress, shown) = watch.collect(&query(), 0);
    assert_eq!(progress.rows_scanned, 40, "rows that no thread has shown yet, too");
    let shown = shown.expect("a partial");
    assert_eq!((rows(&shown), shown.coverage.rows_scanned), (20, 30));
    assert_eq!((shown.coverage.leaves_asked, shown.coverage.leaves_answered), (2, 0));

    // Both leaves have answered, and the scan's rows are still shown.
    let answered = ["a", "b"].map(|name| covered(name, LeafOutcome::Answered, 100));
    merged.show(&partial(200, &answered), Vec::new());
    let (progress, shown) = watch.collect(&query(), 0);
    assert_eq!((progress.leaves_answered, progress.rows_scanned), (2, 200));
    assert_eq!(rows(&shown.expect("a partial")), 200);
    drop(merged);
    assert_eq!(watch.collect(&query(), 0).0.leaves_asked, 1);
}

#[test]
fn a_new_round_replaces_what_was_shown() {
    let watch = QueryWatch::new();
    let scan = watch.part();
    scan.begin_scan(vec![covered("a", LeafOutcome::Late, 0)]);
    for (round, scanned) in [(1, 10), (1, 20), (2, 50)] {
        scan.add(round, &partial(scanned, &[]), [scanned].into_iter());
    }
    let (_, shown) = watch.collect(&query(), 0);
    assert_eq!(rows(&shown.expect("a partial")), 50);
}

#[test]
fn the_coverage_has_the_table_and_the_losses_of_each_leaf() {
    let watch = QueryWatch::new();
    let (scan, merged, unasked) = (watch.part(), watch.part(), watch.part());
    let losses = |unknown_losses, coverage| Coverage { unknown_losses, ..coverage };
    let without_table = Coverage::of_leaf(leaf("a", LeafOutcome::Late, 0), false);
    scan.begin_scan(vec![without_table, losses(2, covered("b", LeafOutcome::Late, 10))]);
    merged.show(
        &partial(5, &[losses(10, covered("c", LeafOutcome::Answered, 100))]),
        vec![losses(1, silent("a")), losses(20, silent("d"))],
    );
    unasked.show(&Partial::empty(&query()), vec![losses(100, Coverage::default())]);
    let coverage = watch.collect(&query(), 0).1.expect("a partial").coverage;
    assert_eq!((coverage.leaves_asked, coverage.leaves_with_table), (4, 2));
    assert_eq!(coverage.unknown_losses, 132, "the leaf that is scanned counts as that");
}

#[test]
fn copies_reserve_memory_and_large_ones_are_left_out() {
    let pool = MemoryPool::new(usize::MAX);
    let mut held = partial(1, &[covered("a", LeafOutcome::Answered, 100)]);
    held.reservation = pool.reservation();
    held.hold(usize::MAX);
    let bytes = pool.reserved();
    assert!(bytes > 0 && held.copy(bytes - 1).is_none());
    let watch = QueryWatch::new();
    let part = watch.part();
    part.show(&held, Vec::new());
    assert_eq!(pool.reserved(), 2 * bytes);
    let (_, shown) = watch.collect(&query(), 0);
    assert!(shown.is_some());
    // The merged copy has less room to spare than the others.
    let reserved = pool.reserved();
    assert!(reserved > 2 * bytes, "{reserved} of {bytes} each");
    drop((shown, part));
    assert_eq!(pool.reserved(), bytes);
}

/// A partial with this many groups of a kilobyte each.
fn large(first: usize, groups: usize) -> (Query, Partial) {
    let table = TableName::new("t").expect("a name");
    let key = Expr::Leaf(RowInput::Time);
    let kind = QueryKind::Groups { keys: vec![key], measures: Vec::new() };
    let query = Query { deadline: Duration::from_secs(1), ..Query::new(table, kind) };
    let mut partial = Partial::empty(&query);
    let PartialBody::Groups(all) = &mut partial.body else { panic!("groups") };
    for group in first..first + groups {
        all.add_row(&[Value::string(&format!("{group:01000}"))], &[], Weight::ONE);
    }
    (query, partial)
}

/// As many groups of a kilobyte as are shown at most, or some more.
const GROUPS_MAX: usize = WATCHED_PARTIAL_BYTES_MAX / 1_000;

#[test]
fn of_a_large_partial_only_the_progress_is_shown() {
    let shown = |count: usize| {
        let (query, mut partial) = large(0, count);
        partial.coverage = covered("a", LeafOutcome::Answered, 100);
        let watch = QueryWatch::new();
        let part = watch.part();
        part.show(&partial, Vec::new());
        watch.collect(&query, 0)
    };
    let (progress, partial) = shown(GROUPS_MAX / 2);
    assert_eq!((progress.rows_scanned, partial.is_some()), (100, true));
    let (progress, partial) = shown(GROUPS_MAX + 1);
    assert_eq!((progress.rows_scanned, partial.is_some()), (100, false));
}

#[test]
fn all_threads_and_leaves_of_a_query_have_one_bound() {
    let watch = QueryWatch::new();
    let (scan, other) = (watch.part(), watch.part());
    scan.begin_scan(vec![covered("a", LeafOutcome::Late, 0)]);
    let count = GROUPS_MAX / 4;
    let threads = || (0..6).map(|thread| large(thread * count, count).1);
    for partial in threads() {
        scan.add(1, &partial, [10].into_iter());
    }
    let (query, mut partial) = large(0, GROUPS_MAX / 2);
    let rows_shown = || watch.collect(&query, 0).1.map(|shown| shown.coverage.rows_scanned);
    let of_threads = rows_shown().expect("some threads");
    assert!((10..60).contains(&of_threads), "{of_threads}");
    partial.coverage = covered("b", LeafOutcome::Answered, 100);
    other.show(&partial, Vec::new());
    assert_eq!(rows_shown(), Some(of_threads), "there is no room for the other leaf");
    // Threads with the same groups need less than the sum.
    let (_, partial) = large(0, count);
    (0..6).for_each(|_| scan.add(2, &partial, [10].into_iter()));
    assert_eq!(rows_shown(), Some(60));
}

#[test]
fn a_query_that_nobody_watches_shows_nothing() {
    let watch = QueryWatch::default();
    let part = watch.part();
    part.show(&partial(1, &[covered("a", LeafOutcome::Answered, 100)]), Vec::new());
    assert!(!part.is_watched() && part.round() == 0);
    assert_eq!(watch.collect(&query(), 0), (QueryProgress::default(), None));
}
