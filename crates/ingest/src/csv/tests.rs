use hadal_types::limits::LINE_BYTES_MAX;

use super::*;

/// Reads a text in pieces of this size; returns the reader, and the rows with their lines.
fn read_all(mut csv: CsvToJson, text: &[u8], piece: usize) -> (CsvToJson, Vec<(u64, String)>) {
    let mut rows = Vec::new();
    for mut piece in text.chunks(piece.max(1)).chain([&[][..], &[]]) {
        loop {
            let taken = csv.push(piece);
            piece = &piece[taken..];
            let mut row = Vec::new();
            while let Some(line) = csv.next_row(&mut row) {
                rows.push((line, String::from_utf8(std::mem::take(&mut row)).expect("utf-8")));
            }
            if piece.is_empty() {
                break;
            }
        }
    }
    (csv, rows)
}

fn read(text: &str) -> (CsvToJson, Vec<String>) {
    let (csv, rows) = read_all(CsvToJson::new(b',', Vec::new()), text.as_bytes(), text.len());
    (csv, rows.into_iter().map(|(_, row)| row).collect())
}

fn rows(text: &str) -> Vec<String> {
    read(text).1
}

#[test]
fn columns_are_numbers_truths_or_strings() {
    assert_eq!(
        rows("n,ok,zip,mixed\n1,true,007,5\n-2.50,FALSE,123,x\n,,,\n"),
        [
            r#"{"n":1,"ok":true,"zip":"007","mixed":"5"}"#,
            r#"{"n":-2.50,"ok":false,"zip":"123","mixed":"x"}"#,
            "{}",
        ]
    );
}

