use hadal_peer::TableStatus;
use hadal_types::limits::{EXPECTED_RUNS_MAX, EXPECTED_SHARES_KEPT_MAX, EXPECTED_SHARES_MAX};
use hadal_types::{
    AgeLimit, ColumnName, FixedClock, LeafState, Micros, TableSchema, TableSettings,
};

use super::*;

mod merging;
mod model;

const HOUR: u32 = 3_600;
const DAY: u32 = 24 * HOUR;

fn leaf() -> LeafName {
    LeafName("leaf-0".into())
}

fn table() -> TableName {
    TableName::new("t").expect("a name")
}

/// Counts under a clock that a test moves.
fn counts() -> (Arc<FixedClock>, ExpectedRows) {
    let clock = Arc::new(FixedClock::new(at(0)));
    (Arc::clone(&clock), ExpectedRows::new(clock))
}

fn at(seconds: u32) -> Micros {
    Micros(1_000 * 86_400 * Micros::SECOND + i64::from(seconds) * Micros::SECOND)
}

/// The run that started at this second, and a version.
fn as_of(started: u32, version: u64) -> (u64, u64) {
    (u64::try_from(at(started).0).expect("after the epoch"), version)
}

/// A report of the run that started at this second.
fn report(started: u32, version: u64, [recovered, accepted, rows]: [u64; 3]) -> TableReport {
    let status = TableStatus {
        schema: Arc::new(TableSchema {
            name: table(),
            time_column: ColumnName::new("time").expect("a name"),
            columns: Vec::new(),
            rows,
            time_range: None,
        }),
        blocks: 1,
        block_bytes: 1,
        raw_bytes: 1,
        dropped_rows: 0,
        dropped_bytes: 0,
        dropped_until: None,
        expired_rows: 0,
        expired_until: None,
        lost_rows: 0,
        state: LeafState::Alive,
        waiting_rows: 0,
        settings: Some(TableSettings {
            age: Some(AgeLimit::Seconds(i64::from(10 * DAY))),
            ..TableSettings::default()
        }),
        expiry: None,
        archive_error: None,
    };
    TableReport {
        leaf: leaf(),
        table: table(),
        started: u64::try_from(at(started).0).expect("after the epoch"),
        version,
        recovered_rows: recovered,
        accepted_rows: accepted,
        status: Some(Arc::new(status)),
    }
}

fn expected(counts: &ExpectedRows) -> u64 {
    counts.expected(&leaf(), &table())
}

/// An answer of the leaf.
fn answered(counts: &ExpectedRows, rows: u64, as_of: (u64, u64)) -> u64 {
    counts.answered(&leaf(), &table(), rows, as_of)
}

#[test]
fn rows_of_a_leaf_without_reports_are_counted_by_acknowledgements_and_answers() {
    let counts = ExpectedRows::default();
    assert_eq!(expected(&counts), 0);
    counts.add(&leaf(), &table(), 3);
    counts.acknowledged(&leaf(), &table(), 4, None);
    assert_eq!(expected(&counts), 7);
    counts.sub(&leaf(), &table(), 1);
    assert_eq!(expected(&counts), 6);
    counts.set(&leaf(), &table(), 5);
    assert_eq!((expected(&counts), answered(&counts, 8, (0, 0))), (5, 8));
    assert_eq!((expected(&counts), counts.tables()), (8, [table()].into()));
    assert_eq!((counts.leaves(), counts.leaves_of(&table())), (vec![leaf()], vec![leaf()]));
    counts.forget(&table());
    assert!(counts.tables().is_empty());
    assert_eq!(expected(&counts), 0);
}

#[test]
fn the_newest_report_counts_by_the_start_of_the_leaf_and_its_version() {
    let (_, counts) = counts();
    counts.acknowledged(&leaf(), &table(), 10, Some(&report(5, 3, [0, 10, 10])));
    counts.report(&report(5, 2, [0, 7, 7]));
    assert_eq!(expected(&counts), 10);
    counts.add(&leaf(), &table(), 2);
    assert_eq!(expected(&counts), 12, "no report has them yet");
    counts.report(&report(5, 4, [0, 12, 12]));
    assert_eq!(expected(&counts), 12);
    counts.report(&report(5, 5, [0, 12, 4]));
    assert_eq!(expected(&counts), 4, "the leaf removed some itself");
    assert_eq!(answered(&counts, 4, as_of(5, 5)), 4);
    counts.report(&report(9, 1, [4, 0, 4]));
    counts.report(&report(5, 6, [0, 12, 3]));
    assert_eq!(expected(&counts), 4, "an earlier run is over");
}

