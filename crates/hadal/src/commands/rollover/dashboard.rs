//! The dashboard of a rollover, as figure 8 of Fast Database Restarts at Facebook: old, rolling and
//! new leaves over time, and the coverage beneath.

use super::report::{Moment, Rollover, millis_between};
use crate::commands::cluster::report::percent;
use crate::output;
use crate::terminal_escape::fit;

/// Lines of the picture of leaves.
const LINES: u64 = 10;
/// Columns of the picture at most, and of the words at its left.
const COLUMNS_MAX: usize = 100;
const LEFT: usize = 10;
const OLD: char = '░';
const ROLLING: char = '▓';
const NEW: char = '█';
/// Eighths of a character.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The rollover as one line, for logs.
pub(super) fn progress_line(rollover: &Rollover) -> String {
    let rolling: Vec<&str> = rollover.rolling.iter().map(|leaf| leaf.name.as_str()).collect();
    let rolling = match rolling.as_slice() {
        [] => "0".to_owned(),
        names => format!("{} ({})", names.len(), names.join(", ")),
    };
    let (old, new) = (rollover.old, rollover.new);
    let coverage = percent(rollover.coverage);
    format!("{old} old, {rolling} rolling, {new} new, coverage {coverage}\n")
}

/// What is said at the end.
pub(super) fn summary(rollover: &Rollover) -> String {
    let lowest = percent(rollover.lowest_coverage());
    format!(
        "{} of {} restarted in {} s; coverage was at least {lowest}\n",
        rollover.new,
        output::count(rollover.leaves(), "leaf").replace("leafs", "leaves"),
        rollover.seconds(),
    )
}

/// The whole dashboard, in lines of at most `line_width` columns.
pub(super) fn dashboard(rollover: &Rollover, line_width: usize) -> String {
    let columns = line_width.saturating_sub(LEFT + 1).clamp(1, COLUMNS_MAX);
    let moments = over_time(&rollover.history, columns);
    let mut lines = vec![format!("rollover {}{}", rollover.phase_words(), remaining(rollover))];
    lines.push(String::new());
    lines.extend(leaf_lines(&moments, rollover.leaves()));
    lines.push(format!("{:LEFT$}└{}", "", "─".repeat(columns)));
    lines.push(coverage_line(&moments, rollover.lowest_coverage()));
    lines.push(String::new());
    let (old, rolling, new) = (rollover.old, rollover.rolling.len(), rollover.new);
    lines.push(format!("{OLD} {old} old   {ROLLING} {rolling} rolling   {NEW} {new} new"));
    let (now, least) = (percent(rollover.coverage), percent(rollover.lowest_coverage()));
    lines.push(format!("coverage {now}, at least {least}"));
    if !rollover.rolling.is_empty() {
        lines.push(format!("rolling: {}", rollover.rolling_words()));
    }
    let is_sentence = |line: &str| line.starts_with("rollover ");
    let cut = |line: &String| match is_sentence(line) {
        // A cut sentence would say something else.
        true => format!("{line}\n"),
        false => format!("{}\n", fit(line, line_width).trim_end()),
    };
    lines.iter().map(cut).collect()
}

/// How long the rest will take, at the same speed.
fn remaining(rollover: &Rollover) -> String {
    match rollover.new {
        0 => String::new(),
        _ if rollover.has_ended() => String::new(),
        new => {
            let rest = rollover.leaves().saturating_sub(new);
            let seconds = rollover.seconds().saturating_mul(rest) / new;
            format!(", about {seconds} s to go")
        }
    }
}

/// The moment of each column: the last one until then.
fn over_time(history: &[Moment], columns: usize) -> Vec<&Moment> {
    let (Some(first), Some(last)) = (history.first(), history.last()) else { return Vec::new() };
    let whole = millis_between(&first.at, &last.at).max(1);
    let mut moments = Vec::with_capacity(columns);
    for column in 1..=columns as u64 {
        let until = whole * column / columns as u64;
        let is_before = |moment: &&Moment| millis_between(&first.at, &moment.at) <= until;
        moments.push(history.iter().take_while(is_before).last().unwrap_or(first));
    }
    moments
}

/// The stacked leaves of each moment: new ones at the bottom, then rolling, then old.
fn leaf_lines(moments: &[&Moment], leaves: u64) -> Vec<String> {
    let stacks: Vec<[u64; 3]> = moments.iter().map(|moment| heights(moment)).collect();
    let line = |height: u64| {
        let sign = |[new, rolling, _]: &[u64; 3]| match height {
            height if height <= *new => NEW,
            height if height <= new + rolling => ROLLING,
            _ => OLD,
        };
        let label = match height {
            LINES => format!("{leaves} "),
            1 => "leaves ".to_owned(),
            _ => String::new(),
        };
        format!("{label:>LEFT$}│{}", stacks.iter().map(sign).collect::<String>())
    };
    (1..=LINES).rev().map(line).collect()
}

