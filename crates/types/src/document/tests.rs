use super::*;

fn tile(changed: &Value) -> Value {
    let mut tile = json!({ "query": "table=t", "x": 0, "y": 0, "w": 6, "h": 4 });
    for (key, value) in changed.as_object().into_iter().flatten() {
        tile[key] = value.clone();
    }
    tile
}

fn document(kind: DocumentKind, value: &Value) -> Result<Document, DocumentError> {
    Document::from_json(kind, &value.to_string())
}

fn dashboard(changed: &Value) -> Result<Document, DocumentError> {
    let mut value = json!({ "name": "Service health", "tiles": [tile(&Value::Null)] });
    for (key, part) in changed.as_object().into_iter().flatten() {
        value[key] = part.clone();
    }
    document(DocumentKind::Dashboard, &value)
}

#[test]
fn a_document_reads_what_it_wrote() {
    let variables = json!([{ "name": "service", "value": "a|b", "column": "service" }]);
    let full = json!({
        "owner": "Julie", "description": "All of it", "from": "-1d", "to": "now", "compare": "7d",
        "refresh": "30s", "filters": ["status = 500"], "variables": variables,
    });
    let document = dashboard(&full).expect("a dashboard");
    let text = document.json().get();
    assert_eq!(Document::from_json(DocumentKind::Dashboard, text), Ok(document.clone()));
    let summary = document.summary();
    assert_eq!(summary.name(), "Service health");
    assert_eq!(summary.0["tiles"], 1);
    assert_eq!(DocumentSummary::from_json(&summary.to_json()), Some(summary.clone()));
    for kind in DocumentKind::ALL {
        assert_eq!(DocumentKind::named(kind.name()), Some(kind));
    }
}

#[test]
fn a_view_and_a_frozen_answer_have_queries() {
    let view = json!({ "name": "v", "query": "table=t&view=pie" });
    let view = document(DocumentKind::View, &view).expect("a view");
    assert_eq!(view.summary().0["query"], "table=t&view=pie");
    let frozen = json!({
        "name": "1f", "query": "table=t", "taken": "2026-11-28T15:00:00Z",
        "answers": [{ "request": { "sql": "SELECT 1" }, "answer": { "rows": [] } }],
    });
    let frozen = document(DocumentKind::Snapshot, &frozen).expect("a frozen answer");
    assert!(!frozen.summary().0.contains_key("answers"));
}

#[test]
fn wrong_places_are_named() {
    for (changed, expected) in [
        (json!({ "colour": 1 }), "colour: unknown; fields are name, owner"),
        (json!({ "name": 7 }), "name: 7; expected a text"),
        (json!({ "name": "a/b" }), "name: \"a/b\": a name has no /"),
        (json!({ "name": ".." }), "name: \"..\": this is a part"),
        (json!({ "name": "" }), "name: \"\": a name has at least"),
        (json!({ "name": " a" }), "name: \" a\": a name begins"),
        (json!({ "tiles": {} }), "tiles: {}; expected a list"),
        (json!({ "tiles": ["x"] }), "tiles[0]: \"x\"; expected an object"),
        (json!({ "tiles": [{ "query": "" }] }), "tiles[0].x: missing"),
        (json!({ "tiles": [tile(&json!({ "w": 13 }))] }), "tiles[0].w: 13; expected a whole"),
        (json!({ "tiles": [tile(&json!({ "x": 7 }))] }), "tiles[0].w: the tile ends at column 13"),
        (json!({ "tiles": [tile(&json!({ "z": 7 }))] }), "tiles[0].z: unknown"),
        (json!({ "variables": [{ "name": "A" }] }), "variables[0].name: \"A\"; expected a word"),
        (json!({ "filters": [1] }), "filters[0]: 1; expected a text"),
    ] {
        let error = dashboard(&changed).expect_err("refused").to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    for text in ["", "{", "[]"] {
        Document::from_json(DocumentKind::View, text).expect_err(text);
    }
}

#[test]
fn limits_are_those_of_their_constants() {
    let fits = |changed: &Value| dashboard(changed).is_ok();
    for (key, most) in [
        ("name", DOCUMENT_NAME_BYTES_MAX),
        ("owner", DOCUMENT_OWNER_BYTES_MAX),
        ("description", DOCUMENT_DESCRIPTION_BYTES_MAX),
    ] {
        assert!(fits(&json!({ key: "x".repeat(most) })), "{key}");
        assert!(!fits(&json!({ key: "x".repeat(most + 1) })), "{key}");
    }
    let tiles = |count: usize| json!({ "tiles": vec![tile(&Value::Null); count] });
    assert!(fits(&tiles(DASHBOARD_TILES_MAX)) && !fits(&tiles(DASHBOARD_TILES_MAX + 1)));
    let filters = |count: usize| json!({ "filters": vec!["a = 1"; count] });
    assert!(fits(&filters(DASHBOARD_FILTERS_MAX)) && !fits(&filters(DASHBOARD_FILTERS_MAX + 1)));
    let variables = |count: usize| json!({ "variables": vec![json!({ "name": "a" }); count] });
    assert!(fits(&variables(DASHBOARD_VARIABLES_MAX)));
    assert!(!fits(&variables(DASHBOARD_VARIABLES_MAX + 1)));
    for (key, most) in [("y", DASHBOARD_ROWS_MAX), ("h", DASHBOARD_TILE_ROWS_MAX)] {
        let at = |value: u64| json!({ "tiles": [tile(&json!({ key: value }))] });
        assert!(fits(&at(most)) && !fits(&at(most + 1)), "{key}");
    }
    let wide = |columns: u64| json!({ "tiles": [tile(&json!({ "w": columns }))] });
    assert!(fits(&wide(DASHBOARD_COLUMNS)) && !fits(&wide(DASHBOARD_COLUMNS + 1)));
    let long = |bytes: usize| json!({ "tiles": [tile(&json!({ "query": "q".repeat(bytes) }))] });
    assert!(fits(&long(SAVED_QUERY_BYTES_MAX)) && !fits(&long(SAVED_QUERY_BYTES_MAX + 1)));
    // Each part fits, and all together do not.
    let query = "q".repeat(SAVED_QUERY_BYTES_MAX);
    let many = DOCUMENT_BYTES_MAX / SAVED_QUERY_BYTES_MAX;
    let large = json!({ "tiles": vec![tile(&json!({ "query": query })); many] });
    assert!(dashboard(&large).expect_err("too long").reason.contains("bytes; at most"));
    let frozen = |count: usize, text: usize| {
        let answer = json!({ "request": {}, "answer": { "a": "x".repeat(text) } });
        let value = json!({
            "name": "f", "query": "", "taken": "", "answers": vec![answer; count],
        });
        document(DocumentKind::Snapshot, &value).is_ok()
    };
    assert!(frozen(SNAPSHOT_ANSWERS_MAX, 1) && !frozen(SNAPSHOT_ANSWERS_MAX + 1, 1));
    assert!(!frozen(1, SNAPSHOT_BYTES_MAX));
}
