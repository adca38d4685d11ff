//! Every way in which a column of arbitrary bytes can be read. Errors are fine; values that are
//! read in two ways must be equal.

use hadal_block::{
    BlockView, ColumnData, ColumnView, MergeOrder, NumbersView, Sampling, StringsView, merge,
    sample,
};
use hadal_types::{Kind, Micros, Value};

/// The maximum number of values of a column that are read one by one; of larger columns some are
/// skipped.
const VALUES_MAX: usize = 2_048;
/// Blocks with more rows are not merged, because that takes long.
const MERGED_ROWS_MAX: usize = 4_096;

/// Reads everything in a block.
pub fn read_all(block: &BlockView<'_>) {
    let is_whole = block.verify().is_ok();
    let mut end = 0;
    for batch in block.batches() {
        assert!(end <= batch.first_row && batch.rows > 0, "{batch:?} begins before row {end}");
        end = batch.first_row + batch.rows;
    }
    assert!(end <= block.rows(), "batches of {end} rows in {}", block.rows());
    for column in block.columns() {
        read_column(column);
        let same = block.column(column.name().as_str(), column.kind());
        assert!(same.is_some_and(|same| std::ptr::eq(same, column)));
    }
    if is_whole && block.rows() <= MERGED_ROWS_MAX {
        for order in [MergeOrder::Arrival, MergeOrder::Time] {
            merge_again(block, order);
        }
        sample_once(block);
    }
}

/// The sampled block is valid, and never has more rows.
fn sample_once(block: &BlockView<'_>) {
    let first = block.columns().first().map(ColumnView::name).cloned();
    let by: Vec<_> = first.into_iter().collect();
    for key in [None, by.first()] {
        let sampling = Sampling { one_in: 100, key, by: &by, least: 2 };
        let Ok(sampled) = sample(block, &sampling) else { return };
        let rows = sampled.iter().map(|bytes| {
            let sampled = BlockView::parse(bytes).expect("a sampled block parses");
            sampled.verify().expect("a sampled block has right checksums");
            sampled.rows()
        });
        // Possibly no key is kept, but some rows of each group are.
        let least = usize::from(key.is_none());
        assert!((least..=block.rows()).contains(&rows.sum::<usize>()));
    }
}

/// The merged block is valid, whatever the decoders returned for the original.
fn merge_again(block: &BlockView<'_>, order: MergeOrder) {
    let Ok(merged) = merge(&[block.clone(), block.clone()], order, Micros(0)) else { return };
    let rows = merged.iter().map(|bytes| {
        let merged = BlockView::parse(bytes).expect("a merged block parses");
        merged.verify().expect("a merged block has right checksums");
        merged.rows()
    });
    assert_eq!(rows.sum::<usize>(), 2 * block.rows());
}

fn read_column(column: &ColumnView<'_>) {
    let _ = (column.encoding_name(), column.zone(), column.verify());
    if let Ok(Some(validity)) = column.validity() {
        assert_eq!(validity.len(), column.rows());
        assert_eq!(validity.iter_ones().count(), column.rows() - column.null_count());
    }
    let data = column.decode().ok();
    if let Some(data) = &data {
        read_values(column, data);
    }
    if let Ok(Some(numbers)) = column.numbers() {
        read_numbers(column, &numbers, data.as_ref());
    }
    if let Ok(Some(strings)) = column.strings() {
        read_strings(column, &strings, data.as_ref());
    }
}

fn rows(column: &ColumnView<'_>) -> impl Iterator<Item = usize> {
    let rows = column.rows();
    (0..rows).step_by(rows / VALUES_MAX + 1)
}

/// Reads the values one by one, and those of a selection of rows.
fn read_values(column: &ColumnView<'_>, data: &ColumnData<'_>) {
    let selected = column.rows() / 3..column.rows() / 3 * 2 + 1;
    let is_selected =
        |rows: std::ops::Range<usize>| rows.start < selected.end && selected.start < rows.end;
    let some = column.decode_where(&is_selected).expect("some rows decode where all do");
    for row in rows(column) {
        let value = data.value(row);
        assert_eq!(value.is_null(), !data.has_value(row), "row {row}");
        if selected.contains(&row) {
            assert_eq!(some.value(row), value, "row {row}, where not all are wanted");
        }
    }
    assert_eq!(data.value(column.rows()), Value::Null, "beyond the last row");
}

