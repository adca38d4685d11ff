use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use hadal_block::BlockView;
use hadal_types::time::parse_timestamp;
use hadal_types::{BatchId, ColumnName, TableName, Value, limits};
use proptest::prelude::*;

use super::table_inference::FIRST_RECORDS;
use super::*;
use crate::columns::TableColumns;

mod any_bytes;
mod batch_bytes;
mod limits_reached;
mod refused;
mod times;

fn now() -> Micros {
    parse_timestamp("2026-11-21T12:00:00Z").expect("a time")
}

/// The policy of a table without settings, whose first time is `oldest`.
fn by_rows(oldest: Option<Micros>) -> AgePolicy {
    AgePolicy::new(None, false, oldest, now())
}

fn settings() -> Settings {
    Settings {
        table: TableName::new("t").expect("a name"),
        batch_id: BatchId::new("b").expect("an id"),
        time_column: None,
        table_time_column: None,
        table_columns: Arc::default(),
        sets: HashSet::new(),
        age: AgePolicy::UNLIMITED,
        read: ReadOptions::default(),
    }
}

fn ingest_as(
    settings: Settings,
    format: Format,
    body: &[u8],
    piece: usize,
) -> (Vec<Batch>, Summary) {
    try_ingest_as(settings, format, body, piece).expect("encodes")
}

fn try_ingest_as(
    settings: Settings,
    format: Format,
    body: &[u8],
    piece: usize,
) -> Result<(Vec<Batch>, Summary), IngestError> {
    let mut ingest = Ingest::new(settings, format, now());
    let mut batches = Vec::new();
    for piece in body.chunks(piece.max(1)) {
        batches.extend(ingest.push(piece)?);
    }
    let (last, summary) = ingest.finish()?;
    batches.extend(last);
    Ok((batches, summary))
}

fn ingest(body: &str) -> (Vec<Batch>, Summary) {
    ingest_as(settings(), Format::Json, body.as_bytes(), body.len())
}

/// The cells of all rows, by name; kinds other than the first have the suffix `::kind`.
fn rows(batches: &[Batch]) -> Vec<BTreeMap<String, Value>> {
    let mut rows = Vec::new();
    for batch in batches {
        let block = BlockView::parse(batch.block()).expect("parses");
        assert_eq!(block.rows(), batch.rows);
        let mut cells = vec![BTreeMap::new(); block.rows()];
        for column in block.columns() {
            let data = column.decode().expect("decodes");
            for (row, cells) in cells.iter_mut().enumerate() {
                let name = format!("{}::{}", column.name(), column.kind());
                if data.has_value(row) {
                    cells.insert(name, data.value(row));
                }
            }
        }
        rows.extend(cells);
    }
    rows
}

fn reasons(summary: &Summary) -> Vec<(u64, String)> {
    summary.rejected.iter().map(|reject| (reject.line, reject.reason.clone())).collect()
}

fn warned(summary: &Summary) -> Vec<(&'static str, u64)> {
    summary.warnings.iter().map(|warning| (warning.code, warning.count)).collect()
}

#[test]
fn every_kind_of_value_finds_its_column() {
    let body = r#"{"time":1700000000,"n":1.50,"b":true,"s":"x","v":["b","a"],"o":{"p":-2},"z":null,
                   "set":{"$set":["b","a","b"]}}"#;
    let (batches, summary) = ingest(body);
    assert_eq!((summary.accepted, summary.rejected_count), (1, 0), "{summary:?}");
    assert_eq!(summary.time_from, "column time");
    let row = &rows(&batches)[0];
    let expected = [
        ("b::number", Value::Bool(true)),
        ("n::number", Value::Number("1.5".parse().expect("a number"))),
        ("o.p::number", Value::integer(-2)),
        ("s::string", Value::string("x")),
        ("set::set", Value::set(["a", "b"])),
        ("time::number", Value::Time(Micros(1_700_000_000_000_000))),
        ("v::vector", Value::vector(["b", "a"])),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
    assert_eq!(*row, expected);
}

#[test]
fn a_name_may_have_two_kinds_and_rows_several_shapes() {
    let (batches, _) = ingest("{\"a\":1}\n{\"a\":\"x\"}\n{\"c\":[\"y\"]}\n{}");
    let names: Vec<Vec<String>> =
        rows(&batches).iter().map(|row| row.keys().cloned().collect()).collect();
    assert_eq!(names[0], ["a::number", "time::number"]);
    assert_eq!(names[1], ["a::string", "time::number"]);
    assert_eq!(names[2], ["c::vector", "time::number"]);
    assert_eq!(names[3], ["time::number"]);
}

