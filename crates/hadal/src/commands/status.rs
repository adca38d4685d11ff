//! `hadal status`: the contents and the health of a server.

use clap::Args;
use serde::Deserialize;

use crate::args::ServerArgs;
use crate::error::Error;
use crate::output;

/// Show what a server holds
#[derive(Args)]
#[command(after_help = "Examples:
  hadal status
  hadal status --server http://db:4280")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Deserialize)]
struct Version {
    version: String,
    commit: String,
    cpu: String,
    data: String,
}

#[derive(Deserialize)]
struct Status {
    uptime_seconds: u64,
    memory: Option<Memory>,
    #[serde(default)]
    damage: Vec<String>,
    archive: Option<Archive>,
    leaves: Vec<Leaf>,
}

#[derive(Deserialize)]
struct Archive {
    place: Option<String>,
    error: Option<String>,
    failing: Vec<Failing>,
}

#[derive(Deserialize)]
struct Failing {
    table: String,
    error: String,
}

#[derive(Deserialize)]
struct Memory {
    max: u64,
    row_blocks: u64,
    heap: u64,
}

#[derive(Deserialize)]
struct Leaf {
    name: String,
    state: String,
    block_bytes: u64,
}

#[derive(Deserialize)]
struct Tables {
    tables: Vec<Table>,
}

#[derive(Deserialize)]
struct Table {
    name: String,
    rows: u64,
    block_bytes: u64,
    raw_bytes: u64,
    first_time: Option<String>,
    last_time: Option<String>,
    #[serde(default)]
    age_limit_days: Option<i64>,
    dropped_rows: u64,
    #[serde(default)]
    dropped_bytes: u64,
    #[serde(default)]
    dropped_until: Option<String>,
    #[serde(default)]
    expired_rows: u64,
    expired_until: Option<String>,
    lost_rows: u64,
    #[serde(default)]
    waiting_rows: u64,
    #[serde(default)]
    state: String,
}

/// Runs the command.
pub(crate) fn run(args: &StatusArgs) -> Result<(), Error> {
    let client = args.server.client()?;
    let version: Version = client.get("/v1/version")?;
    let status: Status = client.get("/v1/status")?;
    let tables: Tables = client.get("/v1/tables")?;
    let Version { version, commit, cpu, data } = version;
    let mut text = format!(
        "hadal {version} (commit {commit}, {cpu}) on {}, up {}, data: {data}\n",
        client.url(),
        duration(status.uptime_seconds)
    );
    if let Some(memory) = &status.memory {
        text.push_str(&memory_line(memory));
    }
    for Leaf { name, state, block_bytes } in &status.leaves {
        text.push_str(&format!("{name}: {state}, {}\n", output::bytes(*block_bytes)));
    }
    for line in &status.damage {
        text.push_str(&format!("{line}\n"));
    }
    text.push_str(&status.archive.as_ref().map(archive_lines).unwrap_or_default());
    if tables.tables.is_empty() {
        text.push_str(
            "no tables yet; make one: echo '{\"hello\": \"world\"}' | hadal log greetings\n",
        );
    }
    for table in &tables.tables {
        text.push_str(&line(table));
    }
    output::print(&text)
}

/// The archive's location, and the errors that keep rows out of it; empty without an archive.
fn archive_lines(archive: &Archive) -> String {
    let Archive { place, error, failing } = archive;
    let mut text = match (place, error) {
        (None, _) => String::new(),
        (Some(place), None) => format!("archive: {place}\n"),
        (Some(place), Some(error)) => format!("archive: {place} CANNOT BE WRITTEN: {error}\n"),
    };
    for Failing { table, error } in failing {
        text.push_str(&format!(
            "archive: rows of table {table} STAY, as they cannot be archived: {error}\n"
        ));
    }
    text
}

fn memory_line(memory: &Memory) -> String {
    let [max, row_blocks, heap] = [memory.max, memory.row_blocks, memory.heap].map(output::bytes);
    format!("memory: {row_blocks} of row blocks and {heap} of its own, of {max}\n")
}

