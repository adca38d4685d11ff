//! Rows dropped for age or size, and the effects of a restart.

use std::fmt::Debug;

use hadal_types::{AgeLimit, TableSettings};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::*;

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

fn age(seconds: i64) -> TableSettings {
    TableSettings { age: Some(AgeLimit::Seconds(seconds)), ..TableSettings::default() }
}

async fn configure(leaf: &Leaf, settings: &TableSettings) {
    leaf.apply(TableChange::Configure { table: name("t"), settings: settings.clone() })
        .await
        .expect("set");
}

/// A batch of table `t` whose rows have these ages in seconds at `NOW`; the ages are also the
/// values.
fn aged(id: &str, ages: impl IntoIterator<Item = i64>) -> Batch {
    let mut builder = BlockBuilder::new(ColumnName::new("time").expect("a name"));
    let column = builder.column(&ColumnName::new("v").expect("a name"), Kind::Number);
    let mut rows = 0;
    for age in ages {
        builder.push_number(column, Number::integer(age)).expect("taken");
        builder.end_row(Micros(NOW.0 - age * Micros::SECOND));
        rows += 1;
    }
    let id = BatchId::new(id).expect("an id");
    let block = builder.finish(NOW, Some((&id, 1))).expect("fits");
    Batch::encoded(name("t"), id, 1, rows, block)
}

async fn log(leaf: &Leaf, id: &str, ages: impl IntoIterator<Item = i64>) {
    leaf.accept(aged(id, ages)).await.expect("taken");
}

#[tokio::test]
async fn rows_that_are_too_old_go_and_stay_away() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    log(&bed.leaf, "new", [HOUR, DAY]).await;
    log(&bed.leaf, "edge", [7 * DAY]).await;
    log(&bed.leaf, "old", [8 * DAY, 9 * DAY]).await;
    configure(&bed.leaf, &age(7 * DAY)).await;
    bed.leaf.merge_all();
    let (kept, partial) = values(&bed.leaf).await;
    assert_eq!(kept, [HOUR, DAY, 7 * DAY]);
    assert_eq!(seen_of(&partial), ((3, 3), vec![(WarningCode::RowsExpired, 2)]));
    let later = TimeRange { from: Some(Micros(NOW.0 - 7 * DAY * Micros::SECOND)), to: None };
    let (_, partial) = values_in(&bed.leaf, later).await;
    assert_eq!(seen_of(&partial).1, [], "nothing is missing there");
    let status = bed.leaf.status(&StatusScope::All).await;
    let table = &status.leaves[0].tables[&name("t")];
    assert_eq!(table.expired_rows, 2);
    assert_eq!(table.expired_until, Some(Micros(NOW.0 - 7 * DAY * Micros::SECOND - 1)));
    drop(bed);
    let bed = open(Some(folder.path()));
    let (kept, partial) = values(&bed.leaf).await;
    assert_eq!((kept, seen_of(&partial)), (vec![HOUR, DAY, 7 * DAY], ((3, 3), vec![])));
    let retry = bed.leaf.accept(aged("old", [8 * DAY, 9 * DAY])).await;
    assert_eq!(retry.map(bare), receipt(2, true, true), "its batch is remembered");
    // The limit still applies without being set again: fifteen minutes later the oldest row exceeds
    // it.
    bed.clock.pass(900);
    bed.leaf.merge_all();
    assert_eq!(values(&bed.leaf).await.0, [HOUR, DAY]);
}

#[tokio::test]
async fn a_table_whose_rows_have_all_gone_is_there_without_rows() {
    let bed = open(None);
    let status_of_t =
        async || bed.leaf.status(&StatusScope::All).await.leaves[0].tables.get(&name("t")).cloned();
    configure(&bed.leaf, &age(DAY)).await;
    assert_eq!(status_of_t().await, None, "settings alone make no table");
    log(&bed.leaf, "a", [HOUR, 2 * HOUR]).await;
    let before = status_of_t().await.expect("a table");
    configure(&bed.leaf, &age(HOUR - 1)).await;
    bed.leaf.merge_all();
    let empty = status_of_t().await.expect("a table still");
    assert_eq!(*empty.schema, (*before.schema).clone().emptied());
    assert_eq!((empty.blocks, empty.schema.rows, empty.schema.columns.len()), (0, 0, 2));
    assert_eq!(empty.settings, Some(age(HOUR - 1)));
    assert!(values(&bed.leaf).await.0.is_empty());
    log(&bed.leaf, "b", [HOUR / 2]).await;
    let again = status_of_t().await.expect("a table");
    assert_eq!((again.schema.rows, again.schema.columns[1].parts[0].rows), (1, 1));
    assert_eq!(bed.leaf.apply(TableChange::Drop { table: name("t") }).await, Ok(1));
    assert_eq!(status_of_t().await, None, "dropped is gone");
}

