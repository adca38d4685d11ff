//! A column's lists. Each list is made on first use, since a query for a few raw rows needs few
//! lists.

use std::cell::OnceCell;
use std::sync::Arc;

use hadal_encoding::ListDictionary;
use hadal_types::{Kind, Value};

/// The lists of a column by code; one more code is null if `has_null`.
pub(crate) struct Lists<'a> {
    dictionary: ListDictionary<'a>,
    kind: Kind,
    has_null: bool,
    values: Vec<OnceCell<Value>>,
    elements: Vec<OnceCell<Arc<str>>>,
}

impl<'a> Lists<'a> {
    /// The lists of a column of sets or vectors.
    pub(crate) fn new(dictionary: ListDictionary<'a>, kind: Kind, has_null: bool) -> Self {
        let values = vec![OnceCell::new(); dictionary.len()];
        let elements = vec![OnceCell::new(); dictionary.elements.len()];
        Self { dictionary, kind, has_null, values, elements }
    }

    /// The approximate size in bytes once all lists are made.
    pub(crate) fn bytes(&self) -> usize {
        self.dictionary.elements.bytes()
            + self.dictionary.elements.text().len()
            + size_of_val(&self.values[..])
            + size_of_val(&self.elements[..])
    }

    /// The number of codes, that of null included.
    pub(crate) fn len(&self) -> usize {
        self.values.len() + usize::from(self.has_null)
    }

    /// Whether a code is a list, not null.
    pub(crate) fn has(&self, code: usize) -> bool {
        code < self.values.len()
    }

    /// The list of a code; `None` for null.
    pub(crate) fn get(&self, code: usize) -> Option<&Value> {
        let cell = self.values.get(code)?;
        let codes = u32::try_from(code).ok().and_then(|code| self.dictionary.get(code))?;
        Some(cell.get_or_init(|| {
            let elements = codes.iter().map(|&element| self.element(element)).collect();
            if self.kind == Kind::Set { Value::Set(elements) } else { Value::Vector(elements) }
        }))
    }

    fn element(&self, code: u32) -> Arc<str> {
        let text = || self.dictionary.elements.get(code).unwrap_or_default().into();
        self.elements.get(code as usize).map_or_else(text, |cell| cell.get_or_init(text).clone())
    }
}
