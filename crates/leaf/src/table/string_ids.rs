//! Ids for the strings of a table's columns in this leaf (see [`SharedInterner`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use hadal_block::ColumnView;
use hadal_scan::{InternedIds, SharedInterner};
use hadal_types::ColumnName;
use parking_lot::Mutex;

/// An interner for each column that a query grouped by.
#[derive(Debug, Default)]
pub(crate) struct StringIds {
    by_column: Mutex<BTreeMap<ColumnName, Arc<SharedInterner>>>,
}

impl StringIds {
    /// Returns the ids of a block's column; `None` if ids are not worth their cost. A full interner
    /// is replaced by a new one, and the old one lives as long as the blocks that use it. So a
    /// column whose strings change gradually has ids at all times.
    pub(crate) fn interned(&self, column: &ColumnView<'_>) -> Option<InternedIds> {
        let interner = Arc::clone(self.by_column.lock().entry(column.name().clone()).or_default());
        if let Some(ids) = interner.ids_of(column) {
            return Some(InternedIds { ids, interner });
        }
        if !interner.is_full() {
            return None;
        }
        let interner = Arc::<SharedInterner>::default();
        let ids = interner.ids_of(column)?;
        self.by_column.lock().insert(column.name().clone(), Arc::clone(&interner));
        Some(InternedIds { ids, interner })
    }
}

#[cfg(test)]
mod tests {
    use hadal_block::{BlockBuilder, BlockView};
    use hadal_types::limits::{INTERNED_BYTES_MAX, STRING_BYTES_MAX};
    use hadal_types::{Kind, Micros};

    use super::*;

    /// A block of 100 different strings of `bytes` bytes, eight times each.
    fn block(bytes: usize, first: usize) -> Vec<u8> {
        let name = |text: &str| ColumnName::new(text).expect("a name");
        let mut builder = BlockBuilder::new(name("time"));
        for row in 0..800 {
            let id = builder.column(&name("host"), Kind::String);
            let number = (first + row % 100).to_string();
            let text = "0".repeat(bytes - number.len()) + &number;
            builder.push_string(id, &text).expect("taken");
            builder.end_row(Micros(0));
        }
        builder.finish(Micros(0), None).expect("fits")
    }

    fn interned(string_ids: &StringIds, block: &[u8]) -> InternedIds {
        let view = BlockView::parse(block).expect("parses");
        let column = view.columns().iter().find(|column| column.name().as_str() == "host");
        string_ids.interned(column.expect("there")).expect("worth it")
    }

    #[test]
    fn a_full_interner_makes_room_for_another() {
        let string_ids = StringIds::default();
        let first = interned(&string_ids, &block(10, 0));
        let again = interned(&string_ids, &block(10, 50));
        assert!(Arc::ptr_eq(&first.interner, &again.interner));
        assert_eq!(first.ids[50..], again.ids[..50]);
        let blocks = INTERNED_BYTES_MAX / (100 * STRING_BYTES_MAX / 8) + 1;
        let large = |number: usize| {
            interned(&string_ids, &block(STRING_BYTES_MAX / 8, 1_000 * (number + 1))).interner
        };
        let last = (0..=blocks).map(large).last().expect("some");
        assert!(!Arc::ptr_eq(&first.interner, &last));
        assert!(first.interner.bytes() <= INTERNED_BYTES_MAX);
        assert!(Arc::ptr_eq(&interned(&string_ids, &block(10, 0)).interner, &last));
    }
}