fn line(table: &Table) -> String {
    let mut text = format!(
        "table {}: {}, {} ({} without encoding)",
        table.name,
        output::count(table.rows, "row"),
        output::bytes(table.block_bytes),
        output::bytes(table.raw_bytes)
    );
    if let (Some(first), Some(last)) = (&table.first_time, &table.last_time) {
        text.push_str(&format!(", {first} to {last}"));
        match table.age_limit_days {
            Some(days) => text.push_str(&format!(", none older than {days} days")),
            None => text.push_str(", of any age"),
        }
    }
    if table.dropped_rows > 0 {
        let rows = output::count(table.dropped_rows, "row");
        let bytes = output::bytes(table.dropped_bytes);
        text.push_str(&format!("; it was over its size: the oldest {rows} ({bytes}) were dropped"));
        if let Some(until) = &table.dropped_until {
            text.push_str(&format!(", the last of {until}"));
        }
    }
    if table.expired_rows > 0 {
        let rows = output::count(table.expired_rows, "row");
        text.push_str(&format!("; {rows} dropped for their age since the start"));
        if let Some(until) = &table.expired_until {
            text.push_str(&format!(", up to {until}"));
        }
    }
    if table.lost_rows > 0 {
        let rows = output::count(table.lost_rows, "row");
        text.push_str(&format!("; {rows} LOST: their blocks are missing or damaged"));
    }
    if table.waiting_rows > 0 {
        let rows = output::count(table.waiting_rows, "more row");
        text.push_str(&format!("; {}: {rows} being brought back since the start", table.state));
    }
    text.push('\n');
    text
}

/// Formats seconds in the two largest units that matter.
fn duration(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{rest} s"),
        (0, 0, _) => format!("{minutes} min {rest} s"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_rows_are_told() {
        let mut table = Table {
            name: "t".to_owned(),
            rows: 2,
            block_bytes: 0,
            raw_bytes: 0,
            first_time: None,
            last_time: None,
            age_limit_days: None,
            dropped_rows: 0,
            dropped_bytes: 2 << 20,
            dropped_until: Some("2026-11-21T10:00:00Z".to_owned()),
            expired_rows: 0,
            expired_until: None,
            lost_rows: 0,
            waiting_rows: 0,
            state: "alive".to_owned(),
        };
        assert!(!line(&table).contains("dropped"));
        table.dropped_rows = 393_216;
        let shown = line(&table);
        let words = "it was over its size: the oldest 393,216 rows (2.0 MiB) were dropped, the last \
            of 2026-11-21T10:00:00Z\n";
        assert!(shown.ends_with(words), "{shown}");
    }

    #[test]
    fn ages_are_told() {
        let table = |age_limit_days| Table {
            name: "t".to_owned(),
            rows: 2,
            block_bytes: 0,
            raw_bytes: 0,
            first_time: Some("2026-11-20T10:00:00Z".to_owned()),
            last_time: Some("2026-11-21T10:00:00Z".to_owned()),
            age_limit_days,
            dropped_rows: 0,
            dropped_bytes: 0,
            dropped_until: None,
            expired_rows: 0,
            expired_until: None,
            lost_rows: 0,
            waiting_rows: 0,
            state: "alive".to_owned(),
        };
        let span = "2026-11-20T10:00:00Z to 2026-11-21T10:00:00Z";
        let shown = line(&table(Some(30)));
        assert!(shown.ends_with(&format!("{span}, none older than 30 days\n")), "{shown}");
        assert!(line(&table(None)).ends_with(&format!("{span}, of any age\n")));
    }

    #[test]
    fn what_is_lost_or_to_come_is_told() {
        let table = Table {
            name: "t".to_owned(),
            rows: 2,
            block_bytes: 0,
            raw_bytes: 0,
            first_time: None,
            last_time: None,
            age_limit_days: None,
            dropped_rows: 0,
            dropped_bytes: 0,
            dropped_until: None,
            expired_rows: 7,
            expired_until: Some("2026-11-21T10:00:00Z".to_owned()),
            lost_rows: 4_096,
            waiting_rows: 1,
            state: "disk recovery".to_owned(),
        };
        let shown = line(&table);
        let words = "; 4,096 rows LOST: their blocks are missing or damaged; disk recovery: \
            1 more row being brought back since the start\n";
        assert!(shown.ends_with(words), "{shown}");
    }

    #[test]
    fn what_keeps_rows_from_the_archive_is_told() {
        let mut archive = Archive { place: None, error: None, failing: Vec::new() };
        assert_eq!(archive_lines(&archive), "");
        archive.place = Some("/srv/old".to_owned());
        assert_eq!(archive_lines(&archive), "archive: /srv/old\n");
        archive.error = Some("it is full".to_owned());
        archive.failing =
            vec![Failing { table: "t".to_owned(), error: "no such block".to_owned() }];
        assert_eq!(
            archive_lines(&archive),
            "archive: /srv/old CANNOT BE WRITTEN: it is full\n\
             archive: rows of table t STAY, as they cannot be archived: no such block\n"
        );
    }

    #[test]
    fn durations_have_two_units() {
        assert_eq!(duration(0), "0 s");
        assert_eq!(duration(61), "1 min 1 s");
        assert_eq!(duration(3_600), "1 h 0 min");
        assert_eq!(duration(90_000), "1 d 1 h");
    }
}
