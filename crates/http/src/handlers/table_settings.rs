//! `/v1/tables/{table}/settings`: a table's stored settings, the settings in effect, and the rows
//! that will be deleted.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, Request, State};
use axum::response::Response;
use hadal_frontend::{ErrorKind, Frontend, FrontendError, Principal, SettingsReport};
use hadal_peer::ExpiryForecast;
use hadal_types::{AgeLimit, MemoryReservation, SettingsError, TableName, TableSettings, limits};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::parameters::{readable, table_name};
use crate::problem::Problem;
use crate::query_response::json;
use crate::request_body::RequestBody;
use crate::state::AppState;

/// Everything about a table's settings.
#[derive(Serialize)]
struct Report {
    table: String,
    /// The table has rows, or had some.
    exists: bool,
    version: i64,
    settings: Map<String, Value>,
    effective: Effective,
    /// The default of `bytes`.
    bytes_default: u64,
    rows: u64,
    block_bytes: u64,
    next_expiry: Option<NextExpiry>,
    /// Where the archive is, if this server has one.
    archive_place: Option<String>,
    /// Settings without the expected effect, and rows that a change makes go unarchived.
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
    units: BTreeMap<String, &'static str>,
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
    State(state): State<Arc<AppState>>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Response, Problem> {
    let table = named(name)?;
    respond(&state.frontend, state.frontend.settings(&table).await?)
}

/// `PUT`: all settings at once, based on the version that the caller saw.
pub(crate) async fn put(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    name: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Problem> {
    let table = named(name)?;
    let frontend = &state.frontend;
    let body = RequestBody::new(request.into_body(), frontend.shutdown(), state.config.pace);
    let body = body.all(limits::TABLE_SETTINGS_BYTES_MAX).await?;
    let (version, settings) = read(&body)?;
    respond(frontend, frontend.set_settings(&principal, &table, version, settings).await?)
}

/// `DELETE`: resets to the defaults, which apply immediately.
pub(crate) async fn delete(
    State(state): State<Arc<AppState>>,
    Extension(principal): Extension<Principal>,
    name: Result<Path<String>, PathRejection>,
    based_on: Result<Query<BasedOn>, QueryRejection>,
) -> Result<Response, Problem> {
    let table = named(name)?;
    let Query(BasedOn { version }) = readable(based_on)?;
    let report = state.frontend.reset_settings(&principal, &table, version).await?;
    respond(&state.frontend, report)
}

/// The version on which a change is based; without one, any version.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BasedOn {
    pub(crate) version: Option<i64>,
}

fn named(name: Result<Path<String>, PathRejection>) -> Result<TableName, Problem> {
    let Path(name) = readable(name)?;
    table_name(&name)
}

fn respond(frontend: &Frontend, report: SettingsReport) -> Result<Response, Problem> {
    Ok(json(&Report::new(frontend, report), MemoryReservation::default())?)
}

impl Report {
    fn new(frontend: &Frontend, report: SettingsReport) -> Self {
        let SettingsReport { table, status, version, settings, effective, .. } = report;
        Self {
            table: table.to_string(),
            exists: status.is_some(),
            version,
            settings: settings.to_object(),
            effective: Effective {
                age: effective.age.to_string(),
                age_seconds: AgeLimit::seconds(effective.age),
                archive: settings.is_archived(),
                bytes: effective.bytes,
                cold_after: settings.cold_age().to_string(),
                cold_after_seconds: settings.cold_age().seconds(),
                sample_after: settings.sample_age().to_string(),
                sample_after_seconds: settings.sample_age().seconds(),
                sample_by: settings.sample_columns().iter().map(ToString::to_string).collect(),
                sample_keep: settings.sample_share().to_string(),
                sample_key: settings.sample_key.as_ref().map(ToString::to_string),
                sample_least: settings.sample_rows_min(),
                storage: settings.storage().to_string(),
                time_column: effective.time_column.map(|column| column.to_string()),
                units: settings
                    .column_units()
                    .map(|(column, unit)| (column.to_string(), unit.name()))
                    .collect(),
            },
            bytes_default: report.bytes_default,
            rows: status.as_ref().map_or(0, |status| status.schema.rows),
            block_bytes: status.as_ref().map_or(0, |status| status.block_bytes),
            next_expiry: report.next_expiry.map(NextExpiry::new),
            archive_place: frontend.archive().map(str::to_owned),
            notes: report.notes,
        }
    }
}

const EXAMPLE: &str = "send {\"version\": 0, \"settings\": {\"age\": \"7d\", \"bytes\": \"2GB\"}}";

/// Reads `{"version": 3, "settings": {…}}`.
fn read(body: &[u8]) -> Result<(i64, TableSettings), Problem> {
    let bad = |field: &str, reason: &str| {
        let error = SettingsError { field: field.to_owned(), reason: reason.to_owned() };
        Problem::from(FrontendError::from(&error))
    };
    let object = serde_json::from_slice::<Value>(body).map_err(|error| {
        let detail = format!("the body is no JSON: {error}");
        Problem::new(ErrorKind::BadRequest, detail).hint(EXAMPLE)
    })?;
    let Value::Object(object) = object else {
        return Err(Problem::new(ErrorKind::BadRequest, "the body is no object").hint(EXAMPLE));
    };
    if let Some(other) = object.keys().find(|key| !["version", "settings"].contains(&key.as_str()))
    {
        return Err(bad(other, "there is no such field; there are version, settings"));
    }
    let version = object.get("version").and_then(Value::as_i64).filter(|version| *version >= 0);
    let version = version.ok_or_else(|| {
        bad("version", "the version that the change is based on is missing; GET returns it")
    })?;
    let settings = object.get("settings").ok_or_else(|| bad("settings", "it is missing"))?;
    let settings = TableSettings::from_value(settings)
        .and_then(|settings| settings.check_together().map(|()| settings));
    Ok((version, settings.map_err(|error| FrontendError::from(&error))?))
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
        for (body, expected) in [
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
            assert!(problem.detail().contains(expected), "{body}: {}", problem.detail());
        }
    }
}