fn read_numbers(column: &ColumnView<'_>, numbers: &NumbersView<'_>, data: Option<&ColumnData<'_>>) {
    assert_eq!(column.kind(), Kind::Number);
    let integers = &numbers.integers;
    let mut all = Vec::new();
    integers.decode_into(&mut all);
    assert_eq!(all.len(), integers.len());
    let mut vector_values = [0i64; 1_024];
    for (vector, values) in all.chunks(1_024).enumerate() {
        let length = integers.decode_vector(vector, &mut vector_values);
        assert_eq!(&vector_values[..length], values, "vector {vector}");
        let _ = integers.zone(vector);
    }
    let _ = (integers.fold(), integers.constant(), integers.runs().map(|runs| runs.ends.len()));
    let _ = integers.decode_codes_into(column.rows(), &mut Vec::new());
    if let Some((entries, codes)) = integers.dictionary() {
        entries.decode_into(&mut Vec::new());
        let _ = codes.decode_codes_into(entries.len(), &mut Vec::new());
    }
    assert!(all.iter().all(|&value| numbers.base.checked_add(value.into()).is_some()));
    assert!(data.is_some(), "numbers parse but do not decode");
    let reference = integers.frame_of_reference().filter(|_| numbers.base == 0);
    if let Some(reference) = reference
        && let Ok(steps) = numbers.steps(&reference, None)
    {
        assert_eq!(steps.len(), column.rows());
        let valid = |row: &usize| numbers.validity.as_ref().is_none_or(|valid| valid.get(*row));
        let most = (0..column.rows()).filter(valid).map(|row| steps[row]).max();
        assert!(most.is_none_or(|most| most <= reference.span));
    }
}

fn read_strings(column: &ColumnView<'_>, strings: &StringsView<'_>, data: Option<&ColumnData<'_>>) {
    let present: Vec<usize> = match data.and_then(|data| data.validity.as_ref()) {
        Some(validity) if column.is_compact() => validity.iter_ones().collect(),
        _ => (0..column.rows()).collect(),
    };
    // If the validity does not decode, nothing follows for the strings.
    let is_as_decoded = |read: bool| column.validity().is_err() || read == data.is_some();
    let same = |index: usize, text: &str| {
        let Some((data, &row)) = data.zip(present.get(index)) else { return };
        if data.has_value(row) {
            assert!(data.value(row) == Value::string(text), "row {row} is {text:?} as well");
        }
    };
    let most = |first: usize| first.is_multiple_of(column.rows() / VALUES_MAX + 1);
    let visit = |first: usize, texts: &hadal_encoding::StringDictionary<'_>| {
        for (index, text) in (first..).zip(texts.iter()).filter(|(index, _)| most(*index)) {
            same(index, text);
        }
    };
    match strings {
        StringsView::Dictionary { codes, entries } => {
            let mut decoded = Vec::new();
            let read = codes.decode_codes_into(entries.len(), &mut decoded);
            assert!(is_as_decoded(read.is_ok()));
            if read.is_ok() {
                let texts = decoded.iter().map(|&code| entries.get(code).expect("an entry"));
                texts.enumerate().filter(|(index, _)| most(*index)).for_each(|(i, t)| same(i, t));
            }
        }
        StringsView::Pages(pages) => {
            let read = pages.for_each_text(|_| true, visit);
            assert!(is_as_decoded(read.is_ok()));
        }
        StringsView::Templates(templates) => {
            let read = templates.for_each_text(|_| true, visit);
            assert!(is_as_decoded(read.is_ok()));
            let _ = templates.is_kept("face 12");
            let every_third = templates.decode_strings((0..templates.len()).step_by(3));
            if let Ok(texts) = every_third {
                texts.iter().enumerate().for_each(|(index, text)| same(index * 3, text));
            }
        }
    }
}
