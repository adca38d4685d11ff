use std::sync::Arc;
use std::time::Duration;

use hadal_aggregate::{Groups, Partial, PartialBody};
use hadal_block::{BlockBuilder, BlockView};
use hadal_query::{ColumnRef, Expr, Function, PatternSyntax, Query, QueryKind, RowExpr, RowInput};
use hadal_types::{ColumnName, Kind, Logical, Micros, Number, TableName, TimeRange, Value, Weight};

use crate::Scan;

type Texts = Vec<Option<String>>;

fn name(text: &str) -> ColumnName {
    ColumnName::new(text).expect("a name")
}

fn block(texts: &Texts, has_numbers: bool) -> Vec<u8> {
    let mut builder = BlockBuilder::new(name("time"));
    let id = builder.column(&name("v"), Kind::String);
    for (time, text) in (0..).zip(texts) {
        if let Some(text) = text {
            builder.push_string(id, text).expect("taken");
        }
        if has_numbers && time % 7 == 0 && text.is_none() {
            let id = builder.column(&name("v"), Kind::Number);
            builder.push_number(id, Number::integer(time)).expect("taken");
        }
        builder.end_row(Micros(time));
    }
    builder.finish(Micros(0), None).expect("fits")
}

/// Texts in each encoding, some shared with other blocks. Each has the encoding's name and whether
/// the column also has numbers.
fn blocks() -> Vec<(&'static str, bool, Texts)> {
    let some = |count: u64, has: fn(u64) -> bool, text: fn(u64) -> String| -> Texts {
        (0..count).map(|row| has(row).then(|| text(row))).collect()
    };
    let line = |row: u64| match row % 4 {
        0 => format!("GET /v1/users/{} took {:03} ms", row % 501, row % 700),
        1 => String::new(),
        _ => format!("user {} logged in", row * 7 % 3_001),
    };
    let hash = |row: u64| {
        let hash = row.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let digits = if row.is_multiple_of(2) { 600 + row % 300 } else { hash };
        format!("GET /v1/users/{digits:05x} took {:03} ms", digits % 700)
    };
    let words = |row: u64| {
        let digits = (row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20).to_string();
        let letters = digits.bytes().map(|digit| char::from(digit + 49));
        if row.is_multiple_of(5) {
            format!("user {row} logged in")
        } else {
            letters.rev().collect()
        }
    };
    let few = |row: u64| format!("user {} logged in", row % 9);
    let control = |row: u64| format!("user {row} \u{e}logged in");
    vec![
        ("templates", false, some(3_000, |_| true, line)),
        ("templates", false, some(3_000, |row| row % 3 > 0, line)),
        ("templates", false, some(3_000, |row| row % 9 == 2, line)),
        ("templates", true, some(3_000, |row| row % 3 > 0, line)),
        ("templates", false, some(3_000, |_| true, hash)),
        ("pages", false, some(3_000, |row| row % 11 > 0, words)),
        ("pages", false, some(3_000, |_| true, control)),
        ("dictionary", false, some(3_000, |row| row % 2 > 0, few)),
        ("dictionary", false, some(9, |_| true, line)),
    ]
}

fn queries() -> Vec<Query> {
    let column = |kind| {
        let column = ColumnRef { name: name("v"), kind, logical: Logical::Plain };
        RowExpr::Leaf(RowInput::Column(column))
    };
    let text = || column(Kind::String);
    let is = |function, literal| {
        Some(Expr::call(function, [text(), Expr::Literal(Value::string(literal))]))
    };
    let part = TimeRange { from: Some(Micros(70)), to: Some(Micros(2_000)) };
    [
        (vec![text()], None, TimeRange::ALL),
        (vec![text()], None, part),
        (vec![text()], is(Function::Matches(PatternSyntax::Like), "%logged%"), TimeRange::ALL),
        (vec![text()], is(Function::Less, "m"), part),
        (vec![text(), text()], None, part),
    ]
    .into_iter()
    .map(|(keys, filter, range)| {
        let shape = QueryKind::Groups { keys, measures: [].into() };
        let table = TableName::new("t").expect("a name");
        Query { range, filter, deadline: Duration::ZERO, ..Query::new(table, shape) }
    })
    .collect()
}

