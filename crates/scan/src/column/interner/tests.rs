use std::time::Duration;

use hadal_aggregate::{Partial, PartialBody};
use hadal_block::{BlockBuilder, BlockView};
use hadal_query::{
    ColumnRef, Expr, Function, Measure, Query, QueryKind, RowExpr, RowInput, StateKind,
};
use hadal_types::{ColumnName, Kind, Logical, Micros, Number, TableName, TimeRange, Value};

use super::*;
use crate::Scan;

/// A holder that has ids, as a leaf has.
struct InternedContext {
    host: Arc<SharedInterner>,
}

impl<'a> BlockContext<'a> for InternedContext {
    fn check(&self, _: usize, column: &ColumnView<'a>) -> Result<(), BlockError> {
        column.verify()
    }

    fn interned(&self, _: usize, column: &ColumnView<'a>) -> Option<InternedIds> {
        let interner = Arc::clone(&self.host);
        let ids = (column.name().as_str() == "host").then(|| interner.ids_of(column))?;
        Some(InternedIds { ids: ids?, interner })
    }
}

fn name(text: &str) -> ColumnName {
    ColumnName::new(text).expect("a name")
}

fn column(text: &str, kind: Kind) -> RowExpr {
    Expr::Leaf(RowInput::Column(ColumnRef { name: name(text), kind, logical: Logical::Plain }))
}

/// A block of rows with one of `hosts` hosts, numbered from `first`; some rows have no host or no
/// value.
fn block(first: u64, hosts: u64, seed: u64) -> Vec<u8> {
    let mut builder = BlockBuilder::new(name("time"));
    let mut random = seed;
    for row in 0..4_000i64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (host, has) = (first + (random >> 33) % hosts, (random >> 20) % 16);
        if has != 0 {
            let id = builder.column(&name("host"), Kind::String);
            builder.push_string(id, &format!("host-{host:05}")).expect("taken");
        }
        if has != 1 {
            let id = builder.column(&name("ms"), Kind::Number);
            builder.push_number(id, Number::integer(row % 97)).expect("taken");
        }
        builder.end_row(Micros(row * 1_000));
    }
    builder.finish(Micros(0), None).expect("fits")
}

fn queries() -> Vec<Query> {
    let ms = || column("ms", Kind::Number);
    let measures: Vec<Measure> =
        [StateKind::Moments, StateKind::MinMax, StateKind::Quantiles, StateKind::Distinct]
            .map(|kind| Measure::new(kind, ms()))
            .into();
    let host = || column("host", Kind::String);
    let is = |function, text: RowExpr, value: Value| {
        Some(Expr::call(function, [text, Expr::Literal(value)]))
    };
    let part = TimeRange { from: Some(Micros(70_000)), to: Some(Micros(3_000_000)) };
    let all = TimeRange::ALL;
    [
        (vec![host()], None, all),
        (vec![host()], None, part),
        (vec![host()], is(Function::Less, ms(), Value::integer(9)), all),
        (vec![host()], is(Function::Less, host(), Value::string("host-00100")), part),
        (vec![host(), ms()], None, part),
        (vec![ms(), host()], is(Function::Equal, host(), Value::string("host-00100")), all),
        (vec![host(), host()], None, all),
    ]
    .into_iter()
    .map(|(keys, filter, range)| Query {
        range,
        filter,
        limit: 100,
        deadline: Duration::ZERO,
        ..Query::new(
            TableName::new("t").expect("a name"),
            QueryKind::Groups { keys, measures: measures.clone() },
        )
    })
    .collect()
}

#[test]
fn groups_by_id_are_groups_by_string() {
    // Blocks with known and new strings, with few strings, and with too many to be worth ids.
    let blocks = [(0, 300), (0, 300), (200, 400), (0, 5), (50, 2_000), (100, 100)];
    let blocks: Vec<Vec<u8>> =
        (1..).zip(blocks).map(|(seed, (first, hosts))| block(first, hosts, seed)).collect();
    for (index, query) in queries().into_iter().enumerate() {
        let scan = Scan::new(Arc::new(query.clone())).expect("a query");
        let contexts = [(); 2].map(|()| InternedContext { host: Arc::default() });
        let (mut plain, mut by_id) = (Partial::empty(&query), Partial::empty(&query));
        for (number, bytes) in blocks.iter().enumerate() {
            let view = BlockView::parse(bytes).expect("parses");
            scan.block(&view, &|_, column| column.verify(), &mut plain).expect("scans");
            // Some blocks have their ids from another interner.
            let context = &contexts[usize::from(number == 2 || number == 4)];
            scan.block_of(&view, context, &mut by_id).expect("scans");
        }
        assert!(contexts[0].host.bytes() > 0);
        assert!(plain.body == by_id.body, "question {index}");
        let PartialBody::Groups(groups) = plain.body else { panic!("groups") };
        assert!(groups.len() > 1, "question {index}");
    }
}

#[test]
fn ids_are_those_of_the_strings() {
    let interner = SharedInterner::default();
    let ids = |bytes: &[u8]| {
        let view = BlockView::parse(bytes).expect("parses");
        let column = view.columns().iter().find(|column| column.name().as_str() == "host");
        let column = column.expect("there");
        let ids = interner.ids_of(column)?;
        let entries = column.string_entries().expect("decodes");
        for (text, &id) in entries.iter().zip(&*ids) {
            interner.with(|texts| assert_eq!(texts.get(id), Some(text)));
        }
        Some(ids.len())
    };
    assert_eq!(ids(&block(0, 300, 1)), Some(300));
    assert_eq!(ids(&block(100, 300, 2)), Some(300));
    assert_eq!(ids(&block(0, 5, 3)), None, "few are soon decoded");
    assert_eq!(ids(&block(0, 2_000, 4)), None, "many repeat too little");
}