#[tokio::test]
async fn a_leaf_that_was_told_nothing_drops_nothing_for_its_age() {
    let bed = open(None);
    log(&bed.leaf, "old", [400 * DAY]).await;
    bed.clock.pass(900);
    bed.leaf.merge_all();
    let status = bed.leaf.status(&StatusScope::All).await;
    assert_eq!(status.leaves[0].tables[&name("t")].expiry, None);
    assert_eq!(values(&bed.leaf).await.0, [400 * DAY]);
    configure(&bed.leaf, &TableSettings::default()).await;
    bed.leaf.merge_all();
    assert!(values(&bed.leaf).await.0.is_empty(), "the default is 30 days");
}

#[tokio::test]
async fn a_settled_block_loses_its_old_rows_once_they_are_half_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    // One row every 72 seconds of the two hours before.
    let ages: Vec<i64> = (0..100).map(|index| 7_200 - index * 72).collect();
    log(&bed.leaf, "b", ages.clone()).await;
    let kept = |over: i64| {
        let mut kept: Vec<i64> = ages.iter().copied().filter(|age| *age <= over).collect();
        kept.sort_unstable();
        kept
    };
    configure(&bed.leaf, &age(HOUR)).await;
    bed.leaf.merge_all();
    assert_eq!(values(&bed.leaf).await.0, kept(7_200), "its batch may still be revoked");
    // 700 s later the block is settled, and rows that were older than 2,900 s are too old.
    bed.clock.pass(700);
    bed.leaf.merge_all();
    configure(&bed.leaf, &age(HOUR + 1)).await;
    configure(&bed.leaf, &age(HOUR)).await;
    bed.leaf.merge_all();
    assert_eq!(values(&bed.leaf).await.0, kept(2_900), "60 of 100 were too old");
    bed.clock.pass(900);
    bed.leaf.merge_all();
    assert_eq!(values(&bed.leaf).await.0, kept(2_900), "13 of 40 are not half");
    let forecast = bed.leaf.status(&StatusScope::All).await.leaves[0].tables[&name("t")]
        .expiry
        .expect("a limit");
    assert_eq!(forecast.at, Micros(NOW.0 + (700 + 900 + 900) * Micros::SECOND));
    assert_eq!(forecast.until, Micros(NOW.0 + (2_500 - HOUR) * Micros::SECOND));
    assert!((24..=26).contains(&forecast.rows) && forecast.bytes > 0, "{forecast:?}");
    bed.clock.pass(900);
    bed.leaf.merge_all();
    assert_eq!(values(&bed.leaf).await.0, kept(1_100), "25 of 40");
    drop(bed);
    assert_eq!(values(&open(Some(folder.path())).leaf).await.0, kept(1_100));
}

/// A leaf with a proving time, whose clock is this many seconds after `NOW` at the start.
pub(super) fn open_at(folder: Option<&Path>, seconds: i64) -> Bed {
    let clock = Arc::new(FixedClock::new(Micros(NOW.0 + seconds * Micros::SECOND)));
    let limits = LeafLimits::of_one_in(1);
    let leaf_clock = Arc::clone(&clock) as Arc<dyn Clock>;
    let leaf =
        Leaf::open(LeafConfig { limits, clock: leaf_clock, ..config(folder) }).expect("opens");
    Bed { clock, leaf }
}

/// The first row of a new table, a changed setting and a setting that allows any age all request a
/// pass.
#[tokio::test]
async fn a_clock_that_is_wrong_at_the_start_deletes_nothing_whoever_asks_for_a_pass() {
    let any_age = TableSettings { age: Some(AgeLimit::Unlimited), ..TableSettings::default() };
    for (table, settings) in
        [("new", TableSettings::default()), ("t", age(29 * DAY)), ("old", any_age)]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let bed = open_at(Some(folder.path()), 0);
        configure(&bed.leaf, &TableSettings::default()).await;
        log(&bed.leaf, "b", [HOUR, 2 * DAY]).await;
        drop(bed);
        let bed = open_at(Some(folder.path()), 31 * DAY);
        bed.leaf.apply(TableChange::Configure { table: name(table), settings }).await.expect("set");
        for _ in 0..3 {
            bed.leaf.merge_all();
            assert_eq!(values(&bed.leaf).await.0, [HOUR, 2 * DAY], "{table}");
            bed.clock.pass(299);
        }
        // The clock is set right within a quarter of an hour of the start.
        bed.clock.set(Micros(NOW.0 + 897 * Micros::SECOND));
        for _ in 0..9 {
            bed.leaf.merge_all();
            assert_eq!(values(&bed.leaf).await.0, [HOUR, 2 * DAY], "{table}");
            bed.clock.pass(299);
        }
    }
}

