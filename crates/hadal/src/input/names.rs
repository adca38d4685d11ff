//! Names of columns, made distinct.

use std::collections::BTreeSet;

/// The columns' names: empty ones become `column_1` and so on by their place, repeated ones get a
/// number, `a_2`; spaces around them are dropped.
pub(super) fn distinct<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let name = |(column, name): (usize, &str)| {
        let name = name.trim();
        let base = if name.is_empty() { format!("column_{}", column + 1) } else { name.to_owned() };
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let free = std::iter::once(base.clone()).chain(numbered).find(|name| !taken.contains(name));
        let name = free.unwrap_or(base);
        taken.insert(name.clone());
        name
    };
    names.enumerate().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::distinct;

    #[test]
    fn no_name_is_empty_or_twice() {
        let names = ["a", "", " a ", "a_2", "a", "column_2"];
        let expected = ["a", "column_2", "a_2", "a_2_2", "a_3", "column_2_2"];
        assert_eq!(distinct(names.into_iter()), expected);
    }
}
