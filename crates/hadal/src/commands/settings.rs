//! `hadal settings`: a table's settings, their effective values, and the next expiry.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::Args;
use hadal_types::settings::spell_bytes;
use hadal_types::{TableName, TableSettings};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::args::ServerArgs;
use crate::error::Error;
use crate::output;

/// Show or change how long a table keeps its rows, and which column is their time
#[derive(Args)]
#[command(after_help = "Examples:
  hadal settings clicks                     what is set, and what will go next
  hadal settings clicks age=7d bytes=2GB    drop rows older than a week, or beyond 2 GB
  hadal settings clicks age=none            keep rows of any age
  hadal settings clicks cold_after=3d       store older rows in fewer bytes, slower to read
  hadal settings clicks sample_after=7d sample_keep=1/100
                                            keep one older row in a hundred
  hadal settings clicks sample_after=7d sample_key=user_id
                                            of one older user in ten keep all rows
  hadal settings clicks storage=mmap        read its rows from disk, not from memory
  hadal settings clicks archive=on          write rows to the archive before they go
  hadal settings clicks time_column=ts      rows have their time in ts
  hadal settings clicks units=took:ms,size:bytes
                                            the page shows took in ms and size in bytes
  hadal settings clicks bytes=default       back to the default

Rows that are too old are dropped within minutes (15 after a start), or sampled; they cannot be brought back,
unless the server has an archive (hadal serve --archive PLACE) and the table is set to use it.")]
pub(crate) struct SettingsArgs {
    /// The table
    table: String,
    /// Settings to change: age=30d, 12h, 90m or none; archive=on; bytes=2GB or 512MiB;
    /// cold_after=3d or none; sample_after=7d or none, sample_keep=1/10 or 0.1, sample_key=COLUMN,
    /// or sample_by=COLUMN,COLUMN sample_least=ROWS; storage=memory or mmap; time_column=COLUMN;
    /// units=COLUMN:UNIT,COLUMN:UNIT (none, ns, us, ms, s, bytes, percent, share, per second);
    /// NAME=default unsets one
    #[arg(value_name = "NAME=VALUE")]
    changes: Vec<String>,
    #[command(flatten)]
    server: ServerArgs,
}

/// The server's answer about a table's settings.
#[derive(Deserialize)]
struct SettingsAnswer {
    exists: bool,
    version: i64,
    settings: Map<String, Value>,
    effective: Effective,
    rows: u64,
    block_bytes: u64,
    next_expiry: Option<NextExpiry>,
    archive_place: Option<String>,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Deserialize)]