#[tokio::test]
async fn a_retry_is_known_whatever_the_clock_said_at_starts() {
    let folder = tempfile::tempdir().expect("a folder");
    for hours in [0, 3, -100, 900] {
        let bed = open_at(Some(folder.path()), hours * HOUR);
        let retry = bed.leaf.accept(aged("first", [HOUR])).await.expect("taken");
        assert_eq!(retry.duplicate, hours != 0, "{hours}");
        // Other batches come in and are merged, so that ids could be forgotten.
        for index in 0..3 {
            log(&bed.leaf, &format!("other-{hours}-{index}"), [HOUR]).await;
        }
        bed.clock.pass(700);
        bed.leaf.merge_all();
        let retry = bed.leaf.accept(aged("first", [HOUR])).await.expect("taken");
        assert!(retry.duplicate, "{hours}");
    }
}

#[tokio::test]
async fn a_clock_that_jumps_ahead_makes_nothing_go() {
    let bed = open_at(None, 0);
    log(&bed.leaf, "b", [HOUR, 2 * DAY]).await;
    configure(&bed.leaf, &TableSettings::default()).await;
    bed.leaf.merge_all();
    bed.clock.set(Micros(NOW.0 + 365 * DAY * Micros::SECOND));
    bed.clock.pass(900);
    bed.leaf.merge_all();
    assert_eq!(values(&bed.leaf).await.0, [HOUR, 2 * DAY]);
    configure(&bed.leaf, &age(29 * DAY)).await;
    bed.leaf.merge_all();
    assert_eq!(values(&bed.leaf).await.0, [HOUR, 2 * DAY], "nor soon after");
    // The clock was set right in time.
    bed.clock.set(NOW);
    bed.clock.pass(900);
    bed.leaf.merge_all();
    assert_eq!(values(&bed.leaf).await.0, [HOUR, 2 * DAY]);
}

/// Log lines, with fields as `name=value`.
#[derive(Default)]
pub(super) struct Lines(pub(super) Mutex<Vec<String>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} ", event.metadata().level()));
        event.record(&mut line);
        self.0.lock().push(line.0);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The log lines of a pass at `now` that drops rows older than a day. The test makes the pass
/// itself; the merger has no request for one.
fn pass_logs(bed: &Bed, now: Micros, jumped: Option<i64>) -> Vec<String> {
    let (context, merger) = (&bed.leaf.context, bed.leaf.merger());
    let tables: Vec<Arc<Table>> = context.tables.read().values().cloned().collect();
    tables[0].set_settings(Some(age(DAY)));
    let lines = Arc::new(Lines::default());
    tracing::subscriber::with_default(Arc::clone(&lines), || {
        merger.expirer().expire(&tables, now, jumped)
    });
    std::mem::take(&mut lines.0.lock())
}

#[tokio::test]
async fn many_rows_go_only_with_a_line_in_the_log() {
    for (old, is_logged) in [(5, false), (6, true)] {
        let bed = open(None);
        log(&bed.leaf, "old", vec![2 * DAY; old]).await;
        log(&bed.leaf, "new", vec![HOUR; 100 - old]).await;
        let logged = pass_logs(&bed, NOW, None);
        assert_eq!(logged.len(), usize::from(is_logged), "{logged:?}");
        if let Some(line) = logged.first() {
            let newest = Micros(NOW.0 - HOUR * Micros::SECOND);
            for part in ["WARN", &format!("now={NOW}"), &format!("newest_row={newest}")] {
                assert!(line.contains(part), "{part}: {line}");
            }
            assert!(line.contains("rows=6") && line.contains("of=100"), "{line}");
        }
        assert_eq!(values(&bed.leaf).await.0.len(), 100 - old, "they go all the same");
    }
    let bed = open(None);
    log(&bed.leaf, "old", [2 * DAY]).await;
    let logged = pass_logs(&bed, NOW, Some(7 * DAY));
    assert!(logged[0].contains("ahead_seconds=604800") && logged[0].contains("rows=1"));
    assert_eq!(values(&bed.leaf).await.0, [2 * DAY]);
}

