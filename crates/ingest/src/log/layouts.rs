//! The table of layouts in the order of evidence: the first that fits a line is taken.

mod access;
mod loggers;
mod servers;

use super::layout::Layout;

/// Lines with a time at the beginning, and maybe a level before or after it.
static TIMED: [Layout; 1] = [Layout {
    name: "lines with a time",
    pattern: concat!(
        r"^(?:[\[(<]?(?<level><level-word>)[\])>]?[:,]? *[ \[(|]|[DIWEF], *\[)?[\[(<]*",
        r"(?<time><any-time>)(?:[\])>:,;|]|$|(?<gap>[ \t]))(?<rest>.*)$",
    ),
    ..Layout::STRONG
}];

/// All layouts with a pattern, in the order of evidence.
pub(super) fn all() -> impl Iterator<Item = &'static Layout> {
    let strong = access::LAYOUTS.iter().chain(&servers::LAYOUTS).chain(&loggers::LAYOUTS);
    let weak = access::WEAK.iter().chain(&loggers::WEAK).chain(&servers::WEAK);
    strong.chain(&TIMED).chain(weak)
}
