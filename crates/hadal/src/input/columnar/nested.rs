//! Nested Arrow arrays to JSON: lists, objects, maps, unions, and arrays that refer to values of
//! others.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::cell_writer::{CellWriter, MakeCellWriter, Setting, Write, always};
use super::losses::{Loss, Losses};
use super::numbers::push_json;

/// The range of the elements of a row's list.
type Elements = Box<dyn Fn(usize) -> Range<usize> + Send>;

/// Writes lists as arrays.
pub(super) fn lists(array: &ArrayRef, setting: Setting, make: MakeCellWriter) -> Write {
    let (values, elements) = elements(array);
    let is_nested = is_nested(values.data_type()) && !setting.is_element;
    let writer = make(&values, Setting { is_time: false, is_element: true, ..setting });
    always(move |row, out, losses| {
        if is_nested {
            losses.add(Loss::Nested);
        }
        out.push(b'[');
        let start = out.len();
        for element in elements(row) {
            separate(start, out);
            if !writer.write(element, out, losses) {
                out.extend_from_slice(b"null");
                // A list within a list is stored as JSON text, which can have nulls.
                if !is_nested && !setting.is_element {
                    losses.add(Loss::NullElement);
                }
            }
        }
        out.push(b']');
    })
}

fn elements(array: &ArrayRef) -> (ArrayRef, Elements) {
    macro_rules! by_offsets {
        ($list:expr) => {{
            let offsets = $list.offsets().clone();
            let place = move |row: usize| to_usize(offsets[row])..to_usize(offsets[row + 1]);
            ($list.values().clone(), Box::new(place))
        }};
    }
    macro_rules! by_views {
        ($list:expr) => {{
            let (offsets, sizes) = ($list.offsets().clone(), $list.sizes().clone());
            let place = move |row: usize| {
                let start = to_usize(offsets[row]);
                start..start + to_usize(sizes[row])
            };
            ($list.values().clone(), Box::new(place))
        }};
    }
    match array.data_type() {
        DataType::LargeList(_) => by_offsets!(array.as_list::<i64>()),
        DataType::ListView(_) => by_views!(array.as_list_view::<i32>()),
        DataType::LargeListView(_) => by_views!(array.as_list_view::<i64>()),
        DataType::FixedSizeList(..) => {
            let list = array.as_fixed_size_list();
            let size = to_usize(list.value_length());
            (list.values().clone(), Box::new(move |row| row * size..(row + 1) * size))
        }
        _ => by_offsets!(array.as_list::<i32>()),
    }
}

/// Offsets were checked when the array was read: none is negative.
fn to_usize(offset: impl TryInto<usize>) -> usize {
    offset.try_into().unwrap_or_default()
}

/// Whether values of a type are arrays or objects in JSON.
fn is_nested(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_nested(values),
        DataType::RunEndEncoded(_, values) => is_nested(values.data_type()),
        other => other.is_nested() && !matches!(other, DataType::Union(..)),
    }
}

/// Writes structs as objects. Fields without a value are left out.
pub(super) fn objects(array: &ArrayRef, setting: Setting, make: MakeCellWriter) -> Write {
    let array = array.as_struct();
    let field = |(name, values): (&str, &ArrayRef)| {
        let mut key = Vec::new();
        push_json(name, &mut key);
        (key, make(values, setting))
    };
    let fields: Vec<(Vec<u8>, CellWriter)> =
        array.column_names().into_iter().zip(array.columns()).map(field).collect();
    always(move |row, out, losses| {
        out.push(b'{');
        let start = out.len();
        for (key, writer) in &fields {
            push_field(start, key, writer, row, out, losses);
        }
        out.push(b'}');
    })
}

/// Writes maps as objects. Keys of other types are converted to strings.
pub(super) fn maps(array: &ArrayRef, setting: Setting, make: MakeCellWriter) -> Write {
    let map = array.as_map();
    let keys = make(map.keys(), Setting { is_element: true, ..Setting::default() });
    let values = make(map.values(), setting);
    let offsets = map.offsets().clone();
    always(move |row, out, losses| {
        out.push(b'{');
        let (start, mut key) = (out.len(), Vec::new());
        for entry in to_usize(offsets[row])..to_usize(offsets[row + 1]) {
            key.clear();
            keys.write(entry, &mut key, losses);
            if !key.starts_with(b"\"") {
                let text = String::from_utf8_lossy(&key).into_owned();
                key.clear();
                push_json(&text, &mut key);
            }
            push_field(start, &key, &values, entry, out, losses);
        }
        out.push(b'}');
    })
}

fn push_field(
    start: usize,
    key: &[u8],
    writer: &CellWriter,
    row: usize,
    out: &mut Vec<u8>,
    losses: &mut Losses,
) {
    let before = out.len();
    separate(start, out);
    out.extend_from_slice(key);
    out.push(b':');
    if !writer.write(row, out, losses) {
        out.truncate(before);
    }
}

fn separate(start: usize, out: &mut Vec<u8>) {
    if out.len() > start {
        out.push(b',');
    }
}

/// Writes unions as the value of each row.
pub(super) fn unions(array: &ArrayRef, setting: Setting, make: MakeCellWriter) -> Write {
    let array = array.as_union().clone();
    let member = |(id, _)| (id, make(array.child(id), setting));
    let members: Vec<(i8, CellWriter)> = array.fields().iter().map(member).collect();
    Box::new(move |row, out, losses| {
        let id = array.type_id(row);
        let member = members.iter().find(|(member_id, _)| *member_id == id);
        member.is_some_and(|(_, writer)| writer.write(array.value_offset(row), out, losses))
    })
}

/// Writes dictionaries as the values of their keys.
pub(super) fn dictionary(array: &ArrayRef, setting: Setting, make: MakeCellWriter) -> Write {
    let array = array.as_any_dictionary();
    let writer = make(array.values(), setting);
    if array.values().is_empty() {
        // All keys are null.
        return Box::new(|_, _, _| false);
    }
    let keys = array.normalized_keys();
    Box::new(move |row, out, losses| writer.write(keys[row], out, losses))
}

/// Writes runs as the repeated value.
pub(super) fn runs(array: &ArrayRef, setting: Setting, make: MakeCellWriter) -> Write {
    fn of<R: RunEndIndexType>(array: &ArrayRef, setting: Setting, make: MakeCellWriter) -> Write {
        let array = array.as_run::<R>().clone();
        let writer = make(array.values(), setting);
        Box::new(move |row, out, losses| writer.write(array.get_physical_index(row), out, losses))
    }
    match array.data_type() {
        DataType::RunEndEncoded(ends, _) if *ends.data_type() == DataType::Int16 => {
            of::<Int16Type>(array, setting, make)
        }
        DataType::RunEndEncoded(ends, _) if *ends.data_type() == DataType::Int64 => {
            of::<Int64Type>(array, setting, make)
        }
        _ => of::<Int32Type>(array, setting, make),
    }
}
