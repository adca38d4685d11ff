//! Values of one machine type, with nulls.

/// A value for each row, and whether the row has one.
#[derive(Clone, Debug, Default)]
pub struct TypedValues<T> {
    /// One value per row; arbitrary where the row has none.
    values: Vec<T>,
    /// Whether each row has a value; `None`: all have.
    valid: Option<Vec<bool>>,
}

impl<T: Copy + Default> TypedValues<T> {
    /// These values. Only the rows of `valid` have one, if it is given.
    #[must_use]
    pub fn new(values: Vec<T>, valid: Option<Vec<bool>>) -> Self {
        let mut valid = valid.filter(|valid| valid.contains(&false) || valid.len() < values.len());
        if let Some(valid) = &mut valid {
            valid.resize(values.len(), false);
        }
        Self { values, valid }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values by row; arbitrary where the row has none.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Whether each row has a value; `None`: all have.
    #[must_use]
    pub fn valid(&self) -> Option<&[bool]> {
        self.valid.as_deref()
    }

    /// The row's value; `None` for null and for rows that do not exist.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize) -> Option<T> {
        match &self.valid {
            Some(valid) if !valid.get(row).copied().unwrap_or(false) => None,
            _ => self.values.get(row).copied(),
        }
    }

    pub(super) fn append(&mut self, other: &Self) {
        let rows = self.len();
        if self.valid.is_some() || other.valid.is_some() {
            let valid = self.valid.get_or_insert_with(|| vec![true; rows]);
            match &other.valid {
                Some(more) => valid.extend_from_slice(more),
                None => valid.resize(rows + other.len(), true),
            }
        }
        self.values.extend_from_slice(&other.values);
    }

    pub(super) fn gather(&self, rows: &[u32]) -> Self {
        let value = |row: &u32| self.values.get(*row as usize).copied().unwrap_or_default();
        let valid = self.valid.as_ref().map(|valid| {
            rows.iter().map(|row| valid.get(*row as usize).copied().unwrap_or(false)).collect()
        });
        Self::new(rows.iter().map(value).collect(), valid)
    }

    pub(super) fn truncate(&mut self, rows: usize) {
        self.values.truncate(rows);
        if let Some(valid) = &mut self.valid {
            valid.truncate(rows);
        }
    }

    /// Adds nulls up to `rows` rows.
    pub(super) fn pad(&mut self, rows: usize) {
        let before = self.len();
        if rows > before {
            self.valid.get_or_insert_with(|| vec![true; before]).resize(rows, false);
            self.values.resize(rows, T::default());
        }
    }

    /// Adds `rows` nulls before all rows.
    pub(super) fn pad_before(&mut self, rows: usize) {
        let mut padded = Self::new(vec![T::default(); rows], Some(vec![false; rows]));
        padded.append(self);
        *self = padded;
    }

    /// The number of rows that have a value.
    pub(super) fn count(&self) -> usize {
        let valid = self.valid.as_ref();
        valid.map_or(self.len(), |valid| valid.iter().filter(|is_valid| **is_valid).count())
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.values.as_slice()) + self.valid.as_ref().map_or(0, Vec::len)
    }
}
