//! Functions of PostgreSQL's catalog.

use std::collections::BTreeMap;

use hadal_types::limits::REGEX_PROGRAM_BYTES_MAX;
use regex::RegexBuilder;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result};

use super::names::{PUBLIC, TYPES, array_elements, array_text, table_oid, type_name};
use super::session_facts::SessionFacts;

/// The schemas of names without one.
const SEARCH_PATH: &str = "{pg_catalog,public}";

/// Functions that return the same for any arguments: null for definitions of what there is not, and
/// true for rights.
const NULLS: [&str; 20] = [
    "_pg_expandarray",
    "pg_field",
    "obj_description",
    "col_description",
    "shobj_description",
    "pg_get_expr",
    "pg_get_constraintdef",
    "pg_get_indexdef",
    "pg_get_viewdef",
    "pg_get_ruledef",
    "pg_get_triggerdef",
    "pg_get_partkeydef",
    "pg_get_serial_sequence",
    "pg_get_statisticsobjdef_columns",
    "pg_get_functiondef",
    "pg_tablespace_location",
    "json_build_object",
    "inet_server_addr",
    "inet_client_addr",
    "pg_my_temp_schema",
];
const TRUTHS: [&str; 13] = [
    "pg_table_is_visible",
    "pg_type_is_visible",
    "pg_function_is_visible",
    "pg_opclass_is_visible",
    "pg_collation_is_visible",
    "pg_operator_is_visible",
    "has_table_privilege",
    "has_schema_privilege",
    "has_database_privilege",
    "has_column_privilege",
    "has_any_column_privilege",
    "has_function_privilege",
    "pg_has_role",
];
const ZEROS: [&str; 9] = [
    "pg_is_in_recovery",
    "pg_relation_is_publishable",
    "pg_is_other_temp_schema",
    "pg_relation_size",
    "pg_total_relation_size",
    "pg_table_size",
    "pg_indexes_size",
    "pg_database_size",
    "txid_current",
];

/// Adds the functions.
///
/// `tables` has the names of tables by their numbers.
pub(super) fn add(
    connection: &Connection,
    facts: SessionFacts,
    tables: BTreeMap<i64, String>,
) -> Result<()> {
    for name in NULLS {
        constant(connection, name, Value::Null)?;
    }
    for name in TRUTHS {
        constant(connection, name, Value::Integer(1))?;
    }
    for name in ZEROS {
        constant(connection, name, Value::Integer(0))?;
    }
    let text = |text: &str| Value::Text(text.to_owned());
    for name in ["current_user", "current_role", "session_user", "user", "pg_get_userbyid"] {
        constant(connection, name, text(&facts.user))?;
    }
    for name in ["current_database", "current_catalog"] {
        constant(connection, name, text(&facts.database))?;
    }
    constant(connection, "version", text(&facts.version))?;
    constant(connection, "current_schema", text("public"))?;
    constant(connection, "current_schemas", text(SEARCH_PATH))?;
    constant(connection, "pg_encoding_to_char", text("UTF8"))?;
    constant(connection, "pg_backend_pid", Value::Integer(facts.process.into()))?;
    constant(connection, "inet_server_port", Value::Null)?;
    add_names(connection)?;
    add_tables(connection, tables)?;
    add_lists(connection)?;
    add_settings(connection, facts.settings)
}

fn constant(connection: &Connection, name: &str, value: Value) -> Result<()> {
    add_function(connection, name, move |_| Ok(value.clone()))
}

fn add_function(
    connection: &Connection,
    name: &str,
    function: impl Fn(&Context<'_>) -> Result<Value> + Send + std::panic::UnwindSafe + 'static,
) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function(name, -1, flags, move |context| function(context))
}

