use super::*;

/// The rows of a text and the reasons for what is no row, the same in pieces of any size.
fn read(shape: &Shape, text: &str) -> Vec<Result<String, String>> {
    let mut results = Vec::new();
    for piece in [1, 2, 7, text.len().max(1)] {
        let mut documents = Documents::new(shape.clone());
        let mut rows = Vec::new();
        let mut take = |documents: &mut Documents| {
            while let Some((number, row)) = documents.next_row() {
                rows.push(row);
                assert_eq!(number, rows.len() as u64);
            }
        };
        for mut piece in text.as_bytes().chunks(piece) {
            while !piece.is_empty() {
                piece = &piece[documents.push(piece)..];
                take(&mut documents);
            }
        }
        documents.finish();
        take(&mut documents);
        results.push(rows);
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{results:?}");
    results.swap_remove(0)
}

fn rows(path: &str, text: &str) -> Vec<String> {
    let rows = read(&Shape::of_path(path), text).into_iter();
    rows.collect::<Result<_, _>>().unwrap_or_else(|reason| panic!("{text}: {reason}"))
}

fn reason(path: &str, text: &str) -> String {
    let rows = read(&Shape::of_path(path), text).into_iter();
    rows.collect::<Result<Vec<_>, _>>().expect_err(text)
}

#[test]
fn the_elements_of_each_document_are_rows() {
    let text = "{\"hits\": {\"all\": [{\"a\":1},\n {\"a\":2}], \"x\": [{}]}}\n\
                {\"hits\": {\"all\": []}}\n{\"hits\":{\"all\":[{\"a\":3}]}}\n";
    assert_eq!(rows("hits.all", text), ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"]);
    assert_eq!(rows("hits.all", &format!("[{}]", text.replace("}}\n{", "}},{"))).len(), 3);
    assert_eq!(rows("n", "{\"n\":{\"a\":1}}{\"n\":[{\"a\":2}]}"), ["{\"a\":1}", "{\"a\":2}"]);
    assert_eq!(rows("tags", "{\"tags\":[\"x\",\"y\"]}"), ["{\"tags\":\"x\"}", "{\"tags\":\"y\"}"]);
    assert!(rows("n", "").is_empty());
}

#[test]
fn members_around_the_rows_are_repeated() {
    let text =
        r#"{"order":1,"a":[{"sku":"A"},{"sku":"B","order":7}],"tags":["x"],"late":{"b":true}}"#;
    let expected = [
        r#"{"sku":"A","order":1,"tags":["x"],"late":{"b":true}}"#,
        r#"{"sku":"B","order":7,"tags":["x"],"late":{"b":true}}"#,
    ];
    assert_eq!(rows("a", text), expected);
    let nested = r#"{"a":[{"b":[{"n":1},{}],"id":"x"},{"id":"y","b":[{"n":2}]},{"id":"z"}],"c":0}"#;
    let expected =
        [r#"{"n":1,"a.id":"x","c":0}"#, r#"{"a.id":"x","c":0}"#, r#"{"n":2,"a.id":"y","c":0}"#];
    assert_eq!(rows("a.b", nested), expected);
}

#[test]
fn members_that_are_left_out_are_named() {
    let mut documents = Documents::new(Shape::of_path("a"));
    let long = "x".repeat(MEMBER_BYTES_MAX);
    let text = format!("{{\"b\":[{{}}],\"c\":\"{long}\",\"a\":[{{}}],\"d\":null,\"e\":[[1]]}}");
    assert_eq!(documents.push(text.as_bytes()), text.len());
    assert_eq!(documents.next_row(), Some((1, Ok("{}".to_owned()))));
    let remark = "beside the rows, these members are no columns: b, c, e";
    assert_eq!(documents.remark().as_deref(), Some(remark));
}

#[test]
fn what_is_no_document_says_why() {
    for (text, expected) in [
        ("{\"hits\": {}}", "document 1 has no array hits.all"),
        ("{\"hits\": 1}", "document 1 has no array hits.all"),
        ("{\"hits\": {\"all\": [{\"a\":1}", "the document does not end: rows may be missing"),
        ("{\"hits\": {\"all\": [{\"a\":1}]", "the document does not end: rows may be missing"),
        ("{\"hits\": {\"all\": [{\"a\":", "the document does not end: rows may be missing"),
        ("7", "document 1 is not JSON: expected an object"),
        ("{hits", "document 1 is not JSON: expected a name"),
        ("{\"hits\"=1}", "document 1 is not JSON: expected `:`"),
        ("{\"hits\":{\"all\":[[1]]}}", "an array in the place of a row"),
    ] {
        assert_eq!(reason("hits.all", text), expected, "{text}");
    }
    // The next line is read.
    let rows = read(&Shape::of_path("a"), "x\n{\"a\":[{}]}\ny\n{\"a\":[{}]}\n");
    assert_eq!(rows.iter().filter(|row| row.is_ok()).count(), 2);
    let long = format!("{{\"a\":[{{\"b\":\"{}\"}},{{}}]}}", "x".repeat(LINE_BYTES_MAX));
    let rows = read(&Shape::of_path("a"), &long);
    assert_eq!(rows[1].as_deref(), Ok("{}"));
    assert!(rows[0].as_ref().is_err_and(|reason| reason.starts_with("longer than")));
}

#[test]
fn a_long_document_is_not_held() {
    let mut documents = Documents::new(Shape::of_path("a"));
    let element = format!("{{\"b\":\"{}\"}},", "x".repeat(1 << 19));
    let (mut count, mut bytes_max) = (0, 0);
    let text = format!("{{\"a\":[{}], \"late\":1}}", element.repeat(100));
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        rest = &rest[documents.push(rest)..];
        bytes_max = bytes_max.max(documents.rows.bytes());
        while documents.next_row().is_some() {
            count += 1;
        }
    }
    assert_eq!(count, 100);
    assert!(bytes_max < HELD_BYTES_MAX + (1 << 20));
    assert!(documents.remark().is_some_and(|remark| remark.contains("from behind their array")));
}

#[test]
fn traces_are_rows_with_attributes() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/cases/21-otlp.json"
    ));
    let spans = read(&Shape::otlp(), &text.expect("the case"));
    let first: serde_json::Value =
        serde_json::from_str(spans[0].as_ref().expect("a row")).expect("JSON");
    assert_eq!(spans.len(), 2);
    assert_eq!(first["resource.service.name"], "cart");
    assert_eq!(
        (&first["scope.name"], &first["http.response.status_code"]),
        (&"lib".into(), &500.into())
    );
    assert_eq!(Shape::of_path("resourceSpans.scopeSpans.spans"), Shape::otlp());
}