#[test]
fn named_columns_are_sets() {
    let mut settings = settings();
    settings.sets.insert("tags".to_owned());
    let body = br#"{"tags":["b","a"],"other":["b","a"]}"#;
    let (batches, _) = ingest_as(settings, Format::Json, body, 1_000);
    let row = &rows(&batches)[0];
    assert_eq!(row["tags::set"], Value::set(["a", "b"]));
    assert_eq!(row["other::vector"], Value::vector(["b", "a"]));
}

#[test]
fn a_value_may_say_itself_what_it_is() {
    let mut settings = settings();
    settings.sets.insert("tags".to_owned());
    let body = br#"{"tags":{"$vector":["b","a","b"]},"path":{"$set":["b","a","b"]}}"#;
    let (batches, _) = ingest_as(settings, Format::Json, body, 1_000);
    let row = &rows(&batches)[0];
    assert_eq!(row["tags::vector"], Value::vector(["b", "a", "b"]));
    assert_eq!(row["path::set"], Value::set(["a", "b"]));
}

#[test]
fn bad_records_are_rejected_and_the_rest_goes_on() {
    let body = "{\"a\":1}\n{\"a\":1e400}\n7\n{\"a\":NaN}\n{\"a\":2}\n{\"\":1}\n{\"sample_rate\":0}\n\
                {\"sample_rate\":\"x\"}\n{\"time\":true}\n{\"time\":99999999999999999999}\n{\"a\":3}";
    let (batches, summary) = ingest(body);
    assert_eq!((summary.accepted, summary.rejected_count), (4, 7));
    let rows = rows(&batches);
    let values: Vec<Value> = rows.iter().filter_map(|row| row.get("a::number").cloned()).collect();
    assert_eq!(values, [1, 2, 3].map(Value::integer));
    let reasons = reasons(&summary);
    for (index, (line, part)) in [
        (2, "column a: number 1e400"),
        (3, "not a JSON object"),
        (6, "name is empty"),
        (7, "sample_rate 0"),
        (8, "sample_rate \"x\" is not a number"),
        (9, "true is not a time"),
        (10, "more than a day in the future"),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(reasons[index].0, line);
        assert!(reasons[index].1.contains(part), "{:?}", reasons[index]);
    }
    assert_eq!(summary.rejected[1].excerpt, "7");
}

#[test]
fn almost_json_is_read_and_what_changed_is_counted() {
    let body = "banner ...\n{\"a\":1},\n{\"a\":NaN},{\"b\":-inf}\n{\"a\":\"\\ud83d\"}\n{'a':2}\n\
                event: x\ndata: {\"a\":3}\n";
    let (_, summary) = ingest(body);
    assert_eq!(
        (summary.accepted, reasons(&summary)),
        (6, vec![(1, "not a JSON object".to_owned())])
    );
    let warnings = summary.warnings.iter().map(|warning| (warning.code, warning.count));
    let expected = [
        (summary::ARRIVAL_TIME, 6),
        (summary::EVENT_FIELD, 1),
        (summary::LENIENT_JSON, 1),
        (summary::LONE_SURROGATE, 1),
        (summary::NOT_A_NUMBER, 2),
    ];
    assert!(warnings.eq(expected), "{:?}", summary.warnings);
}

#[test]
fn glued_objects_have_a_time_column_too() {
    let at = "{\"ts\":1795262400,\"n\":1}";
    for body in [
        format!("[{at},{at}]\n"),
        format!("{at}{at}"),
        format!("{at},{at},\n"),
        format!("[{at}]\n[{at}]"),
    ] {
        let (batches, summary) = ingest_as(
            Settings { age: by_rows(None), ..settings() },
            Format::Json,
            body.as_bytes(),
            7,
        );
        assert_eq!((summary.accepted, summary.time_from.as_str()), (2, "column ts"), "{body}");
        assert_eq!(batches.len(), 1);
    }
}