#[test]
fn later_cells_of_another_kind_stay_strings() {
    let text = format!("n,b\n{}x,maybe\n5,TRUE\n", "1,true\n".repeat(SAMPLE_RECORDS));
    let all_rows = rows(&text);
    let expected = [r#"{"n":1,"b":true}"#, r#"{"n":"x","b":"maybe"}"#, r#"{"n":5,"b":true}"#];
    assert_eq!(all_rows[SAMPLE_RECORDS - 1..], expected);
    // With one record less before it, the cell is in the sample.
    let text = text.replacen("1,true\n", "", 1);
    assert_eq!(rows(&text)[0], r#"{"n":"1","b":"true"}"#);
}

#[test]
fn a_missing_number_is_null_and_counted() {
    let (csv, rows) = read("n,country,all\n1,NA,NA\nNA,NO,NA\n NaN ,NA,NA\n");
    let expected = [
        r#"{"n":1,"country":"NA","all":"NA"}"#,
        r#"{"country":"NO","all":"NA"}"#,
        r#"{"country":"NA","all":"NA"}"#,
    ];
    assert_eq!(rows, expected);
    assert_eq!(csv.missing().collect::<Vec<_>>(), [("n", 2)]);
}

#[test]
fn words_for_no_value_may_be_named() {
    let csv = CsvToJson::new(b';', vec!["-".to_owned(), "k. A.".to_owned()]);
    let text = "n;s;when\n-;k. A.;2013-01-01\n 1 ; - ;2013-01-02\n";
    let (csv, rows) = read_all(csv, text.as_bytes(), 5);
    let rows: Vec<&str> = rows.iter().map(|(_, row)| row.as_str()).collect();
    assert_eq!(rows, [r#"{"when":"2013-01-01"}"#, r#"{"n":1,"when":"2013-01-02"}"#]);
    assert_eq!((csv.missing().count(), csv.time_column()), (0, Some("when")));
}

#[test]
fn times_are_found_by_name_and_by_what_they_are() {
    let time = |text: &str| read(text).0.time_column().map(str::to_owned);
    assert_eq!(time("a,when\n5,2013-01-01T10:00:00Z\n").as_deref(), Some("when"));
    let both = "born,timestamp\n1970-01-01,2013-01-01 10:00\n";
    assert_eq!(time(both).as_deref(), Some("timestamp"));
    assert_eq!(time("a,b\n5,2013-01-01T10:00:00Z\n6,never\n"), None);
    assert_eq!(time("a,b\n5,2013-01-01T10:00:00Z\n6,\n"), None);
    assert_eq!(time("a,b\n"), None);
    assert_eq!(time(""), None);
}

#[test]
fn quotes_and_line_feeds_are_kept() {
    assert_eq!(rows("a,b\n\"x\ny\",\"say \"\"hi\"\"\"\n"), [r#"{"a":"x\ny","b":"say \"hi\""}"#]);
}

#[test]
fn odd_heads_and_rows_lose_nothing() {
    let expected = r#"{"a":1,"column_2":2,"a_2":3,"column_4":"4"}"#;
    assert_eq!(rows("a,,a\n1,2,3,4\n5\n"), [expected, r#"{"a":5}"#]);
    let number = "123456789012345678901234567890.5";
    assert_eq!(rows(&format!("n\n{number}\n")), [format!("{{\"n\":{number}}}")]);
    assert!(rows("a,b\n").is_empty());
    assert!(rows("").is_empty());
    assert_eq!(read("a,b\n").0.names(), ["a", "b"]);
}

#[test]
fn a_text_may_have_no_head() {
    let read = |text: &str| {
        let csv = CsvToJson::new(b',', Vec::new()).without_head();
        let (csv, rows) = read_all(csv, text.as_bytes(), 3);
        assert_eq!(csv.head_remark(), None);
        (csv.names().to_vec(), rows)
    };
    let (names, rows) = read("1,x\n2,y,true\n3\n");
    assert_eq!(names, ["column_1", "column_2", "column_3"]);
    let expected = [
        (1, r#"{"column_1":1,"column_2":"x"}"#),
        (2, r#"{"column_1":2,"column_2":"y","column_3":true}"#),
        (3, r#"{"column_1":3}"#),
    ];
    assert_eq!(rows, expected.map(|(line, row)| (line, row.to_owned())));
    let (names, rows) = read("1,2");
    assert_eq!((names.len(), rows[0].1.as_str()), (2, r#"{"column_1":1,"column_2":2}"#));
    assert_eq!(read("").0, [""; 0]);
}

#[test]
fn a_head_of_numbers_is_remarked_on() {
    let remark = |text: &str| read(text).0.head_remark();
    let said = remark("1,, 007,-2.5e3\n4,5,6,7\n").expect("a remark");
    assert!(said.ends_with(" numbers: 1, column_2, 007, -2.5e3"), "{said}");
    let many: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
    let said = remark(&many.join(",")).expect("a remark");
    assert!(said.ends_with(" 8, 9, ..."), "{said}");
    for text in ["", "\n", ",,\n1,2,3\n", "a,2\n", "nan,inf\n", "country,2019,2020\n"] {
        assert_eq!(remark(text), None, "{text:?}");
    }
}

#[test]
fn what_is_no_text_is_marked_and_counted() {
    let csv = CsvToJson::new(b',', Vec::new());
    // The two halves of a character, in neighbouring cells, are not a character.
    let (csv, rows) = read_all(csv, b"a,b\n\xff,x\ny,z\n\xc3,\xa9\n", 100);
    let rows: Vec<&str> = rows.iter().map(|(_, row)| row.as_str()).collect();
    let expected = ["{\"a\":\"\u{fffd}\",\"b\":\"x\"}", r#"{"a":"y","b":"z"}"#];
    assert_eq!(rows[..2], expected);
    assert_eq!(rows[2], "{\"a\":\"\u{fffd}\",\"b\":\"\u{fffd}\"}");
    assert_eq!(csv.not_utf8(), 2);
}

#[test]
fn pieces_do_not_matter() {
    let text = "\u{feff}a,b\r\n1,\"x\r\ny\"\r\n\r\n\"é\",\n\"no end";
    let read = |piece| read_all(CsvToJson::new(b',', Vec::new()), text.as_bytes(), piece);
    let (csv, whole) = read(text.len());
    let lines: Vec<u64> = whole.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 5]);
    let unclosed = Some(Unclosed { line: 6, line_feeds: 0 });
    assert_eq!(csv.unclosed(), unclosed);
    for piece in 1..10 {
        let (csv, cut) = read(piece);
        assert_eq!((csv.unclosed(), cut), (unclosed, whole.clone()), "in pieces of {piece}");
    }
}

#[test]
fn too_long_a_record_is_too_long_a_line() {
    let long = "x".repeat(LINE_BYTES_MAX);
    let rows = rows(&format!("a,b\n1,2\n{long},2\n3,4\n"));
    assert_eq!(rows[1].len(), LINE_BYTES_MAX + 1);
    assert!(rows[1].starts_with("\"xxx"));
    assert_eq!(rows[2], r#"{"a":3,"b":4}"#);
}
