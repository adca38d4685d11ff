//! The smallest and the largest value.

use hadal_types::Value;

/// The smallest and the largest value, in the order of [`Value`]; nulls are skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MinMax {
    range: Option<(Value, Value)>,
}

impl MinMax {
    /// The state of this range, or `None` if its ends are in the wrong order or null.
    #[must_use]
    pub fn from_parts(range: Option<(Value, Value)>) -> Option<Self> {
        let fits = range.as_ref().is_none_or(|(min, max)| min <= max && !max.is_null());
        fits.then_some(Self { range })
    }

    /// Adds one value; clones it only if it widens the range.
    pub fn add(&mut self, value: &Value) {
        if value.is_null() {
            return;
        }
        match &mut self.range {
            None => self.range = Some((value.clone(), value.clone())),
            Some((min, _)) if value < min => *min = value.clone(),
            Some((_, max)) if value > max => *max = value.clone(),
            Some(_) => {}
        }
    }

    /// Adds the values of `other`.
    pub fn merge(&mut self, other: &Self) {
        if let Some((min, max)) = &other.range {
            self.add(min);
            self.add(max);
        }
    }

    /// The smallest value; `None` without values.
    #[must_use]
    pub fn min(&self) -> Option<&Value> {
        self.range.as_ref().map(|(min, _)| min)
    }

    /// The largest value; `None` without values.
    #[must_use]
    pub fn max(&self) -> Option<&Value> {
        self.range.as_ref().map(|(_, max)| max)
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.range.as_ref().map_or(0, |(min, max)| min.heap_bytes() + max.heap_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_are_left_out() {
        let mut extremes = MinMax::default();
        extremes.add(&Value::Null);
        assert_eq!(extremes.min(), None);
        for text in ["b", "a", "c"] {
            extremes.add(&Value::string(text));
        }
        extremes.merge(&MinMax::default());
        assert_eq!(extremes.min(), Some(&Value::string("a")));
        assert_eq!(extremes.max(), Some(&Value::string("c")));
    }

    #[test]
    fn ranges_from_outside_are_checked() {
        let range = |min, max| MinMax::from_parts(Some((min, max)));
        assert!(range(Value::integer(1), Value::integer(2)).is_some());
        assert!(range(Value::integer(2), Value::integer(1)).is_none());
        assert!(range(Value::Null, Value::Null).is_none());
        assert_eq!(MinMax::from_parts(None), Some(MinMax::default()));
    }
}
