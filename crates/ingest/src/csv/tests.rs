use hadal_types::limits::LINE_BYTES_MAX;

use super::*;
use crate::read_options::Quote;

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
    let (csv, rows) = read_all(
        CsvToJson::new(Dialect::default(), &ReadOptions::default()),
        text.as_bytes(),
        text.len(),
    );
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
fn odd_cells_among_numbers_are_strings_and_counted() {
    let text = format!("n,b\n{}x,maybe\n5,TRUE\n", "1,true\n".repeat(SAMPLE_RECORDS));
    let (csv, all_rows) = read(&text);
    let expected = [r#"{"n":1,"b":true}"#, r#"{"n":"x","b":"maybe"}"#, r#"{"n":5,"b":true}"#];
    assert_eq!(all_rows[SAMPLE_RECORDS - 1..], expected);
    let said: Vec<String> = csv.remarks().into_iter().map(|remark| remark.message).collect();
    assert_eq!(
        said,
        [
            "less than 0.1 % of n are text (1 cell): x",
            "less than 0.1 % of b are text (1 cell): maybe"
        ]
    );
    // With one record less before it, the cell is in the sample: truth values have no odd ones.
    let text = text.replacen("1,true\n", "", 1);
    assert_eq!(rows(&text)[0], r#"{"n":1,"b":"true"}"#);
    let (csv, rows) = read("amount\n5\n12.5\nunknown\n7\n8\n1\n");
    assert_eq!(rows[2], r#"{"amount":"unknown"}"#);
    assert_eq!(csv.remarks()[0].message, "16 % of amount are text (1 cell): unknown");
}

#[test]
fn words_for_no_value_are_null_and_counted() {
    let (csv, rows) = read("n,country,all\n1,NA,NA\nNA,NO,NA\n NaN ,NA,NA\n");
    let expected = [
        r#"{"n":1,"country":"NA","all":"NA"}"#,
        r#"{"country":"NO","all":"NA"}"#,
        r#"{"country":"NA","all":"NA"}"#,
    ];
    assert_eq!(rows, expected);
    let said = &csv.remarks()[0].message;
    assert!(said.starts_with("2 cells such as NA or - became null in column n; "), "{said}");
    let text = "s,sign\nNULL,+\nN/A,-\n-,+\n\\N,-\nx,+\n";
    let signs = [r#"{"sign":"+"}"#, r#"{"sign":"-"}"#];
    let (csv, rows) = read(text);
    assert_eq!(rows[..2], signs);
    assert_eq!((rows[3].as_str(), csv.remarks()[0].count), (signs[1], 4));
}

#[test]
fn words_for_no_value_may_be_named() {
    let dialect = Dialect { separator: b';', ..Dialect::default() };
    let nulls = vec!["-".to_owned(), "k. A.".to_owned()];
    let csv = CsvToJson::new(dialect, &ReadOptions { nulls, ..ReadOptions::default() });
    let text = "n;s;when\n-;k. A.;2013-01-01\n 1 ; - ;2013-01-02\n";
    let (csv, rows) = read_all(csv, text.as_bytes(), 5);
    let rows: Vec<&str> = rows.iter().map(|(_, row)| row.as_str()).collect();
    assert_eq!(rows, [r#"{"when":"2013-01-01"}"#, r#"{"n":1,"when":"2013-01-02"}"#]);
    assert_eq!((csv.remarks().len(), csv.time_column()), (0, Some("when")));
}

#[test]
fn numbers_are_read_as_people_write_them() {
    let semicolons = Dialect { separator: b';', ..Dialect::default() };
    let read_with = |text: &str, decimal: Option<u8>| {
        let options = ReadOptions { decimal, ..ReadOptions::default() };
        let (csv, rows) = read_all(CsvToJson::new(semicolons, &options), text.as_bytes(), 9);
        let said = csv.remarks().into_iter().map(|remark| remark.message).collect::<Vec<_>>();
        (rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>(), said)
    };
    let text = "x;y\n10,20;4,5\n1.299,99;7,25\n";
    let expected = [r#"{"x":10.20,"y":4.5}"#, r#"{"x":1299.99,"y":7.25}"#];
    let (rows, said) = read_with(text, Some(b','));
    assert_eq!((rows, said.len()), (expected.map(str::to_owned).to_vec(), 0), "it is stated");
    let (rows, said) = read_with(text, None);
    assert_eq!(rows, expected);
    assert_eq!(said[0], "10,20 in column x is 10.20; --decimal . reads it otherwise");
    assert_eq!(read_with(text, Some(b'.')).0[0], r#"{"x":"10,20","y":"4,5"}"#);
    let amounts = "amount\n12.5\nNULL\n-\n1,234.50\n€12.30\n";
    let (rows, said) = read_with(amounts, None);
    assert_eq!(rows[3..], [r#"{"amount":1234.50}"#, r#"{"amount":12.30}"#]);
    assert_eq!(said.len(), 2, "{said:?}");
    let (rows, said) = read_with("x\n1,234\n5,678\n", None);
    assert_eq!(rows[0], r#"{"x":"1,234"}"#);
    assert!(said[0].contains("--decimal , or --decimal ."), "{said:?}");
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
        let dialect = Dialect { has_head: false, ..Dialect::default() };
        let csv = CsvToJson::new(dialect, &ReadOptions::default());
        let (csv, rows) = read_all(csv, text.as_bytes(), 3);
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
fn rows_and_heads_that_do_not_fit_are_said() {
    let said = |text: &str| {
        let remarks = read(text).0.remarks();
        remarks.into_iter().map(|remark| remark.message).collect::<Vec<_>>()
    };
    let long = said("a,b\n1,2,3\n4,5,6\n");
    assert!(long[0].starts_with("most rows (2) have more cells than the head"), "{long:?}");
    assert!(long[0].contains("column_3") && long[0].contains("--separator"), "{long:?}");
    assert_eq!(said("a,b\n1,2,\n4,5,\n"), [""; 0]);
    assert_eq!(said("a,b\n1\n"), ["1 row has fewer cells than the head; the rest is null"]);
    let quotes = said("a,b\n1,\"x\" y\n");
    assert!(quotes[0].starts_with("1 row has text after a closing quote, first in line 2"));
    assert!(quotes[0].contains("--escape '\\'"), "{quotes:?}");
    assert_eq!(said("a,b\n\"x\" ,\"y\"\n"), [""; 0]);
    let (csv, rows) = read("x,y,\"test\n123\"\na,b,c\n1,2,3\n");
    assert_eq!(csv.names(), ["x", "y", "test 123"]);
    assert_eq!(rows[0], r#"{"x":"a","y":"b","test 123":"c"}"#);
    assert_eq!(csv.remarks()[0].message, "control characters in 1 column name became blanks");
}

#[test]
fn a_dialect_is_obeyed() {
    let read_in = |dialect: Dialect, text: &str| {
        let csv = CsvToJson::new(dialect, &ReadOptions::default());
        let whole = read_all(csv, text.as_bytes(), text.len()).1;
        for piece in 1..6 {
            let csv = CsvToJson::new(dialect, &ReadOptions::default());
            assert_eq!(read_all(csv, text.as_bytes(), piece).1, whole, "in pieces of {piece}");
        }
        whole
    };
    let escaped = Dialect { escape: Some(b'\\'), ..Dialect::default() };
    let text = "a,b\n1,\"say \\\"hi, there\\\"\"\nx\\,y,C:\\temp\n\"l\\\nm\",\\N\n";
    let expected = [
        (2, r#"{"a":"1","b":"say \"hi, there\""}"#),
        (3, r#"{"a":"x,y","b":"C:\\temp"}"#),
        (4, r#"{"a":"l\nm"}"#),
    ];
    assert_eq!(read_in(escaped, text), expected.map(|(line, row)| (line, row.to_owned())));
    let commented = Dialect { comment: Some(b'#'), skip: 2, ..Dialect::default() };
    let text = "title, \"x\r\n\r\n# no\r\na,b\r\n#1,2\r\n3,4\r\n";
    assert_eq!(read_in(commented, text), [(6, r#"{"a":3,"b":4}"#.to_owned())]);
    let unquoted = Dialect { quote: Quote::None, separator: b'|', ..Dialect::default() };
    let text = "a|b\n\"x|5\n";
    assert_eq!(read_in(unquoted, text), [(2, r#"{"a":"\"x","b":5}"#.to_owned())]);
    let named = Dialect { has_row_names: true, ..Dialect::default() };
    let row = r#"{"column_1":"x","a":1}"#.to_owned();
    assert_eq!(read_in(named, "a\nx,1\n"), [(2, row)]);
}

#[test]
fn what_is_no_text_is_marked_and_counted() {
    let csv = CsvToJson::new(Dialect::default(), &ReadOptions::default());
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
    let read = |piece| {
        read_all(
            CsvToJson::new(Dialect::default(), &ReadOptions::default()),
            text.as_bytes(),
            piece,
        )
    };
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

#[test]
fn rows_of_units_do_not_decide_types() {
    let text = "when,temp,rain\nUTC,Deg C,mm\n,Avg,Tot\n2026-11-21,4.5,1\n2026-11-22,5,2\n\
                2026-11-23,6,3\n";
    let (csv, rows) = read(text);
    assert_eq!(rows[0], r#"{"when":"UTC","temp":"Deg C","rain":"mm"}"#);
    assert_eq!(rows[2], r#"{"when":"2026-11-21","temp":4.5,"rain":1}"#);
    let said: Vec<String> = csv.remarks().into_iter().map(|remark| remark.message).collect();
    assert_eq!(said[0], "40 % of temp are text (2 cells): Deg C, Avg");
    // Texts with a few numbers are no rows of units.
    let rows = self::rows("a,b\nx,y\nz,1\nu,v\n");
    assert_eq!(rows[1], r#"{"a":"z","b":"1"}"#);
}

#[test]
fn other_times_with_the_name_of_a_zone_become_iso_8601() {
    let text = "at,since\n2026-11-21 03:51:42.1 UTC,2026-11-21 04:51:10 CET\n";
    assert_eq!(rows(text), [r#"{"at":"2026-11-21T03:51:42.1Z","since":"2026-11-21T03:51:10Z"}"#]);
}
