use super::*;

fn sentence(text: &str, name: Option<&str>) -> String {
    let detection = detect(text.as_bytes(), name, &ReadOptions::default());
    detection.expect("readable").sentence()
}

#[test]
fn content_and_name_decide() {
    let csv = "CSV with `,`, head in line 1";
    for (text, name, expected) in [
        ("{\"a\":1}\n", None, "JSON lines"),
        ("{\"a\":1}\n", Some("x.csv"), "JSON lines"),
        ("\u{feff}{\"a\":1}\n", None, "JSON lines"),
        ("a,b\n1,2\n", None, csv),
        ("a,b\n1,2\n", Some("x.txt"), csv),
        ("a,b\n1,2\n", Some("x.log"), "plain text"),
        ("a,b\n1,2\n", Some("dir.csv/x.CSV.gz"), csv),
        ("a,b\n1,2\n", Some("x.csv.zst"), csv),
        ("a\n1\n", Some("x.csv"), "CSV of one column, head in line 1"),
        ("a\n1\n", None, "plain text"),
        ("1,2\n3,4\n", Some("x.csv"), "CSV with `,`, no head"),
        ("a\tb,c\n1\t2\n", Some("x.tsv"), "CSV with tabs, head in line 1"),
        ("a|b\n1|2\n", Some("x.psv"), "CSV with `|`, head in line 1"),
        ("Starting\n{\"n\":1}\n{\"n\":2}\n", None, "JSON lines"),
        ("Starting\nup\n{\"n\":1}\n", Some("x.jsonl"), "JSON lines"),
        ("all is well\n", None, "plain text"),
        ("", None, "plain text"),
        ("PAR1", None, "Parquet"),
        ("ARROW1", None, "Arrow IPC"),
    ] {
        assert_eq!(sentence(text, name), expected, "{text} {name:?}");
    }
}

#[test]
fn options_override() {
    let detect_as = |option: &str, value: &str, text: &str| {
        let mut options = ReadOptions::default();
        options.set(option, value).expect("an option");
        detect(text.as_bytes(), Some("x.log"), &options).expect("readable").sentence()
    };
    assert_eq!(detect_as("format", "text", "{}"), "plain text");
    assert_eq!(detect_as("format", "csv", "a;b\n1;2\n"), "CSV with `;`, head in line 1");
    assert_eq!(detect_as("separator", " ", "a b\n1 2\n"), "CSV with spaces, head in line 1");
    assert_eq!(detect_as("header", "false", "a;b\nc;d\n"), "CSV with `;`, no head");
    assert_eq!(detect_as("rows", "a", "{\"a\":[]}"), "JSON");
    assert_eq!(detect_as("regex", "(?<a>.)", "a,b\n1,2\n"), "lines by --regex");
    assert_eq!(detect_as("format", "text", "\u{0}"), "plain text");
}

#[test]
fn unreadable_bytes_are_refused() {
    let refused = |bytes: &[u8]| detect(bytes, None, &ReadOptions::default()).err();
    assert_eq!(refused(b"\x1f\x8b\x08"), Some(Unreadable::Compressed("gzip")));
    assert_eq!(refused(b"\xff\xfea\0"), Some(Unreadable::Encoding("utf-16")));
    assert_eq!(refused(b"abcdefgh\0"), Some(Unreadable::Binary(9)));
    assert!(refuse_unreadable(b"{\"a\":1}").is_ok());
    assert_eq!(refuse_unreadable(b"PAR1"), Err(Unreadable::Columnar("Parquet")));
    assert_eq!(refuse_unreadable(b"\x28\xb5\x2f\xfd"), Err(Unreadable::Compressed("zstd")));
    let skippable = b"\x50\x2a\x4d\x18\x04\0\0\0";
    assert_eq!(refuse_unreadable(skippable), Err(Unreadable::Compressed("zstd")));
}

#[test]
fn any_bytes_are_detected_or_refused() {
    let seeds = [&b"sep="[..], b"\"'\\", b"#,\n", b"{\"", b"[{", b"a,b\r\n", b"\xff", b"1;2\n"];
    for first in seeds {
        for second in seeds {
            let bytes = [first, second, first].concat();
            for end in 0..=bytes.len() {
                let _ = detect(&bytes[..end], Some("x.csv"), &ReadOptions::default());
                let _ = detect(&bytes[..end], None, &ReadOptions::default());
            }
        }
    }
}
