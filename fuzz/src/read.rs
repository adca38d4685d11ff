//! Reads written blocks back, by every access, and compares.

use hadal_block::{BlockView, Chill, ColumnView, MergeOrder, StringsView, Zone, chill, merge};
use hadal_types::{Decimal, Kind, Micros, Number, Value};

use crate::access;
use crate::rows::{Row, Table, column_name, number_of};

/// Writes the rows to blocks, and reads these and the merged blocks.
///
/// # Panics
/// If a value that is read differs from the one that was written.
pub fn round_trip(table: &Table) {
    let mut expected = table.comparable();
    let mut blocks = table.blocks();
    assert_rows(&blocks, &expected);
    blocks.iter_mut().for_each(|bytes| *bytes = cold(bytes));
    assert_rows(&blocks, &expected);
    let views: Vec<BlockView<'_>> = blocks.iter().map(|bytes| view(bytes)).collect();
    let merged = merge(&views, MergeOrder::Arrival, Micros(78)).expect("merges");
    assert_rows(&merged, &expected);
    let merged = merge(&views, MergeOrder::Time, Micros(78)).expect("merges");
    expected.sort_by_key(|row| row.time);
    assert_rows(&merged, &expected);
}

fn cold(bytes: &[u8]) -> Vec<u8> {
    chill(&view(bytes), Chill::All).expect("chills").expect("is warm")
}

fn view(bytes: &[u8]) -> BlockView<'_> {
    let block = BlockView::parse(bytes).expect("parses");
    block.verify().expect("has right checksums");
    block
}

fn assert_rows(blocks: &[Vec<u8>], expected: &[Row]) {
    let mut rest = expected;
    for bytes in blocks {
        let block = view(bytes);
        let (rows, after) = rest.split_at(block.rows());
        rest = after;
        assert_block(&block, rows);
        access::read_all(&block);
    }
    assert_eq!(rest, [], "rows are missing");
}

fn assert_block(block: &BlockView<'_>, expected: &[Row]) {
    let width = expected.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let cells = vec![Value::Null; width];
    let empty = || Row { time: Micros(0), cells: cells.clone() };
    let mut actual: Vec<Row> = expected.iter().map(|_| empty()).collect();
    for column in block.columns() {
        let data = column.decode().expect("decodes");
        let values: Vec<Value> = (0..block.rows()).map(|row| data.value(row)).collect();
        assert_eq!(values.iter().filter(|value| value.is_null()).count(), column.null_count());
        if column.name() == block.time_column().name() {
            for (row, value) in actual.iter_mut().zip(values) {
                let Value::Time(time) = value else { panic!("{value} is no time") };
                row.time = time;
            }
            continue;
        }
        let values: Vec<Value> = values.iter().map(number_of).collect();
        assert_accesses(column, &values);
        let number = (0..width).find(|&number| column_name(number) == *column.name());
        let number = number.expect("the column of a number");
        for (row, value) in actual.iter_mut().zip(values).filter(|(_, value)| !value.is_null()) {
            let before = std::mem::replace(&mut row.cells[number], value);
            assert_eq!(before, Value::Null, "two values in {}", column.name());
        }
    }
    for (row, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        assert_eq!(actual, expected, "row {row}");
    }
    let times = expected.iter().map(|row| row.time);
    assert_eq!(Some(block.time_range()), times.clone().min().zip(times.max()));
}

/// The other accesses return the decoded values.
fn assert_accesses(column: &ColumnView<'_>, values: &[Value]) {
    match column.kind() {
        Kind::Number => {
            assert_zone(column, values);
            assert_integers(column, values);
            assert_near(column, values);
        }
        Kind::String => assert_strings(column, values),
        Kind::Set | Kind::Vector => {}
    }
}

fn assert_zone(column: &ColumnView<'_>, values: &[Value]) {
    let numbers: Vec<Number> = numbers(values).map(|(_, number)| number).collect();
    match column.zone() {
        Zone::Decimals { scale, min, max, sum } => {
            let mantissas = numbers.iter().map(|number| number.to_scaled(scale).expect("scaled"));
            assert_eq!(mantissas.clone().min(), Some(min.into()));
            assert_eq!(mantissas.clone().max(), Some(max.into()));
            assert_eq!(mantissas.sum::<i128>(), sum);
        }
        Zone::Doubles { min, max } => {
            let [min, max] = [min, max].map(Number::from_f64);
            assert!(numbers.iter().all(|&number| min <= Some(number) && Some(number) <= max));
        }
        Zone::None => panic!("numbers without a zone"),
    }
}

fn numbers(values: &[Value]) -> impl Iterator<Item = (usize, Number)> {
    values.iter().enumerate().filter_map(|(row, value)| match value {
        Value::Number(number) => Some((row, *number)),
        _ => None,
    })
}

fn assert_integers(column: &ColumnView<'_>, values: &[Value]) {
    let Some(view) = column.numbers().expect("parses") else { return };
    let mut integers = Vec::new();
    view.integers.decode_into(&mut integers);
    let fold = view.integers.fold();
    assert_eq!(fold.sum, integers.iter().map(|&integer| i128::from(integer)).sum());
    assert_eq!(
        Some((fold.min, fold.max)),
        integers.iter().min().copied().zip(integers.iter().max().copied())
    );
    for (vector, integers) in integers.chunks(1_024).enumerate() {
        let (min, max) = view.integers.zone(vector);
        assert!(integers.iter().all(|integer| (min..=max).contains(integer)), "vector {vector}");
    }
    for (index, (row, number)) in numbers(values).enumerate() {
        let integer = integers[if view.is_compact { index } else { row }];
        let decimal = Decimal::new(view.base + i128::from(integer), view.scale);
        assert_eq!(decimal.map(Number::from), Some(number), "row {row}");
    }
}

fn assert_near(column: &ColumnView<'_>, values: &[Value]) {
    let view = column.numbers().expect("parses").filter(|view| view.base == 0);
    let Some(view) = view else { return };
    let Some(reference) = view.integers.frame_of_reference() else { return };
    let steps = view.steps(&reference, None).expect("decodes");
    for (row, number) in numbers(values) {
        let mantissa = reference.from + reference.step * i64::from(steps[row]);
        let decimal = Decimal::new(mantissa.into(), view.scale);
        assert_eq!(decimal.map(Number::from), Some(number), "row {row}");
    }
}

fn assert_strings(column: &ColumnView<'_>, values: &[Value]) {
    let strings = column.strings().expect("parses").expect("a column of strings");
    let rows: Vec<usize> = match column.is_compact() {
        true => (0..values.len()).filter(|&row| !values[row].is_null()).collect(),
        false => (0..values.len()).collect(),
    };
    assert_eq!(strings.len(), rows.len());
    let mut count = 0;
    let mut visit = |first: usize, texts: &hadal_encoding::StringDictionary<'_>| {
        assert_eq!(first, count);
        for (index, text) in (first..).zip(texts.iter()) {
            let value = &values[rows[index]];
            assert!(value.is_null() || *value == Value::string(text), "row {}", rows[index]);
        }
        count += texts.len();
    };
    match &strings {
        StringsView::Pages(pages) => pages.for_each_text(|_| true, &mut visit).expect("decodes"),
        StringsView::Templates(texts) => {
            texts.for_each_text(|_| true, &mut visit).expect("decodes")
        }
        StringsView::Dictionary { entries, .. } => {
            assert!(entries.iter().zip(entries.iter().skip(1)).all(|(one, next)| one < next));
            return;
        }
    }
    assert_eq!(count, rows.len());
}
