//! `/v1/tables/{table}/settings`: what is set for a table, what that comes to, and what will go.

use std::time::Duration;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, Request, State};
use axum::response::Response;
use hadal_console::Versioned;
use hadal_types::settings::spell_bytes;
use hadal_types::{AgeLimit, Held, SettingsError, TableName, TableSettings, TimeRange, limits};
use hadal_wire::{ExpiryForecast, TableStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::column_stats::StatsQueries;
use crate::problem::{Problem, ProblemKind};
use crate::query_response::json;
use crate::request_body::RequestBody;
use crate::router::Doors;
use crate::tables::settings_cache::{age_limit, half_done, set};
use crate::tables::{readable, unknown_table};

/// Everything about a table's settings.
#[derive(Serialize)]
struct Told {
    table: String,
    /// The table has rows, or had some.
    exists: bool,
    version: i64,
    settings: Map<String, Value>,
    effective: Effective,
    /// What `bytes` is where it is not set.
    bytes_default: u64,
    rows: u64,
    block_bytes: u64,
    next_expiry: Option<NextExpiry>,
    /// Where the archive is, if this server has one.
    archive_place: Option<String>,
    /// What of the settings comes to nothing, or not to what one would expect; and what the change
    /// makes go unarchived that this answers.
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Effective {
    age: String,
    age_seconds: Option<i64>,
    archive: bool,
    bytes: u64,
    cold_after: String,
    cold_after_seconds: Option<i64>,
    sample_after: String,
    sample_after_seconds: Option<i64>,
    sample_by: Vec<String>,
    sample_keep: String,
    sample_key: Option<String>,
    sample_least: u32,
    storage: String,
    time_column: Option<String>,
}

#[derive(Serialize)]
struct NextExpiry {
    at: String,
    until: String,
    rows: u64,
    bytes: u64,
}

impl NextExpiry {
    fn new(forecast: ExpiryForecast) -> Self {
        let ExpiryForecast { at, until, rows, bytes } = forecast;
        Self { at: at.to_string(), until: until.to_string(), rows, bytes }
    }
}

/// `GET`.
pub(crate) async fn get(
    State(doors): State<Doors>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let table = named(name)?;
    tell(&doors, &table, Vec::new()).await
}

/// `PUT`: all settings at once, based on the version that the caller saw.
pub(crate) async fn put(
    State(doors): State<Doors>,
    name: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Problem> {
    let table = named(name)?;
    let body = RequestBody::new(request.into_body(), &doors.ending, doors.config.pace);
    let body = body.all(limits::TABLE_SETTINGS_BYTES_MAX).await?;
    let (version, settings) = read(&body)?;
    let own = doors.rules.read(&doors.app, &table).await?;
    let was_archived = own.as_ref().is_some_and(|own| own.value.is_archived());
    if settings.is_archived() && doors.config.archive.is_none() && !was_archived {
        let reason = "this server has no archive; start it with --archive PLACE".to_owned();
        return Err(Problem::of_settings(&SettingsError { field: "archive".to_owned(), reason }));
    }
    // Told from before the change: what it makes go may be gone right after it.
    let lost = unarchived(&doors, &table, own.as_ref(), &settings).await;
    set(&doors, &table, version, settings).await?;
    tell(&doors, &table, lost).await
}

/// `DELETE`: back to the defaults, which rule at once.
pub(crate) async fn delete(
    State(doors): State<Doors>,
    name: Result<Path<String>, PathRejection>,
    based_on: Result<Query<BasedOn>, QueryRejection>,
) -> Result<Response, Problem> {
    let table = named(name)?;
    let Query(BasedOn { version }) = readable(based_on)?;
    let (app, rules) = (&doors.app, &doors.rules);
    let own = rules.read(app, &table).await?;
    let based_on = version.unwrap_or_else(|| own.as_ref().map_or(0, |own| own.version));
    let lost = unarchived(&doors, &table, own.as_ref(), &TableSettings::of_new(&table)).await;
    if doors.app.root.table(table.as_str()).await.is_some() {
        // Not removed: then its rows would be asked again what nobody set.
        set(&doors, &table, based_on, TableSettings::of_new(&table)).await?;
    } else {
        let removed = app.definitions.remove_table_settings(&table, Some(based_on)).await;
        rules.forget(&table);
        if removed.map_err(|error| Problem::of_console(&error))? {
            let told = app.sink.configure(table.clone(), TableSettings::of_new(&table)).await;
            told.map_err(|error| half_done(&error))?;
        }
    }
    tell(&doors, &table, lost).await
}

/// The version that a change is based on; without one, whichever is there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BasedOn {
    version: Option<i64>,
}

fn named(name: Result<Path<String>, PathRejection>) -> Result<TableName, Problem> {
    let Path(name) = readable(name)?;
    TableName::new(&name).map_err(|_| unknown_table(&name))
}

/// Reads `{"version": 3, "settings": {…}}`.
fn read(body: &[u8]) -> Result<(i64, TableSettings), Problem> {
    let bad = |field: &str, reason: &str| {
        let error = SettingsError { field: field.to_owned(), reason: reason.to_owned() };
        Problem::of_settings(&error)
    };
    let object = serde_json::from_slice::<Value>(body).map_err(|error| {
        let detail = format!("the body is no JSON: {error}");
        Problem::new(ProblemKind::BadRequest, detail).hint(EXAMPLE)
    })?;
    let Value::Object(object) = object else {
        return Err(Problem::new(ProblemKind::BadRequest, "the body is no object").hint(EXAMPLE));
    };
    if let Some(other) = object.keys().find(|key| !["version", "settings"].contains(&key.as_str()))
    {
        return Err(bad(other, "there is no such field; there are version, settings"));
    }
    let version = object.get("version").and_then(Value::as_i64).filter(|version| *version >= 0);
    let version = version.ok_or_else(|| {
        bad("version", "the version that the change is based on is missing; GET tells it")
    })?;
    let settings = object.get("settings").ok_or_else(|| bad("settings", "it is missing"))?;
    let settings = TableSettings::from_value(settings)
        .and_then(|settings| settings.check_together().map(|()| settings));
    Ok((version, settings.map_err(|error| Problem::of_settings(&error))?))
}

/// How long rows are counted that a change makes go.
const COUNT_TIME: Duration = Duration::from_secs(2);

const EXAMPLE: &str = "send {\"version\": 0, \"settings\": {\"age\": \"7d\", \"bytes\": \"2GB\"}}";

/// What a change makes go that the archive would have got, a sentence each.
async fn unarchived(
    doors: &Doors,
    table: &TableName,
    own: Option<&Versioned<TableSettings>>,
    settings: &TableSettings,
) -> Vec<String> {
    let mut notes = Vec::new();
    if settings.is_archived() || !own.is_some_and(|own| own.value.is_archived()) {
        return notes;
    }
    let Some(status) = doors.app.root.table(table.as_str()).await else { return notes };
    let age = settings.age_limit();
    if let Some(to) = age.cutoff(doors.app.clock.now()) {
        let asker = StatsQueries::new(doors, &status.schema, COUNT_TIME);
        // Who has not the time to count them warns all the same.
        let which = match asker.rows(TimeRange { from: None, to: Some(to) }).await {
            Ok(0) => None,
            Ok(rows) => Some(format!("rows older than age={age}, {rows} of them,")),
            Err(_) => Some(format!("rows older than age={age}")),
        };
        notes.extend(which.map(|rows| format!("archive=off: {rows} are dropped unarchived")));
    }
    let bytes = settings.bytes_max(doors.config.table_bytes_max);
    if status.block_bytes > bytes {
        let bytes = spell_bytes(bytes);
        notes.push(format!("archive=off: rows beyond bytes={bytes} are dropped unarchived"));
    }
    notes
}

/// Tells of a table's settings, with what a change of them has just made go.
async fn tell(doors: &Doors, table: &TableName, lost: Vec<String>) -> Result<Response, Problem> {
    let own = doors.rules.read(&doors.app, table).await?;
    let status = doors.app.root.table(table.as_str()).await;
    let mut all = told(doors, table, own, status.as_ref());
    all.notes.extend(lost);
    json(&all, Held::default())
}

fn told(
    doors: &Doors,
    table: &TableName,
    own: Option<Versioned<TableSettings>>,
    status: Option<&TableStatus>,
) -> Told {
    let Versioned { version, value } = own.unwrap_or_else(|| {
        let settings = status.and_then(|status| status.settings.clone()).unwrap_or_default();
        Versioned { version: 0, value: settings }
    });
    let schema = status.map(|status| &status.schema);
    let age = match (version, status) {
        (0, Some(status)) => age_limit(status, doors.app.clock.now()),
        _ => value.age_limit(),
    };
    let time_column = value.time_column.as_ref().or(schema.map(|schema| &schema.time_column));
    Told {
        table: table.to_string(),
        exists: status.is_some(),
        version,
        settings: value.to_object(),
        effective: Effective {
            age: age.to_string(),
            age_seconds: AgeLimit::seconds(age),
            archive: value.is_archived(),
            bytes: value.bytes_max(doors.config.table_bytes_max),
            cold_after: value.cold_age().to_string(),
            cold_after_seconds: value.cold_age().seconds(),
            sample_after: value.sample_age().to_string(),
            sample_after_seconds: value.sample_age().seconds(),
            sample_by: value.sample_columns().iter().map(ToString::to_string).collect(),
            sample_keep: value.sample_share().to_string(),
            sample_key: value.sample_key.as_ref().map(ToString::to_string),
            sample_least: value.sample_rows_min(),
            storage: value.storage().to_string(),
            time_column: time_column.map(ToString::to_string),
        },
        bytes_default: doors.config.table_bytes_max,
        rows: schema.map_or(0, |schema| schema.rows),
        block_bytes: status.map_or(0, |status| status.block_bytes),
        next_expiry: status.and_then(|status| status.expiry).map(NextExpiry::new),
        archive_place: doors.config.archive.clone(),
        notes: notes(&value, doors.config.archive.is_some()),
    }
}

fn notes(settings: &TableSettings, has_archive: bool) -> Vec<String> {
    let mut notes = settings.idle();
    if settings.is_archived() && !has_archive {
        notes.push("archive=on: this server has no archive, so no rows are dropped".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_a_version_and_settings() {
        let (version, settings) =
            read(br#"{"version": 3, "settings": {"age": "7d"}}"#).expect("read");
        assert_eq!(version, 3);
        assert_eq!(settings.age, Some(AgeLimit::Seconds(7 * 86_400)));
        for (body, told) in [
            ("x", "the body is no JSON"),
            ("[]", "the body is no object"),
            (r#"{"settings": {}}"#, "version: the version"),
            (r#"{"version": -1, "settings": {}}"#, "version: the version"),
            (r#"{"version": "1", "settings": {}}"#, "version: the version"),
            (r#"{"version": 1}"#, "settings: it is missing"),
            (r#"{"version": 1, "settings": {}, "age": 1}"#, "age: there is no such field"),
            (r#"{"version": 1, "settings": {"ages": 1}}"#, "ages: there is no such setting"),
            (r#"{"version": 1, "settings": {"age": "x"}}"#, "age: \"x\" is no age"),
            (
                r#"{"version": 1, "settings": {"sample_key": "a", "sample_least": 2}}"#,
                "sample_key: rows are kept by key or by group, not both; unset it, or sample_least",
            ),
        ] {
            let problem = read(body.as_bytes()).expect_err(body);
            assert!(problem.detail().contains(told), "{body}: {}", problem.detail());
        }
    }
}
