//! Makes column names distinct.

use std::collections::HashMap;

/// Returns distinct column names, without surrounding spaces. Empty names become `column_1` and so
/// on by position; repeated names get a number, such as `a_2`.
#[must_use]
pub fn distinct_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    // The last number used for each name, from which the next repetition continues. Without it, a
    // header that repeats one name would take quadratic time.
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