/// The lines of new, rolling and old leaves, [`LINES`] in sum: at least one for any leaf.
fn heights(moment: &Moment) -> [u64; 3] {
    let counts = [moment.new, moment.rolling, moment.old];
    let leaves = counts.iter().sum::<u64>().max(1);
    let mut heights = counts.map(|count| match count {
        0 => 0,
        count => ((count * LINES * 2 + leaves) / (2 * leaves)).max(1),
    });
    // What rounding adds or leaves over is that of the most leaves.
    let others = |heights: &[u64; 3], most: usize| heights.iter().sum::<u64>() - heights[most];
    let most = (0..3).max_by_key(|index| heights[*index]).unwrap_or(0);
    heights[most] = LINES.saturating_sub(others(&heights, most));
    heights
}

/// The coverage of each moment as a height between the lowest and 100 %.
fn coverage_line(moments: &[&Moment], lowest: f64) -> String {
    let span = (1.0 - lowest).max(f64::MIN_POSITIVE);
    let sign = |moment: &&Moment| {
        let share = ((moment.coverage - lowest) / span).clamp(0.0, 1.0);
        let levels = LEVELS.iter().zip(0_u32..);
        let reached = levels.take_while(|(_, step)| f64::from(*step) <= share * 7.0);
        reached.last().map_or(LEVELS[0], |(sign, _)| *sign)
    };
    format!("{:>LEFT$} {}", "coverage ", moments.iter().map(sign).collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::terminal_escape::width;

    /// A rollover of four leaves, 10 s each.
    fn rollover(phase: &str, new: u64, rolling: bool) -> Rollover {
        let at = |seconds: u64| format!("2026-11-27T12:00:{seconds:02}Z");
        let mut history = Vec::new();
        for done in 0..new {
            history.push(json!({ "at": at(done * 10), "old": 3 - done, "rolling": 1, "new": done,
                "coverage": 0.75 }));
            history.push(json!({ "at": at(done * 10 + 9), "old": 3 - done, "rolling": 0,
                "new": done + 1, "coverage": 1.0 }));
        }
        let list = if rolling {
            let leaf = json!({ "name": "m-2/leaf-0", "since": at(new * 10 - 3), "failed": false });
            history.push(json!({ "at": at(new * 10), "old": 3 - new, "rolling": 1, "new": new,
                "coverage": 0.75 }));
            vec![leaf]
        } else {
            Vec::new()
        };
        serde_json::from_value(json!({
            "phase": phase, "reason": null, "begun": at(0), "at": at(new * 10),
            "resume_from": at(0), "old": 4 - new - u64::from(rolling), "rolling": list, "new": new,
            "coverage": if rolling { 0.75 } else { 1.0 },
            "history": history,
        }))
        .expect("a rollover")
    }

    #[test]
    fn a_rollover_is_a_picture_that_fits_the_terminal() {
        let shown = dashboard(&rollover("running", 2, true), 51);
        assert_eq!(
            shown,
            "\
rollover running for 20 s, about 20 s to go

        4 │░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
          │░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
          │░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
          │░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░▓
          │░░░░░░░░░░░░░░░░░░░▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓░░▓
          │░░░░░░░░░░░░░░░░░░░▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓██▓
          │░░░░░░░░░░░░░░░░░░░▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓███
          │▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓███████████████████████
          │▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓███████████████████████
   leaves │▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓███████████████████████
          └────────────────────────────────────────
 coverage  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁██▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁██▁

░ 1 old   ▓ 1 rolling   █ 2 new
coverage 75.0 %, at least 75.0 %
rolling: m-2/leaf-0 for 3 s
"
        );
        assert!(shown.lines().all(|line| width(line) <= 51), "{shown}");
    }

    #[test]
    fn a_log_has_a_line_for_each_change() {
        let line = progress_line(&rollover("running", 2, true));
        assert_eq!(line, "1 old, 1 (m-2/leaf-0) rolling, 2 new, coverage 75.0 %\n");
        let done = rollover("done", 4, false);
        assert_eq!(progress_line(&done), "0 old, 0 rolling, 4 new, coverage 100 %\n");
        assert_eq!(
            summary(&done),
            "4 of 4 leaves restarted in 40 s; coverage was at least 75.0 %\n"
        );
    }

    #[test]
    fn a_rollover_without_moments_has_a_dashboard() {
        let mut rollover = rollover("stopped", 0, false);
        rollover.history.clear();
        let shown = dashboard(&rollover, 20);
        assert!(shown.starts_with("rollover stopped after 0 s: no reason is given\n"), "{shown}");
        assert!(rollover.failure().contains("0 of 4 leaves are new; to continue"));
    }
}