#[test]
fn rows_that_a_restarted_leaf_lacks_are_missing_until_they_would_have_expired() {
    let (clock, counts) = counts();
    counts.report(&report(0, 9, [0, 100, 100]));
    clock.pass(HOUR);
    counts.leaf_started(&leaf(), u64::try_from(at(HOUR).0).expect("after the epoch"));
    assert_eq!(answered(&counts, 60, as_of(HOUR, 1)), 100, "before its first report");
    counts.report(&report(HOUR, 1, [60, 0, 60]));
    assert_eq!((expected(&counts), answered(&counts, 60, as_of(HOUR, 1))), (100, 100));
    counts.report(&report(HOUR, 2, [60, 7, 67]));
    assert_eq!((expected(&counts), answered(&counts, 67, as_of(HOUR, 2))), (107, 107));
    clock.pass(10 * DAY);
    counts.report(&report(HOUR, 3, [60, 7, 67]));
    assert_eq!(answered(&counts, 67, as_of(HOUR, 3)), 107, "they may still be young enough");
    clock.pass(3 * DAY);
    assert_eq!(answered(&counts, 67, as_of(HOUR, 3)), 67);
}

#[test]
fn a_report_that_overtakes_an_answer_makes_nothing_missing() {
    let (_, counts) = counts();
    let report = report(5, 1, [0, 10, 10]);
    counts.leaf_started(&leaf(), report.started);
    counts.report(&report);
    assert_eq!(answered(&counts, 7, as_of(5, 0)), 7, "it took its snapshot before");
    counts.leaf_started(&leaf(), report.started + 1);
    assert_eq!(answered(&counts, 7, as_of(5, 1)), 10, "it may have lost some at its restart");
}

#[test]
fn rows_of_an_answer_are_expected_before_a_report_has_them() {
    let (clock, counts) = counts();
    counts.report(&report(5, 1, [0, 10, 10]));
    assert_eq!(answered(&counts, 14, as_of(5, 2)), 14);
    assert_eq!(expected(&counts), 14, "the report of the last batch is on its way");
    assert_eq!(answered(&counts, 12, as_of(5, 3)), 12);
    assert_eq!(expected(&counts), 12, "the leaf has removed some");
    clock.pass(13 * DAY);
    assert_eq!(expected(&counts), 0, "all of them are too old by now");
    counts.report(&report(5, 4, [0, 14, 11]));
    assert_eq!(answered(&counts, 11, as_of(5, 4)), 11);
}

#[test]
fn a_report_from_before_an_answer_that_comes_after_it_makes_nothing_unexpected() {
    let (_, counts) = counts();
    assert_eq!(answered(&counts, 14, as_of(5, 3)), 14);
    for (version, rows) in [(1, 10), (2, 12), (3, 14)] {
        counts.report(&report(5, version, [0, rows, rows]));
        assert_eq!(expected(&counts), 14, "version {version}");
    }
    counts.report(&report(5, 4, [0, 14, 11]));
    assert_eq!(expected(&counts), 11, "the leaf has removed some");
    assert_eq!(answered(&counts, 14, as_of(5, 3)), 14);
    assert_eq!(expected(&counts), 11, "the report overtook the answer");
}

#[test]
fn answers_in_another_order_than_they_were_made_make_nothing_unexpected() {
    let (_, counts) = counts();
    counts.report(&report(5, 1, [0, 10, 10]));
    assert_eq!(answered(&counts, 14, as_of(5, 3)), 14);
    assert_eq!(answered(&counts, 12, as_of(5, 2)), 12);
    assert_eq!(expected(&counts), 14);
}

