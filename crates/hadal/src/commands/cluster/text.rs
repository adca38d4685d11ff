//! A cluster as text: machines with their leaves, tables, problems. Fits 80 columns.

use super::report::{Cluster, Leaf, Machine, Table, lasting, percent};
use crate::output;
use crate::terminal_escape::{fit, visible, width};

/// Columns of the bars.
const BAR_WIDTH: usize = 10;
/// Columns of a name at most.
const NAME_WIDTH_MAX: usize = 24;
/// With more leaves there is no room for a share of each.
const SHARES_MAX: u64 = 48;
/// Eighths of a character, from nothing to all of it.
const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Writes the cluster in lines of at most `line_width` columns, if names allow it.
pub(super) fn text(cluster: &Cluster, line_width: usize) -> String {
    let mut lines = vec![headline(cluster), memory_line(cluster)];
    lines.extend(machine_lines(cluster));
    if !cluster.tables.is_empty() {
        lines.extend([String::new(), "tables, and the share of each leaf:".to_owned()]);
        let cells: Vec<[String; 5]> =
            cluster.tables.iter().map(|table| table_cells(table, cluster)).collect();
        lines.extend(aligned(&cells, [false, true, true, true, false]));
    }
    if cluster.tables_left_out > 0 {
        lines.push(format!("  and {}", output::count(cluster.tables_left_out, "more table")));
    }
    if !cluster.problems.is_empty() {
        lines.extend([String::new(), "problems:".to_owned()]);
        lines.extend(cluster.problems.iter().map(|problem| format!("  {}", visible(problem))));
    }
    let is_problem = |line: &str| cluster.problems.iter().any(|it| line.ends_with(it.as_str()));
    let mut text = String::new();
    for line in &lines {
        // A cut sentence would say something else.
        let line = if is_problem(line) { line.into() } else { fit(line, line_width) };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Each machine with its leaves; the leaves of all machines are aligned.
fn machine_lines(cluster: &Cluster) -> Vec<String> {
    let rows_max = cluster.all_leaves().map(|leaf| leaf.rows.rows_expected).max().unwrap_or(0);
    let cells = cluster.machines.iter().flat_map(|machine| {
        let leaves = machine.leaves.iter();
        leaves.map(|leaf| leaf_cells(leaf, machine, &cluster.at, rows_max))
    });
    let cells: Vec<[String; 5]> = cells.collect();
    let mut leaf_lines = aligned(&cells, [false, false, true, false, true]).into_iter();
    let mut lines = Vec::new();
    for machine in &cluster.machines {
        lines.extend([String::new(), machine_line(machine, cluster)]);
        lines.extend(leaf_lines.by_ref().take(machine.leaves.len()));
    }
    lines
}

fn headline(cluster: &Cluster) -> String {
    let machines = output::count(cluster.machines.len() as u64, "machine");
    let name = match &cluster.cluster {
        Some(name) => format!("cluster {}: {machines}", visible(name)),
        None => "no cluster: one machine".to_owned(),
    };
    format!(
        "{name}, {} of {} leaves answer, {} of {}",
        cluster.leaves_answering,
        cluster.leaves,
        percent(cluster.rows.coverage),
        output::count(cluster.rows.rows_expected, "row"),
    )
}

fn memory_line(cluster: &Cluster) -> String {
    let all = cluster.used_bytes.saturating_add(cluster.free_bytes);
    format!("memory: {} of {}", output::bytes(cluster.used_bytes), output::bytes(all))
}

/// The machine's name, rack, release and URL, and the state of its aggregator unless it is alive.
fn machine_line(machine: &Machine, cluster: &Cluster) -> String {
    let mut parts = vec![match cluster.cluster {
        Some(_) => visible(&machine.name).into_owned(),
        None => "this machine".to_owned(),
    }];
    let mut add = |part: &str| {
        if !part.is_empty() {
            parts.push(visible(part).into_owned());
        }
    };
    add(&machine.rack);
    let first = machine.leaves.first().and_then(|leaf| leaf.release.as_deref());
    match &machine.aggregator {
        Some(aggregator) => {
            add(aggregator.release.as_deref().unwrap_or_default());
            add(&aggregator.url);
            if aggregator.state != "alive" {
                let lasting = lasting(aggregator.since.as_deref(), &cluster.at);
                add(&format!("aggregator {}{lasting}", aggregator.state));
            }
        }
        None => add(first.unwrap_or_default()),
    }
    parts.join(", ")
}

/// Name, state, rows, bar of rows, memory.
fn leaf_cells(leaf: &Leaf, machine: &Machine, at: &str, rows_max: u64) -> [String; 5] {
    let prefix = format!("{}/", machine.name);
    let name = leaf.name.strip_prefix(&prefix).unwrap_or(&leaf.name);
    let all = leaf.used_bytes.saturating_add(leaf.free_bytes);
    let memory = match leaf.answers {
        true => format!("{} of {}", output::bytes(leaf.used_bytes), output::bytes(all)),
        false => String::new(),
    };
    [
        fit(&visible(name), NAME_WIDTH_MAX).into_owned(),
        leaf.state_words(at),
        output::count(leaf.rows.rows, "row"),
        bar(leaf.rows.rows, leaf.rows.rows_expected, rows_max),
        memory,
    ]
}

/// Name, rows, bytes, coverage, and a character for the share of each leaf.
fn table_cells(table: &Table, cluster: &Cluster) -> [String; 5] {
    [
        fit(&visible(&table.name), NAME_WIDTH_MAX).into_owned(),
        output::count(table.rows.rows_expected, "row"),
        output::bytes(table.block_bytes),
        percent(table.rows.coverage),
        shares(table, cluster),
    ]
}

/// A bar as long as the rows: those that are there in full, those that are missing in outline.
fn bar(rows: u64, expected: u64, max: u64) -> String {
    let (full, all) = (scaled(rows, max, BAR_WIDTH), scaled(expected, max, BAR_WIDTH));
    let rest = all.saturating_sub(full);
    let space = BAR_WIDTH.saturating_sub(full + rest);
    format!("{}{}{}", "█".repeat(full), "░".repeat(rest), " ".repeat(space))
}

/// `part` of `whole` in `steps`, rounded.
fn scaled(part: u64, whole: u64, steps: usize) -> usize {
    let (part, whole) = (u128::from(part.min(whole)), u128::from(whole.max(1)));
    usize::try_from((part * steps as u128 + whole / 2) / whole).unwrap_or(steps)
}

/// A character for each leaf: the higher, the larger its share; `x` where rows are missing, `·`
/// where there is no share. Machines are apart.
fn shares(table: &Table, cluster: &Cluster) -> String {
    if cluster.leaves > SHARES_MAX {
        return String::new();
    }
    let share = |leaf: &Leaf| leaf.tables.iter().find(|it| it.name == table.name).map(|it| it.rows);
    let max = cluster.all_leaves().filter_map(share).map(|rows| rows.rows_expected).max();
    let max = max.unwrap_or(0);
    let sign = |leaf: &Leaf| match share(leaf) {
        None => '·',
        Some(rows) if rows.rows < rows.rows_expected => 'x',
        Some(rows) => LEVELS[scaled(rows.rows, max, LEVELS.len() - 1).max(1)],
    };
    let machines = cluster.machines.iter();
    let machines = machines.map(|machine| machine.leaves.iter().map(sign).collect::<String>());
    machines.collect::<Vec<String>>().join(" ")
}

/// Lines of cells under each other; `to_right` says which columns end at one edge.
fn aligned(rows: &[[String; 5]], to_right: [bool; 5]) -> Vec<String> {
    let widths: [usize; 5] = std::array::from_fn(|column| {
        rows.iter().map(|cells| width(&cells[column])).max().unwrap_or(0)
    });
    let line = |cells: &[String; 5]| {
        let mut line = String::from(" ");
        for ((cell, &column_width), to_right) in cells.iter().zip(&widths).zip(to_right) {
            let space = " ".repeat(column_width.saturating_sub(width(cell)));
            let (before, after) = if to_right { (&*space, "") } else { ("", &*space) };
            line.push_str(&format!(" {before}{cell}{after} "));
        }
        line
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rows(rows: u64, expected: u64) -> serde_json::Value {
        let coverage = if expected == 0 { 1.0 } else { rows as f64 / expected as f64 };
        json!({ "rows": rows, "rows_expected": expected, "coverage": coverage })
    }

    fn with(mut value: serde_json::Value, more: &serde_json::Value) -> serde_json::Value {
        for (key, more) in more.as_object().expect("an object") {
            value[key] = more.clone();
        }
        value
    }

    fn leaf(name: &str, state: &str, present: u64, expected: u64) -> serde_json::Value {
        let share = with(json!({ "name": "requests", "block_bytes": 1 }), &rows(present, expected));
        let leaf = json!({
            "name": name, "state": state, "answers": state != "silent",
            "since": "2026-11-21T11:59:11Z", "release": "0.1.0",
            "started": "2026-11-21T09:00:00Z", "used_bytes": 60 << 20, "free_bytes": 196 << 20,
            "tables": [share], "tables_left_out": 0,
        });
        with(leaf, &rows(present, expected))
    }

    fn cluster() -> Cluster {
        let machine = |name: &str, leaves: serde_json::Value| {
            json!({
                "name": name, "rack": "r1", "leaves": leaves,
                "aggregator": {
                    "url": "http://127.0.0.1:4280", "state": "alive", "since": null,
                    "release": "0.1.0",
                },
            })
        };
        let table = with(json!({ "name": "requests", "block_bytes": 5 << 20 }), &rows(340, 450));
        let cluster = json!({
            "cluster": "abyss", "at": "2026-11-21T12:00:00Z", "leaves": 3, "leaves_answering": 2,
            "used_bytes": 180 << 20, "free_bytes": 588 << 20,
            "problems": ["m-2/leaf-0 is silent for 49 s; answers lack its 100 rows"],
            "machines": [
                machine("m-1", json!([
                    leaf("m-1/leaf-0", "alive", 300, 300),
                    leaf("m-1/leaf-1", "disk recovery", 40, 50),
                ])),
                machine("m-2", json!([leaf("m-2/leaf-0", "silent", 0, 100)])),
            ],
            "tables": [table], "tables_left_out": 2,
        });
        serde_json::from_value(with(cluster, &rows(340, 450))).expect("a cluster")
    }

    #[test]
    fn a_cluster_fits_a_terminal() {
        let shown = text(&cluster(), 80);
        assert_eq!(
            shown,
            "\
cluster abyss: 2 machines, 2 of 3 leaves answer, 75.5 % of 450 rows
memory: 180.0 MiB of 768.0 MiB

m-1, r1, 0.1.0, http://127.0.0.1:4280
  leaf-0  alive             300 rows  ██████████  60.0 MiB of 256.0 MiB
  leaf-1  restoring 80.0 %   40 rows  █░          60.0 MiB of 256.0 MiB

m-2, r1, 0.1.0, http://127.0.0.1:4280
  leaf-0  silent for 49 s     0 rows  ░░░

tables, and the share of each leaf:
  requests  450 rows  5.0 MiB  75.5 %  █x x
  and 2 more tables

problems:
  m-2/leaf-0 is silent for 49 s; answers lack its 100 rows
"
        );
        assert!(shown.lines().all(|line| width(line) <= 80), "{shown}");
    }

    #[test]
    fn long_lines_are_cut_and_sentences_are_not() {
        let mut cluster = cluster();
        cluster.machines[0].name = "m".repeat(200);
        cluster.problems = vec!["word ".repeat(40).trim_end().to_owned()];
        let shown = text(&cluster, 80);
        let (long, short): (Vec<&str>, Vec<&str>) =
            shown.lines().partition(|line| width(line) > 80);
        assert_eq!(long.len(), 1, "{long:?}");
        assert!(long[0].trim_start().starts_with("word"), "{short:?}");
    }

    #[test]
    fn a_server_without_a_cluster_is_one_machine() {
        let mut cluster = cluster();
        cluster.cluster = None;
        cluster.machines.truncate(1);
        cluster.machines[0].aggregator = None;
        cluster.machines[0].rack = String::new();
        let shown = text(&cluster, 80);
        assert!(shown.starts_with("no cluster: one machine, 2 of 3 leaves answer"), "{shown}");
        assert!(shown.contains("\n\nthis machine, 0.1.0\n"), "{shown}");
    }

    #[test]
    fn hostile_names_cannot_control_the_terminal() {
        let mut cluster = cluster();
        cluster.problems = vec!["\u{1b}[2J".to_owned()];
        cluster.machines[0].leaves[0].name = "\u{1b}[2J\n".to_owned();
        let shown = text(&cluster, 80);
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }

    #[test]
    fn states_are_said_as_people_say_them() {
        let mut leaf = cluster().machines[1].leaves[0].clone();
        assert_eq!(leaf.state_words("2026-11-21T15:00:00Z"), "silent for 3 h");
        assert_eq!(leaf.state_words("no time"), "silent");
        leaf.release = None;
        assert_eq!(leaf.state_words("2026-11-21T12:00:00Z"), "gone");
        leaf.state = "alive".to_owned();
        assert_eq!(leaf.state_words("2026-11-21T09:00:59Z"), "alive for 59 s");
        assert_eq!(leaf.state_words("2026-11-21T09:01:00Z"), "alive");
        leaf.state = "prepare".to_owned();
        assert_eq!(leaf.state_words("2026-11-21T12:00:00Z"), "about to stop");
    }
}
