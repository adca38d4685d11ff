//! Functions over sets and vectors of strings (Scuba, VLDB 2013, section 3.4).

use std::sync::Arc;

use crate::function::Function;

/// Whether `list` relates to `wanted` as `function` says; `None` if `function` is not a list
/// predicate.
pub(crate) fn includes(function: Function, list: &[Arc<str>], wanted: &[&str]) -> Option<bool> {
    let has = |word: &&str| list.iter().any(|element| &**element == *word);
    let same = |run: &[Arc<str>]| run.iter().map(|element| &**element).eq(wanted.iter().copied());
    Some(match function {
        Function::IncludesAny => wanted.iter().any(has),
        Function::IncludesAll => wanted.iter().all(has),
        Function::IncludesNone => !wanted.iter().any(has),
        Function::IncludesStart => list.get(..wanted.len()).is_some_and(same),
        Function::IncludesEnd => {
            list.len().checked_sub(wanted.len()).is_some_and(|from| same(&list[from..]))
        }
        // `windows` panics for size zero; the empty run is in every list.
        Function::IncludesWithin => wanted.is_empty() || list.windows(wanted.len()).any(same),
        _ => return None,
    })
}