#[test]
fn a_line_may_have_several_objects() {
    let (batches, summary) = ingest("{\"a\":1}{\"a\":2} {\"a\":x}{\"a\":3}\n{\"a\":4}x\n{\"a\":5}");
    assert_eq!(summary.accepted, 4);
    let rejected: Vec<(u64, &str)> =
        summary.rejected.iter().map(|reject| (reject.line, reject.excerpt.as_str())).collect();
    assert_eq!(rejected, [(1, "{\"a\":x}"), (2, "{\"a\":4}x")]);
    let values: Vec<Value> = rows(&batches).iter().map(|row| row["a::number"].clone()).collect();
    assert_eq!(values, [1, 2, 3, 5].map(Value::integer));
    // A line of very many objects is split into batches like any other rows.
    let count = 2 * hadal_types::limits::BLOCK_ROWS_MAX + 1;
    let (batches, summary) = ingest(&"{}".repeat(count));
    assert_eq!((summary.accepted, batches.len()), (count as u64, 3));
}

#[test]
fn csv_has_a_head_and_typed_columns() {
    let body = "\u{feff}time,n,ok,zip\r\n2026-11-21T11:00:00Z,1,true,007\r\n\
                2026-11-21T11:00:01Z,2.50,false,\"1\n2\"\r\nsoon,3,true,\r\n";
    let settings = || Settings { age: by_rows(None), ..settings() };
    for piece in [1, 13, 1_000] {
        let (batches, summary) = ingest_as(settings(), Format::Csv, body.as_bytes(), piece);
        assert_eq!((summary.accepted, summary.time_from.as_str()), (2, "column time"));
        assert_eq!(summary.rejected[0].line, 5);
        let rows = rows(&batches);
        assert_eq!(rows[0]["ok::number"], Value::Bool(true));
        assert_eq!(rows[0]["zip::string"], Value::string("007"));
        assert_eq!(rows[1]["n::number"].to_string(), "2.5");
        assert_eq!(rows[1]["zip::string"], Value::string("1\n2"));
        let time = parse_timestamp("2026-11-21T11:00:01Z").expect("a time");
        assert_eq!(rows[1]["time::number"], Value::Time(time));
    }
    for empty in ["", "\n", "a,b\n"] {
        let (batches, summary) = ingest_as(settings(), Format::Csv, empty.as_bytes(), 10);
        assert_eq!((batches.len(), summary.accepted, summary.rejected_count), (0, 0, 0));
    }
    // The median row of the table is old, and there are more rows than the sample has.
    let old = "date,n\n".to_owned() + &"2001-06-30,1\n".repeat(2 * FIRST_RECORDS);
    let (_, summary) = ingest_as(settings(), Format::Csv, old.as_bytes(), 1_000);
    assert_eq!(summary.accepted, 2 * FIRST_RECORDS as u64);
}

#[test]
fn csv_says_what_became_of_its_cells() {
    let body = b"born,n,m\n2020-01-01,NA,1\n2020-01-02,2,n/a\n2020-01-03,N/A,\xff\n";
    for age in [AgePolicy::UNLIMITED, by_rows(None)] {
        let settings = Settings { age, ..settings() };
        let (batches, summary) = ingest_as(settings, Format::Csv, body, 7);
        assert_eq!((summary.accepted, summary.time_from.as_str()), (3, "column born"));
        let rows = rows(&batches);
        assert!(!rows[0].contains_key("n::number") && !rows[0].contains_key("n::string"));
        assert_eq!(rows[2]["m::string"], Value::string("\u{fffd}"));
        let counted: Vec<_> =
            warned(&summary).into_iter().filter(|(code, _)| *code != "no_age_limit").collect();
        assert_eq!(counted, [("invalid_utf8", 1), ("missing_number", 3)]);
        let missing = summary.warnings.iter().find(|warning| warning.code == "missing_number");
        let expected =
            "3 cells such as NA or - became null in columns n, m; --null '' keeps such words";
        assert_eq!(missing.map(|warning| warning.message.as_str()), Some(expected));
    }
}

#[test]
fn csv_without_a_head_is_remarked_on() {
    let (_, summary) = ingest_as(settings(), Format::Csv, b"1,2,3\n4,5,6\n", 7);
    assert_eq!(warned(&summary), [("arrival_time", 2), ("no_head", 1)]);
    assert_eq!(summary.detected, "CSV with `,`, no head");
}