#[test]
fn rows_of_a_restarted_leaf_are_expected_before_its_first_report() {
    let (_, counts) = counts();
    counts.report(&report(5, 9, [0, 10, 10]));
    assert_eq!(answered(&counts, 14, as_of(7, 2)), 14);
    assert_eq!(expected(&counts), 14);
    assert_eq!(answered(&counts, 6, as_of(7, 3)), 10, "some may be lost");
    assert_eq!(expected(&counts), 10);
    counts.report(&report(7, 4, [10, 4, 11]));
    assert_eq!(expected(&counts), 11);
}

#[test]
fn a_late_report_keeps_no_rows_of_a_silent_leaf_young() {
    let (clock, counts) = counts();
    counts.report(&report(5, 2, [0, 14, 14]));
    clock.pass(HOUR);
    counts.report(&report(5, 1, [0, 10, 10]));
    clock.pass(9 * DAY);
    assert_eq!(expected(&counts), 14);
    clock.pass(5 * DAY);
    assert_eq!(expected(&counts), 0);
}

#[test]
fn a_status_from_before_the_last_answer_makes_nothing_unexpected() {
    let (_, counts) = counts();
    assert_eq!(counts.with_status(&leaf(), &table(), 3), 3, "of an unknown leaf");
    counts.report(&report(5, 1, [0, 10, 10]));
    assert_eq!(answered(&counts, 14, as_of(5, 2)), 14);
    assert_eq!(counts.with_status(&leaf(), &table(), 10), 14);
    assert_eq!(counts.with_status(&leaf(), &table(), 16), 16, "from after it");
    assert_eq!(expected(&counts), 14);
}

#[test]
fn missing_rows_may_come_back_or_be_acknowledged() {
    let (_, counts) = counts();
    counts.report(&report(0, 9, [0, 100, 100]));
    counts.report(&report(1, 1, [0, 5, 5]));
    assert_eq!(expected(&counts), 105);
    counts.report(&report(2, 1, [90, 0, 90]));
    assert_eq!(expected(&counts), 105, "90 of them are back");
    counts.report(&report(3, 1, [105, 0, 105]));
    assert_eq!(expected(&counts), 105);
    counts.report(&report(4, 1, [1, 0, 1]));
    counts.acknowledge_losses(Some(&TableName::new("u").expect("a name")));
    assert_eq!(expected(&counts), 105);
    counts.acknowledge_losses(None);
    assert_eq!(expected(&counts), 1);
}

#[test]
fn of_many_runs_the_oldest_are_summed_up() {
    let (_, counts) = counts();
    counts.report(&report(0, 1, [0, 100, 100]));
    for run in 1..=u32::try_from(EXPECTED_RUNS_MAX).expect("small") + 3 {
        counts.report(&report(run, 1, [100 - u64::from(run), 0, 100 - u64::from(run)]));
        assert_eq!(expected(&counts), 100, "run {run}");
        assert!(counts.changes_since(0).shares[0].runs.len() <= EXPECTED_RUNS_MAX);
    }
    counts.report(&report(0, 2, [0, 900, 900]));
    assert_eq!(expected(&counts), 100, "too old to matter");
}

#[test]
fn a_leaf_that_is_gone_is_expected_until_its_rows_would_have_expired() {
    let (clock, counts) = counts();
    for day in 0..4u32 {
        let accepted = u64::from(day + 1) * 10;
        counts.report(&report(0, accepted, [0, accepted, accepted]));
        clock.pass(DAY);
    }
    clock.set(at(12 * DAY));
    assert_eq!(expected(&counts), 40);
    clock.set(at(12 * DAY + HOUR));
    assert_eq!(expected(&counts), 30, "the rows of the first day");
    clock.set(at(15 * DAY + HOUR));
    assert_eq!(expected(&counts), 0);
}

#[test]
fn a_dropped_table_is_not_missing() {
    let (_, counts) = counts();
    counts.report(&report(0, 1, [0, 5, 5]));
    counts.report(&report(1, 2, [0, 3, 3]));
    assert_eq!(expected(&counts), 8);
    counts.report(&TableReport { status: None, ..report(1, 3, [0, 0, 0]) });
    assert_eq!(expected(&counts), 0);
    counts.report(&TableReport { status: None, ..report(2, 0, [0, 0, 0]) });
    assert_eq!(expected(&counts), 0);
}

