//! Lines of text become rows.

mod layouts;

use super::*;

fn options(set: &[(&str, &str)]) -> ReadOptions {
    let mut options = ReadOptions::default();
    set.iter().for_each(|(name, value)| options.set(name, value).expect(value));
    options
}

fn convert(text: &[u8], options: &ReadOptions, piece: usize) -> (Vec<String>, LogToJson) {
    let now = hadal_types::time::parse_timestamp("2026-11-27T08:00:00Z").expect("a time");
    let mut log = LogToJson::new(options, now);
    let mut rows = Vec::new();
    let mut take = |log: &mut LogToJson| {
        let mut row = Vec::new();
        while log.next_row(&mut row).is_some() {
            rows.push(String::from_utf8(std::mem::take(&mut row)).expect("UTF-8"));
        }
    };
    for mut piece in text.chunks(piece) {
        while !piece.is_empty() {
            piece = &piece[log.push(piece)..];
            take(&mut log);
        }
    }
    log.finish();
    take(&mut log);
    (rows, log)
}

/// The rows without their messages.
fn rows(text: &str) -> Vec<String> {
    let (rows, _) = convert(text.as_bytes(), &ReadOptions::default(), 1 << 16);
    rows.iter().map(|row| without_message(row)).collect()
}

fn without_message(row: &str) -> String {
    let mut row: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(row).expect("an object");
    assert!(row.remove("message").is_some_and(|message| message.is_string()));
    serde_json::Value::Object(row).to_string()
}

fn layout(text: &str) -> Option<&'static str> {
    convert(text.as_bytes(), &ReadOptions::default(), 7).1.layout()
}

#[test]
fn access_logs_have_columns() {
    let common = "203.0.113.5 - - [10/Aug/2020:09:31:01 +0000] \"GET /api HTTP/1.1\" 200 474\n\
                  203.0.113.6 - - [10/Aug/2020:09:31:02 +0000] \"GET /ping HTTP/1.1\" 500 2\n";
    assert_eq!(layout(common), Some("common log format"));
    assert_eq!(
        rows(common)[0],
        r#"{"bytes":474,"host":"203.0.113.5","method":"GET","path":"/api","protocol":"HTTP/1.1","status":200,"time":"2020-08-10T09:31:01Z"}"#
    );
    let combined = "h - bob [10/Aug/2020:09:31:01 +0000] \"-\" 408 - \"-\" \"a \\\"b\\\"\" 0.5\n";
    assert_eq!(layout(combined), Some("combined access log"));
    let row = r#"{"agent":"a \"b\"","duration":0.5,"host":"h","status":408,"time":"2020-08-10T09:31:01Z","user":"bob"}"#;
    assert_eq!(rows(combined), [row]);
}

#[test]
fn frames_belong_to_the_event_before() {
    let text = "2026-11-21 03:51:42,123 - a.b - INFO - up\n\
                2026-11-21 03:51:43,001 - a.b - ERROR - failed\n\
                Traceback (most recent call last):\n  File \"x.py\", line 1\nValueError: no\n\
                2026-11-21 03:51:44,500 - a.b - WARNING - retry\n";
    let rows = rows(text);
    assert_eq!(rows.len(), 3);
    assert_eq!(
        rows[1],
        r#"{"level":"error","logger":"a.b","stack":["Traceback (most recent call last):","File \"x.py\", line 1","ValueError: no"],"time":"2026-11-21T03:51:43.001Z"}"#
    );
    let (_, log) = convert(text.as_bytes(), &ReadOptions::default(), 3);
    let warning = &log.warnings()[0];
    assert_eq!((warning.code, warning.count), ("joined_lines", 3));
    assert!(warning.message.contains("--format lines"), "{}", warning.message);
}

#[test]
fn lines_before_the_first_event_are_rows_without_a_time() {
    let text = "Starting\nversion 1\n2026-11-21T03:51:42Z INFO up\n2026-11-21T03:51:43Z INFO up\n";
    assert_eq!(
        rows(text),
        [
            "{}",
            "{}",
            r#"{"level":"info","time":"2026-11-21T03:51:42Z"}"#,
            r#"{"level":"info","time":"2026-11-21T03:51:43Z"}"#
        ]
    );
}

#[test]
fn text_without_a_layout_is_a_message_per_line() {
    for text in [
        "it began\nit went on\n  indented\n",
        "a\n[1]\n{\n",
        "one: two\nthree\nfour\n",
        "a=1\nb\nc\n",
    ] {
        let (all, log) = convert(text.as_bytes(), &ReadOptions::default(), 2);
        assert_eq!(log.layout(), None, "{text}");
        assert_eq!(all.len(), 3, "{text}");
        assert!(all.iter().all(|row| without_message(row) == "{}"), "{all:?}");
    }
}

