//! Strings in their encoded form, before they are rendered.

use hadal_encoding::StringDictionary;
use hadal_types::{Kind, Micros, Value};

use super::model::{Row, build, read};
use crate::{BlockView, ColumnView, MergeOrder, StringsView, merge};

/// Rows with one column `x`; `None` is null.
fn rows(count: usize, text: impl Fn(usize) -> Option<String>) -> Vec<Row> {
    let row = |row: usize| Row {
        time: Micros(i64::try_from(row).expect("fits")),
        cells: text(row).map(|text| ("x".to_owned(), Value::string(&text))).into_iter().collect(),
    };
    (0..count).map(row).collect()
}

fn message(row: usize) -> Option<String> {
    (row % 5 > 1).then(|| format!("user {} was seen at /a/{}", row * 7_919 % 100_003, row % 40))
}

fn prose(row: usize) -> Option<String> {
    let word = |region: u32| ["one", "tree", "é", "river", "sun"][row / 5usize.pow(region) % 5];
    (!row.is_multiple_of(3)).then(|| (0..7).map(word).collect::<Vec<_>>().join(" "))
}

fn assert_stored(rows: &[Row], encoding: &str, check: impl Fn(&ColumnView<'_>, StringsView<'_>)) {
    let bytes = build(rows, None);
    assert!(read(&bytes) == rows, "rows differ");
    let block = BlockView::parse(&bytes).expect("parses");
    let column = block.column("x", Kind::String).expect("exists");
    assert_eq!(column.encoding_name(), encoding);
    check(column, column.strings().expect("decodes").expect("strings"));
    // A merge of the block also restores the rows.
    let merged = merge(&[block.clone(), block], MergeOrder::Arrival, Micros(0)).expect("merges");
    let merged: Vec<Row> = merged.iter().flat_map(|block| read(block)).collect();
    assert!(merged == [rows, rows].concat(), "merged rows differ");
}

/// The strings of the rows that have one.
fn texts(rows: &[Row]) -> Vec<String> {
    let text = |row: &Row| match row.cells.get("x") {
        Some(Value::String(text)) => Some(text.to_string()),
        _ => None,
    };
    rows.iter().filter_map(text).collect()
}

#[test]
fn messages_are_templates_and_numbers() {
    let rows = rows(5_000, message);
    assert_stored(&rows, "templates", |column, view| {
        assert_eq!((view.len(), view.is_empty()), (5_000 - column.null_count(), false));
        let StringsView::Templates(templates) = view else { panic!("templates") };
        assert!(templates.templates().iter().eq(["user \u{e} was seen at /a/\u{e}"]));
        assert!(templates.is_kept(" was seen at ") && !templates.is_kept("user 4"));
        assert!(templates.decode().expect("decodes").iter().eq(texts(&rows)));
        assert!(column.encoded_bytes() < 5_000 * 3, "{}", column.encoded_bytes());
    });
}

#[test]
fn other_texts_are_pages() {
    let rows = rows(20_000, prose);
    assert_stored(&rows, "pages", |column, view| {
        assert_eq!((view.len(), column.null_count() > 0), (20_000 - column.null_count(), true));
        let StringsView::Pages(pages) = view else { panic!("pages") };
        let mut visited = Vec::new();
        let visit = |first: usize, texts: &StringDictionary<'_>| {
            assert_eq!(first, visited.len());
            visited.extend(texts.iter().map(str::to_owned));
        };
        pages.for_each_text(|_| true, visit).expect("decodes");
        assert_eq!(visited, texts(&rows));
    });
}

#[test]
fn texts_that_repeat_are_codes_and_entries() {
    let hosts =
        |row: usize| (!row.is_multiple_of(4)).then(|| format!("web-{:04}.example.net", row % 500));
    let rows = rows(3_000, hosts);
    assert_stored(&rows, "dictionary", |column, view| {
        assert_eq!(view.len(), 3_000);
        let StringsView::Dictionary { codes, entries } = view else { panic!("a dictionary") };
        let mut by_row = Vec::new();
        codes.decode_codes_into(entries.len(), &mut by_row).expect("codes");
        assert_eq!(entries.get(by_row[7]), Some("web-0007.example.net"));
        assert!(entries.iter().is_sorted());
        assert!(column.encoded_bytes() < 3_000 * 2 + 3_000, "{}", column.encoded_bytes());
    });
    let numbers = build(&rows[..5], None);
    let block = BlockView::parse(&numbers).expect("parses");
    assert!(block.time_column().strings().expect("numbers decode to none").is_none());
}

#[test]
fn unwanted_texts_are_left_empty() {
    for text in [message, prose] {
        let rows = rows(20_000, text);
        let bytes = build(&rows, None);
        let block = BlockView::parse(&bytes).expect("parses");
        let column = block.column("x", Kind::String).expect("exists");
        let is_wanted = |row: usize| row / 100 == 57;
        let any = |mut rows: std::ops::Range<usize>| rows.any(is_wanted);
        let data = column.decode_where(&any).expect("decodes");
        let value = |row: usize| rows[row].cells.get("x").cloned().unwrap_or(Value::Null);
        let mut empty = 0;
        for row in 0..20_000 {
            match data.value(row) {
                Value::String(text) if text.is_empty() && !is_wanted(row) => empty += 1,
                other => assert_eq!(other, value(row), "row {row}"),
            }
        }
        assert!(empty > 5_000, "only {empty} are left out");
    }
}

#[test]
fn few_texts_in_many_rows_take_few_bytes() {
    let rare = |row: usize| (row % 100 == 7).then(|| format!("shard {row} of {}", row * row % 77));
    let rows = rows(60_000, rare);
    assert_stored(&rows, "templates", |column, view| {
        assert_eq!(view.len(), 600);
        assert!(column.encoded_bytes() < 4_000, "{}", column.encoded_bytes());
    });
}

/// A front-coded dictionary and templates require version 3 of the encodings.
#[test]
fn newer_forms_need_version_3() {
    let version = |rows: &[Row]| build(rows, None)[8];
    let hosts = |row: usize| Some(format!("web-{:04}.example.net", row % 50));
    assert_eq!(version(&rows(100, hosts)), 3);
    assert_eq!(version(&rows(5_000, message)), 3);
    assert_eq!(version(&rows(3, hosts)), 1, "older releases read what they can");
}
