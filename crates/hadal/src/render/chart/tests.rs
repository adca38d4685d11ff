use serde_json::json;

use super::super::tests::answer;
use super::*;

/// A time column, a key and a number.
const BY_TIME: [(&str, &str); 3] = [("t", "time"), ("key", "string"), ("n", "number")];

#[test]
fn a_series_is_a_line_from_low_to_high() {
    let rows = json!([["t1", 0], ["t3", 20], ["t2", 10], ["t4", null]]);
    let answer = answer(&[("minute", "time"), ("n", "number")], rows);
    assert_eq!(chart(&answer, 80), "\nn\n▁▅█ 0–20\n");
}

#[test]
fn the_values_may_come_before_the_time() {
    let rows = json!([[0, "t1"], [20, "t3"], [10, "t2"]]);
    let answer = answer(&[("n", "number"), ("minute", "time")], rows);
    assert_eq!(chart(&answer, 80), "\nn\n▁▅█ 0–20\n");
}

#[test]
fn groups_have_a_line_each() {
    let rows = json!([
        ["t1", "b", 5, 1],
        ["t2", "b", 5, 2],
        ["t3", "b", 5, 1],
        ["t1", "a", 5, 3],
        ["t2", "a", 5, 3],
        ["t3", "a", 5, 3]
    ]);
    let columns = [("minute", "time"), ("service", "string"), ("m", "number"), ("n", "number")];
    assert_eq!(chart(&answer(&columns, rows), 80), "\nn\na ▁▁▁ 3–3\nb ▁█▁ 1–2\n");
}

#[test]
fn numbers_truths_and_nulls_tell_series_apart() {
    let times = ["t1", "t2", "t3"];
    let keys =
        [json!(1000), json!(404), json!(true), json!(null), json!("1000"), json!(["a", "b"])];
    let rows: Vec<Value> =
        keys.iter().flat_map(|key| times.iter().map(move |time| json!([time, key, 7]))).collect();
    let text = chart(&answer(&BY_TIME, json!(rows)), 80);
    let labels: Vec<&str> = text
        .lines()
        .skip(2)
        .map(|line| line.split('▁').next().unwrap_or_default().trim())
        .collect();
    assert_eq!(labels, ["404", "1000", "1000", "[a, b]", "null", "true"], "{text}");
}

#[test]
fn several_keys_are_joined() {
    let row = |time: &str, service: &str, status: u16| json!([time, service, status, 1]);
    let rows: Vec<Value> = ["t1", "t2", "t3"]
        .into_iter()
        .flat_map(|time| [row(time, "web", 200), row(time, "web", 500), row(time, "api", 200)])
        .collect();
    let columns = [("t", "time"), ("service", "string"), ("status", "number"), ("n", "number")];
    let text = chart(&answer(&columns, json!(rows)), 80);
    assert_eq!(text, "\nn\napi, 200 ▁▁▁ 1–1\nweb, 200 ▁▁▁ 1–1\nweb, 500 ▁▁▁ 1–1\n");
}

#[test]
fn rows_of_the_same_time_are_all_points() {
    let rows = json!([["t2", 3], ["t1", 1], ["t1", 2], ["t1.5", 9]]);
    let answer = answer(&[("time", "time"), ("n", "number")], rows);
    assert_eq!(chart(&answer, 80), "\nn\n▁▂█▃ 1–9\n");
}

#[test]
fn fractions_of_a_second_come_after_the_second() {
    let rows = json!([["t:00.5Z", 2], ["t:00Z", 1], ["t:01Z", 3]]);
    let answer = answer(&[("time", "time"), ("n", "number")], rows);
    assert_eq!(chart(&answer, 80), "\nn\n▁▅█ 1–3\n");
}