#[test]
fn plain_lines_are_rows_as_they_are() {
    let text = b"2026-11-21T03:51:42Z ERROR x\n\tat a\n";
    let (rows, log) = convert(text, &options(&[("format", "lines")]), 5);
    let time = r#"{"time":"2026-11-21T03:51:42Z","message":"2026-11-21T03:51:42Z ERROR x"}"#;
    assert_eq!(rows, [time, r#"{"message":"\tat a"}"#]);
    assert_eq!(log.layout(), None);
}

#[test]
fn a_regex_names_the_columns() {
    let regex = options(&[("regex", r"^(?<time>\S+) (?<user>\w+) (?<n>\d+)$")]);
    let text = b"2026-11-21T03:51:42Z ada 7\n  at x\nnonsense\n2026-11-21T03:51:43Z bob 8\n";
    let (rows, _) = convert(text, &regex, 4);
    assert_eq!(
        without_message(&rows[0]),
        r#"{"n":7,"stack":["at x"],"time":"2026-11-21T03:51:42Z","user":"ada"}"#
    );
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1], r#"{"$reject":"the line does not match --regex","message":"nonsense"}"#);
}

#[test]
fn sources_have_events_of_their_own() {
    let text = "a_1 | 2026-11-21T03:51:42Z ERROR x\nb_1 | 2026-11-21T03:51:43Z INFO y\n\
                a_1 | \tat frame\nb_1 | {\"level\":\"warn\",\"n\":1}\n";
    assert_eq!(
        rows(text),
        [
            r#"{"level":"info","source":"b_1","time":"2026-11-21T03:51:43Z"}"#,
            r#"{"level":"error","source":"a_1","stack":["at frame"],"time":"2026-11-21T03:51:42Z"}"#,
            r#"{"level":"warn","n":1,"source":"b_1"}"#,
        ]
    );
}

#[test]
fn container_runtimes_cut_lines() {
    let text = "2026-11-21T03:51:42.1Z stdout P one \n2026-11-21T03:51:42.2Z stdout F two\n\
                2026-11-21T03:51:43Z stderr F  at x\n2026-11-21T03:51:44Z stderr F {\"a\":1}\n";
    let (all, _) = convert(text.as_bytes(), &ReadOptions::default(), 9);
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(
        all[0].contains(r#""message":"2026-11-21T03:51:42.1Z stdout P one two""#),
        "{}",
        all[0]
    );
    assert!(all[0].contains(r#""stack":["at x"]"#), "{}", all[0]);
    assert!(all[1].contains(r#""a":1"#), "{}", all[1]);
}

#[test]
fn a_stream_is_not_waited_for() {
    let mut log = LogToJson::new(&ReadOptions::default(), Micros(0));
    let mut row = Vec::new();
    log.push(b"2026-11-21T03:51:42Z ERROR x\n");
    assert_eq!(log.next_row(&mut row), None);
    log.flush();
    assert_eq!(log.next_row(&mut row), Some(1));
    log.push(b"\tat frame\n");
    log.flush();
    row.clear();
    assert_eq!(log.next_row(&mut row), Some(2), "a line after its event is at the event's time");
    assert_eq!(row, br#"{"time":"2026-11-21T03:51:42Z","message":"\tat frame"}"#);
}

/// A row of the stream below.
const STACK: &str = r#"{"level":"error","stack":["at a"],"time":"2026-11-21T03:51:42Z"}"#;

#[test]
fn a_stream_that_begins_with_a_banner_gets_its_layout_later() {
    let mut log = LogToJson::new(&ReadOptions::default(), Micros(0));
    log.push(b"starting\n");
    log.flush();
    assert_eq!(log.layout(), None);
    let mut row = Vec::new();
    assert_eq!(log.next_row(&mut row), Some(1));
    row.clear();
    log.push(b"2026-11-21T03:51:42Z ERROR x\n");
    log.push(b"\tat a\n");
    log.flush();
    assert_eq!(log.next_row(&mut row), Some(2));
    assert_eq!(without_message(&String::from_utf8_lossy(&row)), STACK);
    assert_eq!(log.layout(), Some("lines with a time"));
}

#[test]
fn events_have_a_bounded_number_of_lines() {
    let head = "2026-11-21T03:51:42Z ERROR x\n";
    let text = head.to_owned() + &"\tat frame\n".repeat(3 * STACK_LINES_MAX) + head;
    let (rows, log) = convert(text.as_bytes(), &ReadOptions::default(), 1 << 12);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].matches("at frame").count(), STACK_LINES_MAX);
    assert!(log.warnings().iter().any(|warning| warning.code == "cut_events"));
}

#[test]
fn pieces_do_not_matter() {
    let text = "web_1 | a\n<34>1 2026-11-21T03:51:42Z h a 1 - [x y=\"z\"] m {\"a\":1}\n\
                time=x a=1\n\u{1b}[2m2026-11-21T03:51:42Z\u{1b}[0m INFO a::b: c\n\tat d\n\n#Fields: a b\n1 2\n";
    let (whole, _) = convert(text.as_bytes(), &ReadOptions::default(), text.len());
    for piece in 1..30 {
        assert_eq!(convert(text.as_bytes(), &ReadOptions::default(), piece).0, whole, "{piece}");
    }
}