/// The expected groups, row by row.
fn plain(query: &Query, blocks: &[(&str, bool, Texts)]) -> Groups {
    let mut groups = Groups::new(query);
    let is_wanted = |text: &Value| match (&query.filter, text) {
        (None, _) => true,
        (Some(Expr::Call { function: Function::Less, .. }), Value::String(text)) => **text < *"m",
        (Some(_), Value::String(text)) => text.contains("logged"),
        (Some(_), _) => false,
    };
    for (_, has_numbers, texts) in blocks {
        for (time, text) in (0..).zip(texts) {
            let number = (*has_numbers && time % 7 == 0).then(|| time.to_string());
            let text = text.clone().or(number).map_or(Value::Null, |text| Value::string(&text));
            let is_reached = query.range.from.is_none_or(|from| from.0 <= time)
                && query.range.to.is_none_or(|to| time < to.0);
            if is_reached && is_wanted(&text) {
                groups.add_row(&vec![text; query.keys().len()], &[], Weight::ONE);
            }
        }
    }
    groups
}

#[test]
fn equal_texts_are_one_group_however_they_are_stored() {
    let blocks = blocks();
    let bytes: Vec<Vec<u8>> =
        blocks.iter().map(|(_, has_numbers, texts)| block(texts, *has_numbers)).collect();
    for (index, ((encoding, ..), bytes)) in blocks.iter().zip(&bytes).enumerate() {
        let view = BlockView::parse(bytes).expect("parses");
        let column = view.column("v", Kind::String).expect("a column");
        assert_eq!(column.encoding_name(), *encoding, "block {index}");
    }
    for (index, query) in queries().into_iter().enumerate() {
        let scan = Scan::new(Arc::new(query.clone())).expect("a query");
        let expected = PartialBody::Groups(plain(&query, &blocks));
        for turn in 0..bytes.len() {
            // All blocks in one partial result, and split over two that are merged. Each block
            // comes first once.
            for part in [bytes.len(), 1, 4] {
                let mut partials = [(); 2].map(|()| Partial::empty(&query));
                for at in 0..bytes.len() {
                    let view = BlockView::parse(&bytes[(turn + at) % bytes.len()]);
                    let partial = &mut partials[usize::from(at >= part)];
                    let view = view.expect("parses");
                    scan.block(&view, &|_, column| column.verify(), partial).expect("scans");
                }
                let [mut all, other] = partials;
                if let (PartialBody::Groups(groups), PartialBody::Groups(other)) =
                    (&mut all.body, other.body)
                {
                    groups.merge(other);
                }
                assert!(all.body == expected, "question {index}, {turn}, {part}");
            }
        }
    }
}

#[test]
fn texts_of_many_groups_wait_and_come_to_the_same() {
    let word = |number: u64| -> Option<String> {
        let digits = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20).to_string();
        let letters = digits.bytes().map(|digit| char::from(digit + 49));
        (!number.is_multiple_of(97)).then(|| letters.rev().collect())
    };
    let texts = |first: u64| (first..first + 50_000).map(word).collect();
    let blocks: Vec<(&str, bool, Texts)> =
        [0, 40_000, 80_000, 20_000].map(|first| ("pages", false, texts(first))).into();
    let bytes: Vec<Vec<u8>> = blocks.iter().map(|(.., texts)| block(texts, false)).collect();
    for (index, query) in queries().into_iter().enumerate() {
        let scan = Scan::new(Arc::new(query.clone())).expect("a query");
        let mut partial = Partial::empty(&query);
        for bytes in &bytes {
            let view = BlockView::parse(bytes).expect("parses");
            assert_eq!(view.column("v", Kind::String).expect("a column").encoding_name(), "pages");
            scan.block(&view, &|_, column| column.verify(), &mut partial).expect("scans");
        }
        let waits = matches!(&partial.body, PartialBody::Groups(groups) if groups.can_defer());
        assert_eq!(waits, index == 0, "of this question groups are many");
        assert!(partial.body == PartialBody::Groups(plain(&query, &blocks)), "question {index}");
    }
}