#[test]
fn other_rows_are_bars() {
    let rows = json!([["x", 4], ["long", 2], ["none", 0], ["few", 0.001], ["?", null]]);
    let answer = answer(&[("name", "string"), ("n", "number")], rows);
    let (full, half) = ("█".repeat(40), "█".repeat(20));
    let expected = format!("\nn\nx    {full}\nlong {half}\nnone\nfew  ▏\n?    null\n");
    assert_eq!(chart(&answer, 45), expected);
}

#[test]
fn bars_are_labelled_by_numbers_and_nulls_too() {
    let rows = json!([[200, 9, 4], [null, 9, 2], [404, 9, 2]]);
    let answer = answer(&[("status", "number"), ("m", "number"), ("n", "number")], rows);
    assert_eq!(chart(&answer, 13), "\nn\n200  ████████\nnull ████\n404  ████\n");
}

#[test]
fn negative_bars_go_the_other_way() {
    let rows = json!([["a", 4], ["b", -2], ["c", 0]]);
    let answer = answer(&[("name", "string"), ("n", "number")], rows);
    assert_eq!(chart(&answer, 10), "\nn\na   │████\nb ██│\nc   │\n");
}

#[test]
fn digits_beyond_doubles_are_drawn() {
    let rows = json!([["a", "9007199254740993"], ["b", "4503599627370496"]]);
    let answer = answer(&[("name", "string"), ("n", "number")], rows);
    assert_eq!(chart(&answer, 6), "\nn\na ████\nb ██\n");
}

#[test]
fn labels_are_clean_and_cut() {
    let rows = json!([["a\u{1b}]0;PWN\u{7}b", 2], ["x\ny", 1], ["L".repeat(400), 1]]);
    let answer = answer(&[("g", "string"), ("n\u{1b}", "number")], rows);
    let text = chart(&answer, 80);
    assert!(!text.contains(['\u{1b}', '\u{7}']), "{text}");
    assert!(text.starts_with("\nn\\u001b\na\\u001b]0;PWN\\u0007b"), "{text}");
    assert!(text.contains("\nx\\ny "), "{text}");
    assert!(text.lines().all(|line| width(line) <= 80), "{text}");
}

#[test]
fn charts_fit_their_terminal() {
    let bars = json!([["日".repeat(30), 4], ["b", -2], ["c", 0]]);
    let bars = answer(&[("name", "string"), ("n", "number")], bars);
    let times: Vec<Value> =
        (100..300).map(|time| json!([time.to_string(), "日".repeat(30), time])).collect();
    let lines = answer(&BY_TIME, json!(times));
    for line_width in 30..150 {
        for answer in [&bars, &lines] {
            let text = chart(answer, line_width);
            let widest = text.lines().map(width).max().unwrap_or(0);
            assert!(widest > 0 && widest <= line_width, "{widest} of {line_width}:\n{text}");
        }
    }
}

#[test]
fn bars_that_are_not_drawn_are_counted() {
    let rows: Vec<Value> = (0..25).map(|n| json!([format!("k{n}"), n])).collect();
    let text = chart(&answer(&[("k", "string"), ("n", "number")], json!(rows)), 80);
    assert!(text.ends_with("\nand 5 more\n"), "{text}");
}

#[test]
fn where_nothing_fits_nothing_is_drawn() {
    let one = answer(&[("n", "number")], json!([[4]]));
    assert_eq!(chart(&one, 80), "");
    let text = answer(&[("a", "string"), ("b", "string")], json!([["x", "y"]]));
    assert_eq!(chart(&text, 80), "");
    let zeros = answer(&[("a", "string"), ("n", "number")], json!([["x", 0], ["y", 0]]));
    assert_eq!(chart(&zeros, 80), "");
}

#[test]
fn long_series_are_averaged() {
    let points: Vec<f64> = (0..1_000).map(f64::from).collect();
    assert_eq!(sparkline(&points, 100).chars().count(), 100);
}

#[test]
fn figures_are_short() {
    assert_eq!(figure(0.0), "0");
    assert_eq!(figure(-1.5), "-1.5");
    assert_eq!(figure(1e300), "1e300");
    assert_eq!(figure(1e-9), "1e-9");
}
