//! Functions over sets and vectors of strings (Scuba, VLDB 2013, section 3.4).

use std::sync::Arc;

use crate::function::Function;

/// Whether `list` relates to `words` as `function` says; `None` if `function` is not a list
/// predicate.
pub(crate) fn includes(function: Function, list: &[Arc<str>], words: &[&str]) -> Option<bool> {
    let has = |word: &&str| list.iter().any(|element| &**element == *word);
    let same = |run: &[Arc<str>]| run.iter().map(|element| &**element).eq(words.iter().copied());
    Some(match function {
        Function::IncludesAny => words.iter().any(has),
        Function::IncludesAll => words.iter().all(has),
        Function::IncludesNone => !words.iter().any(has),
        Function::IncludesStart => list.get(..words.len()).is_some_and(same),
        Function::IncludesEnd => {
            list.len().checked_sub(words.len()).is_some_and(|from| same(&list[from..]))
        }
        // `windows` panics for size zero; the empty run is in every list.
        Function::IncludesWithin => words.is_empty() || list.windows(words.len()).any(same),
        _ => return None,
    })
}
