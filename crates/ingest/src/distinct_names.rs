//! Names of columns, made distinct.

use std::collections::HashMap;

/// The columns' names: empty ones become `column_1` and so on by their place, repeated ones get a
/// number, `a_2`; spaces around them are dropped.
#[must_use]
pub fn distinct_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    // The number that the next repetition of a name tries first, or a head of one name very often
    // would take time by the square of that.
    let mut taken: HashMap<String, usize> = HashMap::new();
    let name = |(column, name): (usize, &str)| {
        let name = name.trim();
        let base = if name.is_empty() { format!("column_{}", column + 1) } else { name.to_owned() };
        let mut free = base.clone();
        let mut number = taken.get(&base).copied().unwrap_or(1);
        while taken.contains_key(&free) {
            number += 1;
            free = format!("{base}_{number}");
        }
        taken.insert(base, number);
        taken.entry(free.clone()).or_insert(1);
        free
    };
    names.into_iter().enumerate().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::distinct_names;

    #[test]
    fn no_name_is_empty_or_twice() {
        let names = ["a", "", " a ", "a_2", "a", "column_2"];
        let expected = ["a", "column_2", "a_2", "a_2_2", "a_3", "column_2_2"];
        assert_eq!(distinct_names(names), expected);
    }

    #[test]
    fn one_name_very_often_is_no_trouble() {
        let names = distinct_names(std::iter::repeat_n("a", 200_000));
        assert_eq!(names.last().map(String::as_str), Some("a_200000"));
    }
}