#[test]
fn csv_that_is_stopped_is_explained_by_its_whole_records() {
    // Fewer records than are judged without the end of the text; the last one is cut.
    let mut ingest = Ingest::new(settings(), Format::Csv, now()).explaining();
    let text = "line\n".repeat(100);
    let records: String = (0..400).map(|n| format!("{n},\"{text}\"\n")).collect();
    ingest.push(format!("n,text\n{records}400,\"{text}").as_bytes()).expect("reads");
    let summary = ingest.stop();
    assert_eq!((summary.accepted, summary.rejected_count), (400, 0));
    assert!(summary.explanation.is_some_and(|explanation| !explanation.rows.is_empty()));
}

#[test]
fn csv_with_a_quote_that_is_never_closed_is_told_with_its_line() {
    let body = format!("time,s\n5,x\n6,\"oops\n{}", "7,y\n".repeat(20_000));
    for piece in [1_000, body.len()] {
        let (batches, summary) = ingest_as(settings(), Format::Csv, body.as_bytes(), piece);
        assert_eq!((rows(&batches).len(), summary.accepted, summary.rejected_count), (1, 1, 1));
        assert_eq!(summary.rejected[0].line, 3);
        let reason = &summary.rejected[0].reason;
        assert!(reason.contains("never closed") && reason.contains("20001"), "{reason}");
    }
}

#[test]
fn a_record_of_csv_is_as_long_as_its_json() {
    // Each of these characters has one byte in CSV and six in JSON.
    for (characters, accepted) in [(170_000, 1), (180_000, 0)] {
        let body = format!("a\n{}\n", "\u{1}".repeat(characters));
        let (_, summary) = ingest_as(settings(), Format::Csv, body.as_bytes(), 1 << 16);
        assert_eq!(summary.accepted, accepted, "{:?}", summary.rejected);
    }
}

#[test]
fn json_as_text_is_taken_with_a_warning() {
    let ask = |body: &str| ingest_as(settings(), Format::Lines, body.as_bytes(), 7).1;
    let summary = ask("{\"a\":1}\n{\"a\":2}\n");
    assert_eq!((summary.accepted, warned(&summary)[1]), (2, ("json_as_text", 1)));
    for text in ["it began\n{\"a\":1}\n", "{\"a\": \n", "{} and more\n"] {
        assert_eq!(warned(&ask(text)).len(), 1, "{text}");
    }
}

#[test]
fn long_values_are_cut_with_a_warning() {
    let long = "é".repeat(limits::STRING_BYTES_MAX);
    let many: Vec<String> =
        (0..=limits::LIST_ELEMENTS_MAX).map(|index| index.to_string()).collect();
    let body = serde_json::json!({ "s": long, "v": many }).to_string();
    let (batches, summary) = ingest(&body);
    let row = &rows(&batches)[0];
    let (Value::String(text), Value::Vector(list)) = (&row["s::string"], &row["v::vector"]) else {
        panic!("{row:?}");
    };
    assert_eq!(text.len(), limits::STRING_BYTES_MAX);
    assert_eq!(list.len(), limits::LIST_ELEMENTS_MAX);
    assert!(warned(&summary).contains(&("cut", 2)), "{summary:?}");
}

#[test]
fn odd_values_are_kept_with_a_warning() {
    let body = "{\"a\":1,\"a\":2,\"n\":[[1]],\"l\":[null,\"x\",2],\"big\":0.1234567890123456789012345678901234567891}\n{\"s\":\"\u{1}\"}";
    let mut bytes = body.replace('\u{1}', "?").into_bytes();
    let at = bytes.iter().position(|&byte| byte == b'?').expect("there");
    bytes[at] = 0xff;
    let (batches, summary) = ingest_as(settings(), Format::Json, &bytes, 1_000);
    let rows = rows(&batches);
    assert_eq!(rows[0]["a::number"], Value::integer(1));
    assert_eq!(rows[0]["n::string"], Value::string("[[1]]"));
    assert_eq!(rows[0]["l::vector"], Value::vector(["x", "2"]));
    assert_eq!(rows[1]["s::string"], Value::string("\u{fffd}"));
    let expected = [
        ("arrival_time", 2),
        ("duplicate_key", 1),
        ("invalid_utf8", 1),
        ("nested_array", 1),
        ("null_element", 1),
        ("rounded", 1),
    ];
    assert_eq!(warned(&summary), expected);
}