struct Effective {
    age: String,
    archive: bool,
    bytes: u64,
    cold_after: String,
    sample_after: String,
    sample_by: Vec<String>,
    sample_keep: String,
    sample_key: Option<String>,
    sample_least: u32,
    storage: String,
    time_column: Option<String>,
    #[serde(default)]
    units: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct NextExpiry {
    at: String,
    until: String,
    rows: u64,
    bytes: u64,
}

/// Runs the command.
pub(crate) fn run(args: &SettingsArgs) -> Result<(), Error> {
    let table = TableName::new(&args.table)?;
    let changes: Vec<(&str, &str)> =
        args.changes.iter().map(|change| pair(change)).collect::<Result<_, _>>()?;
    // Arguments are checked before any request is sent.
    each_once(&changes)?;
    apply(&mut TableSettings::default(), &changes)?;
    let client = args.server.client()?;
    let path = format!("/v1/tables/{table}/settings");
    let mut answer: SettingsAnswer = client.get(&path)?;
    if !changes.is_empty() {
        let current = TableSettings::from_value(&Value::Object(answer.settings));
        let mut settings = current.map_err(|error| Error::Usage(error.to_string()))?;
        apply(&mut settings, &changes)?;
        let body = json!({ "version": answer.version, "settings": settings.to_object() });
        answer = client.put(&path, body.to_string().into_bytes())?;
    }
    output::print(&text(&table, &answer))
}

fn pair(change: &str) -> Result<(&str, &str), Error> {
    change.split_once('=').ok_or_else(|| {
        let names = TableSettings::NAMES.join("=…, ");
        Error::Usage(format!("{change:?} sets nothing; write {names}=…"))
    })
}

/// Refuses a setting that is named twice, because it is unclear which value is meant.
fn each_once(changes: &[(&str, &str)]) -> Result<(), Error> {
    for (place, (name, value)) in changes.iter().enumerate() {
        if let Some((_, before)) = changes.iter().take(place).find(|(before, _)| before == name) {
            let message = format!("{name} is set twice, to {before} and to {value}; say it once");
            return Err(Error::Usage(message));
        }
    }
    Ok(())
}

fn apply(settings: &mut TableSettings, changes: &[(&str, &str)]) -> Result<(), Error> {
    let set = |(name, value): &(&str, &str)| settings.set(name, value);
    let set = changes.iter().try_for_each(set).and_then(|()| settings.check_together());
    set.map_err(|error| Error::Usage(error.to_string()))
}

fn text(table: &TableName, answer: &SettingsAnswer) -> String {
    let SettingsAnswer { settings, effective, .. } = answer;
    let mut text = match answer.exists {
        true => format!(
            "table {table}: {}, {}\n",
            output::count(answer.rows, "row"),
            output::bytes(answer.block_bytes)
        ),
        false => format!("table {table}: not there yet\n"),
    };
    let time_column = effective.time_column.as_deref().unwrap_or("derived from the first rows");
    let bytes = spell_bytes(effective.bytes);
    let (by, least) = (effective.sample_by.join(","), effective.sample_least.to_string());
    let by = if by.is_empty() { "-" } else { &by };
    let key = effective.sample_key.as_deref().unwrap_or("-");
    let units = effective.units.iter().map(|(column, unit)| format!("{column}:{unit}"));
    let units = units.collect::<Vec<_>>().join(",");
    let units = if units.is_empty() { "-" } else { &units };
    let archive = if effective.archive { "on" } else { "off" };
    let archived = archive_meaning(effective.archive, answer.archive_place.as_deref());
    let lines = [
        ("age", effective.age.as_str(), "older rows are refused, and dropped"),
        ("archive", archive, archived.as_str()),
        ("bytes", bytes.as_str(), "beyond them the oldest rows are dropped"),
        ("cold_after", effective.cold_after.as_str(), "older rows take fewer bytes, read slower"),
        ("sample_after", effective.sample_after.as_str(), "of older rows only some are kept"),
        ("sample_by", by, "groups of these columns keep some each"),
        ("sample_keep", effective.sample_keep.as_str(), "this share of them is kept"),
        ("sample_key", key, "rows with the same value in it stay or go together"),
        ("sample_least", least.as_str(), "rows that each group of a row block keeps"),
        ("storage", effective.storage.as_str(), "row blocks are read from there"),
        ("time_column", time_column, "has the time of a row"),
        ("units", units, "of numbers, as the page shows them"),
    ];
    for (name, value, meaning) in lines {
        let origin = if settings.contains_key(name) { "set" } else { "default" };
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {name:<12}  {value:<10}  {origin:<7}  {meaning}");
    }
    text.push_str(&expiry(answer));
    for note in &answer.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// What happens to expired or surplus rows, with and without an archive.
fn archive_meaning(is_on: bool, place: Option<&str>) -> String {
    match (is_on, place) {
        (true, Some(place)) => format!("rows go to the archive first: {place}"),
        (true, None) => "rows would go to an archive first; this server has none".to_owned(),
        (false, Some(place)) => format!("rows are dropped; with archive=on they go to {place}"),
        (false, None) => "rows are dropped; this server has no archive".to_owned(),
    }
}

/// The rows that expire next, and the time.
fn expiry(answer: &SettingsAnswer) -> String {
    match &answer.next_expiry {
        Some(NextExpiry { at, until, rows: 0, .. }) => {
            format!("next expiry: nothing, at {at}, when rows before {until} are too old\n")
        }
        Some(NextExpiry { at, until, rows, bytes }) => format!(
            "next expiry: about {} ({}) before {until}, at {at}\n",
            output::count(*rows, "row"),
            output::bytes(*bytes)
        ),
        None if answer.exists => "next expiry: nothing goes for its age\n".to_owned(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings_answer(settings: &Value, next_expiry: &Value) -> SettingsAnswer {
        let answer = json!({
            "exists": true, "version": 3, "settings": settings, "rows": 1_234, "block_bytes": 2_048,
            "archive_place": "s3://old/hadal", "notes": ["cold_after=8d does nothing"],
            "effective": { "age": "7d", "archive": true, "bytes": 2_000_000_000, "cold_after": "none",
                           "sample_after": "none", "sample_by": ["a", "b"], "sample_keep": "1/10", "sample_key": null,
                           "sample_least": 1, "storage": "memory", "time_column": "ts",
                           "units": { "took": "ms", "size": "bytes" } },
            "next_expiry": next_expiry,
        });
        serde_json::from_value(answer).expect("as a server sends it")
    }

    #[test]
    fn settings_are_shown_with_what_will_go() {
        let next = json!({ "at": "AT", "until": "UNTIL", "rows": 1_000, "bytes": 1_024 });
        let table = TableName::new("t").expect("a name");
        let answer = settings_answer(&json!({ "age": "7d", "time_column": "ts" }), &next);
        assert_eq!(
            text(&table, &answer),
            "table t: 1,234 rows, 2.0 KiB\n  \
             age           7d          set      older rows are refused, and dropped\n  \
             archive       on          default  rows go to the archive first: s3://old/hadal\n  \
             bytes         2GB         default  beyond them the oldest rows are dropped\n  \
             cold_after    none        default  older rows take fewer bytes, read slower\n  \
             sample_after  none        default  of older rows only some are kept\n  \
             sample_by     a,b         default  groups of these columns keep some each\n  \
             sample_keep   1/10        default  this share of them is kept\n  \
             sample_key    -           default  rows with the same value in it stay or go together\n  \
             sample_least  1           default  rows that each group of a row block keeps\n  \
             storage       memory      default  row blocks are read from there\n  \
             time_column   ts          set      has the time of a row\n  \
             units         size:bytes,took:ms  default  of numbers, as the page shows them\n\
             next expiry: about 1,000 rows (1.0 KiB) before UNTIL, at AT\n\
             note: cold_after=8d does nothing\n"
        );
    }

    #[test]
    fn nothing_is_said_of_an_expiry_that_will_not_be() {
        let next = json!({ "at": "AT", "until": "UNTIL", "rows": 0, "bytes": 0 });
        assert!(
            expiry(&settings_answer(&json!({}), &next))
                .contains("nothing, at AT, when rows before UNTIL")
        );
        let none = settings_answer(&json!({ "age": "none" }), &Value::Null);
        assert!(expiry(&none).contains("nothing goes for its age"));
        assert_eq!(expiry(&SettingsAnswer { exists: false, ..none }), "");
    }

    #[test]
    fn what_becomes_of_rows_is_told_as_it_is() {
        for (is_on, place, expected) in [
            (true, Some("s3://old"), "rows go to the archive first: s3://old"),
            (true, None, "rows would go to an archive first; this server has none"),
            (false, Some("s3://old"), "rows are dropped; with archive=on they go to s3://old"),
            (false, None, "rows are dropped; this server has no archive"),
        ] {
            assert_eq!(archive_meaning(is_on, place), expected);
        }
    }

    #[test]
    fn changes_are_read_before_a_server_is_asked() {
        for (change, expected) in [
            ("age", "\"age\" sets nothing; write age=…, archive=…, bytes=…, cold_after=…, "),
            ("age=soon", "age: \"soon\" is no age"),
            ("ages=7d", "ages: there is no such setting"),
        ] {
            let read = pair(change);
            let applied = read.and_then(|pair| apply(&mut TableSettings::default(), &[pair]));
            let error = applied.expect_err(change);
            assert!(error.to_string().contains(expected), "{error}");
            assert_eq!(error.exit_code(), 2);
        }
    }
}