/// The text of an argument; `None` for null and for one that is not there.
fn text(context: &Context<'_>, index: usize) -> Option<String> {
    if index >= context.len() {
        return None;
    }
    match context.get_raw(index) {
        ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

fn integer(context: &Context<'_>, index: usize) -> Option<i64> {
    text(context, index)?.parse().ok()
}

fn or_null<V: Into<Value>>(value: Option<V>) -> Value {
    value.map_or(Value::Null, Into::into)
}

/// Functions between names and numbers of types and tables.
fn add_names(connection: &Connection) -> Result<()> {
    let shown = |context: &Context<'_>| {
        Ok(or_null(integer(context, 0).map(|oid| type_name(oid).to_owned())))
    };
    add_function(connection, "format_type", shown)?;
    add_function(connection, "regtype_name", shown)?;
    add_function(connection, "to_regtype", |context| {
        let name = text(context, 0).unwrap_or_default();
        let named =
            TYPES.iter().find(|(_, type_name, .., shown)| *type_name == name || *shown == name);
        Ok(or_null(named.map(|(oid, ..)| *oid)))
    })?;
    add_function(connection, "to_regnamespace", |_| Ok(Value::Integer(PUBLIC)))?;
    add_function(connection, "regnamespace_name", |_| Ok(Value::Text("public".to_owned())))?;
    add_function(connection, "quote_ident", |context| {
        let quoted = text(context, 0).map(|name| {
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            match name.chars().all(is_plain) && !name.starts_with(|c: char| c.is_ascii_digit()) {
                true => name,
                false => format!("\"{}\"", name.replace('"', "\"\"")),
            }
        });
        Ok(or_null(quoted))
    })?;
    add_function(connection, "pg_size_pretty", |context| {
        Ok(or_null(integer(context, 0).map(|bytes| format!("{bytes} bytes"))))
    })
}

/// Functions between names and numbers of tables.
fn add_tables(connection: &Connection, tables: BTreeMap<i64, String>) -> Result<()> {
    let named = tables.clone();
    add_function(connection, "to_regclass", move |context| {
        let oid = text(context, 0).map(|name| match name.parse::<i64>() {
            Ok(oid) => oid,
            Err(_) => table_oid(&unqualified(&name)),
        });
        Ok(or_null(oid.filter(|oid| named.contains_key(oid))))
    })?;
    add_function(connection, "regclass_name", move |context| {
        let name = integer(context, 0).map(|oid| match tables.get(&oid) {
            Some(name) => name.clone(),
            None if oid == 0 => "-".to_owned(),
            None => oid.to_string(),
        });
        Ok(or_null(name.or_else(|| text(context, 0))))
    })
}

/// The last part of a name, without quotes, folded as PostgreSQL does.
fn unqualified(name: &str) -> String {
    match name.strip_suffix('"') {
        Some(quoted) => {
            let inner = quoted.rsplit_once("\".\"").map(|(_, last)| last);
            let inner = inner.or_else(|| quoted.rsplit_once(".\"").map(|(_, last)| last));
            inner.unwrap_or_else(|| quoted.trim_start_matches('"')).replace("\"\"", "\"")
        }
        None => {
            let plain = name.strip_prefix("public.").unwrap_or(name);
            plain.to_ascii_lowercase()
        }
    }
}

/// The parts of a name with dots, each without quotes, or folded to lower case.
fn name_parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_quoted = false;
    for letter in name.chars() {
        match (letter, parts.last_mut()) {
            ('"', _) => is_quoted = !is_quoted,
            ('.', _) if !is_quoted => parts.push(String::new()),
            (letter, Some(part)) if is_quoted => part.push(letter),
            (letter, Some(part)) => part.extend(letter.to_lowercase()),
            (_, None) => {}
        }
    }
    parts
}

/// Functions of arrays, and the operators that the rewriting makes calls of.
fn add_lists(connection: &Connection) -> Result<()> {
    add_function(connection, "pg_array", |context| {
        let elements: Vec<String> = (0..context.len()).filter_map(|at| text(context, at)).collect();
        Ok(Value::Text(array_text(&elements)))
    })?;
    // `x MATCH list` calls match(list, x).
    // SQLite has one of two arguments, which this replaces.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("match", 2, flags, |context| {
        let (Some(list), Some(element)) = (text(context, 0), text(context, 1)) else {
            return Ok(Value::Null);
        };
        let is_in = array_elements(&list).any(|other| other == element);
        Ok(Value::Integer(is_in.into()))
    })?;
    add_function(connection, "string_to_array", |context| {
        let (Some(list), Some(separator)) = (text(context, 0), text(context, 1)) else {
            return Ok(Value::Null);
        };
        let elements: Vec<String> = match separator.is_empty() {
            true => vec![list],
            false => list.split(&separator).map(str::to_owned).collect(),
        };
        Ok(Value::Text(array_text(&elements)))
    })?;
    add_function(connection, "parse_ident", |context| {
        Ok(or_null(text(context, 0).map(|name| array_text(&name_parts(&name)))))
    })?;
    constant(connection, "array_lower", Value::Integer(1))?;
    add_function(connection, "array_to_string", |context| {
        let separator = text(context, 1).unwrap_or_default();
        let joined =
            text(context, 0).map(|list| array_elements(&list).collect::<Vec<_>>().join(&separator));
        Ok(or_null(joined))
    })?;
    add_function(connection, "pg_element", |context| {
        let index =
            integer(context, 1).and_then(|index| usize::try_from(index).ok()?.checked_sub(1));
        let (Some(list), Some(index)) = (text(context, 0), index) else { return Ok(Value::Null) };
        Ok(or_null(array_elements(&list).nth(index).map(str::to_owned)))
    })?;
    for name in ["array_length", "array_upper", "cardinality"] {
        add_function(connection, name, |context| {
            let count = text(context, 0).map(|list| array_elements(&list).count());
            Ok(or_null(count.and_then(|count| i64::try_from(count).ok())))
        })?;
    }
    // `x REGEXP pattern` calls regexp(pattern, x).
    add_function(connection, "regexp", |context| {
        let (Some(pattern), Some(text)) = (text(context, 0), text(context, 1)) else {
            return Ok(Value::Null);
        };
        // Compiled for each row; the catalog has few.
        let pattern = RegexBuilder::new(&pattern).size_limit(REGEX_PROGRAM_BYTES_MAX).build();
        let pattern = pattern.map_err(|error| Error::UserFunctionError(Box::new(error)))?;
        Ok(Value::Integer(pattern.is_match(&text).into()))
    })
}

fn add_settings(connection: &Connection, settings: BTreeMap<String, String>) -> Result<()> {
    add_function(connection, "current_setting", move |context| {
        let name = text(context, 0).unwrap_or_default().to_ascii_lowercase();
        Ok(or_null(settings.get(&name).cloned()))
    })?;
    // A setting is changed by SET; drivers call this to clear the search path.
    add_function(connection, "set_config", |context| Ok(or_null(text(context, 1))))
}