proptest! {
    /// Known names take a shorter path than new ones.
    #[test]
    fn a_row_means_the_same_whatever_came_before_it(
        rows_of_fields in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![
            "\"a\":1", "\"a\":2", "\"a\":\"x\"", "\"a\":\"\\n\"", "\"a\":null", "\"a\":true",
            "\"b\":0.5", "\"b\" : \"y\"", "\"b\":[1,\"z\"]", "\"b\":{\"c\":1}", "\"b.c\":2",
            "\"time\":1795000000", "\"time\":1795000001", "\"sample_rate\":2",
            "\"sample_rate\":3", "\"a\\u0062\":7", "\"b\":1e3", "\"a\":x",
        ]), 0..7), 1..12),
    ) {
        let texts = rows_of_fields.iter().map(|fields| format!("{{{}}}\n", fields.join(",")));
        let texts: Vec<String> = texts.collect();
        // Arrival times differ, and truth values count as numbers if the column has numbers.
        let late = Micros(1_795_000_001 * Micros::SECOND);
        let alike = |(name, value): (String, Value)| match value {
            Value::Time(time) if time > late => None,
            Value::Bool(truth) => Some((name, Value::integer(truth.into()))),
            value => Some((name, value)),
        };
        let alike = |cells: BTreeMap<String, Value>| {
            cells.into_iter().filter_map(alike).collect::<BTreeMap<_, _>>()
        };
        let outcome = |body: &str| {
            let settings = Settings { table_time_column: ColumnName::new("time").ok(), ..settings() };
            let (batches, summary) = ingest_as(settings, Format::Json, body.as_bytes(), body.len());
            let rows: Vec<_> = rows(&batches).into_iter().map(alike).collect();
            let reasons = summary.rejected.into_iter().map(|reject| reject.reason);
            (rows, reasons.collect::<Vec<_>>())
        };
        let each: Vec<_> = texts.iter().map(|text| outcome(text)).collect();
        let (rows, reasons) = outcome(&texts.concat());
        prop_assert_eq!(rows, each.iter().flat_map(|(rows, _)| rows.clone()).collect::<Vec<_>>());
        let expected = each.iter().flat_map(|(_, reasons)| reasons.clone());
        prop_assert_eq!(reasons, expected.collect::<Vec<_>>());
    }
}

#[test]
fn columns_beyond_the_limit_go_to_overflow() {
    let row = |from: usize| {
        let fields: Vec<String> =
            (from..from + 900).map(|index| format!("\"c{index}\":{index}")).collect();
        format!("{{{}}}\n", fields.join(","))
    };
    let body: String = (0..10).map(|index| row(index * 900)).collect();
    let (batches, summary) = ingest(&body);
    assert_eq!(summary.accepted, 10);
    let rows = rows(&batches);
    let names: HashSet<&String> = rows.iter().flat_map(|row| row.keys()).collect();
    assert_eq!(names.len(), limits::TABLE_COLUMNS_MAX + 2, "the time, and _overflow");
    let Value::String(overflow) = &rows[9]["_overflow::string"] else { panic!() };
    assert!(overflow.contains("\"c8999\":\"8999\""), "{overflow}");
    assert!(warned(&summary).contains(&("overflow", 9_000 - 4_096)), "{:?}", warned(&summary));
}

#[test]
fn bodies_at_once_share_the_columns_that_a_table_may_have() {
    let columns: Arc<TableColumns> = Arc::default();
    columns.add(
        (0..1_000)
            .map(|number| format!("c{number}"))
            .collect::<Vec<_>>()
            .iter()
            .map(|name| &**name),
    );
    let names = |first: usize| {
        let body = |row: usize| {
            let fields = (0..600).map(|number| format!("\"c{}\":1", first + 600 * row + number));
            format!("{{{}}}\n", fields.collect::<Vec<_>>().join(","))
        };
        let settings = Settings { table_columns: Arc::clone(&columns), ..settings() };
        let body: String = (0..5).map(body).collect();
        let (batches, _) = ingest_as(settings, Format::Json, body.as_bytes(), 1 << 20);
        let rows = rows(&batches);
        rows.iter().flat_map(|row| row.keys().cloned()).collect::<HashSet<String>>()
    };
    // No body knows which columns the others add.
    let all: HashSet<String> = [500, 10_000, 20_000].into_iter().flat_map(names).collect();
    let of_bodies = all.iter().filter(|name| name.starts_with('c')).count();
    assert_eq!(
        of_bodies,
        limits::TABLE_COLUMNS_MAX - 500,
        "500 were there, and did not come again"
    );
}

