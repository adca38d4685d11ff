//! Lists of known exceptions, each with a figure that may fall and never rise.
//!
//! A line is `field | ... | figure`; `#` begins a comment. With `TIDY_LOWER=1` in the environment,
//! the tests lower the figures in their lists to today's counts.

use crate::source::root;

/// One line of a list.
pub(crate) struct Entry<'a> {
    pub(crate) fields: Vec<&'a str>,
    max: usize,
}

/// The entries of a list whose lines have `fields` fields before the figure.
pub(crate) fn entries<'a>(
    path: &str,
    list: &'a str,
    fields: usize,
) -> Result<Vec<Entry<'a>>, String> {
    let lines = list.lines().filter(|line| is_entry(line));
    lines
        .map(|line| {
            let mut parts: Vec<&str> = line.split(" | ").map(str::trim).collect();
            let max = parts.pop().and_then(|figure| figure.parse().ok());
            match max {
                Some(max) if parts.len() == fields => Ok(Entry { fields: parts, max }),
                _ => Err(format!("{path}: `{line}` has not {fields} fields and a figure")),
            }
        })
        .collect()
}

fn is_entry(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

impl Entry<'_> {
    /// The hits of this entry, if they are more than the figure allows.
    pub(crate) fn excess(&self, hits: &[String]) -> Vec<String> {
        if hits.len() <= self.max {
            return Vec::new();
        }
        let what = self.fields.join(" | ");
        let head = format!("{what}: {} instead of at most {}", hits.len(), self.max);
        std::iter::once(head).chain(hits.iter().map(|hit| format!("    {hit}"))).collect()
    }
}

/// Writes lower figures into a list, if the environment asks for it.
pub(crate) fn lower(path: &str, list: &str, counts: &[usize]) {
    if std::env::var_os("TIDY_LOWER").is_some() {
        std::fs::write(root().join(path), lowered(list, counts)).unwrap();
    }
}

/// The list with each figure at most as high as its count.
fn lowered(list: &str, counts: &[usize]) -> String {
    let mut counts = counts.iter();
    let mut text = String::new();
    for line in list.lines() {
        let entry = line.rsplit_once(" | ").filter(|_| is_entry(line));
        let fallen = entry.and_then(|(fields, figure)| {
            let max: usize = figure.trim().parse().ok()?;
            Some(format!("{fields} | {}", max.min(*counts.next()?)))
        });
        text.push_str(fallen.as_deref().unwrap_or(line));
        text.push('\n');
    }
    text
}

#[test]
fn more_than_the_figure_is_found() {
    let list = "# kind | figure\n\na | x | 1\nb | y | 0\n";
    let read = entries("list", list, 2).unwrap();
    let hits = |count: usize| vec!["a.rs:1".to_owned(); count];
    assert_eq!(read[0].excess(&hits(1)).len(), 0);
    assert_eq!(read[0].excess(&hits(2))[0], "a | x: 2 instead of at most 1");
    assert_eq!(read[1].excess(&hits(1)).len(), 2);
    assert!(entries("list", "a | x\n", 2).is_err());
    assert!(entries("list", "a | x | many\n", 2).is_err());
}

#[test]
fn a_figure_falls_and_never_rises() {
    let list = "# kind | figure\na | x | 5\nb | y | 3\n";
    assert_eq!(lowered(list, &[2, 4]), "# kind | figure\na | x | 2\nb | y | 3\n");
}