#[test]
fn a_query_of_another_time_misses_nothing_of_a_silent_leaf() {
    let (_, counts) = counts();
    let mut with_times = report(0, 1, [0, 5, 5]);
    let mut status = (**with_times.status.as_ref().expect("a status")).clone();
    let schema = TableSchema { time_range: Some((at(10), at(20))), ..(*status.schema).clone() };
    status.schema = Arc::new(schema);
    with_times.status = Some(Arc::new(status.clone()));
    counts.report(&with_times);
    let rows = |from, to| {
        let range = TimeRange { from: Some(at(from)), to: Some(at(to)) };
        counts.expected_in(&leaf(), &table(), &range)
    };
    assert_eq!([rows(0, 10), rows(5, 15), rows(20, 30), rows(21, 30)], [0, 5, 5, 0]);
    with_times.version = 2;
    with_times.status = Some(Arc::new(TableStatus { lost_rows: 1, ..status }));
    counts.report(&with_times);
    assert_eq!(rows(0, 10), 6, "the times of lost rows are unknown");
}

#[test]
fn a_forgotten_leaf_stays_forgotten_unless_it_reports_again() {
    let ((_, one), (_, two)) = (counts(), counts());
    one.report(&report(0, 1, [0, 5, 5]));
    let before = one.changes_since(0);
    two.merge(&before);
    two.forget_leaf(&leaf());
    assert_eq!(expected(&two), 0);
    two.merge(&before);
    assert_eq!(expected(&two), 0, "others do not know it yet");
    one.merge(&two.changes_since(before.version));
    assert_eq!(expected(&one), 0);
    one.report(&report(0, 2, [0, 6, 6]));
    two.merge(&one.changes_since(0));
    assert_eq!((expected(&one), expected(&two)), (6, 6));
    one.forget_leaf(&leaf());
    assert_eq!(expected(&one), 0, "also at the same moment");
}

#[test]
fn changes_come_in_messages_of_a_limited_size() {
    let ((_, one), (_, two)) = (counts(), counts());
    let named = |index: usize| LeafName(format!("leaf-{index}").into());
    for index in 0..=EXPECTED_SHARES_MAX {
        let leaf = named(index);
        one.report(&TableReport { leaf, ..report(0, 1, [0, 5, 5]) });
    }
    let first = one.changes_since(0);
    assert_eq!((first.shares.len(), first.has_more), (EXPECTED_SHARES_MAX, true));
    let rest = one.changes_since(first.version);
    assert_eq!((rest.shares.len(), rest.has_more), (1, false));
    assert_eq!((rest.version, one.version()), (one.version(), rest.version));
    assert!(one.changes_since(rest.version).shares.is_empty());
    two.merge(&rest);
    two.merge(&first);
    assert_eq!(two.leaves_of(&table()).len(), EXPECTED_SHARES_MAX + 1);
    let version = two.version();
    two.merge(&first);
    assert_eq!(two.version(), version, "what is known is no change");
}

#[test]
fn shares_beyond_the_limit_are_left_out_and_that_is_told() {
    let (_, counts) = counts();
    let named = |index: usize| LeafName(format!("leaf-{index}").into());
    for index in 0..EXPECTED_SHARES_KEPT_MAX {
        counts.report(&TableReport { leaf: named(index), ..report(0, 1, [0, 5, 5]) });
    }
    assert!(!counts.has_left_out());
    let one_more = TableReport { leaf: leaf_of_nobody(), ..report(0, 1, [0, 5, 5]) };
    counts.report(&one_more);
    counts.add(&leaf_of_nobody(), &table(), 5);
    assert_eq!(counts.expected(&leaf_of_nobody(), &table()), 0);
    assert_eq!(counts.answered(&leaf_of_nobody(), &table(), 7, (0, 0)), 7);
    assert!(counts.has_left_out());
    counts.forget_leaf(&named(3));
    counts.report(&one_more);
    assert_eq!(counts.expected(&leaf_of_nobody(), &table()), 5, "there is room again");
}

fn leaf_of_nobody() -> LeafName {
    LeafName("one-more".into())
}