#[test]
fn batches_are_cut_by_rows_and_have_parts() {
    let body = "{\"a\":1}\n".repeat(limits::BLOCK_ROWS_MAX + 5);
    let (batches, summary) = ingest(&body);
    assert_eq!(summary.accepted, limits::BLOCK_ROWS_MAX as u64 + 5);
    let ids: Vec<&str> = batches.iter().map(|batch| batch.id.as_str()).collect();
    assert_eq!(ids, ["b", "b#1"]);
    assert_eq!(batches[1].rows, 5);
    let (again, _) = ingest(&body);
    let hashes = |batches: &[Batch]| batches.iter().map(|b| b.content_hash).collect::<Vec<_>>();
    assert_eq!(hashes(&again), hashes(&batches));
    let (other, _) = ingest(&body.replacen('1', "2", 1));
    assert_ne!(other[0].content_hash, batches[0].content_hash);
    assert_eq!(other[1].content_hash, batches[1].content_hash);
}

#[test]
fn plain_lines_are_messages() {
    let body = b"it began\n\n{\"a\": not json\r\n";
    let (batches, summary) = ingest_as(settings(), Format::Lines, body, 7);
    assert_eq!(summary.accepted, 2);
    assert_eq!(rows(&batches)[1]["message::string"], Value::string("{\"a\": not json"));
    let body = b"2026-11-21T11:00:00Z up\nand more\n";
    let (batches, summary) = ingest_as(settings(), Format::Lines, body, 7);
    assert_eq!(warned(&summary), [("joined_lines", 1)]);
    let rows = rows(&batches);
    assert_eq!(rows[0]["message::string"], Value::string("2026-11-21T11:00:00Z up"));
    assert_eq!(
        rows[0]["time::number"],
        Value::Time(parse_timestamp("2026-11-21T11:00:00Z").expect("a time"))
    );
    assert_eq!(rows.len(), 1);
}

#[test]
fn rejects_become_rows_of_their_own_table() {
    let (_, summary) = ingest("{\"a\":1}\nx");
    let table = TableName::new("t").expect("a name");
    let id = BatchId::new("r").expect("an id");
    let batch = crate::rejects_batch(&summary.rejected, &table, "http", now(), id)
        .expect("encodes")
        .expect("a batch");
    assert_eq!(batch.table.as_str(), "_rejects");
    let row = &rows(&[batch])[0];
    assert_eq!(row["line::number"], Value::integer(2));
    assert_eq!(row["excerpt::string"], Value::string("x"));
    assert_eq!(row["table::string"], Value::string("t"));
}

#[test]
fn nothing_in_gives_nothing_out() {
    for body in ["", "\n\n", "[]", " "] {
        let (batches, summary) = ingest(body);
        assert!(batches.is_empty());
        assert_eq!((summary.accepted, summary.rejected_count), (0, 0), "{body:?}");
    }
}

proptest! {
    #[test]
    fn pieces_do_not_matter(body in "[\\[\\]{}\",:a-c0-9 \n\\\\é]{0,200}", piece in 1usize..20) {
        let whole = ingest_as(settings(), Format::Json, body.as_bytes(), body.len());
        let cut = ingest_as(settings(), Format::Json, body.as_bytes(), piece);
        prop_assert_eq!(rows(&whole.0), rows(&cut.0));
        prop_assert_eq!(whole.1.rejected, cut.1.rejected);
    }

    #[test]
    fn any_bytes_are_rows_or_rejects(body in prop::collection::vec(any::<u8>(), 0..300)) {
        // A body that begins like UTF-16 is refused as a whole.
        prop_assume!(!body.contains(&0));
        for format in [Format::Json, Format::Csv, Format::Lines] {
            // A body in another encoding is refused as a whole.
            let ingested = try_ingest_as(settings(), format, &body, 7);
            let Ok((batches, summary)) = ingested else { continue };
            let in_batches: usize = batches.iter().map(|batch| batch.rows).sum();
            prop_assert_eq!(in_batches as u64, summary.accepted);
        }
    }

    #[test]
    fn numbers_and_strings_survive(number in any::<i64>(), text in "\\PC{0,20}") {
        let body = serde_json::json!({ "n": number, "s": text }).to_string();
        let (batches, _) = ingest(&body);
        let row = &rows(&batches)[0];
        prop_assert_eq!(&row["n::number"], &Value::integer(number));
        prop_assert_eq!(&row["s::string"], &Value::string(&text));
    }
}