#[tokio::test]
async fn a_query_sees_all_that_a_pass_takes_or_nothing_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    for index in 0..20 {
        log(&bed.leaf, &format!("old-{index}"), vec![10 * DAY + index; 10]).await;
    }
    log(&bed.leaf, "new", vec![HOUR; 5]).await;
    // The merger makes the pass while this loop queries.
    configure(&bed.leaf, &age(7 * DAY)).await;
    loop {
        match values(&bed.leaf).await.0.len() {
            205 => {}
            5 => break,
            rows => panic!("{rows} rows"),
        }
    }
    assert_eq!(values(&bed.leaf).await.0, [HOUR; 5]);
}

#[tokio::test]
async fn a_pass_that_ends_before_its_record_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    log(&bed.leaf, "b", [DAY / 4, DAY / 3]).await;
    bed.clock.pass(700);
    bed.leaf.merge_all();
    let (context, merger) = (&bed.leaf.context, bed.leaf.merger());
    let tables: Vec<Arc<Table>> = context.tables.read().values().cloned().collect();
    tables[0].set_settings(Some(age(DAY / 3 - 1)));
    let written = merger.expirer().write_but_do_not_commit(&tables[0], NOW);
    assert_eq!(written, (1, 1), "a block would be replaced by another");
    context.stop_changes();
    let written = merger.expirer().write_but_do_not_commit(&tables[0], NOW);
    assert_eq!(written, (0, 0), "who stops writes no more");
    drop(tables);
    drop(bed);
    let bed = open(Some(folder.path()));
    assert_eq!(values(&bed.leaf).await.0, [DAY / 4, DAY / 3]);
    assert_eq!(bed.leaf.recovery_report().lost_blocks, []);
}

#[tokio::test]
async fn a_table_s_own_size_rules_and_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    for number in 0..15 {
        bed.leaf.accept(limits::wide_batch(number, 100, 1_000)).await.expect("taken");
    }
    bed.leaf.merge_all();
    let most: u64 = 1 << 20;
    let settings = TableSettings { bytes: Some(most), ..TableSettings::default() };
    configure(&bed.leaf, &settings).await;
    for _ in 0..2 {
        bed.leaf.merge_all();
        let status = bed.leaf.status(&StatusScope::All).await;
        let table = &status.leaves[0].tables[&name("t")];
        assert!(table.block_bytes <= most && table.dropped_rows > 0, "{table:?}");
        assert_eq!(table.settings.as_ref(), Some(&settings));
        let (_, partial) = values(&bed.leaf).await;
        assert!(partial.warnings.iter().any(|warning| warning.code == WarningCode::RowsDropped));
    }
    drop(bed);
    let bed = open(Some(folder.path()));
    let mut overflowed = false;
    for number in 15..30 {
        let taken = bed.leaf.accept(limits::wide_batch(number, 100, 1_000)).await.expect("taken");
        overflowed |= taken.overflowing;
        bed.leaf.merge_all();
    }
    let status = bed.leaf.status(&StatusScope::All).await;
    assert!(overflowed && status.leaves[0].tables[&name("t")].block_bytes <= most);
}

#[tokio::test]
async fn settings_outlive_a_restart_and_go_with_their_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings_of = async |bed: &Bed| {
        log(&bed.leaf, "b", [HOUR]).await;
        let status = bed.leaf.status(&StatusScope::All).await;
        status.leaves[0].tables[&name("t")].settings.clone()
    };
    let settings = TableSettings {
        bytes: Some(1 << 30),
        time_column: ColumnName::new("ts").ok(),
        ..age(7 * DAY)
    };
    configure(&open(Some(folder.path())).leaf, &settings).await;
    let bed = open(Some(folder.path()));
    assert_eq!(settings_of(&bed).await, Some(settings));
    bed.leaf.apply(TableChange::Drop { table: name("t") }).await.expect("dropped");
    assert_eq!(settings_of(&bed).await, None);
    drop(bed);
    assert_eq!(settings_of(&open(Some(folder.path()))).await, None);
}

#[tokio::test]
async fn settings_of_a_later_version_are_not_guessed_at() {
    let folder = tempfile::tempdir().expect("a folder");
    let bed = open(Some(folder.path()));
    log(&bed.leaf, "b", [400 * DAY]).await;
    let settings = vec![(name("t"), b"{\"format\":2,\"age\":\"1d\"}".to_vec())];
    let change = hadal_store::Change { settings, ..hadal_store::Change::default() };
    bed.leaf.context.store.commit(&change).expect("committed");
    drop(bed);
    let bed = open(Some(folder.path()));
    bed.clock.pass(900);
    bed.leaf.merge_all();
    assert_eq!(values(&bed.leaf).await.0, [400 * DAY], "nothing goes");
    configure(&bed.leaf, &age(DAY)).await;
    bed.leaf.merge_all();
    assert!(values(&bed.leaf).await.0.is_empty());
}
